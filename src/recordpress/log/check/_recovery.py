"""A broker's recovery of a damaged segment when it starts after a crash (LogSegment.recover, LogLoader.recoverLog).

It keeps the entries before the first one that is truncated, impossible, or has a wrong checksum, and removes everything
after them, later segments included. Nothing is kept if the offsets that it puts into the indexes do not ascend. It
trusts other fields that no checksum covers: a leader epoch, an offset, even a magic above 2, which it reads as 2.

It refuses the partition if an offset is out of its segment's range (LogLoader.retryOnOffsetOverflow), unless it is in
the last batch of the segment, which then becomes a segment. It also refuses the partition if offsets do not ascend in a
segment without an index: LogLoader.loadSegmentFiles recovers that before recoverLog, and does not handle the error.
"""

from __future__ import annotations

from typing import Any

from recordpress._arguments import INT32_MAX, INT64_MAX
from recordpress.errors import CorruptRecordError
from recordpress.log.check.damage_walk import OFFSETS_RULE, BadRange
from recordpress.log.check.rebuild import INDEX_INTERVAL_BYTES
from recordpress.record import read_batches
from recordpress.record.header import HEADER_SIZE, MAGIC_AT, BatchHeader, read_header


class Recovery:
    """Result of recovery for one segment, entry by entry."""

    def __init__(
        self, file: Any, base_offset: int, index_interval_bytes: int = INDEX_INTERVAL_BYTES, has_index: bool = True
    ) -> None:
        self.file = file
        self.base_offset = base_offset
        self.keeps = 0
        self.next_offset = base_offset
        self.stopped = False
        self.refusal = ""  # why the broker does not open the partition
        self._interval = index_interval_bytes
        self._has_index = has_index
        self._indexed = (0, base_offset - 1)  # position and offset of the last entry of the index
        self._latest = (-1, -1)  # the largest timestamp, and the last offset of its batch
        self._timed: tuple[int, int] | None = None  # the last entry of the time index
        self._beyond: int | None = None  # the last offset of a batch that is out of the segment's range

    def add(self, header: BatchHeader) -> None:
        """Add an intact entry."""
        if not self.stopped:
            self._keep(header.position, header.size, header.last_offset, header.max_timestamp)

    def add_bad(self, bad: BadRange) -> None:
        """Add bytes without an intact entry."""
        if self.stopped:
            return
        if bad.rule == OFFSETS_RULE:
            header = read_header(self.file.read_exactly(bad.position, bad.size))
            self._keep(bad.position, header.size, header.last_offset, header.max_timestamp)
        elif bad.field == "magic" and (found := self._as_v2(bad)):
            self._keep(bad.position, *found, -1)
        else:
            self.stopped = True

    def end(self) -> None:
        """End the segment."""
        if self.refusal:
            return
        beyond = self._beyond
        if beyond is not None and not (self.base_offset + INT32_MAX < beyond == self.next_offset - 1 < INT64_MAX):
            self._refuse(f"offset {beyond} is out of the range of the segment")
        elif self._beyond is None and not self._add_time():
            self._empty()

    @property
    def is_split(self) -> bool:
        """Whether the last batch, whose offset is beyond the segment's range, becomes another segment."""
        return self._beyond is not None and not self.refusal

    def _keep(self, position: int, size: int, last_offset: int, timestamp: int) -> None:
        if self._beyond is None and not 0 <= last_offset - self.base_offset <= INT32_MAX:
            self._beyond = (
                last_offset  # LogSegmentOffsetOverflowException: the segment is split if this is its last batch
            )
        if timestamp > self._latest[0]:
            self._latest = (timestamp, last_offset)
        if position - self._indexed[0] > self._interval and self._beyond is None:
            if last_offset <= self._indexed[1] or not self._add_time():
                self._empty()
                return
            self._indexed = (position, last_offset)
        self.keeps = position + size
        self.next_offset = last_offset + 1

    def _add_time(self) -> bool:
        """Add a time index entry if one is due; return False if its offset is below that of the last entry."""
        if self._timed is not None and self._latest[1] < self._timed[1]:
            return False
        if self._latest[0] > (self._timed or (-1,))[0]:
            self._timed = self._latest
        return True

    def _empty(self) -> None:
        """Empty the segment after an InvalidOffsetException, as recoverLog does; a segment without an index is not
        emptied."""
        self.stopped = True
        self.keeps, self.next_offset = 0, self.base_offset
        if not self._has_index:
            self._refuse("the offsets that it would put into an index do not ascend")

    def _refuse(self, why: str) -> None:
        self.stopped = True
        self.refusal = why

    def _as_v2(self, bad: BadRange) -> tuple[int, int] | None:
        """Return size and last offset of an entry whose magic is above 2, if it is intact as a v2 batch."""
        if bad.size < HEADER_SIZE:
            return None
        data = bytearray(self.file.read_exactly(bad.position, HEADER_SIZE))
        if not 2 < data[MAGIC_AT] < 0x80:
            return None
        data[MAGIC_AT] = 2
        try:
            header = read_header(data)
        except CorruptRecordError:
            return None
        if header.size > bad.size:
            return None
        data += self.file.read_exactly(bad.position + HEADER_SIZE, header.size - HEADER_SIZE)
        [batch] = read_batches(data)
        return (header.size, header.last_offset) if batch.is_valid() else None
