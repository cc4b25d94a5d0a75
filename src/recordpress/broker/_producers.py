"""State of idempotent and transactional producers in a partition, and its effect on their next batch.

Sources: ProducerStateManager, ProducerStateEntry, ProducerAppendInfo, VerificationStateEntry; UnifiedLog for the order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from recordpress._arguments import INT16_MAX
from recordpress.broker._reasons import Reason
from recordpress.errors import ArgumentTypeError
from recordpress.log.sidecars import ProducerState
from recordpress.record.header import SEQUENCES

if TYPE_CHECKING:
    from recordpress.broker._versions import BrokerRules
    from recordpress.record.header import BatchHeader

T = TypeVar("T")

_NO_EPOCH = _NO_SEQUENCE = _NO_OFFSET = -1
_OWN_EPOCHS = 2  # first transaction.version in which each transaction has its own epoch

# Before KIP-360, a producer had to begin with sequence 0 if its last sequence was unknown.
_FOR_UNKNOWN = {"welcome": None, "out of order": Reason.OUT_OF_ORDER_SEQUENCE, "unknown": Reason.UNKNOWN_PRODUCER}


class RememberedBatch(NamedTuple):
    """A batch that a retry may repeat (BatchMetadata)."""

    first_sequence: int
    last_sequence: int
    first_offset: int
    last_offset: int
    timestamp: int


@dataclass(frozen=True, slots=True)
class Producer:
    """One immutable producer (ProducerStateEntry), replaced when it changes: a rejected batch leaves no trace."""

    producer_id: int
    epoch: int = _NO_EPOCH
    batches: tuple[RememberedBatch, ...] = ()
    timestamp: int = -1
    coordinator_epoch: int = -1
    transaction_begins: int = _NO_OFFSET

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else _NO_SEQUENCE

    def repeated(self, header: BatchHeader) -> RememberedBatch | None:
        """Return the remembered batch with the same epoch and sequences; None if there is no such batch."""
        if header.producer_epoch != self.epoch:
            return None
        wanted = header.base_sequence, header.last_sequence
        return next((batch for batch in self.batches if batch[:2] == wanted), None)

    def after(self, header: BatchHeader, remembered: int) -> Producer:
        """Return the producer after its batch is appended; it keeps `remembered` batches (ProducerStateEntry)."""
        batch = RememberedBatch(
            header.base_sequence, header.last_sequence, header.base_offset, header.last_offset, header.max_timestamp
        )
        earlier = self.batches if self.epoch == header.producer_epoch else ()
        begins = self.transaction_begins
        if header.is_transactional and begins == _NO_OFFSET:
            begins = header.base_offset
        return replace(
            self,
            epoch=header.producer_epoch,
            batches=(*earlier, batch)[-remembered:],
            timestamp=header.max_timestamp,
            transaction_begins=begins,
        )

    def snapshot(self) -> ProducerState:
        last = self.batches[-1] if self.batches else None
        return ProducerState(
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            last_sequence=self.last_sequence,
            last_offset=last.last_offset if last else _NO_OFFSET,
            offset_delta=last.last_offset - last.first_offset if last else 0,
            timestamp=self.timestamp,
            coordinator_epoch=self.coordinator_epoch,
            current_txn_first_offset=self.transaction_begins,
        )

    @classmethod
    def of_snapshot(cls, state: ProducerState) -> Producer:
        """Create a producer from a snapshot, which has only the last batch (ProducerStateManager.readSnapshot)."""
        batches: tuple[RememberedBatch, ...] = ()
        if state.last_offset >= 0:
            first_offset = state.last_offset - state.offset_delta
            sequences = state.first_sequence, state.last_sequence
            batches = (RememberedBatch(*sequences, first_offset, state.last_offset, state.timestamp),)
        begins = state.current_txn_first_offset if state.current_txn_first_offset >= 0 else _NO_OFFSET
        return cls(state.producer_id, state.producer_epoch, batches, state.timestamp, state.coordinator_epoch, begins)


@dataclass(slots=True)
class _Verification:
    """State from the verification request until the batch is in the log (VerificationStateEntry)."""

    lowest_sequence: int
    epoch: int
    bumps_epoch: bool

    def ask_again(self, sequence: int, epoch: int) -> None:
        if epoch > self.epoch:
            self.epoch, self.lowest_sequence = epoch, sequence
        elif epoch == self.epoch:
            self.lowest_sequence = min(self.lowest_sequence, sequence)


@dataclass(slots=True)
class Producers:
    """All producers of a partition."""

    rules: BrokerRules
    known: dict[int, Producer] = field(default_factory=dict)
    _asked: dict[int, _Verification] = field(default_factory=dict)

    @classmethod
    def of_snapshot(cls, rules: BrokerRules, states: Iterable[ProducerState] | None) -> Producers:
        if states is None:
            return cls(rules)
        given = listed(states)
        other = [states] if given is None else [state for state in given if not isinstance(state, ProducerState)]
        if given is None or other:
            kind = type(other[0]).__name__
            message = f"producers must be a result of recordpress.log.sidecars.read_snapshot, not {kind}"
            raise ArgumentTypeError(message, field="producers")
        return cls(rules, {state.producer_id: Producer.of_snapshot(state) for state in given})

    def verify(self, header: BatchHeader, is_verified: bool, bumps_epoch: bool) -> Reason | None:
        """Verify the transaction of a batch with the coordinator, unless it is already open in this partition."""
        producer = self.known.get(header.producer_id)
        if self._is_fenced(header):
            return Reason.PRODUCER_EPOCH
        if self._has_transaction(producer, header.producer_epoch):
            return None
        asked = self._asked.setdefault(
            header.producer_id, _Verification(header.base_sequence, header.producer_epoch, bumps_epoch)
        )
        asked.ask_again(header.base_sequence, header.producer_epoch)
        return None if is_verified else Reason.TRANSACTION_UNVERIFIED

    def _is_fenced(self, header: BatchHeader) -> bool:
        producer = self.known.get(header.producer_id)
        return self.rules.fences_before_verification and producer is not None and header.producer_epoch < producer.epoch

    def _has_transaction(self, producer: Producer | None, epoch: int) -> bool:
        if producer is None or producer.transaction_begins == _NO_OFFSET:
            return False
        return not self.rules.transactions_have_epochs or producer.epoch == epoch

    def repeated(self, header: BatchHeader) -> RememberedBatch | None:
        producer = self.known.get(header.producer_id)
        return producer.repeated(header) if producer is not None else None

    def check(self, header: BatchHeader) -> Reason | None:
        """Return the reason why a batch cannot follow its producer's earlier batches; None if it can
        (ProducerAppendInfo.appendDataBatch)."""
        producer = self.known.get(header.producer_id) or Producer(header.producer_id)
        if header.producer_epoch < producer.epoch:
            return Reason.PRODUCER_EPOCH
        if reason := self._check_sequence(producer, header):
            return reason
        if producer.transaction_begins != _NO_OFFSET and not header.is_transactional:
            return Reason.TRANSACTION_OPEN
        return None

    def _check_sequence(self, producer: Producer, header: BatchHeader) -> Reason | None:
        first = header.base_sequence
        if asked := self._asked.get(header.producer_id):
            if asked.bumps_epoch and self.rules.bumped_epochs_begin_at_0 and first != 0 and not producer.batches:
                return Reason.NEW_EPOCH_SEQUENCE
            if first > asked.lowest_sequence:
                return Reason.OUT_OF_ORDER_SEQUENCE
        if producer.epoch == _NO_EPOCH:  # unknown, perhaps because all of the producer's records were deleted
            return None if first == 0 else _FOR_UNKNOWN[self.rules.unknown_producer]
        if header.producer_epoch != producer.epoch:
            return Reason.NEW_EPOCH_SEQUENCE if first != 0 else None
        if not producer.batches and first != 0 and self.rules.unknown_sequence != "welcome":
            return _FOR_UNKNOWN[self.rules.unknown_sequence]
        return None if first == (producer.last_sequence + 1) % SEQUENCES else Reason.OUT_OF_ORDER_SEQUENCE

    def append(self, header: BatchHeader) -> None:
        """Update the producer after its batch was appended."""
        producer = self.known.get(header.producer_id) or Producer(header.producer_id)
        self.known[header.producer_id] = producer.after(header, self.rules.remembered_batches)
        if header.is_transactional:
            self._asked.pop(header.producer_id, None)

    def check_marker(self, header: BatchHeader, coordinator_epoch: int, transaction_version: int) -> Reason | None:
        """Return why a marker cannot end a transaction; None if it can (ProducerAppendInfo.appendEndTxnMarker)."""
        producer = self.known.get(header.producer_id) or Producer(header.producer_id)
        if header.producer_epoch < producer.epoch or (
            header.producer_epoch == producer.epoch
            and producer.transaction_begins != _NO_OFFSET
            and transaction_version >= _OWN_EPOCHS
            and self.rules.markers_have_new_epochs
            and not (self.rules.last_epoch_may_repeat and producer.epoch == INT16_MAX)
        ):
            return Reason.PRODUCER_EPOCH
        return Reason.COORDINATOR_EPOCH if coordinator_epoch < producer.coordinator_epoch else None

    def append_marker(self, header: BatchHeader, coordinator_epoch: int) -> None:
        """Update the producer after its marker was appended."""
        producer = self.known.get(header.producer_id) or Producer(header.producer_id)
        self.known[header.producer_id] = replace(
            producer,
            epoch=header.producer_epoch,
            batches=producer.batches if producer.epoch == header.producer_epoch else (),
            timestamp=header.max_timestamp,
            coordinator_epoch=coordinator_epoch,
            transaction_begins=_NO_OFFSET,
        )
        asked = self._asked.get(header.producer_id)
        if asked and not (asked.bumps_epoch and asked.epoch == header.producer_epoch):  # else of the next transaction
            del self._asked[header.producer_id]

    def snapshot(self) -> list[ProducerState]:
        return [producer.snapshot() for producer in self.known.values()]

    def open_transactions(self) -> dict[int, int]:
        """Return the first offset of each open transaction, by producer id."""
        return {
            producer.producer_id: producer.transaction_begins
            for producer in self.known.values()
            if producer.transaction_begins != _NO_OFFSET
        }


def listed(values: Iterable[T]) -> list[T] | None:
    """Return the values of an iterable; None for text, bytes and objects that are not iterable."""
    if isinstance(values, (str, bytes, bytearray, memoryview)):
        return None
    try:
        iterator = iter(values)
    except TypeError:
        return None
    return list(iterator)
