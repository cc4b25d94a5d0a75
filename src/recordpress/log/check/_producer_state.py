"""The producers of a log: the state that a snapshot keeps, and the aborted transactions (Kafka's
ProducerStateManager, ProducerAppendInfo and ProducerStateEntry, as they replay a log)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from recordpress.log.sidecars.producer_snapshot import ProducerState
from recordpress.log.sidecars.transaction_index import AbortedTxn
from recordpress.record.header import BatchHeader

_UNKNOWN = ProducerState(-1, -1, -1, -1, 0, -1, -1, -1)
_NO_BATCH = {"last_sequence": -1, "last_offset": -1, "offset_delta": 0}


class EndTxnMarker(NamedTuple):
    """The record of a control batch that ends a transaction."""

    committed: bool
    coordinator_epoch: int
    timestamp: int


class ProducerStates:
    """The producers of a partition, batch by batch."""

    def __init__(self, snapshot: Iterable[ProducerState] = ()) -> None:
        self._producers = {state.producer_id: state for state in snapshot}
        self._open = {
            state.producer_id: state.current_txn_first_offset
            for state in self._producers.values()
            if state.current_txn_first_offset >= 0
        }

    @property
    def first_unstable_offset(self) -> int | None:
        """Offset at which the first open transaction begins; None if no transaction is open."""
        return min(self._open.values(), default=None)

    def snapshot(self) -> list[ProducerState]:
        """Return the states sorted by producer id. (Kafka writes them in the order of a hash table.)"""
        return [state for _, state in sorted(self._producers.items())]

    def add(self, header: BatchHeader, marker: EndTxnMarker | None = None) -> AbortedTxn | None:
        """Add a batch, and its marker if it has one; return the transaction that it aborts, if any."""
        if header.producer_id < 0:
            return None
        if not header.is_control:
            self._add_records(header)
        elif marker is not None:
            return self._add_marker(header, marker)
        return None

    def _of(self, header: BatchHeader) -> ProducerState:
        """Return the producer's state before this batch; a new epoch clears its earlier batches."""
        state = self._producers.get(header.producer_id, _UNKNOWN._replace(producer_id=header.producer_id))
        if state.producer_epoch == header.producer_epoch:
            return state
        return state._replace(producer_epoch=header.producer_epoch, **_NO_BATCH)

    def _add_records(self, header: BatchHeader) -> None:
        state = self._of(header)._replace(
            last_sequence=header.last_sequence,
            last_offset=header.last_offset,
            offset_delta=header.last_offset - header.base_offset,
            timestamp=header.max_timestamp,
        )
        if header.is_transactional and header.producer_id not in self._open:
            self._open[header.producer_id] = header.base_offset
            state = state._replace(current_txn_first_offset=header.base_offset)
        self._producers[header.producer_id] = state

    def _add_marker(self, header: BatchHeader, marker: EndTxnMarker) -> AbortedTxn | None:
        self._producers[header.producer_id] = self._of(header)._replace(
            timestamp=marker.timestamp, coordinator_epoch=marker.coordinator_epoch, current_txn_first_offset=-1
        )
        first_offset = self._open.pop(header.producer_id, None)
        if first_offset is None or marker.committed:
            return None
        stable = min(self._open.values(), default=header.base_offset + 1)
        return AbortedTxn(header.producer_id, first_offset, header.base_offset, stable)
