"""Batches of a log, described by their headers, with the fields of Kafka's DumpLogSegments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, NoReturn

from recordpress.codecs.table import PLUGGABLE, CodecTable
from recordpress.columns import read_columns
from recordpress.errors import ArgumentTypeError
from recordpress.files import located
from recordpress.log._log_order import Frontier
from recordpress.log._segment import Partition, Segment, tail_findings
from recordpress.log.findings import Finding
from recordpress.record.header import CODEC_BITS, FIELDS, BatchHeader

_CODECS = {id: name for name, id in CodecTable().ids.items()} | {PLUGGABLE: "pluggable"}
_IN_PLACE_OF = {  # columns of a log that replace a column of `recordpress.batch_table`
    "position": ("topic", "partition", "file", "position"),
    "baseTimestamp": (),
    "baseSequence": ("baseSequence", "lastSequence"),
    "hasDeleteHorizon": ("deleteHorizonMs",),
    "crc": ("crc", "isValid"),
}
BATCH_COLUMNS = tuple(column for name, *_ in FIELDS for column in _IN_PLACE_OF.get(name, (name,)))
_OWN = ("topic", "partition", "file", "compressionType", "isValid")  # columns that a header does not have
_NULLS = {name: null for name, *_, null in FIELDS}
_ATTRIBUTES = {name: re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name) for name in BATCH_COLUMNS}


def codec_name(header: BatchHeader) -> str:
    """Return Kafka's name for a batch's codec, or its id if Kafka has no name. Headers do not name plug-ins."""
    number = header.attributes & CODEC_BITS
    return _CODECS.get(number, str(number))


class LogBatch(NamedTuple):
    """Batch and its place in a log.

    Attributes
    ----------
    topic : str | None
    partition : int | None
    file : str
    header : BatchHeader
    is_valid : bool | None
        Whether the checksum is right; None if it was not checked. A check reads all bytes.

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
        """Name of the codec; its id if Kafka has no such codec."""
        return codec_name(self.header)

    @property
    def delete_horizon_ms(self) -> int | None:
        """Time from which the log cleaner may drop the batch's tombstones and markers (KIP-534); None if not set."""
        return self.header.delete_horizon_ms

    @property
    def timestamp_type(self) -> int:
        """Timestamp type: 0 create time, 1 log append time, -1 none."""
        return self.header.timestamp_type

    def to_dict(self) -> dict[str, object]:
        """Return the columns of `Log.batch_table` by name; times in ms since 1970."""
        return {name: self._value(name) for name in BATCH_COLUMNS}

    def _value(self, name: str) -> object:
        value = getattr(self if name in _OWN else self.header, _ATTRIBUTES[name])
        return None if value == _NULLS.get(name) else value


class BatchIterator(Iterator[LogBatch]):
    """Every batch of every segment, including batches that occur in more than one segment."""

    def __init__(self, partitions: Iterable[Partition], check_crcs: bool, findings: list[Finding] | None) -> None:
        self._batches = (
            batch
            for partition in partitions
            for segment in partition.segments
            for batch in _batches_in(partition, segment, check_crcs, findings)
        )

    def __next__(self) -> LogBatch:
        return next(self._batches)

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        """Raise an error: pandas would build a column of header objects."""
        raise ArgumentTypeError(
            "batches cannot be converted to a NumPy array: use log.batch_table().to_pandas() for a frame", field="log"
        )


def _batches_in(
    partition: Partition, segment: Segment, check_crcs: bool, findings: list[Finding] | None
) -> Iterator[LogBatch]:
    with segment.records() as file:
        walk = file.headers()
        for header in file.walk(walk):
            is_valid = walk.checksum_error() is None if check_crcs else None
            yield LogBatch(partition.topic, partition.partition, segment.url, header, is_valid)
        if findings is not None:
            findings += tail_findings(segment, file)


def count_of(partitions: Iterable[Partition]) -> int:
    """Return the number of records that a read of the partitions returns: every offset once, no control records."""
    return sum(_count_of(partition) for partition in partitions)


def _count_of(partition: Partition) -> int:
    count, frontier = 0, Frontier()
    for segment in partition.segments:
        with segment.records() as file:
            for header, windows in frontier.placed(segment, file, file.walk(), file.file.start, []):
                if header.is_control or windows == []:
                    continue
                if windows is not None:
                    count += sum(end - first for first, end in windows)
                elif header.records_count >= 0:
                    count += header.records_count
                elif frontier.opened is not None:  # a v0/v1 wrapper, whose header has no count
                    count += frontier.opened.records
                else:
                    data = file.entry(header.position, header.size)
                    with located(header.position, file.path):
                        count += read_columns(data, ["offset"], codecs=file.codecs).num_rows
    return count
