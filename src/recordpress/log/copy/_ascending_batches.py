"""The largest set of batches of a damaged log whose offsets ascend.

The checksum does not cover a base offset, so an intact batch may be in the wrong place; and a block of an older file
may be in the middle of this one. If batches were taken as they come, one offset that is too high would displace all
batches after it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left

from recordpress.record.header import BatchHeader


class Batches:
    """Positions and offsets of a partition's intact batches, in little memory."""

    def __init__(self) -> None:
        self.segment = array("i")
        self.position = array("q")
        self.size = array("i")
        self.first = array("q")
        self.last = array("q")

    def add(self, segment: int, header: BatchHeader) -> None:
        self.segment.append(segment)
        self.position.append(header.position)
        self.size.append(header.size)
        # the header of a v0/v1 wrapper has only the last offset
        self.first.append(header.base_offset)
        self.last.append(header.last_offset)

    def __len__(self) -> int:
        return len(self.first)

    def chain(self) -> array[int]:
        """Return the numbers of the largest set of batches in which each begins after the previous one ends."""
        ends: list[int] = []  # by length of a chain: its smallest last offset (patience sorting)
        at: list[int] = []  # the batch with that last offset
        before = array("q")
        for number in range(len(self)):
            length = bisect_left(ends, self.first[number])
            before.append(at[length - 1] if length else -1)
            if length == len(ends):
                ends.append(self.last[number])
                at.append(number)
            elif self.last[number] < ends[length]:
                ends[length], at[length] = self.last[number], number
        chain = array("q")
        number = at[-1] if at else -1
        while number >= 0:
            chain.append(number)
            number = before[number]
        chain.reverse()
        return chain
