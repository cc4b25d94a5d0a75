"""What a broker reads of a partition for a fetch: bytes of one segment, from the batch with an offset on.

::

    offset ──► the segment ──► its offset index (a hint) ──► headers ──► the first batch that ends with it or later
                                                                               │
                                          bytes up to a limit, which that batch may exceed ◄──┘

Source: org.apache.kafka.storage.internals.log: LocalLog.read, LogSegment.read. A door for `kpress.broker`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kpress.errors import CorruptRecordError
from kpress.files import RandomAccessFile
from kpress.log._end import SegmentFiles as SegmentFiles
from kpress.log._end import near_the_end
from kpress.log._file_records import FileRecords
from kpress.log._seek import SegmentSeek

if TYPE_CHECKING:
    from typing_extensions import Buffer


class LogRead(NamedTuple):
    """What was read.

    Attributes
    ----------
    records : bytes
        Of whole entries, but for the last one, which the limit may cut.
    first_entry_incomplete : bool
        Whether not even the first one is whole.
    """

    records: bytes
    first_entry_incomplete: bool = False


class MemorySegment:
    """A record set in memory in the place of a segment.

    Parameters
    ----------
    data : bytes-like
    """

    base_offset = 0

    def __init__(self, data: Buffer) -> None:
        self._data = memoryview(data).cast("B")

    def open(self) -> RandomAccessFile:
        return _MemoryFile(self._data)

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
    """A partition that is read as a broker reads it.

    Its log ends before the first impossible entry of the last segment, where a broker's recovery would cut it.

    Parameters
    ----------
    segments : sequence of Segment or MemorySegment
        In order.
    start_offset : int, optional
        Of the log; by default where its first segment begins.

    Attributes
    ----------
    start_offset, end_offset : int

    Examples
    --------
    >>> import kpress
    >>> from kpress.log.partition_read import MemorySegment, PartitionRead
    >>> data = b"".join(kpress.write_records([b"x"] * 10, base_offset=at) for at in (0, 10, 20))
    >>> partition = PartitionRead([MemorySegment(data)])
    >>> partition.end_offset
    30
    >>> [batch.base_offset for batch in kpress.read_batches(partition.read(15, 200, True).records)]
    [10]
    """

    def __init__(self, segments: Iterable[SegmentFiles], start_offset: int | None = None) -> None:
        self._segments: Sequence[SegmentFiles] = tuple(segments)
        first = self._segments[0].base_offset if self._segments else 0
        self.start_offset = first if start_offset is None else start_offset
        self._end_position = 0
        self.end_offset = self.start_offset
        if self._segments:
            self._find_end(self._segments[-1])

    def _find_end(self, segment: SegmentFiles) -> None:
        with segment.open() as file:
            hop = near_the_end(segment, FileRecords(file, complete=False))
            try:
                for _ in hop:
                    pass
            except CorruptRecordError:
                pass
            self._end_position = hop.position
            found = hop.next_offset
        self.end_offset = max(self.start_offset, segment.base_offset if found is None else found)

    def read(self, offset: int, max_bytes: int, minimum_one_batch: bool, end_offset: int | None = None) -> LogRead:
        """What a fetch from an offset reads.

        Parameters
        ----------
        offset : int
            From start_offset to end_offset.
        max_bytes : int
        minimum_one_batch : bool
            The first batch is read as a whole, also if it is larger than max_bytes.
        end_offset : int, optional
            Reading ends before the batch with this offset.

        Returns
        -------
        LogRead

        Raises
        ------
        CorruptRecordError
            An impossible entry comes before the offset.
        """
        until = self.end_offset if end_offset is None else min(end_offset, self.end_offset)
        if offset >= until:
            return LogRead(b"")
        floor = max(bisect_right([segment.base_offset for segment in self._segments], offset) - 1, 0)
        while floor and self._segments[floor - 1].base_offset == self._segments[floor].base_offset:
            floor -= 1  # record sets in memory, whose offsets no name tells
        for segment in self._segments[floor:]:
            with segment.open() as file:
                found = self._read_segment(segment, file, offset, max_bytes, minimum_one_batch, until)
            if found is not None:
                return found
        return LogRead(b"")

    def _read_segment(
        self, segment: SegmentFiles, file: RandomAccessFile, offset: int, max_bytes: int, whole: bool, until: int
    ) -> LogRead | None:
        size = self._end_position if segment is self._segments[-1] else file.size
        seek = SegmentSeek(file, segment.base_offset, segment.open_sibling)
        header = seek.offset(offset)
        if header is None or header.position >= size:
            return None
        end = self._position_of(seek, until, size)
        most = max(max_bytes, header.size) if whole else max_bytes
        if not most or header.position >= end:
            return LogRead(b"")
        records = file.read_at(header.position, min(end - header.position, most))
        return LogRead(records, most < header.size)

    def _position_of(self, seek: SegmentSeek, offset: int, size: int) -> int:
        """Where reading ends that ends before an offset."""
        if offset >= self.end_offset:
            return size
        header = seek.offset(offset)
        return size if header is None else min(header.position, size)
