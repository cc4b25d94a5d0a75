"""Segments that overlap: which offsets each of them gives.

Each offset is read once. Reading begins in the last segment that begins at the wanted offset or before it. Each segment
is read to its end, and the next one from there on, as a consumer gets them (UnifiedLog.read: floorSegment, then
higherSegment). Kafka's LogLoader also drops whatever is in the range of a segment that replaces others.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from kpress._file_names import INDEX_FILE_SUFFIX
from kpress.errors import KpressError
from kpress.files import LocalFileSystem
from kpress.log._end import near_the_end
from kpress.log._file_records import FileRecords
from kpress.log._segment import Segment
from kpress.log.findings import Finding

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

    Attributes
    ----------
    offset : int | None
        The next one to read.
    url : str
        The segment that reaches up to there; empty if none was read.
    """

    def __init__(self, offset: int | None) -> None:
        self.offset = offset
        self.url = ""

    def passed(self, segment: Segment, next_offset: int | None) -> None:
        """A segment was read, which ends before an offset; None if it has no batch."""
        if next_offset is not None and next_offset > (self.offset or 0):
            self.offset, self.url = next_offset, segment.url

    def finding(self, segment: Segment) -> Finding | None:
        """What is to be said of the next segment, if it overlaps those before it."""
        if not self.url or self.offset is None or segment.base_offset >= self.offset:
            return None
        message = (
            f"offsets from {segment.base_offset} to {self.offset - 1} are also in {self.url}: they are read from there"
        )
        return Finding(segment.url, None, None, segment.base_offset, "segment overlap", message)


def is_cheap(segment: Segment) -> bool:
    """Whether the end of a segment is known from a few bytes on this machine."""
    is_small = INDEX_FILE_SUFFIX in segment.files or (segment.size is not None and segment.size <= _SMALL_BYTES)
    return is_small and isinstance(segment.filesystem, LocalFileSystem)


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
