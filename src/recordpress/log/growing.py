"""End offsets of a growing log that later appends do not change. A door for `recordpress.spark`.

::

    segments   │ closed │ closed │ active, written to │
    end                          ▲ of closed segments  ▲ of whole batches
    committed             ▲ where the first open transaction begins
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple, TypeAlias

from recordpress.codecs import CodecRegistry
from recordpress.log._end_offset import end_offset
from recordpress.log._extent import end_before, offset_index_of
from recordpress.log._layout import Wanted
from recordpress.log._open import found_at
from recordpress.log._part_isolation import isolation_of_part
from recordpress.log._segment import Partition, Segment, size_of

__all__ = ["Key", "after_gap", "ends_by_offsets", "ends_by_segments", "partitions_at", "readable_end", "segment_ranges"]

Key: TypeAlias = tuple[str, int]  # topic and partition


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
    """Return the range of offsets to read from each segment."""
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
    """Return the base offset of the next segment if the segment before it has no record at or after `offset`; otherwise
    return `offset`."""
    bases = [segment.base_offset for segment in partition.segments]
    number = bisect_right(bases, offset)
    if not 0 < number < len(bases):
        return offset
    return bases[number] if end_before(partition.segments[number - 1], bases[number]) <= offset else offset


def end_by_bytes(part: SegmentRange, most_bytes: int) -> tuple[int, int]:
    """Return the offset after about `most_bytes` of a segment, and their number; without an index, after all bytes."""
    size = size_of(part.segment)
    index = offset_index_of(part.segment)
    if index is None or not len(index):
        return part.end, size
    begin = index.lookup(part.start).position
    until = index.lookup(part.end).position if part.end <= index[-1].offset else size
    if until - begin <= most_bytes:
        return part.end, until - begin
    # an entry has the last offset of the batch at its position: the batch of the previous entry ends in time
    number = bisect_right(index, begin + most_bytes, key=lambda entry: entry.position) - 2
    for entry in index[max(number, 0) :]:
        if part.start <= entry.offset < part.end - 1:
            return entry.offset + 1, entry.position - begin
    return part.end, until - begin


def ends_by_offsets(ranges: dict[Key, tuple[int, int]], most: int) -> dict[Key, int]:
    """Give each partition its share of `most` offsets (KafkaMicroBatchStream.rateLimit)."""
    total = sum(end - first for first, end in ranges.values())
    if total <= most:
        return {key: end for key, (_, end) in ranges.items()}
    found = {}
    for key, (first, end) in ranges.items():
        share = most * (end - first) // total
        found[key] = min(end, first + max(share, 1))
    return found


def ends_by_segments(
    readable: dict[Key, tuple[Partition, int, int]], *, most_files: int | None = None, most_bytes: int | None = None
) -> dict[Key, int]:
    """Take segments up to a limit, the oldest first; the first segment is taken even if it is too large."""
    parts = {key: segment_ranges(*one) for key, one in readable.items()}
    ends = {key: first for key, (_, first, _) in readable.items()}
    waiting = [_next_in_age(key, found, 0) for key, found in parts.items() if found]
    heapify(waiting)
    files, left = 0, most_bytes
    while waiting and files != most_files:
        _, _, key, number = heappop(waiting)
        part = parts[key][number]
        end = part.end
        if left is not None:
            end, size = end_by_bytes(part, max(left, 1))
            if files and size > left:
                break
            left -= size
        ends[key] = end
        files += 1
        if end == part.end and number + 1 < len(parts[key]):
            heappush(waiting, _next_in_age(key, parts[key], number + 1))
    return _partitions_without_segments(ends, readable)


def _next_in_age(key: Key, parts: Sequence[SegmentRange], number: int) -> tuple[float, int, Key, int]:
    """Return a sort key: the oldest segment comes first; of the same age, that of the partition that lags most."""
    return parts[number].segment.modified or 0.0, number - len(parts), key, number


def _partitions_without_segments(
    ends: dict[Key, int], readable: dict[Key, tuple[Partition, int, int]]
) -> dict[Key, int]:
    """Count partitions with no segments left as fully read."""
    for key, (partition, _, end) in readable.items():
        if not segment_ranges(partition, ends[key], end):
            ends[key] = end
    return ends
