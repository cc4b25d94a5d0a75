"""format("recordpress"): the records of a log as rows.

::

    driver       options ──► splits.open_wanted ──► splits.plan ──► TaskPartitions      names and sizes, no data
    executor     a TaskPartition ──► splits.read_split ──► Arrow record batches
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    InputPartition,
)

from recordpress._threads import cores
from recordpress.errors import InvalidArgumentError
from recordpress.log import Finding, Partition, splits
from recordpress.log.splits import LogSplit, TaskSplits, open_wanted, plan, refuse_missing, with_checks
from recordpress.spark._filters import Wanted, wanted_by
from recordpress.spark._offsets import Range
from recordpress.spark._option import names_of, shown_unknown, unknown_options
from recordpress.spark._stores import located
from recordpress.spark._tables import are_new, has_path, keep_options, kept_options, options_of_new_table
from recordpress.spark._without_recordpress import PickledForWorkers
from recordpress.spark.options import ReadOptions, known_columns
from recordpress.spark.schema import (
    CORRUPT,
    accepted_names,
    arrow_schema,
    columns_for_spark,
    names_to_read,
    refuse_other_types,
    spark_schema,
)

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from recordpress.spark._write_options import WriteOptions

# Limits of an Arrow batch of records. An Arrow batch costs Spark about 0.2 ms regardless of its size, and its rows cost
# more once it has 200,000 of them; measured by bench/spark: 10 MiB take 10 % less CPU than 5 MiB, and 20 MiB no less.
_RESULT_BYTES = 10 << 20
_RESULT_ROWS = 1 << 16
_BYTES_AT_ONCE = 1 << 20  # with rows=bytes; the default of ConsumerConfig
_LEAST_TASK_BYTES = 4 << 20  # as spark.sql.files.openCostInBytes
_LOGGER = logging.getLogger("recordpress.spark")


class KafkaLogDataSource(PickledForWorkers, DataSource):
    """Data source of Kafka logs for batch queries, streams and writes.

    The columns follow Spark's Kafka source: key binary, value binary, topic string, partition int, offset long,
    timestamp timestamp (null if missing), timestampType int, and with includeHeaders=true
    headers array<struct<key: string, value: binary>> (null if a record has none). `.schema(...)` or the option
    ``columns`` selects columns, and only those are built. Control records are never rows. Checksums are verified.

    Every segment but the last of its partition must be complete. The last one may end in a truncated entry, as under a
    running broker, or in zeros; a warning in the executor's log (logger ``recordpress.spark``) gives the number of
    omitted bytes. Anything else after the last complete entry is damage; the option ``mode`` decides what happens then.

    A stream reads each segment once the next segment exists; its offsets have the form of Spark's Kafka source. A write
    accepts the same columns and requires only value; its mode must be append or overwrite. A streaming write adds the
    rows of each batch of its query exactly once, even after restarts.

    Options: see `ReadOptions` and `WriteOptions`.

    Examples
    --------
    >>> df = (spark.read.format("recordpress").option("subscribe", "sessions")
    ...       .option("isolation.level", "read_committed").load("demo/logs"))
    >>> df.count()
    3600
    """

    parallelism: int | None = None  # set by `register`, from the session
    is_pushdown_on = False

    def __init__(self, options: Any) -> None:
        super().__init__(options)
        self.of_new_table = options_of_new_table(options)
        self.given: Mapping[str, str] = options if self.of_new_table is None else self.of_new_table
        self.is_for_writing = _are_for_writing(self.given)
        if self.is_for_writing and self.of_new_table is not None:
            raise InvalidArgumentError(
                "a table accepts only options for reading: pass options for writing in INSERT INTO t WITH (...)",
                field="topic",
            )
        if not self.is_for_writing and has_path(self.given):
            ReadOptions.parse(self.given)
        elif _are_of_stream(options):
            self._stream_options()  # a starting query would report errors later, and elsewhere

    @classmethod
    def name(cls) -> str:
        return "recordpress"

    def schema(self) -> StructType:
        options = ReadOptions.parse(self.given)
        schema = spark_schema(options.column_names)
        if self.of_new_table is not None:
            keep_options(schema, self.of_new_table)
        for path in options.paths if self.of_new_table is None else ():
            refuse_missing(path)
        return schema

    def reader(self, schema: StructType) -> KafkaLogReader:
        options, names = self._columns_of(schema)
        options.reject_streaming_options()
        kind = FilteringReader if self.is_pushdown_on else KafkaLogReader
        return kind(options, names, self.parallelism, schema.names, is_table=not has_path(self.given))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        from recordpress.spark._stream import stream_reader

        options, names = self._columns_of(schema)
        options.reject_batch_options()
        return stream_reader(KafkaLogReader(options, names, self.parallelism, schema.names))

    def _columns_of(self, schema: StructType) -> tuple[ReadOptions, tuple[str, ...]]:
        of_table = {} if has_path(self.given) else kept_options(schema)
        options, given = ReadOptions.parse(of_table | dict(self.given)), tuple(schema.names)
        names = known_columns(given, accepted_names(options.rows, options.reports_in_rows), "schema")
        refuse_other_types(schema, names)
        if options.columns is not None and options.columns != names:
            raise InvalidArgumentError(
                f"option columns ({', '.join(options.columns)}) and the schema ({', '.join(names)}) differ",
                field="columns",
            )
        return options, names

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        from recordpress.spark._sink import KafkaLogWriter
        from recordpress.spark._write_options import WriteOptions

        return KafkaLogWriter(WriteOptions.parse(self.options), schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        from recordpress.spark._stream_sink import KafkaLogStreamWriter

        return KafkaLogStreamWriter(self._stream_options(), schema, overwrite)

    def _stream_options(self) -> WriteOptions:
        from recordpress.spark._write_options import WriteOptions

        return WriteOptions.parse(self.options, is_stream=True)


def _are_for_writing(options: Any) -> bool:
    """Return whether options are for a write: Spark does not reveal why it creates a data source."""
    from recordpress.spark._write_options import STREAM_OPTIONS, WriteOptions

    of_reading = names_of(ReadOptions)
    of_writing = (*names_of(WriteOptions), *(row.name for row in STREAM_OPTIONS))
    not_read, not_written = unknown_options(options, of_reading), unknown_options(options, of_writing)
    if not not_read or not not_written:
        return bool(not_read)
    accepted = (*of_reading, *of_writing)
    unknown = unknown_options(options, accepted)
    what = shown_unknown(unknown, accepted)
    if not unknown:
        what = f"option {', '.join(not_read)} is for writing, and {', '.join(not_written)} for reading"
    raise InvalidArgumentError(
        f"{what}; options for reading: {', '.join(of_reading)}; options for writing: {', '.join(of_writing)}",
        field=(unknown or not_read)[0],
    )


def _are_of_stream(options: Any) -> bool:
    """Return whether Spark added the options of a streaming write."""
    from recordpress.spark._write_options import STREAM_OPTIONS

    return not {name.lower() for name in options}.isdisjoint(row.name.lower() for row in STREAM_OPTIONS)


@dataclass(frozen=True, repr=False)
class TaskPartition(InputPartition):
    """The work of one task."""

    number: int
    splits: TaskSplits
    wanted: Wanted

    def __repr__(self) -> str:
        return f"TaskPartition({self.number}: {', '.join(split.url for split in self.splits)})"


class KafkaLogReader(PickledForWorkers, DataSourceReader):
    """Reader that plans tasks on the driver and reads the rows of one task on an executor."""

    def __init__(
        self,
        options: ReadOptions,
        names: Sequence[str],
        parallelism: int | None,
        spelled: Sequence[str] | None = None,
        is_table: bool = False,
    ) -> None:
        self.is_table = is_table
        self.options = options
        self.names = tuple(names)
        self.spelled = tuple(spelled or names)  # as `.schema(...)` spells them: Spark ignores case
        self.parallelism = parallelism
        self.wanted = Wanted()

    # --- on the driver --------------------------------------------------------------------------------------------

    def partitions(self) -> Sequence[TaskPartition]:
        """Return one partition per task, and at least one: Spark adds a partition without a task to an empty list."""
        options = self.options
        paths, filesystem = located(options.store, options.paths)
        try:
            opened = open_wanted(paths, filesystem, options.codecs, options.topics.has)
        except (FileNotFoundError, InvalidArgumentError):
            if self.is_table and are_new(paths, filesystem):
                return [TaskPartition(0, (), self.wanted)]
            raise
        found = options.topics.of(opened, ", ".join(options.paths))
        found = [*with_checks(found)] if options.check_indexes else found
        ranges = options.bounds.ranges(found, options.fail_on_data_loss)
        found = [partition for partition in found if self.wanted.has(partition)]
        narrowed = {str(one): self.wanted.narrowed(*ranges.get(str(one), (None, None))) for one in found}
        total = sum(segment.size or 0 for partition in found for segment in partition.segments)
        return self.tasks(found, narrowed, total) or [TaskPartition(0, (), self.wanted)]

    def tasks(self, partitions: Sequence[Partition], ranges: dict[str, Range], total: int) -> list[TaskPartition]:
        """Return the tasks that read the offsets in `ranges`, about `total` bytes."""
        options = self.options
        tasks = plan(
            partitions,
            bytes_of_task(total, options.max_partition_bytes, options.min_partitions or self.parallelism),
            ranges=ranges,
            most_offsets=options.max_records,
            committed=options.isolation_level == "read_committed" and options.rows == "records",
        )
        return [TaskPartition(number, task, self.wanted) for number, task in enumerate(tasks)]

    # --- on executors ---------------------------------------------------------------------------------------------

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        task = cast(TaskPartition, partition)  # Spark passes back what partitions() returned
        found: list[Finding] = []
        names = names_to_read(self.names)
        for split in task.splits:
            findings: list[Finding] = []
            for batch in self._rows_there(split, names, findings, task.wanted):
                columns = columns_for_spark(self.names, batch, self.options.value_format)
                yield pa.RecordBatch.from_arrays(columns, self.spelled)
            if self.options.reports_in_rows and findings:
                yield pa.RecordBatch.from_arrays(_reported(arrow_schema(self.names), split, findings), self.spelled)
            found += findings
        self._log_findings(found)

    def _rows_there(
        self, split: LogSplit, names: list[str], findings: list[Finding], wanted: Wanted
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a split; with failOnDataLoss=false, skip segments that were deleted after planning."""
        there: LogSplit | None = split
        if not self.options.fail_on_data_loss:
            there, gone = split.without_deleted_segments()
            findings += gone
        if there is None:
            return
        try:
            yield from self._rows(there, names, findings, wanted)
        except FileNotFoundError as error:
            error.add_note("the file existed when the query was planned; set failOnDataLoss=false to read the rest")
            raise

    def _rows(
        self, split: LogSplit, names: list[str], findings: list[Finding], wanted: Wanted
    ) -> Iterator[pa.RecordBatch]:
        options = self.options
        if options.rows == "batches":
            from recordpress.spark._batch_rows import header_rows  # loads pandas, which rows of records do not need

            yield from header_rows(split, names, findings, options.on_corrupt)
        elif options.rows == "bytes":
            from recordpress.spark._batch_rows import byte_rows

            yield from byte_rows(split, names, findings, options.on_corrupt, options.fetch_bytes or _BYTES_AT_ONCE)
        else:
            reading = splits.ReadOptions(
                isolation_level=options.isolation_level,
                on_corrupt=options.on_corrupt,
                start_timestamp=wanted.start_timestamp,
                end_timestamp=wanted.end_timestamp,
                timestamp_unit="us",
                batch_bytes=options.fetch_bytes,
                result_bytes=_RESULT_BYTES,
                result_rows=_RESULT_ROWS,
            )
            for columns in splits.read_split(split, names, reading, findings):
                yield from pa.RecordBatchReader.from_stream(columns)

    def _log_findings(self, findings: list[Finding]) -> None:
        """Log findings that are not rows of the result."""
        if not self.options.reports_in_rows:
            for finding in findings:
                _LOGGER.warning("%s", finding)


class FilteringReader(KafkaLogReader):
    """Reader that pushes filters down. Spark rejects such a reader unless its configuration enables pushdown."""

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:
        """Return all filters, so that Spark applies them again: this source only skips whole batches."""
        self.wanted = wanted_by(filters)
        return filters


def bytes_of_task(total: int, most: int, parallelism: int | None) -> int:
    """Return the bytes of a task, as Spark's FilePartition.maxSplitBytes does; if there are more tasks than cores, they
    are a multiple of the cores, so that all cores finish together."""
    tasks_at_once = parallelism or cores()
    target = min(most, max(_LEAST_TASK_BYTES, -(-total // tasks_at_once)))
    tasks = -(-total // target)
    if tasks <= tasks_at_once:
        return target
    return -(-total // (tasks_at_once * -(-tasks // tasks_at_once)))


def _reported(schema: pa.Schema, split: LogSplit, findings: list[Finding]) -> list[pa.Array]:
    """Return columns with a row for each finding: its place, if known, and the finding as JSON."""
    known: dict[str, list[Any]] = {
        CORRUPT: [json.dumps(finding.to_dict()) for finding in findings],
        "topic": [split.topic] * len(findings),
        "partition": [split.partition] * len(findings),
        "offset": [finding.offset for finding in findings],
        "baseOffset": [finding.offset for finding in findings],
        "position": [finding.position for finding in findings],
        "file": [finding.file for finding in findings],
    }
    empty = [None] * len(findings)
    return [pa.array(known.get(field.name, empty), field.type) for field in schema]
