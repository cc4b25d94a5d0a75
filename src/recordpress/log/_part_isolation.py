"""The records that read_committed omits from a part of a partition, found without reading all of its headers.

::

    .snapshot ──► open at its offset ──► headers up to the part ──► headers of the part ──► headers after it, until the
                  (or the log's start)   what is open there         what begins, markers    marker of each open one

If the ``.snapshot`` of the last segment also lists a transaction as open, its marker can only be in that segment: no
other segment is read for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from recordpress.errors import CorruptRecordError, RecordpressError
from recordpress.log._extent import begins_before_its_name, is_checked
from recordpress.log._file_records import FileRecords
from recordpress.log._isolation_in_order import committed
from recordpress.log._part import EntryPlace, SegmentPart, part_between, part_of
from recordpress.log._segment import Segment
from recordpress.log._transactions import Isolation, TransactionSearch
from recordpress.record.header import BatchHeader


def isolation_of_part(segments: Sequence[Segment], parts: Sequence[Segment], *, skip: bool = False) -> Isolation:
    """Find the aborted and open transactions that matter to some of a partition's segments."""
    search = _PartSearch(list(segments), skip)
    search.run_for(parts)
    if search.descends or any(begins_before_its_name(segment) for segment in segments if is_checked(segment)):
        return reading_isolation(segments, skip)
    return Isolation(
        tuple(sorted(search.aborted, key=lambda transaction: transaction.last_offset)),
        min(search.open.values(), default=None),
        search.error,
        tuple(search.findings),
    )


def reading_isolation(segments: Sequence[Segment], skip: bool) -> Isolation:
    """Return the records that a read_committed reader of a whole partition omits."""
    search = TransactionSearch([*segments], skip, check_indexes=any(segment.check_indexes for segment in segments))
    isolation = search.run()
    return committed(segments, isolation, skip) if search.descends else isolation


def has_state(segments: Sequence[Segment], number: int) -> bool:
    """Return whether a file lists the open transactions at the start of this segment."""
    return not number or _snapshot_of(segments, number) is not None


def _snapshot_of(segments: Sequence[Segment], number: int) -> Segment | None:
    """Return the segment whose ``.snapshot`` describes the start of this segment; None if it does not exist."""
    before, segment = segments[number - 1 : number + 1]
    found = before if before.is_tiered else segment
    return found if ".snapshot" in found.suffixes or (found.is_tiered and found.suffixes) else None


class _PartSearch(TransactionSearch):
    def __init__(self, log: list[Segment], skip: bool) -> None:
        super().__init__([*log], skip)
        self.log = log

    def run_for(self, parts: Sequence[Segment]) -> None:
        first, last = self._number_of(parts[0]), self._number_of(parts[-1])
        known = self.nearest_snapshot(first)
        for segment in self.log[known:first]:
            self.scan_on(segment)
        if isinstance(parts[0], SegmentPart) and parts[0].start:
            self.scan_on(part_between(parts[0].whole, 0, parts[0].start))
        self.aborted.clear()  # these transactions ended before the parts
        for part in parts:
            self.scan_on(part)
        self._after(parts[-1], last)

    def _number_of(self, part: Segment) -> int:
        for number, segment in enumerate(self.log):
            if segment.url == part.url:
                return number
        raise CorruptRecordError("the file was removed while the log was read", file=part.url, rule="log directory")

    def _after(self, part: Segment, number: int) -> None:
        """Find the ends of the transactions that are open at the end of the parts."""
        rest = list(self.log[number + 1 :])
        if isinstance(part, SegmentPart):
            rest.insert(0, part_of(part.whole, part.end, None, EntryPlace(part.end, None)))
        later = self._open_in_the_last() if len(rest) > 1 else {}
        hanging = {producer: first for producer, first in self.open.items() if later.get(producer) == first}
        self.open = {producer: first for producer, first in self.open.items() if producer not in hanging}
        for segment in rest:
            if segment is rest[-1]:
                self.open.update(hanging)
            self._until_none_is_open(segment)

    def _open_in_the_last(self) -> dict[int, int]:
        number = len(self.log) - 1
        found = _snapshot_of(self.log, number)
        return self.snapshot_of(found) or {} if found is not None else {}

    def _until_none_is_open(self, segment: Segment) -> None:
        """Read a segment until every open transaction has ended; later transactions do not matter."""
        if not self.open or self.error is not None:
            return
        watched = dict(self.open)
        with segment.records() as file:
            walk = file.headers()
            try:
                for header in file.walk(walk, transactional=True, on_corrupt="skip" if self.skip else "raise"):
                    self._end(header, file, watched)
                    if not watched:
                        break
            except CorruptRecordError as error:
                self.error = error
            self.note_order(walk)
        self.open = watched

    def _end(self, header: BatchHeader, file: FileRecords, watched: dict[int, int]) -> None:
        if not header.is_control or header.producer_id not in watched:
            return
        self.open = watched
        self.pass_batch(header, file)

    def scan_on(self, segment: Segment) -> None:
        if self.error is None:
            try:
                self.scan(segment)
            except RecordpressError as error:
                self.error = error
