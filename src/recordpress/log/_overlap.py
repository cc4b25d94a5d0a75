"""Segments that overlap: which offsets each of them gives.

Each offset is read once. Reading begins in the last segment that begins at the wanted offset or before it. Each segment
is read to its end, and the next one from there on, as a consumer gets them (UnifiedLog.read: floorSegment, then
higherSegment). Kafka's LogLoader also drops everything in the range of a segment that replaces others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from recordpress._arguments import INT32_MAX
from recordpress._file_names import INDEX_FILE_SUFFIX
from recordpress.errors import RecordpressError
from recordpress.files import Buffered, LocalFileSystem, RandomAccessFile
from recordpress.log._end_offset import near_the_end
from recordpress.log._header_walk import HeaderWalk
from recordpress.log._segment import Segment
from recordpress.log.findings import Finding
from recordpress.log.sidecars.offset_index import ENTRY_SIZE, OffsetPosition, read_offset_index

_NEAR = 4  # segments before a split, whose ends its reader asks for
_TAIL_BYTES = 1_048_588  # what a batch has at most, by default (ServerLogConfigs.MAX_MESSAGE_BYTES_DEFAULT)


def is_before(following: Sequence[Segment], start_offset: int | None) -> bool:
    """Whether a segment ends before the wanted offset: the next one begins at or before it."""
    return start_offset is not None and bool(following) and following[0].base_offset <= start_offset


class ReadFrontier:
    """How far a partition was read.

    Parameters
    ----------
    offset : int | None
        Where reading begins.
    already_reported : str | None
        A segment whose overlap another reader reports.

    Attributes
    ----------
    offset : int | None
        The next one to read.
    url : str
        The segment that reaches up to there; empty if none was read.
    """

    def __init__(self, offset: int | None, already_reported: str | None = None) -> None:
        self.offset = offset
        self.url = ""
        self.already_reported = already_reported

    def passed(self, segment: Segment, next_offset: int | None) -> None:
        """A segment was read, which ends before an offset; None if it has no batch."""
        if next_offset is not None and next_offset > (self.offset or 0):
            self.offset, self.url = next_offset, segment.url

    def overlaps(self, segment: Segment) -> bool:
        """Whether segments before reach into this one."""
        return bool(self.url) and self.offset is not None and segment.base_offset < self.offset

    def finding(self, segment: Segment) -> Finding | None:
        """Return a finding if the next segment overlaps earlier ones."""
        if segment.url == self.already_reported or not self.overlaps(segment):
            return None
        last = (self.offset or 0) - 1
        message = f"offsets from {segment.base_offset} to {last} are also in {self.url}: they are read from there"
        return Finding(segment.url, None, None, segment.base_offset, "segment overlap", message)


class OverlapCandidates:
    """The segments that were planned, of which some may reach into the next one.

    Only a segment itself says where it ends. On this machine the one that reaches furthest is remembered: by the last
    offset of its index; by its own last headers without an index, or with one that ends long before. What reaches
    further than its index says is seen if it is one of the last few; in a store, where each costs a request, if it is
    the last one.
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
        """Return the segments that may have the offset."""
        if self._furthest is not None and self._offset >= offset and self._furthest not in self._near:
            return (self._furthest, *self._near)
        return tuple(self._near)


def _offset_near_the_end(segment: Segment) -> int | None:
    """The last offset in the index of a local segment, or of the segment itself."""
    if not isinstance(segment.filesystem, LocalFileSystem):
        return None
    try:
        entry = _last_entry(segment)
        if entry is not None and (segment.size or 0) - entry.position <= _TAIL_BYTES:
            return entry.offset
        with segment.open() as file:
            end = _end_by_tail(segment, file)
        return None if end is None else end - 1
    except (OSError, ValueError):
        return None  # its reader reports it


def _last_entry(segment: Segment) -> OffsetPosition | None:
    """Of an offset index. Without entries it is that of one batch, or of small ones."""
    if INDEX_FILE_SUFFIX not in segment.files:
        return None
    with suppress(RecordpressError), segment.open_sibling(INDEX_FILE_SUFFIX) as file:
        end = file.size // ENTRY_SIZE * ENTRY_SIZE
        last = read_offset_index(file.read_exactly(end - ENTRY_SIZE, ENTRY_SIZE) if end else b"", segment.base_offset)
        return last[-1] if last else OffsetPosition(segment.base_offset, 0)
    return None


def _end_by_tail(segment: Segment, file: RandomAccessFile) -> int | None:
    """The offset after the last batch, or a larger one: from a batch near the end from which others lead there.

    A record's value may itself be a batch: if that is found first, it does not lead to the end of the file.
    """
    start = max(file.size - _TAIL_BYTES, 0)
    hop, ends = HeaderWalk(file, position=start), []
    is_found = not start or hop.search(start, segment.base_offset, segment.base_offset + INT32_MAX)
    while is_found:
        ends.append(_walked(hop))
        if hop.position == hop.end:
            break
        is_found = hop.search(hop.position + 1, segment.base_offset, segment.base_offset + INT32_MAX)
    else:  # the last batch is larger than most, or damaged
        ends.append(_walked(HeaderWalk(file)))
    return max((end for end in ends if end is not None), default=None)


def _walked(hop: HeaderWalk) -> int | None:
    """The offset after the last entry that a walk comes to."""
    with suppress(RecordpressError):
        for _ in hop:
            pass
    return hop.next_offset


def reached_after(
    before: Sequence[Segment], segment: Segment, start_offset: int | None, already_reported: str | None
) -> ReadFrontier:
    """How far the segments before were read, if that is into this one; else where reading begins."""
    reached = ReadFrontier(start_offset, already_reported)
    for one in before:
        with suppress(FileNotFoundError):  # its reader reports it
            reached.passed(one, _end_beyond(one, segment.base_offset))
    return reached if reached.overlaps(segment) else ReadFrontier(start_offset, already_reported)


def _end_beyond(segment: Segment, offset: int) -> int | None:
    """The offset after the last batch of a segment, if that is after this one; else perhaps None.

    From its last headers; without an index all of them are read, if the last ones say that it goes so far. Whoever
    reads the segment reports damage.
    """
    with segment.records(complete=False) as file:
        if INDEX_FILE_SUFFIX not in segment.files and file.size > _TAIL_BYTES:
            source = Buffered(file.file) if file.file.is_remote else file.file
            end = _end_by_tail(segment, source)
            if end is None or end <= offset:
                return None
        return _walked(near_the_end(segment, file))
