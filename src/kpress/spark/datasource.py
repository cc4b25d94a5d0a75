"""format("kpress"): the records of a Kafka log dir as rows, one Spark partition per segment."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from kpress.errors import InvalidArgumentError
from kpress.log import FileRecords, PartitionDirectory, isolation_of, list_partitions
from kpress.spark.options import ReadOptions
from kpress.spark.schema import arrow_schema, spark_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql.types import StructType

_NOT_IN_RECORDS = ("topic", "partition")
_LOGGER = logging.getLogger("kpress.spark")


class KafkaLogDataSource(DataSource):
    """Kafka log directories as a batch source.

    The columns are those of Spark's Kafka source: key binary, value binary, topic string, partition int, offset long,
    timestamp timestamp (null if there is none), timestampType int, and with includeHeaders=true
    headers array<struct<key: string, value: binary>>. Control records are never rows. Checksums are compared.

    Every segment but the last of its partition must be complete. The last one may end in a cut entry, as under a
    running broker, or in zeros; a warning in the executor's log (logger ``kpress.spark``) says how many bytes were
    left out. Anything else after the last whole entry is an error.

    Options: see `ReadOptions`.

    Examples
    --------
    >>> df = (spark.read.format("kpress").option("subscribe", "orders")          # doctest: +SKIP
    ...       .option("isolation.level", "read_committed").load("/var/kafka-logs"))
    """

    @classmethod
    def name(cls) -> str:
        return "kpress"

    def schema(self) -> StructType:
        return spark_schema(ReadOptions.parse(self.options).include_headers)

    def reader(self, schema: StructType) -> KafkaLogReader:
        options = ReadOptions.parse(self.options)
        if schema.fieldNames() != (own := spark_schema(options.include_headers)).fieldNames():
            raise InvalidArgumentError(
                f"the columns cannot be chosen: they are {', '.join(own.fieldNames())}", field="schema"
            )
        return KafkaLogReader(options)


@dataclass(frozen=True, repr=False)
class SegmentPartition(InputPartition):
    """One segment: all that a task needs to read it without other files."""

    topic: str
    partition: int
    path: str
    is_last: bool
    end_offset: int | None
    aborted_transactions: tuple[tuple[int, int], ...] | None

    def __repr__(self) -> str:
        return f"SegmentPartition({self.path})"


class KafkaLogReader(DataSourceReader):
    """Lists segments on the driver, and reads each in a task of its own."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options

    def partitions(self) -> Sequence[SegmentPartition]:
        directories = list_partitions(self.options.path)
        topics = {directory.topic_partition.topic for directory in directories}
        if missing := [topic for topic in self.options.topics if topic not in topics]:
            raise InvalidArgumentError(
                f"{self.options.path} has no topic {', '.join(missing)}; it has {', '.join(sorted(topics))}",
                field="subscribe",
            )
        return [
            segment
            for directory in directories
            if not self.options.topics or directory.topic_partition.topic in self.options.topics
            for segment in self._segments(directory)
        ]

    def _segments(self, directory: PartitionDirectory) -> Iterator[SegmentPartition]:
        end_offset, transactions = None, None
        if self.options.read_committed:
            isolation = isolation_of(directory.segments)
            if isolation.error is not None:
                raise isolation.error
            end_offset, transactions = isolation.last_stable_offset, isolation.aborted
        topic_partition = directory.topic_partition
        for segment in directory.segments:
            aborted = None
            if transactions is not None:
                # one that ended before the segment does not matter: its producer may have gone on
                aborted = tuple(t[:2] for t in transactions if t.last_offset >= segment.base_offset)
            yield SegmentPartition(
                topic_partition.topic,
                topic_partition.partition,
                str(segment.path),
                segment.is_last,
                end_offset,
                aborted,
            )

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        segment = cast(SegmentPartition, partition)  # Spark hands back what partitions() gave
        schema = arrow_schema(self.options.include_headers)
        with FileRecords(segment.path, complete=not segment.is_last) as file:
            for columns in file.columns(
                [name for name in schema.names if name not in _NOT_IN_RECORDS],
                batch_bytes=self.options.fetch_bytes,
                timestamp_unit="us",
                end_offset=segment.end_offset,
                aborted_transactions=segment.aborted_transactions,
            ):
                for batch in pa.RecordBatchReader.from_stream(columns):
                    yield _rows(batch, segment, schema)
            if file.trailing_bytes:
                what = "zeros" if file.tail == "zeros" else "an entry that is cut"
                _LOGGER.warning("%s ends in %d bytes of %s", segment.path, file.trailing_bytes, what)


def _rows(batch: pa.RecordBatch, partition: SegmentPartition, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with topic and partition, in the order and with the nested names that Spark expects."""
    constants = {"topic": pa.scalar(partition.topic), "partition": pa.scalar(partition.partition, pa.int32())}
    arrays = [
        pa.repeat(constants[field.name], batch.num_rows)
        if field.name in constants
        else batch.column(field.name).cast(field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
