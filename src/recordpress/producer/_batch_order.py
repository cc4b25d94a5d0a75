"""Order of a partition's batches by sequence, and the splits of a batch (ProducerBatch.split)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from recordpress.record import Batch, Record, read_batches
from recordpress.record.header import SEQUENCES, with_producer

if TYPE_CHECKING:
    from recordpress.producer._filling import BatchFiller, ProducerBatch


class Partition:
    """State of a partition, except for its waiting batches."""

    def __init__(self) -> None:
        self.sent: list[ProducerBatch] = []  # batches that were sent and not answered
        self.tracked: list[ProducerBatch] = []  # batches with a sequence that are not done, in order of sequence
        self.next_sequence = 0
        self.last_acked_sequence = -1


def sequence_after(sequence: int, records: int) -> int:
    """Return the sequence that is `records` later; 0 follows 2^31 - 1."""
    return (sequence + records) % SEQUENCES


def with_sequence(batch: ProducerBatch, base_sequence: int) -> bytes:
    """Return the bytes of a closed batch with another sequence."""
    return with_producer(batch.records, batch.producer_id, batch.producer_epoch, base_sequence, batch.is_transactional)


def is_before(batch: ProducerBatch, other: ProducerBatch) -> bool:
    """Return whether a sequence precedes another; 0 follows 2^31 - 1."""
    return batch.base_sequence >= 0 and 0 < (other.base_sequence - batch.base_sequence) % SEQUENCES < SEQUENCES // 2


def size_of(batch: ProducerBatch) -> int:
    """Return the size of a closed batch in bytes."""
    return batch.estimated_size_in_bytes


def parts_of(filler: BatchFiller, batch: ProducerBatch, in_half: bool) -> list[ProducerBatch]:
    """Fill new batches with the records of a closed batch: two batches, with `in_half`, if all records fit one."""
    [entry] = read_batches(batch.records, check_crcs=False, codecs=filler.codecs)
    thunks = batch._take_thunks()
    try:
        # RecordAccumulator.splitAndReenqueue
        size = max(batch._max_record_size, size_of(batch) // 2) if batch.is_split else filler.batch_size
        parts = cut(filler, batch, size, entry, thunks)
        if in_half and len(parts) == 1:
            parts = cut(filler, batch, filler.batch_size, entry, thunks, most=(len(entry) + 1) // 2)
        return parts
    finally:
        batch._give_thunks(thunks)  # the batch keeps its callbacks until the parts replace it


def cut(
    filler: BatchFiller,
    parent: ProducerBatch | None,
    batch_size: int,
    records: Iterable[Record],
    thunks: Sequence[Any] | None,
    *,
    most: int = 2**31,
) -> list[ProducerBatch]:
    """Return batches with the records and their callbacks, each filled up to `batch_size` or with `most` records."""
    place = ("", 0, 0) if parent is None else (parent.topic, parent.partition, parent.created_ms)
    parts: list[ProducerBatch] = []
    for i, record in enumerate(records):
        callback = None if thunks is None else thunks[i]
        if parts and parts[-1].records_count < most and filler._take(parts[-1], record, callback):
            continue
        parts.append(filler._part(*place, batch_size))
        filler._take(parts[-1], record, callback)
    for part in parts:
        part._close_for_appends()
    return parts


def number_parts(parts: Iterable[ProducerBatch], batch: ProducerBatch | Batch) -> None:
    """Give the splits of a batch the sequences of their records, if the batch has sequences."""
    sequence = batch.base_sequence
    if sequence < 0:
        return
    for part in parts:
        part._set_producer(batch.producer_id, batch.producer_epoch, sequence, batch.is_transactional)
        sequence = sequence_after(sequence, part.records_count)
