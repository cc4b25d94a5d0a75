"""df.write.format("recordpress"): rows as segments that brokers can use.

::

    driver      options, schema ──► KafkaLogWriter                      checked, nothing is written
    executor    Arrow batches ──► TaskRows ──► staged segments          read back; their names go to the driver
    driver      commit ──► publish                                      offsets and names: all of them or none

A stream does the same for each batch of its query (_stream_sink).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from recordpress.errors import InvalidArgumentError
from recordpress.log.publish.commit_staged import check_target, commit_staged, with_ends, withdraw
from recordpress.log.publish.plan import JoinedSegment
from recordpress.log.publish.staging import Stage, StagedSegment
from recordpress.spark._sink_rows import TaskRows
from recordpress.spark._stores import resolved
from recordpress.spark._without_recordpress import PickledForWorkers
from recordpress.spark._write_options import WriteOptions

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_LOGGER = logging.getLogger("recordpress.spark")
# as in Spark's Kafka source; key and value may be strings, as for its sink
_TYPES = {
    "key": ("binary", "string"),
    "value": ("binary", "string"),
    "headers": ("array<struct<key:string,value:binary>>",),
    "topic": ("string",),
    "partition": ("int", "bigint", "smallint", "tinyint"),
    "timestamp": ("timestamp",),
    "timestampType": ("int",),
    "offset": ("bigint",),
}


def check_schema(schema: StructType, options: WriteOptions) -> None:
    """Raise an error for columns that a record does not have, and for missing columns."""
    expected = "expected columns: " + "; ".join(f"{name} {' or '.join(types)}" for name, types in _TYPES.items())
    for field in schema.fields:
        kind = field.dataType.simpleString()
        if (field.name, kind) == ("timestamp", "timestamp_ntz"):
            raise InvalidArgumentError(
                "column timestamp has no time zone: df.withColumn('timestamp', df.timestamp.cast('timestamp')) uses "
                "the time zone of the session",
                field="schema",
            )
        if kind not in _TYPES.get(field.name, ()):
            what = "not a column of a record:" if field.name not in _TYPES else "wrong type of column"
            raise InvalidArgumentError(f"{what} {field.name} {kind}; {expected}"[:1000], field="schema")
    names = schema.fieldNames()
    if len(set(names)) < len(names):
        raise InvalidArgumentError("each column may occur only once", field="schema")
    if "value" not in names:
        raise InvalidArgumentError(f"there is no column named value; {expected}", field="schema")
    for column, option, given in (("topic", "topic", options.topic), ("partition", "partitions", options.partitions)):
        if column not in names and given is None:
            raise InvalidArgumentError(f"no {column}: add the column {column} or the option {option}", field=option)


@dataclass
class Staged(WriterCommitMessage):
    """The output of one task, and the segments that it joined."""

    segments: list[StagedSegment]
    joined: list[JoinedSegment]


class KafkaLogWriter(PickledForWorkers, DataSourceArrowWriter):
    """Writer of rows as segments of a log."""

    def __init__(self, options: WriteOptions, schema: StructType, overwrite: bool) -> None:
        check_schema(schema, options)
        self.options = options
        self.overwrite = overwrite
        self.now_ms = time.time_ns() // 1_000_000
        files, path = resolved(options.store, options.path)
        stage = Stage.new(files, files.canonical(path))
        check_target(files, stage.target)
        topic = None if "topic" in schema.fieldNames() else options.topic
        self.stage = stage if overwrite else with_ends(stage, topic)

    # --- on executors -------------------------------------------------------------------------------------------------

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Staged:
        """Write the rows of one task; a retried task calls this again."""
        return Staged(*self.staged(self.stage, iterator))

    def staged(
        self, stage: Stage, iterator: Iterator[pa.RecordBatch]
    ) -> tuple[list[StagedSegment], list[JoinedSegment]]:
        """Write the rows of one task to hidden segments."""
        rows = TaskRows(stage, self.options, self.now_ms, _task_number())
        try:
            for batch in iterator:
                rows.add(batch)
            return rows.finish()
        except BaseException:
            rows.discard()
            raise

    # --- on the driver ------------------------------------------------------------------------------------------------

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Publish the segments of all tasks."""
        staged = [cast(Staged, message) for message in messages if message is not None]
        self.publish(self.stage, staged, self.options.write_id)

    def publish(
        self, stage: Stage, staged: Sequence[Staged], write_id: str | None, batch_id: int | None = None
    ) -> None:
        """Publish all segments of a job, unless the job was published before."""
        segments = [one for task in staged for one in task.segments]
        published = commit_staged(
            stage,
            segments,
            [one for task in staged for one in task.joined],
            segment_bytes=self.options.segment_bytes,
            index_interval_bytes=self.options.index_interval_bytes,
            overwrite=self.options.overwrite_scope if self.overwrite else None,
            write_id=write_id,
            batch_id=batch_id,
        )
        if not segments and self.overwrite:
            _LOGGER.warning("overwrite without rows replaced nothing in %s", stage.files.url(stage.target))
        elif not published and write_id is not None:
            name = write_id if batch_id is None else f"batch {batch_id} of query {write_id}"
            _LOGGER.info("nothing was written: %s was committed before, or had no rows", name)
        for one in published:
            _LOGGER.info(
                "%s-%d: offsets %d to %d, %d records, %d bytes, %d segments",
                one.topic, one.partition, one.first_offset, one.next_offset - 1, one.records, one.bytes, one.segments,
            )  # fmt: skip

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Discard the segments of a failed job."""
        withdraw(self.stage)


def _task_number() -> int:
    """Return the number of this task in its job; all attempts of the task have the same number."""
    context = TaskContext.get()
    return 0 if context is None else context.partitionId()
