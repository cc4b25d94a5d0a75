"""Segments that overlap: which offsets each of them gives.

Each offset is read once. Reading begins in the last segment that begins at the wanted offset or before it. Each segment
is read to its end, and the next one from there on, as a consumer gets them (UnifiedLog.read: floorSegment, then
higherSegment). Kafka's LogLoader also drops whatever is in the range of a segment that replaces others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from kpress._file_names import INDEX_FILE_SUFFIX
from kpress.errors import KpressError
from kpress.files import LocalFileSystem
from kpress.log._end import near_the_end
from kpress.log._file_records import FileRecords
from kpress.log._offset_index import ENTRY_SIZE, read_offset_index
from kpress.log._segment import Segment
from kpress.log.findings import Finding

_NEAR = 4  # segments before a split, whose ends whoever reads it asks for
_SMALL_BYTES = 16 << 20  # of a segment without an index, whose headers are all read


def is_before(following: Sequence[Segment], start_offset: int | None) -> bool:
    """Whether a segment ends before the wanted offset: the next one begins at or before it."""
    return start_offset is not None and bool(following) and following[0].base_offset <= start_offset


class Reached:
    """How far a partition was read.

    Parameters
    ----------
    offset : int | None
        Where reading begins.
    told : str | None
        A segment whose overlap another reader tells of.

    Attributes
    ----------
    offset : int | None
        The next one to read.
    url : str
        The segment that reaches up to there; empty if none was read.
    """

    def __init__(self, offset: int | None, told: str | None = None) -> None:
        self.offset = offset
        self.url = ""
        self.told = told

    def passed(self, segment: Segment, next_offset: int | None) -> None:
        """A segment was read, which ends before an offset; None if it has no batch."""
        if next_offset is not None and next_offset > (self.offset or 0):
            self.offset, self.url = next_offset, segment.url

    def overlaps(self, segment: Segment) -> bool:
        """Whether segments before reach into this one."""
        return bool(self.url) and self.offset is not None and segment.base_offset < self.offset

    def finding(self, segment: Segment) -> Finding | None:
        """What is to be said of the next segment, if it overlaps those before it."""
        if segment.url == self.told or not self.overlaps(segment):
            return None
        last = (self.offset or 0) - 1
        message = f"offsets from {segment.base_offset} to {last} are also in {self.url}: they are read from there"
        return Finding(segment.url, None, None, segment.base_offset, "segment overlap", message)


class Passed:
    """The segments that were planned, of which some may reach into the next one.

    Only a segment itself says where it ends. Its offset index has an offset near its end: on this machine the segment
    with the largest one is remembered. What reaches further than its index says is seen if it is one of the last few;
    in a store, where each costs a request, if it is the last one.
    """

    def __init__(self) -> None:
        self._near: deque[Segment] = deque(maxlen=_NEAR)
        self._furthest: Segment | None = None
        self._offset = -1

    def add(self, segment: Segment) -> None:
        """The next one."""
        if not isinstance(segment.filesystem, LocalFileSystem):
            self._near.clear()
        self._near.append(segment)
        offset = _offset_near_the_end(segment)
        if offset is not None and offset > self._offset:
            self._furthest, self._offset = segment, offset

    def may_reach(self, offset: int) -> tuple[Segment, ...]:
        """Those that may have the offset."""
        if self._furthest is not None and self._offset >= offset and self._furthest not in self._near:
            return (self._furthest, *self._near)
        return tuple(self._near)


def _offset_near_the_end(segment: Segment) -> int | None:
    """The last one of a local offset index."""
    if not isinstance(segment.filesystem, LocalFileSystem) or INDEX_FILE_SUFFIX not in segment.files:
        return None
    try:
        with segment.open_sibling(INDEX_FILE_SUFFIX) as file:
            last = file.read_exactly(file.size // ENTRY_SIZE * ENTRY_SIZE - ENTRY_SIZE, ENTRY_SIZE)
        index = read_offset_index(last, segment.base_offset)
        return index[-1].offset if index else None
    except (OSError, ValueError, KpressError):
        return None  # whoever reads the segment says so


def reached_after(
    before: Sequence[Segment], segment: Segment, start_offset: int | None, told: str | None
) -> Reached:
    """How far the segments before were read, if that is into this one; else where reading begins."""
    reached = Reached(start_offset, told)
    for one in before:
        if _is_known(one):
            with suppress(FileNotFoundError):  # whoever reads it says so
                reached.passed(one, next_offset_of(one))
    return reached if reached.overlaps(segment) else Reached(start_offset, told)


def _is_known(segment: Segment) -> bool:
    """Whether few bytes are enough to know the end of a segment."""
    return INDEX_FILE_SUFFIX in segment.files or (segment.size is not None and segment.size <= _SMALL_BYTES)


def next_offset_of(segment: Segment) -> int | None:
    """The offset after the last batch of a segment, from its last headers.

    None if it has no batch, or if all of a remote file would have to be read. Whoever reads the segment reports damage.
    """
    with FileRecords(segment.open(), complete=False) as file:
        if file.file.is_remote and INDEX_FILE_SUFFIX not in segment.files:
            return None
        hop = near_the_end(segment, file)
        with suppress(KpressError):
            for _ in hop:
                pass
        return hop.next_offset
