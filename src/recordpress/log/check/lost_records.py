"""The offsets of records that are lost to damage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from recordpress.log._segment import Partition, Segment
from recordpress.log.check.damage_walk import BadRange


@dataclass(frozen=True)
class LostRecords:
    """Range of offsets whose records are lost to damage. Gaps in the log count too, so it is an upper bound.

    Attributes
    ----------
    topic : str | None
    partition : int | None
    start_offset : int
    end_offset : int | None
        The first offset after them that is intact. None: nothing intact follows.
    file : str
        The segment.
    position, size : int
        The bytes that held them.

    Examples
    --------
    >>> from recordpress.log import LostRecords
    >>> lost = LostRecords("orders", 0, 2160, 2168, "orders-0/00000000000000000000.log", 254323, 1084)
    >>> lost.most, str(lost)
    (8, '2160 to 2167 (8)')
    """

    topic: str | None
    partition: int | None
    start_offset: int
    end_offset: int | None
    file: str
    position: int
    size: int

    @property
    def most(self) -> int | None:
        """The number of offsets; None if nothing intact follows."""
        return None if self.end_offset is None else self.end_offset - self.start_offset

    def __str__(self) -> str:
        if self.most is None:
            return f"from {self.start_offset} on ({self.size:,} bytes)"
        if self.most == 1:
            return f"{self.start_offset} (1)"
        return f"{self.start_offset} to {self.start_offset + self.most - 1} ({self.most:,})"


def lost_in(partition: Partition, bad: Iterable[tuple[Segment, BadRange]]) -> list[LostRecords]:
    """Return the offsets lost in bad ranges; skip zeros, and ranges between batches with consecutive offsets."""
    starts = [segment.base_offset for segment in partition.segments]
    found: list[LostRecords] = []
    for segment, part in bad:
        if part.kind == "zeros":
            continue
        end = part.offset_after
        if end is None:  # up to the next segment
            end = min((start for start in starts if start > segment.base_offset), default=None)
        if end is not None and end <= part.offset_before:
            continue
        last = found[-1] if found else None
        if last and (last.file, last.start_offset) == (segment.url, part.offset_before):  # nothing intact is between
            found[-1] = replace(last, end_offset=end, size=part.position + part.size - last.position)
            continue
        place = (segment.url, part.position, part.size)
        found.append(LostRecords(partition.topic, partition.partition, part.offset_before, end, *place))
    return found
