"""End offsets of a growing log that later appends do not change. A door for `recordpress.spark`.

::

    segments   │ closed │ closed │ active, written to │
    end                          ▲ of closed segments  ▲ of whole batches
    committed             ▲ where the first open transaction begins
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from recordpress.codecs import CodecRegistry
from recordpress.log._end_offset import end_offset
from recordpress.log._extent import end_before, offset_index_of
from recordpress.log._layout import Wanted
from recordpress.log._open import found_at
from recordpress.log._part_isolation import isolation_of_part
from recordpress.log._segment import Partition, Segment, size_of

__all__ = ["SegmentRange", "after_gap", "end_by_bytes", "partitions_at", "readable_end", "segment_ranges"]


class SegmentRange(NamedTuple):
    """Range of offsets to read from one segment."""

    segment: Segment
    start: int
    end: int


def partitions_at(
    paths: Sequence[str],
    filesystem: object = None,
    codecs: CodecRegistry | None = None,
    wanted: Wanted | None = None,
) -> tuple[Partition, ...]:
    """Return the wanted partitions at the paths, as `recordpress.open_log` does, but perhaps none."""
    return found_at(paths, filesystem, codecs, wanted).log.partitions


def readable_end(partition: Partition, *, with_active: bool, committed: bool, skip: bool = False) -> int:
    """Return the offset up to which later appends no longer change a partition."""
    segments = partition.segments
    closed = segments if with_active else segments[:-1]
    if not closed:
        return segments[0].base_offset
    end = end_offset(partition) if with_active else segments[-1].base_offset
    if not committed:
        return end
    isolation = isolation_of_part(segments, closed[-1:], skip=skip)
    if isolation.error is not None:
        raise isolation.error
    stable = isolation.last_stable_offset
    return end if stable is None else min(end, stable)


def segment_ranges(partition: Partition, start: int, end: int) -> list[SegmentRange]:
    """Return the segments with these offsets."""
    bases = [segment.base_offset for segment in partition.segments]
    first = max(bisect_right(bases, start) - 1, 0)
    found = []
    for number in range(first, len(bases)):
        here = max(start, bases[number])
        after = min(end, bases[number + 1]) if number + 1 < len(bases) else end
        if here < after:
            found.append(SegmentRange(partition.segments[number], here, after))
    return found


def after_gap(partition: Partition, offset: int) -> int:
    """Return the first offset of the following segment if no record of the one before has this offset or a later one,
    else the offset."""
    bases = [segment.base_offset for segment in partition.segments]
    number = bisect_right(bases, offset)
    if not 0 < number < len(bases):
        return offset
    return bases[number] if end_before(partition.segments[number - 1], bases[number]) <= offset else offset


def end_by_bytes(part: SegmentRange, most_bytes: int) -> tuple[int, int]:
    """Return the offset after about this many bytes of a segment, and their number; without an index, of all bytes."""
    size = size_of(part.segment)
    index = offset_index_of(part.segment)
    if index is None or not len(index):
        return part.end, size
    begin = index.lookup(part.start).position
    until = index.lookup(part.end).position if part.end <= index[-1].offset else size
    if until - begin <= most_bytes:
        return part.end, until - begin
    # an entry has the last offset of the batch that begins at its position: that of the one before ends in time
    number = bisect_right(index, begin + most_bytes, key=lambda entry: entry.position) - 2
    for entry in index[max(number, 0) :]:
        if part.start <= entry.offset < part.end - 1:
            return entry.offset + 1, entry.position - begin
    return part.end, until - begin
