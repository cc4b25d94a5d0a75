"""The bytes that a broker reads for a fetch: from one segment, starting at the batch with an offset.

::

    offset ──► the segment ──► its offset index (a hint) ──► headers ──► the first batch that ends there or later
                                                                               │
                                          bytes up to a limit, which that batch may exceed ◄──┘

Source: org.apache.kafka.storage.internals.log: LocalLog.read, LogSegment.read. A door for `recordpress.broker`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from recordpress.errors import CorruptRecordError
from recordpress.files import RandomAccessFile
from recordpress.log._extent import near_the_end
from recordpress.log._file_records import FileRecords
from recordpress.log._header_walk import HeaderWalk
from recordpress.log._seek import SegmentSeek
from recordpress.log._transactions import (
    Isolation as Isolation,
    SegmentLike as SegmentLike,
    isolation_of,
)
from recordpress.log.sidecars.offset_index import OffsetPosition

if TYPE_CHECKING:
    from typing_extensions import Buffer


_WARM_ENTRIES = 1024  # AbstractIndex.warmEntries: 8192 bytes


class LogRead(NamedTuple):
    """Result of a read."""

    records: bytes
    first_entry_incomplete: bool = False
    upper_bound: int | None = None


class MemorySegment:
    """Record set in memory that takes the place of a segment."""

    base_offset = 0
    is_last = True  # every record set in memory may end in a truncated entry
    is_tiered = False

    def __init__(self, data: Buffer) -> None:
        self._data = memoryview(data).cast("B")

    def open(self) -> RandomAccessFile:
        return _MemoryFile(self._data)

    def records(self) -> FileRecords:
        return FileRecords(self.open(), complete=False)

    def open_sibling(self, suffix: str) -> RandomAccessFile:
        raise FileNotFoundError(suffix)


class _MemoryFile(RandomAccessFile):
    name = ""
    is_remote = False

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self.size = data.nbytes

    def read_at(self, position: int, length: int) -> bytes:
        return bytes(self._data[position : position + length])

    def close(self) -> None:
        pass


class PartitionRead:
    """A partition as a broker reads it: up to the first impossible entry, where its recovery would cut the log."""

    def __init__(self, segments: Iterable[SegmentLike], start_offset: int | None = None) -> None:
        self._segments: Sequence[SegmentLike] = tuple(segments)
        first = self._segments[0].base_offset if self._segments else 0
        self.start_offset = first if start_offset is None else start_offset
        self._end_position = 0
        self.end_offset = self.start_offset
        if self._segments:
            self._find_end(self._segments[-1])

    def _find_end(self, segment: SegmentLike) -> None:
        with segment.open() as file:
            headers = near_the_end(segment, FileRecords(file, complete=False))
            try:
                for _ in headers:
                    pass
            except CorruptRecordError:
                pass
            self._end_position = headers.position
            found = headers.next_offset
        self.end_offset = max(self.start_offset, segment.base_offset if found is None else found)

    def read(self, offset: int, max_bytes: int, minimum_one_batch: bool, end_offset: int | None = None) -> LogRead:
        """Return the result of a fetch that starts at an offset."""
        until = self.end_offset if end_offset is None else min(end_offset, self.end_offset)
        if offset >= until:
            return LogRead(b"")
        floor = max(bisect_right([segment.base_offset for segment in self._segments], offset) - 1, 0)
        while floor and self._segments[floor - 1].base_offset == self._segments[floor].base_offset:
            floor -= 1  # record sets in memory all have base offset 0
        for number in range(floor, len(self._segments)):
            with self._segments[number].open() as file:
                found = self._read_segment(number, file, offset, max_bytes, minimum_one_batch, until)
            if found is not None:
                return found
        return LogRead(b"")

    def isolation(self, high_watermark: int) -> Isolation:
        """Return the aborted transactions, and the last stable offset below a high watermark, even after damage."""
        found = isolation_of(self._segments, skip=True, high_watermark=high_watermark)
        stable = high_watermark if found.last_stable_offset is None else found.last_stable_offset
        return found._replace(
            aborted=tuple(transaction for transaction in found.aborted if transaction.last_offset < self.end_offset),
            last_stable_offset=min(max(stable, self.start_offset), high_watermark),
        )

    def _read_segment(
        self, number: int, file: RandomAccessFile, offset: int, max_bytes: int, whole: bool, until: int
    ) -> LogRead | None:
        segment = self._segments[number]
        size = self._end_position if segment is self._segments[-1] else file.size
        seek = SegmentSeek(file, segment.base_offset, segment.open_sibling)
        header = seek.offset(offset)
        if header is None or header.position >= size:
            return None
        end = self._position_of(seek, until, size)
        most = max(max_bytes, header.size) if whole else max_bytes
        length = max(min(end - header.position, most), 0)
        bound = self._upper_bound(number, seek, header.position + length)
        if not length:
            return LogRead(b"", upper_bound=bound)
        return LogRead(file.read_at(header.position, length), most < header.size, bound)

    def _upper_bound(self, number: int, seek: SegmentSeek, position: int) -> int:
        """Return the upper bound of a fetch (LogSegment.fetchUpperBoundOffset)."""
        index: Sequence[OffsetPosition] = seek.index or ()
        if index and index[-1].position and (slot := _upper_slot(index, position)) < len(index):
            return index[slot].offset
        for segment in self._segments[number + 1 :]:
            if segment.base_offset > self._segments[number].base_offset:
                return segment.base_offset
            with segment.open() as file, suppress(CorruptRecordError):
                for header in HeaderWalk(file):
                    return header.base_offset
        return self.end_offset

    def _position_of(self, seek: SegmentSeek, offset: int, size: int) -> int:
        """Return the position at which a read up to an offset ends."""
        if offset >= self.end_offset:
            return size
        header = seek.offset(offset)
        return size if header is None else min(header.position, size)


def _upper_slot(index: Sequence[OffsetPosition], position: int) -> int:
    """Search like AbstractIndex.smallestUpperBoundSlotFor: an entry at the position itself counts only if the search
    happens to meet it."""
    last = len(index) - 1
    warm = max(0, last - _WARM_ENTRIES)
    if index[warm].position < position:
        low, high = warm, last
    elif index[0].position > position:
        return 0
    else:
        low, high = 0, warm
    while low < high:
        middle = (low + high + 1) // 2
        found = index[middle].position
        if found == position:
            return middle
        if found > position:
            high = middle - 1
        else:
            low = middle
    return low + 1
