"""The header of one entry of a log, as plain data."""

from __future__ import annotations

from typing import NamedTuple

_SEQUENCES = 1 << 31  # they go from 0 to 2^31 - 1, and then begin again (DefaultRecordBatch.incrementSequence)
_CODEC, _LOG_APPEND_TIME, _TRANSACTIONAL, _CONTROL = 0x07, 0x08, 0x10, 0x20


class BatchHeader(NamedTuple):
    """A v2 batch or a v0/v1 message by its header alone.

    Attributes
    ----------
    position, size : int
        Of the whole entry in its file.
    magic, attributes : int
    base_offset, last_offset : int
        Of a v0/v1 wrapper both are the last offset: the first one is in its compressed records.
    records_count : int
        -1 for a v0/v1 wrapper.
    max_timestamp : int
        In ms; -1 for v0.
    crc : int
        As stored.
    partition_leader_epoch, producer_id, producer_epoch, base_sequence, base_timestamp : int
        -1 for v0 and v1.

    Examples
    --------
    >>> header = BatchHeader(0, 78, 2, 0x30, 32, 32, 1, 1795275971914, 0, 0, 14, 2, -1)
    >>> header.is_control, header.is_transactional, header.next_offset
    (True, True, 33)
    """

    position: int
    size: int
    magic: int
    attributes: int
    base_offset: int
    last_offset: int
    records_count: int
    max_timestamp: int
    crc: int
    partition_leader_epoch: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    base_timestamp: int = -1

    @property
    def end(self) -> int:
        """Where the next entry begins."""
        return self.position + self.size

    @property
    def next_offset(self) -> int:
        return self.last_offset + 1

    @property
    def is_control(self) -> bool:
        return self.magic == 2 and bool(self.attributes & _CONTROL)

    @property
    def is_transactional(self) -> bool:
        return self.magic == 2 and bool(self.attributes & _TRANSACTIONAL)

    @property
    def is_compressed(self) -> bool:
        return bool(self.attributes & _CODEC)

    @property
    def has_log_append_time(self) -> bool:
        return self.magic > 0 and bool(self.attributes & _LOG_APPEND_TIME)

    @property
    def last_sequence(self) -> int:
        """-1 where the batch has no sequence."""
        if self.base_sequence < 0:
            return -1
        return (self.base_sequence + self.last_offset - self.base_offset) % _SEQUENCES
