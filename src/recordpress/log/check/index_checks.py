"""Whether indexes agree with the log, batch by batch (what DumpLogSegments compares, and more).

An entry of an offset index promises that a batch begins at its position, and that this batch or a later one, before the
next entry's position, has its offset. An entry of a time index promises that no timestamp up to its offset is larger.
"""

from __future__ import annotations

from collections.abc import Iterator

from recordpress.log.findings import Finding
from recordpress.log.sidecars.offset_index import ENTRY_SIZE as INDEX_ENTRY_SIZE, OffsetIndex, OffsetPosition
from recordpress.log.sidecars.time_index import ENTRY_SIZE as TIME_ENTRY_SIZE, TimeIndex
from recordpress.log.sidecars.transaction_index import AbortedTxn
from recordpress.record.header import BatchHeader

_OFFSET_RULE, _TIME_RULE, _TRANSACTION_RULE = "offset index", "time index", "transaction index"


class OffsetIndexCheck:
    """Entries of an offset index against the batches of its segment."""

    def __init__(self, index: OffsetIndex, file: str) -> None:
        self._index = index
        self._file = file
        self._number = 0  # of the next entry
        self._open: OffsetPosition | None = None  # the previous entry: its position was seen, its offset was not

    def add(self, header: BatchHeader, first_offset: int) -> Iterator[Finding]:
        """Yield the errors that the next batch reveals; `first_offset` is the offset of its first record."""
        while self._number < len(self._index) and self._index[self._number].position <= header.position:
            yield from self._unseen()
            entry = self._index[self._number]
            if entry.position < header.position:
                yield self._finding(self._number, f"no batch begins at position {entry.position} of the log")
            else:
                self._open = entry
            self._number += 1
        # brokers up to 0.11 did not index the last offset of the batch, but another
        if self._open is not None and first_offset <= self._open.offset <= header.last_offset:
            self._open = None

    def end(self) -> Iterator[Finding]:
        """Yield the findings that remain after the last batch."""
        yield from self._unseen()
        while self._number < len(self._index):
            position = self._index[self._number].position
            yield self._finding(self._number, f"position {position} is not in the log")
            self._number += 1

    def _unseen(self) -> Iterator[Finding]:
        if self._open is not None:
            message = f"no batch at or after position {self._open.position} has this offset"
            yield self._finding(self._number - 1, message)
            self._open = None

    def _finding(self, number: int, message: str) -> Finding:
        offset = self._index[number].offset
        return Finding(self._file, number * INDEX_ENTRY_SIZE, INDEX_ENTRY_SIZE, offset, _OFFSET_RULE, message)


class TimeIndexCheck:
    """Entries of a time index against the batches of its segment."""

    def __init__(self, index: TimeIndex, file: str) -> None:
        self._index = index
        self._file = file
        self._number = 0
        self._largest = -1

    def add(self, header: BatchHeader) -> Iterator[Finding]:
        """Yield the errors that the next batch reveals."""
        self._largest = max(self._largest, header.max_timestamp)
        while self._number < len(self._index) and self._index[self._number].offset <= header.last_offset:
            entry = self._index[self._number]
            # the first entry of a file that was preallocated and never written to is zero, too
            if entry.timestamp != self._largest and not (entry == (0, self._index.base_offset) and self._index.padding):
                message = f"timestamp {entry.timestamp}, but the largest up to this offset is {self._largest}"
                yield self._finding(message)
            self._number += 1

    def end(self) -> Iterator[Finding]:
        """Yield the findings that remain after the last batch."""
        while self._number < len(self._index):
            yield self._finding("the log has no batch with this offset or a later one")
            self._number += 1

    def _finding(self, message: str) -> Finding:
        position, offset = self._number * TIME_ENTRY_SIZE, self._index[self._number].offset
        return Finding(self._file, position, TIME_ENTRY_SIZE, offset, _TIME_RULE, message)


def transaction_findings(
    stored: list[AbortedTxn], made: list[AbortedTxn], aborts: set[tuple[int, int]], file: str
) -> Iterator[Finding]:
    """Compare a transaction index with the log; yield the differences."""
    known = set(stored)
    for transaction in made:
        if transaction not in known:
            message = f"the index lacks an aborted transaction of producer {transaction.producer_id}"
            yield Finding(file, None, None, transaction.last_offset, _TRANSACTION_RULE, message)
    for number, transaction in enumerate(stored):
        if (transaction.producer_id, transaction.last_offset) not in aborts:
            message = f"the log has no ABORT marker of producer {transaction.producer_id} at this offset"
            yield Finding(file, 34 * number, 34, transaction.last_offset, _TRANSACTION_RULE, message)
