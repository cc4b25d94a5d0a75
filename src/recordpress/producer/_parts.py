"""The order of a partition's batches by their sequences, and the parts of one that is split (ProducerBatch.split)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from recordpress.checksum import crc32c
from recordpress.record import Batch, Record, read_batches

if TYPE_CHECKING:
    from recordpress.producer._filling import BatchFiller, ProducerBatch

BASE_SEQUENCE = 53  # where it lies in a v2 batch
CRC, CHECKED = 17, 21


class Partition:
    """State of a partition other than waiting batches."""

    def __init__(self) -> None:
        self.sent: list[ProducerBatch] = []  # and not answered
        self.tracked: list[ProducerBatch] = []  # have a sequence and are not done, in the order of these
        self.next_sequence = 0
        self.last_acked_sequence = -1


def sequence_after(sequence: int, records: int) -> int:
    """Sequences start at 0 again after 2^31 - 1 (DefaultRecordBatch.incrementSequence)."""
    return (sequence + records) % 2**31


def with_sequence(records: bytes, base_sequence: int) -> bytes:
    """A v2 batch with another sequence."""
    changed = bytearray(records)
    struct.pack_into(">i", changed, BASE_SEQUENCE, base_sequence)
    struct.pack_into(">I", changed, CRC, crc32c(memoryview(changed)[CHECKED:]))
    return bytes(changed)


def is_before(batch: ProducerBatch, other: ProducerBatch) -> bool:
    """By their sequences, which start at 0 again after 2^31 - 1."""
    return batch.base_sequence >= 0 and 0 < (other.base_sequence - batch.base_sequence) % 2**31 < 2**30


def parts_of(filler: BatchFiller, batch: ProducerBatch) -> list[ProducerBatch]:
    """The records of a closed batch in new ones that are filled for the producer's batch size.

    Where all of them fit one such batch, Kafka sends that again until its delivery time is over. Here they are cut in
    half, as KIP-126 has it: a batch of one record ends it.
    """
    [entry] = read_batches(batch.records, check_crcs=False, codecs=filler.codecs)
    thunks = batch._take_thunks()
    try:
        parts = cut(filler, batch, filler.batch_size, entry, thunks)
        if len(parts) == 1:
            parts = cut(filler, batch, filler.batch_size, entry, thunks, most=(len(entry) + 1) // 2)
        return parts
    finally:
        batch._give_thunks(thunks)  # until the parts are in its place, they are its own


def cut(
    filler: BatchFiller,
    parent: ProducerBatch | None,
    batch_size: int,
    records: Iterable[Record],
    thunks: Sequence[Any] | None,
    *,
    most: int = 2**31,
) -> list[ProducerBatch]:
    """The records in batches that are filled for `batch_size` and have at most `most`, each with its callback."""
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
    """Give the parts of a batch the sequences that its records have, if it has any."""
    sequence = batch.base_sequence
    if sequence < 0:
        return
    for part in parts:
        part._set_producer(batch.producer_id, batch.producer_epoch, sequence, batch.is_transactional)
        sequence = sequence_after(sequence, part.records_count)
