"""Plan of the segments to publish: their order and offsets, and which staged segments are joined."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from recordpress._arguments import INT32_MAX
from recordpress.errors import InvalidArgumentError
from recordpress.log.publish._journal import PlannedSegment
from recordpress.log.publish.staging import StagedSegment


class JoinedSegment(NamedTuple):
    """A staged segment that joins others: the name of the first, their number, and a digest of their names."""

    segment: StagedSegment
    attempt: str
    number: int
    parts: int
    digest: bytes

    @classmethod
    def of(cls, segment: StagedSegment, parts: Sequence[StagedSegment]) -> JoinedSegment:
        """Describe the segment that has the batches of `parts`."""
        return cls(segment, parts[0].attempt, parts[0].number, len(parts), _digest(parts))


def _digest(parts: Iterable[StagedSegment]) -> bytes:
    return hashlib.sha256("".join(f"{one.attempt}/{one.number}\n" for one in parts).encode()).digest()


def with_joined(ordered: Sequence[StagedSegment], joined: Iterable[JoinedSegment]) -> list[StagedSegment]:
    """Replace neighbouring segments by the segment that joined them."""
    by_first: dict[tuple[str, int], list[JoinedSegment]] = {}
    for one in sorted(joined, key=lambda one: -one.parts):
        by_first.setdefault((one.attempt, one.number), []).append(one)
    if not by_first:
        return list(ordered)
    found: list[StagedSegment] = []
    at = 0
    while at < len(ordered):
        segment, count = ordered[at], 1
        for one in by_first.get((segment.attempt, segment.number), ()):
            if _digest(ordered[at : at + one.parts]) == one.digest:
                segment, count = one.segment, one.parts
                break
        found.append(segment)
        at += count
    return found


def in_order(name: str, staged: Sequence[StagedSegment]) -> list[StagedSegment]:
    """Return the segments of a partition in the order of the log: first those with offsets."""
    given = [one for one in staged if one.has_offsets]
    given.sort(key=lambda one: (one.first_offset, one.next_offset))
    for number in range(1, len(given)):
        one, other = given[number - 1], given[number]
        if other.first_offset < one.next_offset:
            raise InvalidArgumentError(
                f"{name} has rows with offsets {one.first_offset} to {one.next_offset - 1} and others, of the same "
                f"or another task, with {other.first_offset} to {other.next_offset - 1}: an offset occurs twice, "
                "or rows are out of order; sort them with "
                'df.repartition("topic", "partition").sortWithinPartitions("offset")',
                field="offset",
            )
    return given + [one for one in staged if not one.has_offsets]


def segments_of(
    ordered: Sequence[StagedSegment], end: int, segment_bytes: int, is_local: bool
) -> Iterator[PlannedSegment]:
    """Yield the segments to add to a partition that ends at `end`: staged segments with indexes alone, others joined.

    A segment with indexes keeps the offsets that its task chose if they come after the offsets of earlier segments.
    Otherwise it gets the next offsets on a local disk, and is joined in a store.
    """
    run: list[StagedSegment] = []
    base = size = 0
    was_alone = False
    for one in ordered:
        keeps_offsets = one.has_offsets or (one.has_indexes and one.first_offset >= end)
        is_alone = one.has_indexes and (is_local or keeps_offsets)
        first = one.first_offset if keeps_offsets else end
        after = first + one.next_offset - one.first_offset
        if run and (
            is_alone
            or was_alone
            or one.has_offsets != run[-1].has_offsets
            or size + one.bytes > segment_bytes
            or after - base - 1 > INT32_MAX
        ):
            yield PlannedSegment(base, end, run)
            run = []
        if not run:
            base, size = first, 0
        run.append(one)
        size += one.bytes
        end, was_alone = after, is_alone
    if run:
        yield PlannedSegment(base, end, run)
