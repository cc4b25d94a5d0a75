"""The batches of a log by their headers alone, with the fields of Kafka's DumpLogSegments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from recordpress.columns import read_columns
from recordpress.files import located
from recordpress.log._batch_header import BatchHeader
from recordpress.log._file_records import FileRecords
from recordpress.log._segment import Partition, Segment
from recordpress.log._segment_tail import tail_findings
from recordpress.log.findings import Finding

CODECS = ("none", "gzip", "snappy", "lz4", "zstd", "pluggable")
CODEC_BITS = 0x07
DELETE_HORIZON = 0x40
BATCH_COLUMNS = (
    "topic",
    "partition",
    "file",
    "position",
    "size",
    "magic",
    "compressionType",
    "attributes",
    "baseOffset",
    "lastOffset",
    "recordsCount",
    "maxTimestamp",
    "timestampType",
    "partitionLeaderEpoch",
    "producerId",
    "producerEpoch",
    "baseSequence",
    "lastSequence",
    "isTransactional",
    "isControl",
    "deleteHorizonMs",
    "crc",
    "isValid",
)


def codec_name(header: BatchHeader) -> str:
    """Kafka's name of a batch's codec; its number where Kafka has none. A plug-in's name is not in the header."""
    number = header.attributes & CODEC_BITS
    return CODECS[number] if number < len(CODECS) else str(number)


class LogBatch(NamedTuple):
    """A batch, and where it is.

    Attributes
    ----------
    topic : str | None
    partition : int | None
    file : str
    header : BatchHeader
    is_valid : bool | None
        Whether the checksum is right; None if it was not checked, which means reading all bytes.

    Examples
    --------
    >>> import recordpress
    >>> batch = next(iter(recordpress.open_log("demo/logs/sessions-0").batches()))
    >>> batch.topic, batch.partition, batch.compression_type, batch.header.base_offset
    ('sessions', 0, 'lz4', 0)
    """

    topic: str | None
    partition: int | None
    file: str
    header: BatchHeader
    is_valid: bool | None = None

    @property
    def compression_type(self) -> str:
        """Its number where Kafka has no such codec."""
        return codec_name(self.header)

    @property
    def delete_horizon_ms(self) -> int | None:
        """When the log cleaner may drop the batch's tombstones and markers (KIP-534); None if it is not set."""
        header = self.header
        return header.base_timestamp if header.magic == 2 and header.attributes & DELETE_HORIZON else None

    @property
    def timestamp_type(self) -> int:
        """0 create time, 1 log append time, -1 none."""
        return -1 if self.header.magic == 0 else int(self.header.has_log_append_time)

    def to_dict(self) -> dict[str, object]:
        """The columns of `Log.batch_table`, by name; times in ms since 1970."""
        return dict(zip(BATCH_COLUMNS, _row(self), strict=True))


def batches_of(
    partitions: Iterable[Partition], check_crcs: bool, findings: list[Finding] | None = None
) -> Iterator[LogBatch]:
    """Every batch of every segment, including batches in more than one segment.

    Parameters
    ----------
    partitions : iterable of Partition
    check_crcs : bool
    findings : list of Finding, optional
        Gets what follows the last whole entry of a segment.

    Raises
    ------
    CorruptRecordError
        An impossible entry, or an end that a file may not have; after the batches before it.
    """
    for partition in partitions:
        for segment in partition.segments:
            yield from _batches_in(partition, segment, check_crcs, findings)


def _batches_in(
    partition: Partition, segment: Segment, check_crcs: bool, findings: list[Finding] | None
) -> Iterator[LogBatch]:
    with segment.records() as file:
        hop = file.headers()
        for header in file.walk(hop):
            is_valid = hop.checksum_error() is None if check_crcs else None
            yield LogBatch(partition.topic, partition.partition, segment.url, header, is_valid)
        if findings is not None:
            findings += tail_findings(segment, file)


def _row(batch: LogBatch) -> tuple[object, ...]:
    header = batch.header
    return (
        batch.topic,
        batch.partition,
        batch.file,
        header.position,
        header.size,
        header.magic,
        batch.compression_type,
        header.attributes,
        header.base_offset,
        header.last_offset,
        None if header.records_count < 0 else header.records_count,
        None if header.max_timestamp == -1 else header.max_timestamp,
        batch.timestamp_type,
        header.partition_leader_epoch,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        header.last_sequence,
        header.is_transactional,
        header.is_control,
        batch.delete_horizon_ms,
        header.crc,
        batch.is_valid,
    )


def count_of(partitions: Iterable[Partition]) -> int:
    """The number of records that reading all of the partitions gives: every offset once, no control records."""
    return sum(_count_of(partition) for partition in partitions)


def _count_of(partition: Partition) -> int:
    count = next_offset = 0
    for segment in partition.segments:
        with segment.records() as file:
            hop = file.headers()
            for header in file.walk(hop):
                count += _records_in(header, file, next_offset)
            next_offset = max(next_offset, hop.next_offset or 0)
    return count


def _records_in(header: BatchHeader, file: FileRecords, next_offset: int) -> int:
    """Those from an offset on. Only a v0/v1 wrapper, and a batch that begins before it, must be read for it."""
    if header.is_control or header.last_offset < next_offset:
        return 0
    if header.records_count >= 0 and header.base_offset >= next_offset:
        return header.records_count
    data = file.entry(header.position, header.size)
    with located(header.position, file.path):
        return read_columns(data, ["offset"], start_offset=next_offset, codecs=file.codecs).num_rows
