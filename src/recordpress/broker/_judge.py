"""The broker that `explain` uses: `validate` with all arguments except the record set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from recordpress.broker._validate import validate
from recordpress.broker._verdict import Verdict
from recordpress.codecs import CodecRegistry
from recordpress.log.sidecars import ProducerState
from recordpress.record import Batch
from recordpress.record.header import SEQUENCES
from recordpress.typing import Integer, Time

_IN_A_LOG = "of the log"  # a transactional id, because batches of a log have none


@dataclass(frozen=True, slots=True)
class Judge:
    """A broker with its settings."""

    broker_version: str
    topic_config: Mapping[str, Any]
    levels: Mapping[str, int]
    produce_version: Integer | None
    now_ms: Time | None
    helpful: bool
    codecs: CodecRegistry | None

    def of_request(self, version: Integer | None, transactional_id: str | None) -> Callable[[Any], Verdict]:
        """Return the function that validates a client's record set; the coordinator is assumed to know its
        transaction."""
        return self._validator(version, transactional_id, self.now_ms, None)

    def of_log(self, batch: Batch) -> Callable[[Any], Verdict]:
        """Return the function that validates a batch of a log as if its producer were sending it, directly after
        its previous batch. The time is `now_ms`, else the batch's largest timestamp."""
        transactional_id = _IN_A_LOG if batch.is_transactional else None
        sent_at = batch.max_timestamp if batch.max_timestamp >= 0 else None
        now_ms = sent_at if self.now_ms is None else self.now_ms
        return self._validator(self.produce_version, transactional_id, now_ms, _previous_batch(batch))

    def _validator(
        self,
        version: Integer | None,
        transactional_id: str | None,
        now_ms: Time | None,
        producers: list[ProducerState] | None,
    ) -> Callable[[Any], Verdict]:
        def judge(records: Any) -> Verdict:
            return validate(
                records,
                broker_version=self.broker_version,
                produce_version=version,
                topic_config=self.topic_config,
                transactional_id=transactional_id,
                next_offset=0 if producers is None else 1,
                now_ms=now_ms,
                producers=producers,
                verified_transactions=() if transactional_id is None else (transactional_id,),
                helpful=self.helpful,
                codecs=self.codecs,
            )

        return judge


def _previous_batch(batch: Batch) -> list[ProducerState] | None:
    """Return the producer's state after a made-up previous batch of one record at offset 0."""
    if batch.producer_id < 0 or batch.base_sequence < 0:
        return None
    before = (batch.base_sequence - 1) % SEQUENCES
    transaction = 0 if batch.is_transactional else -1
    return [ProducerState(batch.producer_id, batch.producer_epoch, before, 0, 0, 0, -1, transaction)]
