"""Aborted and open transactions of a partition.

A consumer with isolation.level=read_committed (KIP-98) omits the records of aborted transactions, and ends before
the first record of an open transaction: at the last stable offset.

::

    .txnindex of a segment ─┐
                            ├─► aborted transactions
    headers ──► markers ────┘
       └──────────────────────► open transactions

A segment without aborts has no index, nor has a segment that was copied without it; an index may have lost its end, or
be padded with zeros. Only the markers are certain, so all headers of a local log are read, and indexes are compared
with them. The indexes of a remote log are trusted if each segment has one; the ``.snapshot`` of the last segment lists
the transactions that are open at its start.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from recordpress._file_names import PRODUCER_SNAPSHOT_FILE_SUFFIX, TXN_INDEX_FILE_SUFFIX
from recordpress.errors import CorruptRecordError, RecordpressError
from recordpress.files import RandomAccessFile, located
from recordpress.log._file_records import FileRecords
from recordpress.log._header_walk import HeaderWalk
from recordpress.log.findings import Finding
from recordpress.log.sidecars.producer_snapshot import read_snapshot
from recordpress.log.sidecars.transaction_index import AbortedTxn, read_transaction_index
from recordpress.record import control_record, read_batches
from recordpress.record.header import BatchHeader


class SegmentLike(Protocol):
    """Protocol of a segment."""

    @property
    def base_offset(self) -> int: ...
    @property
    def is_last(self) -> bool: ...
    @property
    def is_tiered(self) -> bool: ...
    def open(self) -> RandomAccessFile: ...
    def records(self) -> FileRecords: ...
    def open_sibling(self, suffix: str) -> RandomAccessFile: ...


class Isolation(NamedTuple):
    """Records that read_committed omits."""

    aborted: tuple[AbortedTxn, ...]  # in the order of their markers
    last_stable_offset: int | None  # the first offset of the earliest transaction that is open at the end
    error: RecordpressError | None  # the damage that ended the search; transactions open there count as open
    findings: tuple[Finding, ...]  # damaged or wrong indexes
    beyond: tuple[AbortedTxn, ...] = ()  # in the indexes, with markers after the end of the log
    aborted_batches: frozenset[tuple[str, int]] | None = None  # file and position, where offsets do not ascend


def isolation_of(
    segments: Sequence[SegmentLike], *, skip: bool = False, high_watermark: int | None = None
) -> Isolation:
    """Find the aborted and open transactions of a partition; the result includes damage.

    A transaction whose marker is at `high_watermark` or later counts as open for the last stable offset
    (ProducerStateManager's unreplicated transactions). `skip` continues after damage.
    """
    return TransactionSearch(list(segments), skip, high_watermark).run()


def unseen_records(segments: Iterable[SegmentLike]) -> dict[str, int]:
    """Return the number of records in aborted transactions and in open transactions, which have no marker."""
    aborted = 0
    open_ones: dict[int, int] = {}
    for segment in segments:
        with segment.records() as file:
            for header in file.walk(transactional=True):
                if not header.is_control:
                    open_ones[header.producer_id] = open_ones.get(header.producer_id, 0) + header.records_count
                    continue
                ended = open_ones.pop(header.producer_id, 0)
                aborted += ended if is_abort(header, file) else 0
    return {"aborted": aborted, "ongoing": sum(open_ones.values())}


@dataclass
class TransactionSearch:
    segments: list[SegmentLike]
    skip: bool
    high_watermark: int | None = None
    check_indexes: bool = False
    aborted: list[AbortedTxn] = field(default_factory=list)
    open: dict[int, int] = field(default_factory=dict)  # first offsets by producer id
    unreplicated: list[int] = field(default_factory=list)  # of transactions that end at the watermark or later
    error: RecordpressError | None = None
    findings: list[Finding] = field(default_factory=list)
    markers: set[tuple[int, int]] = field(default_factory=set)  # ABORT: producer id and offset
    beyond: list[AbortedTxn] = field(default_factory=list)  # in an index; the log ends before their markers
    is_remote: bool = False
    descends: bool = False  # whether offsets of the headers that were read go back
    _reached: int | None = None

    def run(self) -> Isolation:
        indexes = [self._index(segment) for segment in self.segments]
        are_trusted = self.is_remote and not self.check_indexes and None not in indexes
        start = self.nearest_snapshot(self._latest()) if are_trusted else 0
        for index in indexes[:start]:
            self.aborted += index or ()
        for segment, index in zip(self.segments[start:], indexes[start:], strict=True):
            next_offset = self.scan(segment) if self.error is None else 0
            self._compare(segment, index or [], next_offset)
        self.aborted.sort(key=lambda transaction: transaction.last_offset)
        return Isolation(
            tuple(self.aborted),
            min([*self.open.values(), *self.unreplicated], default=None),
            self.error,
            tuple(self.findings),
            tuple(self.beyond),
        )

    def _index(self, segment: SegmentLike) -> list[AbortedTxn] | None:
        """Return the transaction index; None if the markers must be read."""
        try:
            with segment.open_sibling(TXN_INDEX_FILE_SUFFIX) as file:
                found = read_transaction_index(file, segment.base_offset)
                name = file.name
                self.is_remote = file.is_remote
        except FileNotFoundError:
            return None
        except CorruptRecordError as error:
            self.findings.append(Finding.of_error(error))
            return None
        if any(transaction.first_offset >= transaction.last_offset for transaction in found):
            message = "a transaction ends before it begins: the file is damaged, or padded with zeros"
            self.findings.append(Finding(name, None, None, None, "transaction index", message))
            return None
        return found

    def _latest(self) -> int:
        """Return the number of the last segment whose markers must be read: at most the segment with the watermark."""
        if self.high_watermark is None:
            return len(self.segments) - 1
        return max(bisect_right([segment.base_offset for segment in self.segments], self.high_watermark) - 1, 0)

    def nearest_snapshot(self, number: int) -> int:
        """Set `open` from the last snapshot at the start of a segment up to this one; return the segment's number."""
        for at in range(number, 0, -1):
            before, segment = self.segments[at - 1 : at + 1]
            if (found := self.snapshot_of(before if before.is_tiered else segment)) is not None:
                self.open = found
                return at
        return 0

    def snapshot_of(self, segment: SegmentLike) -> dict[int, int] | None:
        """Return the open transactions in a producer snapshot."""
        try:
            with segment.open_sibling(PRODUCER_SNAPSHOT_FILE_SUFFIX) as file:
                producers = read_snapshot(file)
        except FileNotFoundError:
            return None
        except CorruptRecordError as error:
            self.findings.append(Finding.of_error(error))
            return None
        first_offsets = ((producer.producer_id, producer.current_txn_first_offset) for producer in producers)
        return {producer_id: first for producer_id, first in first_offsets if first >= 0}

    def _compare(self, segment: SegmentLike, index: list[AbortedTxn], next_offset: int) -> None:
        """Add the transactions that only the index has, unless the log up to `next_offset` contradicts them."""
        known = {(transaction.producer_id, transaction.last_offset) for transaction in self.aborted}
        for transaction in index:
            place = (transaction.producer_id, transaction.last_offset)
            name = f"{segment.base_offset:020}{TXN_INDEX_FILE_SUFFIX}"
            if transaction.last_offset >= next_offset:
                # its records in the log count as open, and a wrong offset must not hide the records after it
                self.beyond.append(transaction)
                message = f"the log ends before offset {place[1]}, where a marker of producer {place[0]} should be"
                self.findings.append(Finding(name, None, None, place[1], "transaction index", message))
            elif place not in self.markers:
                message = f"the log has no ABORT marker of producer {place[0]} at offset {place[1]}"
                self.findings.append(Finding(name, None, None, place[1], "transaction index", message))
            elif place not in known:
                self.aborted.append(transaction)

    def scan(self, segment: SegmentLike) -> int:
        """Scan a segment; return the offset after its last batch, or 0 if it has no batches."""
        with segment.records() as file:
            walk = file.headers()
            try:
                for header in file.walk(walk, transactional=True, on_corrupt="skip" if self.skip else "raise"):
                    self.pass_batch(header, file)
            except CorruptRecordError as error:
                self.error = error
            self.note_order(walk)
            return walk.next_offset or 0

    def note_order(self, walk: HeaderWalk) -> None:
        """Record whether the offsets of these headers go back behind earlier offsets."""
        if walk.extent is not None:
            self.descends |= walk.descends or (self._reached is not None and walk.extent[0] < self._reached)
            self._reached = max(walk.extent[1], self._reached or 0)

    def pass_batch(self, header: BatchHeader, file: FileRecords) -> None:
        if not header.is_control:
            self.open.setdefault(header.producer_id, header.base_offset)
            return
        first = self.open.pop(header.producer_id, None)
        if first is not None and self.high_watermark is not None and header.base_offset >= self.high_watermark:
            self.unreplicated.append(first)
        if not is_abort(header, file):
            return
        self.markers.add((header.producer_id, header.base_offset))
        if first is not None:
            stable = min(self.open.values(), default=header.last_offset + 1)
            self.aborted.append(AbortedTxn(header.producer_id, first, header.base_offset, min(first, stable)))


def is_abort(header: BatchHeader, file: FileRecords) -> bool:
    """Return whether the first record of a control batch is an ABORT marker. A batch that compaction emptied has no
    marker; damage raises an error when the records are read.
    """
    try:
        with located(header.position, file.path):
            batches = read_batches(file.entry(header.position, header.size))
            marker = next((record for batch in batches for record in batch), None)
            return marker is not None and control_record(marker).type == "ABORT"
    except RecordpressError:
        return False
