"""df.writeStream.format("recordpress"): each batch of a query becomes segments exactly once.

::

    driver      options, schema ──► KafkaLogStreamWriter                one for each batch
    executor    Arrow batches ──► segments staged for the query         as for a batch write
    driver      another KafkaLogStreamWriter: commit ──► publish        with the ids of the query and the batch

A query that restarts from its checkpoint writes its last batch again, unless the checkpoint lists it as committed. The
log dir records the last batch of each query, by the query id in the checkpoint, in the same journal as its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage

from recordpress.errors import RecordpressError
from recordpress.log.publish.commit_staged import withdraw
from recordpress.log.publish.staging import Stage
from recordpress.spark._sink import KafkaLogWriter, Staged
from recordpress.spark._without_recordpress import PickledForWorkers
from recordpress.spark._write_options import WriteOptions

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_QUERY_ID = "sql.streaming.queryId"  # StreamExecution.QUERY_ID_KEY: the id in the checkpoint's metadata


@dataclass
class StagedOfQuery(Staged):
    """The output of one task of a query."""

    query: str
    stage: Stage


class KafkaLogStreamWriter(PickledForWorkers, DataSourceStreamArrowWriter):
    """Writer of the batches of a query as segments of a log."""

    def __init__(self, options: WriteOptions, schema: StructType, overwrite: bool) -> None:
        self._writer = KafkaLogWriter(options, schema, overwrite)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> StagedOfQuery:
        """Write the rows of one task."""
        query = _query_id()
        stage = self._writer.stage.of_stream(query)
        return StagedOfQuery(*self._writer.staged(stage, iterator), query, stage)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Publish a batch from its tasks' stage, which is not this writer's stage."""
        staged = _given(messages)
        if staged:
            self._writer.publish(staged[0].stage, staged, staged[0].query, batchId)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Discard a failed batch. The next batch of the query deletes the other files of its tasks."""
        for message in _given(messages):
            withdraw(message.stage)


def _given(messages: list[WriterCommitMessage | None]) -> list[StagedOfQuery]:
    return [cast(StagedOfQuery, message) for message in messages if message is not None]


def _query_id() -> str:
    """Return the id of the query that this task belongs to."""
    context = TaskContext.get()
    query = None if context is None else context.getLocalProperty(_QUERY_ID)
    if query is None:
        raise RecordpressError(f"the query of this task is unknown: Spark did not set property {_QUERY_ID}")
    return query
