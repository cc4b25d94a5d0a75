"""Parts of segments: several readers share one file, and each reads the batches that begin in its byte range.

::

    .log   ├────── batch ──────┼── batch ──┼───── batch ─────┤
    cut                 ▲ byte c: the parts meet where the first batch at c or later begins
                                ▲

Headers are read up to that place from the last entry of ``.index`` before the cut, if an intact batch begins there.
Otherwise, on this machine, all headers before the cut are read, once for all cuts of a plan. In a store, the file is
searched for a batch with a right checksum and with offsets that fit the segment. A record's value may itself be such a
batch: unless enough batches, or all up to the end of the file, follow one another from there, headers are read from the
segment's beginning. The reader of the part before the cut ends at the same place: if no batch of the log began there,
that part would not end with a complete batch, which raises an error.
"""

from __future__ import annotations

from bisect import bisect_left
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from recordpress._arguments import INT32_MAX, INT64_MAX
from recordpress.errors import RecordpressError
from recordpress.files import FilePart, RandomAccessFile, buffered, walked
from recordpress.log._extent import is_checked, last_entry, offset_index_of
from recordpress.log._header_walk import HeaderWalk
from recordpress.log._segment import Segment
from recordpress.log.sidecars.offset_index import OffsetIndex

_PROOF_BATCHES = 64  # that must follow one another, unless the file ends before; chosen, not measured


@dataclass(frozen=True, slots=True)
class SegmentPart(Segment):
    """The batches of a segment between two positions, each of which is the start of a batch or the end of the file."""

    whole: Segment = field(kw_only=True)
    start: int = field(kw_only=True)
    end: int = field(kw_only=True)
    extent_before: tuple[int, int] | None = field(kw_only=True, default=None)  # of headers, if they were read

    def open(self) -> RandomAccessFile:
        return FilePart(self.whole.open(), self.start, self.end)

    def open_sibling(self, suffix: str) -> RandomAccessFile:
        return self.whole.open_sibling(suffix)


class EntryPlace(NamedTuple):
    """Position of an entry, and the extent of the headers before it."""

    position: int
    extent: tuple[int, int] | None


def entry_places(segment: Segment, positions: list[int]) -> list[EntryPlace | None]:
    """Find the first entry at or after each position by one walk over the headers, if no index helps."""
    entry = last_entry(segment) if is_checked(segment) else None
    if is_checked(segment) and (entry is None or not entry.position):
        with (
            suppress(OSError, RecordpressError),
            segment.open() as file,
            walked(file) as source,
        ):  # reported when the segment is read
            walk = HeaderWalk(source)
            return [EntryPlace(_walked_to(walk, segment, position), walk.extent) for position in positions]
    return [None] * len(positions)


def part_of(
    segment: Segment,
    start: int,
    end: int | None,
    start_place: EntryPlace | None = None,
    end_place: EntryPlace | None = None,
) -> Segment:
    """Return the batches that begin between two bytes of a segment; a known place is used if a batch is there."""
    if not start and end is None:
        return segment
    with segment.open() as file:
        source, index = buffered(file), offset_index_of(segment)
        first, extent = _entry_from(segment, source, index, start, start_place)
        after = file.size if end is None else max(first, _entry_from(segment, source, index, end, end_place).position)
        part = part_between(segment, first, after)
        return replace(part, is_last=segment.is_last and after == file.size, extent_before=extent)


def part_between(segment: Segment, start: int, end: int) -> SegmentPart:
    """Return the batches between two places where batches begin."""
    same: dict[str, Any] = {one.name: getattr(segment, one.name) for one in fields(Segment)}
    whole = segment.whole if isinstance(segment, SegmentPart) else segment
    return SegmentPart(**same | {"size": end - start, "is_last": False}, whole=whole, start=start, end=end)


def _entry_from(
    segment: Segment, file: RandomAccessFile, index: OffsetIndex | None, position: int, known: EntryPlace | None
) -> EntryPlace:
    """Return the place of the first entry at a position or later, or of the file's end."""
    if position <= 0 or position >= file.size:
        return EntryPlace(max(0, min(position, file.size)), None)
    if known is not None and (known.position == file.size or _is_sound(file, known.position)):
        return known
    walk = None if index is None else _indexed(segment, file, index, position)
    if walk is None or not _passes(walk, position):
        if not is_checked(segment):
            return EntryPlace(_by_search(segment, file, position), None)
        walk = HeaderWalk(file)
        return EntryPlace(_walked_to(walk, segment, position), walk.extent)
    return EntryPlace(_reached(walk, position), walk.extent)


def _walked_to(walk: HeaderWalk, segment: Segment, position: int) -> int:
    while not _passes(walk, position) and walk.search(walk.position + 1, *_offsets(segment)):
        pass  # over damage, as a reader of the whole file does
    return _reached(walk, position)


def _indexed(segment: Segment, file: RandomAccessFile, index: OffsetIndex, position: int) -> HeaderWalk | None:
    """Return a walk from the last index entry before a position, or None if the log contradicts it; in a store, only
    the header there is compared."""
    number = bisect_left(index, position, key=lambda entry: entry.position)
    if not number:
        return HeaderWalk(file)
    offset, at = index[number - 1]
    walk = HeaderWalk(file, position=at)
    if not walk.at_entry(at, *_offsets(segment)):
        return None
    return walk if not is_checked(segment) or _is_sound(file, at, offset) else None


def _is_sound(file: RandomAccessFile, position: int, offset: int = INT64_MAX) -> bool:
    """Return whether an intact batch begins at a position, with a base offset of at most `offset`."""
    with suppress(RecordpressError):
        walk = HeaderWalk(file, position=min(position, file.size))
        header = next(walk, None)
        return header is not None and header.base_offset <= offset and walk.checksum_error() is None
    return False


def _passes(walk: HeaderWalk, position: int) -> bool:
    """Return whether complete entries lead to a position, or to a file's end before it."""
    with suppress(RecordpressError):
        walk.pass_over(position)
        return True
    return False


def _reached(walk: HeaderWalk, position: int) -> int:
    """Return where a walk passed a position; the file's end if the walk ended before."""
    return walk.position if walk.position >= position else walk.end


def _by_search(segment: Segment, file: RandomAccessFile, position: int) -> int:
    walk = HeaderWalk(file)
    is_found = walk.search(position, *_offsets(segment))
    found = walk.position if is_found else file.size
    if is_found and _leads_on(HeaderWalk(file, position=found)):
        return found
    walk = HeaderWalk(file)
    return _reached(walk, position) if _passes(walk, position) else found


def _leads_on(walk: HeaderWalk) -> bool:
    """Return whether entries with rising offsets follow one another from here."""
    next_offset = 0
    try:
        for _ in range(_PROOF_BATCHES):
            header = next(walk, None)
            if header is None:
                return walk.position == walk.end
            if header.base_offset < next_offset or header.last_offset < header.base_offset:
                return False
            next_offset = header.next_offset
    except RecordpressError:
        return False
    return True


def _offsets(segment: Segment) -> tuple[int, int]:
    return segment.base_offset, min(segment.base_offset + INT32_MAX, INT64_MAX)
