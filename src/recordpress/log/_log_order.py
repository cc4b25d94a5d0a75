"""The records that a log holds. This is the only place that decides it.

Records are ordered by the base offset of their segment, then by their position in the file. A record is dropped only if
an earlier record in that order has its offset; if its offset merely goes back, it keeps its place. Both are findings.

::

    batch ──► begins after all earlier offsets? ─ yes ──► its records are in the log
                        │ no
                        ▼
              earlier headers, once ──► intervals of offsets ──► the records outside the intervals

In a log whose offsets ascend, one number is enough; intervals are kept only where offsets do not ascend.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from recordpress.errors import RecordpressError
from recordpress.log._extent import (
    Extent,
    Offsets,
    Window,
    extent_of,
    is_checked,
    is_wrapper,
    last_known_offset,
    offsets_in,
    offsets_of_records,
)
from recordpress.log._file_records import FileRecords
from recordpress.log._part import SegmentPart, part_between
from recordpress.log._segment import Segment, tail_findings
from recordpress.log.findings import DAMAGE, Finding
from recordpress.record.header import BatchHeader

NEAR = 4  # segments before a split; the reader of the split looks up their ends


class Frontier:
    """Progress of a read of a partition: the offsets of the earlier records."""

    def __init__(
        self,
        next_offset: int | None = None,
        earlier: Callable[[], Sequence[Segment]] | None = None,
        check_crcs: bool = False,
    ) -> None:
        self.next_offset = next_offset  # after the highest offset
        self._check_crcs = check_crcs  # records of damaged batches that are skipped do not count
        self._previous = next_offset  # after the last offset
        self._earlier = earlier  # segments before the first that is read; called when they matter
        self._ascending: list[Segment] = []  # passed, but not among the intervals
        self._extents: list[tuple[Segment, Extent | None]] | None = None
        self._starts: list[int] = []  # of intervals that do not overlap, in order
        self._ends: list[int] = []
        self._urls: list[str] = []
        self.opened: Offsets | None = None  # of the last batch if it is a v0/v1 wrapper; None if it is damaged

    def passed(self, segment: Segment, end: int | None) -> None:
        """Pass a segment whose offsets ascend or do not matter; `end` is the offset after its last."""
        self._ascending.append(segment)
        if end is not None:
            self.next_offset = end if self.next_offset is None else max(end, self.next_offset)
            self._previous = self.next_offset

    def placed(
        self, segment: Segment, file: FileRecords, headers: Iterable[BatchHeader], begin: int, findings: list[Finding]
    ) -> Iterator[tuple[BatchHeader, list[Window] | None]]:
        """Yield the batches of a segment from byte `begin`, with the offsets to read from each batch; None for all."""
        is_odd = False
        loss = _Loss(findings)
        for header in headers:
            self.opened = offsets_of_records(file, header) if is_wrapper(header) else None
            if not is_odd and self._ascends(header):
                self.next_offset = self._previous = header.last_offset + 1
                yield header, None
                continue
            if not is_odd:
                is_odd = True
                if header.position > begin:
                    self._ascending.append(part_between(segment, begin, header.position))
            kept = self._place(segment, file, header, loss)
            yield header, kept
        loss.end()
        if not is_odd:
            self._ascending.append(segment)

    def _ascends(self, header: BatchHeader) -> bool:
        first, end = header.base_offset, header.last_offset + 1
        if self.opened and self.opened.windows:
            first, end = self.opened.windows[0][0], self.opened.windows[-1][1]
        return end <= header.last_offset + 1 and (self.next_offset is None or first >= self.next_offset)

    def _place(self, segment: Segment, file: FileRecords, header: BatchHeader, loss: _Loss) -> list[Window] | None:
        windows = offsets_in(file, header) if self.opened is None else self.opened.windows
        kept: list[Window] = []
        lost: list[tuple[int, int, str]] = []
        for first, end in windows:
            at = first
            for taken, after, url in self._taken(first, end):
                if taken > at:
                    kept.append((at, taken))
                lost.append((taken, after, url))
                at = after
            if at < end:
                kept.append((at, end))
        for first, end in kept:
            self._add(first, end, segment.url)
        if lost:
            loss.add(segment.url, header, lost)
        else:
            loss.end()
        first = windows[0][0] if windows else header.base_offset
        if kept or not windows:
            if not lost and self._previous is not None and first < self._previous:
                loss.goes_back(segment.url, header, first, self._previous)
            self._previous = max(header.last_offset + 1, windows[-1][1] if windows else 0)
            self.next_offset = max(self.next_offset or self._previous, self._previous)
        return kept if lost else None

    # --- the offsets that come before -------------------------------------------------------------------------------

    def _taken(self, first: int, end: int) -> Iterator[tuple[int, int, str]]:
        """Yield the parts of a window of offsets that earlier records have, each with the file of these records."""
        self._walk_what_may_have(first, end)
        at = bisect_right(self._ends, first)
        while at < len(self._starts) and self._starts[at] < end:
            yield max(first, self._starts[at]), min(end, self._ends[at]), self._urls[at]
            at += 1

    def _add(self, first: int, end: int, url: str) -> None:
        """Add an interval, which overlaps no other, and join it with adjacent intervals of the same file."""
        at = bisect_left(self._ends, first)
        if at < len(self._starts) and self._ends[at] == first and self._urls[at] == url:
            self._ends[at] = end
        else:
            at = bisect_left(self._starts, first)
            self._starts.insert(at, first)
            self._ends.insert(at, end)
            self._urls.insert(at, url)
        if at + 1 < len(self._starts) and self._starts[at + 1] == end and self._urls[at + 1] == url:
            self._ends[at] = self._ends[at + 1]
            del self._starts[at + 1], self._ends[at + 1], self._urls[at + 1]

    def _walk_what_may_have(self, first: int, end: int) -> None:
        if self._earlier is not None:
            self._ascending[:0] = self._earlier()
            self._earlier = None
        if self._extents is None:
            self._extents = []
        if self._ascending:
            self._extents += [(one, _extent(one)) for one in self._ascending]
            self._ascending = []
        rest = []
        for segment, extent in self._extents:
            if extent is None or not (extent.first < end and extent.end > first):
                rest.append((segment, extent))
                continue
            with suppress(FileNotFoundError), segment.records(complete=False) as file, suppress(RecordpressError):
                for header in file.walk(check_crcs=self._check_crcs, on_corrupt="skip"):
                    for low, high in offsets_in(file, header):
                        for free in self._free(low, high):
                            self._add(*free, segment.url)
        self._extents = rest

    def _free(self, first: int, end: int) -> list[Window]:
        found, at = [], bisect_right(self._ends, first)
        while at < len(self._starts) and self._starts[at] < end:
            if self._starts[at] > first:
                found.append((first, self._starts[at]))
            first = self._ends[at]
            at += 1
        return [*found, (first, end)] if first < end else found


def _extent(segment: Segment) -> Extent | None:
    if isinstance(segment, SegmentPart):
        return Extent(-(1 << 63), 1 << 63)
    with suppress(FileNotFoundError):  # reported when the segment is read
        return extent_of(segment)
    return None


class Run(NamedTuple):
    """Consecutive batches, and the range of offsets to read from them."""

    start: int
    end: int
    base_offset: int | None  # of the first batch
    first_offset: int | None
    end_offset: int | None
    is_closed: bool = False

    def joined(self, other: Run) -> Run:
        return other._replace(
            start=self.start, base_offset=other.base_offset if self.base_offset is None else self.base_offset
        )


def runs_of(
    segment: Segment,
    begin: int,
    frontier: Frontier,
    findings: list[Finding],
    *,
    start_offset: int | None,
    end_offset: int | None,
    aborted: Container[tuple[str, int]],
    skip: bool,
) -> list[Run]:
    """Return the runs of a segment to read, starting at byte `begin`; damage that is not skipped is the last run, with
    everything after it. Skipped damage is in the findings."""
    runs: list[Run] = []

    def add(run: Run) -> None:
        last = runs[-1] if runs else None
        if last and last.end == run.start and not last.is_closed and last.first_offset is run.first_offset is None:
            runs[-1] = last.joined(run)
        else:
            runs.append(run)

    position = begin
    with segment.records() as file:
        file.findings = findings
        headers = file.walk(file.headers(begin), check_crcs=skip, on_corrupt="skip" if skip else "raise")
        try:
            for header, windows in frontier.placed(segment, file, headers, begin, findings):
                position = header.position + header.size
                is_wanted = start_offset is None or header.last_offset >= start_offset
                is_wanted &= end_offset is None or header.base_offset < end_offset or is_wrapper(header)
                if not is_wanted or (segment.url, header.position) in aborted:
                    continue
                is_last = end_offset is not None and header.last_offset >= end_offset  # the run's reader ends there
                for first, end in [(None, None)] if windows is None else windows:
                    add(Run(header.position, position, header.base_offset, first, end, is_last or end is not None))
        except DAMAGE:  # reported when the run is read
            add(Run(position, file.size, None, None, None))
        else:
            findings += tail_findings(segment, file)
    return runs


class _Loss:
    """Consecutive batches that lose records, as one finding."""

    def __init__(self, findings: list[Finding]) -> None:
        self._findings = findings
        self._file = self._url = ""
        self._position = self._size = self._first = self._end = 0

    def add(self, file: str, header: BatchHeader, lost: list[tuple[int, int, str]]) -> None:
        url = lost[0][2]
        if self._file and self._url == url and self._position + self._size == header.position:
            self._size += header.size
            self._end = max(self._end, lost[-1][1])
            return
        self.end()
        self._file, self._url, self._position, self._size = file, url, header.position, header.size
        self._first, self._end = lost[0][0], lost[-1][1]

    def end(self) -> None:
        if self._file:
            where = "earlier in the file" if self._url == self._file else f"in {self._url}"
            message = f"offsets from {self._first} to {self._end - 1} are also {where}: they are read from there"
            self._findings.append(
                Finding(self._file, self._position, self._size, self._first, "segment overlap", message)
            )
        self._file = ""

    def goes_back(self, file: str, header: BatchHeader, first: int, previous: int) -> None:
        message = f"offset {first} follows offset {previous - 1}: records are read in the order of the log"
        self._findings.append(Finding(file, header.position, header.size, first, "offset order", message))


def unseen_by_consumers(ends: Sequence[tuple[Segment, int | None]]) -> Iterator[Finding]:
    """Find offsets that a broker looks for in the wrong segment, given the offset after the last of each segment."""
    # It reads the last segment whose base offset is at most the wanted one, and continues with the next (LocalLog.read:
    # floorSegment, then higherSegment).
    reach, owner = 0, ""
    for number, (segment, end) in enumerate(ends):
        first = max(segment.base_offset, end or 0)
        following = ends[number + 1][0].base_offset if number + 1 < len(ends) else reach
        if (after := min(reach, following)) > first:
            message = (
                f"a consumer that seeks to offsets from {first} to {after - 1} does not get them: they are in {owner}"
            )
            yield Finding(segment.url, None, None, first, "floor segment", message)
        if end is not None and end > reach:
            reach, owner = end, segment.url


class OverlapCandidates:
    """Segments that were planned, some of which may reach into the next segment.

    On this machine, a segment is taken to end at the last offset of its index, or of its last headers if the index is
    missing or ends long before. A segment that reaches further than its index is noticed if it is one of the last few;
    in a store, where each segment costs a request, only if it is the last.
    """

    def __init__(self) -> None:
        self._near: list[Segment] = []
        self._known: list[tuple[int, Segment]] = []

    def add(self, segment: Segment) -> None:
        """Add the next segment."""
        offset = last_known_offset(segment)
        self._near = self._near[1 - NEAR :] if is_checked(segment) else []
        self._near.append(segment)
        if offset is not None:
            self._known.append((offset, segment))

    def may_reach(self, offset: int) -> tuple[Segment, ...]:
        """Return the segments that may have the offset; later calls must not pass a lower offset."""
        self._known = [one for one in self._known if one[0] >= offset]
        far = [segment for _, segment in self._known if segment not in self._near]
        return (*far, *self._near)
