"""Parts of segments: several readers share one file, each with the batches that begin in its bytes.

::

    .log   ├────── batch ──────┼── batch ──┼───── batch ─────┤
    cut                 ▲ byte c: the parts meet where the first batch at c or later begins
                                ▲

On this machine all headers before the cut are read. In a store that place is found from the last entry of ``.index``
before the cut. Without an index it is searched for: a batch whose checksum is right, with offsets that a batch of this
segment may have, and with others after it that lead on. A record's value may itself be such a batch; if what follows
does not lead on, headers are read from the segment's beginning. The reader of the part before the cut ends there: if it
were no batch of the log, that part would not end with a whole batch, which is an error.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, fields, replace
from typing import Any

from recordpress._arguments import INT32_MAX, INT64_MAX
from recordpress._file_names import INDEX_FILE_SUFFIX
from recordpress.errors import RecordpressError
from recordpress.files import FilePart, RandomAccessFile, buffered
from recordpress.log._header_walk import HeaderWalk
from recordpress.log._segment import Segment
from recordpress.log.sidecars.offset_index import read_offset_index

_PROOF_BATCHES = 64  # that must lead on, unless the file ends before


@dataclass(frozen=True)
class SegmentPart(Segment):
    """The batches of a segment from one byte to another, both of which a batch begins at, or the file's end."""

    whole: Segment = field(kw_only=True)
    start: int = field(kw_only=True)
    end: int = field(kw_only=True)
    extent_before: tuple[int, int] | None = field(kw_only=True, default=None)  # of headers that were read

    def open(self) -> RandomAccessFile:
        return FilePart(self.whole.open(), self.start, self.end)

    def open_sibling(self, suffix: str) -> RandomAccessFile:
        return self.whole.open_sibling(suffix)


def part_of(segment: Segment, start: int, end: int | None) -> Segment:
    """The batches of a segment that begin at the byte `start` or later, and before the byte `end`."""
    if not start and end is None:
        return segment
    with segment.open() as file:
        source = buffered(file) if file.is_remote else file
        walk = None if file.is_remote else HeaderWalk(file)
        first = _entry_from(segment, source, start, walk)
        extent = walk.extent if walk else None
        after = file.size if end is None else max(first, _entry_from(segment, source, end, walk))
        part = part_between(segment, first, after)
        return replace(part, is_last=segment.is_last and after == file.size, extent_before=extent)


def part_between(segment: Segment, start: int, end: int) -> SegmentPart:
    """The batches between two places where batches begin."""
    same: dict[str, Any] = {one.name: getattr(segment, one.name) for one in fields(Segment)}
    whole = segment.whole if isinstance(segment, SegmentPart) else segment
    return SegmentPart(**same | {"size": end - start, "is_last": False}, whole=whole, start=start, end=end)


def _entry_from(segment: Segment, file: RandomAccessFile, position: int, walk: HeaderWalk | None) -> int:
    """Where the first entry at a position or later begins; or the file's end."""
    if position <= 0:
        return 0
    if position >= file.size:
        return file.size
    if walk is not None:
        return _by_walk(segment, walk, position)
    found = _by_index(segment, file, position)
    return _by_search(segment, file, position) if found is None else found


def _by_walk(segment: Segment, walk: HeaderWalk, position: int) -> int:
    """All headers before the position are read, as a reader of the whole file passes them, damage included."""
    while walk.position < position:
        try:
            if not walk.pass_over(position):
                return walk.end
        except RecordpressError:
            if not walk.search(walk.position + 1, *_offsets(segment)):
                return walk.end
    return walk.position


def _by_index(segment: Segment, file: RandomAccessFile, position: int) -> int | None:
    try:
        with segment.open_sibling(INDEX_FILE_SUFFIX) as index_file:
            index = read_offset_index(index_file, segment.base_offset)
    except (FileNotFoundError, RecordpressError):
        return None
    number = bisect_right(index, position, key=lambda entry: entry.position)
    at = index[number - 1].position if number else 0
    hop = HeaderWalk(file, position=at)
    return _walked(hop, position) if hop.at_entry(at, *_offsets(segment)) else None


def _walked(hop: HeaderWalk, position: int) -> int | None:
    """Where the walk passes a position; the end of the file if whole entries end before it; None at damage."""
    try:
        while hop.position < position:
            if next(hop, None) is None:
                return hop.end
    except RecordpressError:
        return None
    return hop.position


def _by_search(segment: Segment, file: RandomAccessFile, position: int) -> int:
    hop = HeaderWalk(file)
    is_found = hop.search(position, *_offsets(segment))
    found = hop.position if is_found else file.size
    if is_found and _leads_on(HeaderWalk(file, position=found)):
        return found
    walked = _walked(HeaderWalk(file), position)
    return found if walked is None else walked


def _leads_on(hop: HeaderWalk) -> bool:
    """Whether entries with rising offsets follow one another from here on."""
    next_offset = 0
    try:
        for _ in range(_PROOF_BATCHES):
            header = next(hop, None)
            if header is None:
                return hop.position == hop.end
            if header.base_offset < next_offset or header.last_offset < header.base_offset:
                return False
            next_offset = header.next_offset
    except RecordpressError:
        return False
    return True


def _offsets(segment: Segment) -> tuple[int, int]:
    return segment.base_offset, min(segment.base_offset + INT32_MAX, INT64_MAX)
