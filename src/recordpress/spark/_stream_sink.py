"""df.writeStream.format("recordpress"): each batch of a query becomes segments, once.

::

    driver      options, schema ──► KafkaLogStreamWriter                one for each batch
    executor    Arrow batches ──► segments staged for the query         as for a batch write
    driver      another KafkaLogStreamWriter: commit ──► publish        with the ids of the query and the batch

A query that is started again from its checkpoint writes its last batch again, unless that was committed there. The log
dir remembers the last batch of each query, by the id that the checkpoint has; both become true with one journal.
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
        """Publish a batch. The stage is that of the tasks, not of this writer."""
        staged = _given(messages)
        if staged:
            self._writer.publish(staged[0].stage, staged, staged[0].query, batchId)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Discard a failed batch. The next batch of the query deletes other files of its tasks."""
        for message in _given(messages):
            withdraw(message.stage)


def _given(messages: list[WriterCommitMessage | None]) -> list[StagedOfQuery]:
    return [cast(StagedOfQuery, message) for message in messages if message is not None]


def _query_id() -> str:
    """Return the id of the query that this task works for."""
    context = TaskContext.get()
    query = None if context is None else context.getLocalProperty(_QUERY_ID)
    if query is None:
        raise RecordpressError(f"the query of this task is unknown: Spark set no property {_QUERY_ID}")
    return query
