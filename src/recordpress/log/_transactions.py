"""Transactions of a partition: which were aborted, and which are still open.

A consumer with isolation.level=read_committed (KIP-98) leaves out the records of aborted transactions, and ends before
the first record of an open one: at the last stable offset.

::

    .txnindex of a segment ─┐
                            ├─► aborted transactions
    headers ──► markers ────┘
       └──────────────────────► open ones

A segment without aborts has no index, and neither has one that was copied without it; an index may have lost its end,
or be padded with zeros. Only the markers are certain, so all headers of a local log are read, and indexes are compared
with them. The indexes of a remote log are trusted if each segment has one; what is open at the start of the last
segment is in its ``.snapshot``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, TypeAlias

from recordpress._arguments import INT32_MAX
from recordpress._file_names import PRODUCER_SNAPSHOT_FILE_SUFFIX, TXN_INDEX_FILE_SUFFIX
from recordpress.errors import CorruptRecordError, InvalidArgumentError, RecordpressError
from recordpress.files import RandomAccessFile, located
from recordpress.log._batch_header import BatchHeader
from recordpress.log._file_records import FileRecords
from recordpress.log.findings import Finding
from recordpress.log.sidecars.producer_snapshot import read_snapshot
from recordpress.log.sidecars.transaction_index import AbortedTxn, read_transaction_index
from recordpress.record import control_record, read_batches

IsolationLevel: TypeAlias = Literal["read_uncommitted", "read_committed"]
_LEVELS = ("read_uncommitted", "read_committed")


def check_isolation_level(value: object) -> None:
    """
    Raises
    ------
    InvalidArgumentError
    """
    if value not in _LEVELS:
        message = f"isolation_level must be {' or '.join(_LEVELS)}, not {value!r}"
        raise InvalidArgumentError(message[:200], field="isolation_level")


class SegmentLike(Protocol):
    """A segment, wherever it is."""

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
    """The records that read_committed leaves out.

    Attributes
    ----------
    aborted : tuple of AbortedTxn
        In the order of their markers.
    last_stable_offset : int | None
        The first offset of the earliest transaction that is open at the end; None if none is.
    error : RecordpressError | None
        The damage that ended the search for markers. Transactions that are open there count as open.
    findings : tuple of Finding
        Indexes that are damaged.
    beyond : tuple of AbortedTxn
        Transactions of the indexes whose markers are after the end of the log.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.log import isolation_of
    >>> [partition] = recordpress.open_log("demo/logs/sessions-0").partitions
    >>> found = isolation_of(partition.segments)
    >>> len(found.aborted), found.last_stable_offset
    (0, None)
    """

    aborted: tuple[AbortedTxn, ...]
    last_stable_offset: int | None
    error: RecordpressError | None
    findings: tuple[Finding, ...]
    beyond: tuple[AbortedTxn, ...] = ()


def isolation_of(
    segments: Sequence[SegmentLike], *, skip: bool = False, high_watermark: int | None = None
) -> Isolation:
    """The aborted and open transactions of a partition.

    Parameters
    ----------
    segments : sequence
        All of the partition, in order.
    skip : bool
        Go on after damage, at the next intact entry.
    high_watermark : int, optional
        A transaction whose marker is there or later counts as open for the last stable offset (ProducerStateManager's
        unreplicated transactions).

    Returns
    -------
    Isolation

    Raises
    ------
    OSError
        Damage does not raise: it is in the result.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.log import isolation_of
    >>> [partition] = recordpress.open_log("demo/logs/sessions-0").partitions
    >>> found = isolation_of(partition.segments)
    >>> len(found.aborted), found.error, found.findings
    (0, None, ())
    """
    search = TransactionSearch(list(segments), skip, high_watermark)
    search.run()
    return Isolation(
        tuple(search.aborted),
        min([*search.open.values(), *search.unreplicated], default=None),
        search.error,
        tuple(search.findings),
        tuple(search.beyond),
    )


def unseen_records(segments: Iterable[SegmentLike]) -> dict[str, int]:
    """The number of records in aborted transactions, and in ongoing ones, which have no marker.

    Parameters
    ----------
    segments : iterable of Segment
        All segments of a partition, in order.

    Returns
    -------
    dict of str to int
        "aborted" and "ongoing".

    Raises
    ------
    RecordpressError
        A segment or a marker is damaged.
    """
    aborted = 0
    open_ones: dict[int, int] = {}
    for segment in segments:
        with segment.records() as file:
            for header in file.transactional_batches():
                if not header.is_control:
                    open_ones[header.producer_id] = open_ones.get(header.producer_id, 0) + header.records_count
                    continue
                ended = open_ones.pop(header.producer_id, 0)
                aborted += ended if _is_abort(header, file) else 0
    return {"aborted": aborted, "ongoing": sum(open_ones.values())}


@dataclass
class TransactionSearch:
    segments: list[SegmentLike]
    skip: bool
    high_watermark: int | None = None
    aborted: list[AbortedTxn] = field(default_factory=list)
    open: dict[int, int] = field(default_factory=dict)  # first offsets by producer id
    unreplicated: list[int] = field(default_factory=list)  # of transactions that end at the watermark or later
    error: RecordpressError | None = None
    findings: list[Finding] = field(default_factory=list)
    markers: set[tuple[int, int]] = field(default_factory=set)  # ABORT: producer id and offset
    beyond: list[AbortedTxn] = field(default_factory=list)  # of an index; the log ends before their markers
    is_remote: bool = False

    def run(self) -> None:
        indexes = [self._index(segment) for segment in self.segments]
        start = self._known(self._latest()) if self.is_remote and None not in indexes else 0
        for index in indexes[:start]:
            self.aborted += index or ()
        for segment, index in zip(self.segments[start:], indexes[start:], strict=True):
            next_offset = self.scan(segment) if self.error is None else 0
            self._compare(segment, index or [], next_offset)
        self.aborted.sort(key=lambda transaction: transaction.last_offset)

    def _index(self, segment: SegmentLike) -> list[AbortedTxn] | None:
        """None if the markers must be read."""
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
            message = "a transaction that ends before it begins: the file is damaged, or padded with zeros"
            self.findings.append(Finding(name, None, None, None, "transaction index", message))
            return None
        return found

    def _latest(self) -> int:
        """The segment whose markers must be read at the latest: the last one, or that with the watermark."""
        if self.high_watermark is None:
            return len(self.segments) - 1
        return max(bisect_right([segment.base_offset for segment in self.segments], self.high_watermark) - 1, 0)

    def _known(self, number: int) -> int:
        """The last segment, up to this one, at whose start the open transactions are known; these are `open`."""
        for at in range(number, 0, -1):
            before, segment = self.segments[at - 1 : at + 1]
            if (found := self.snapshot_of(before if before.is_tiered else segment)) is not None:
                self.open = found
                return at
        return 0

    def snapshot_of(self, segment: SegmentLike) -> dict[int, int] | None:
        """The transactions that a producer snapshot has as open."""
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
        """Add what only the index has, except what the log contradicts, which goes up to next_offset."""
        known = {(transaction.producer_id, transaction.last_offset) for transaction in self.aborted}
        for transaction in index:
            place = (transaction.producer_id, transaction.last_offset)
            name = f"{segment.base_offset:020}{TXN_INDEX_FILE_SUFFIX}"
            if transaction.last_offset >= next_offset:
                # what of it is in the log is open there, and an offset that is wrong must not hide what follows
                self.beyond.append(transaction)
                message = f"the log ends before offset {place[1]}, where a marker of producer {place[0]} should be"
                self.findings.append(Finding(name, None, None, place[1], "transaction index", message))
            elif place not in self.markers:
                message = f"no ABORT marker of producer {place[0]} is in the log at offset {place[1]}"
                self.findings.append(Finding(name, None, None, place[1], "transaction index", message))
            elif place not in known:
                self.aborted.append(transaction)

    def scan(self, segment: SegmentLike) -> int:
        """The offset after the last batch; otherwise 0."""
        with segment.records() as file:
            hop = file.headers()
            while True:
                try:
                    for header in file.transactional_batches(hop):
                        self.pass_batch(header, file)
                except CorruptRecordError as error:
                    first = max(hop.next_offset or 0, segment.base_offset)
                    if self.skip and hop.search(hop.position + 1, first, first + INT32_MAX):
                        continue
                    self.error = None if self.skip else error
                return hop.next_offset or 0

    def pass_batch(self, header: BatchHeader, file: FileRecords) -> None:
        if not header.is_control:
            self.open.setdefault(header.producer_id, header.base_offset)
            return
        first = self.open.pop(header.producer_id, None)
        if first is not None and self.high_watermark is not None and header.base_offset >= self.high_watermark:
            self.unreplicated.append(first)
        if not _is_abort(header, file):
            return
        self.markers.add((header.producer_id, header.base_offset))
        if first is not None:
            stable = min(self.open.values(), default=header.last_offset + 1)
            self.aborted.append(AbortedTxn(header.producer_id, first, header.base_offset, min(first, stable)))


def _is_abort(header: BatchHeader, file: FileRecords) -> bool:
    """Whether a control batch is an ABORT marker, by its first record; a cleaned one has none. A bad one is an error
    when its records are read."""
    try:
        with located(header.position, file.path):
            batches = read_batches(file.entry(header.position, header.size))
            marker = next((record for batch in batches for record in batch), None)
            return marker is not None and control_record(marker).type == "ABORT"
    except RecordpressError:
        return False
