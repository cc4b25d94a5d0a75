"""What a broker keeps of a damaged segment when it starts after a crash (LogSegment.recover, LogLoader.recoverLog).

It keeps the entries before the first one that is cut, impossible, or has a wrong checksum, and removes everything after
them, later segments included. Nothing is kept if the offsets that it puts into the index do not ascend. It trusts other
fields that no checksum covers: a leader epoch, an offset, even a magic above 2, which it reads as 2.
"""

from __future__ import annotations

import struct
from typing import Any

from recordpress.log._batch_header import BatchHeader
from recordpress.log.check.damage_walk import BadRange
from recordpress.log.check.rebuild import INDEX_INTERVAL_BYTES
from recordpress.record import read_batches

_HEADER = struct.Struct(">qiibIhi")  # base offset, size, leader epoch, magic, CRC, attributes, last offset delta
_MAGIC_AT = 16
_HEADER_SIZE = 61


class Recovery:
    """What recovery would keep of one segment, entry by entry.

    Parameters
    ----------
    file : RandomAccessFile
    base_offset : int
    index_interval_bytes : int

    Attributes
    ----------
    keeps : int
        Bytes at the file's beginning.
    next_offset : int
        After the last entry in them.
    stopped : bool
        Whether it found something to cut.
    """

    def __init__(self, file: Any, base_offset: int, index_interval_bytes: int = INDEX_INTERVAL_BYTES) -> None:
        self.file = file
        self.base_offset = base_offset
        self.keeps = 0
        self.next_offset = base_offset
        self.stopped = False
        self._interval = index_interval_bytes
        self._indexed = (0, base_offset - 1)  # position and offset of the last entry of the index

    def add(self, header: BatchHeader) -> None:
        """An intact entry."""
        if not self.stopped:
            self._keep(header.position, header.size, header.last_offset)

    def add_bad(self, bad: BadRange) -> None:
        """Bytes without one."""
        if self.stopped:
            return
        if bad.field == "magic" and (found := self._as_v2(bad)):
            self._keep(bad.position, *found)
        else:
            self.stopped = True

    def _keep(self, position: int, size: int, last_offset: int) -> None:
        if position - self._indexed[0] > self._interval:
            if last_offset <= self._indexed[1]:  # InvalidOffsetException: the segment is emptied
                self.stopped = True
                self.keeps, self.next_offset = 0, self.base_offset
                return
            self._indexed = (position, last_offset)
        self.keeps = position + size
        self.next_offset = last_offset + 1

    def _as_v2(self, bad: BadRange) -> tuple[int, int] | None:
        """Size and last offset of an entry whose magic is above 2, if it is intact as a v2 batch."""
        if bad.size < _HEADER_SIZE:
            return None
        base, length, _, magic, _, _, delta = _HEADER.unpack(self.file.read_exactly(bad.position, _HEADER.size))
        if magic <= 2 or not _HEADER_SIZE <= length + 12 <= bad.size:
            return None
        data = bytearray(self.file.read_exactly(bad.position, length + 12))
        data[_MAGIC_AT] = 2
        [batch] = read_batches(data)
        return (length + 12, base + delta) if batch.is_valid() else None
