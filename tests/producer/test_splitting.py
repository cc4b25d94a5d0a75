"""Splitting: the scenarios of Kafka's own tests, and random schedules of answers to streams whose ratio jumps.

RECORDPRESS_PRODUCER_SCHEDULES is how many schedules are drawn: `make -f labs.mk producer-rules` has 10,000.
"""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Callable
from typing import Any

import pytest

import recordpress
from recordpress.producer import BatchAccumulator, ProduceAnswer, ProducerBatch
from together import draws

MESSAGE_TOO_LARGE = 10
SCHEDULES = int(os.environ.get("RECORDPRESS_PRODUCER_SCHEDULES", draws(60)))


class Broker:
    """Stores batches of one partition, in order and once, as a log with idempotent producers does."""

    def __init__(self, most: int = 2**31, answers: Callable[[], int | None] = lambda: 0) -> None:
        self.most, self.answers = most, answers
        self.records: list[tuple[int, bytes]] = []  # sequence and value
        self.batches = self.splits = 0

    def send(self, batch: ProducerBatch) -> ProduceAnswer:
        self.batches += 1
        if len(batch.records) > self.most:
            self.splits += batch.records_count > 1
            return ProduceAnswer(MESSAGE_TOO_LARGE)
        code = self.answers()
        if code:
            return ProduceAnswer(code)
        base = len(self.records)
        [entry] = recordpress.read_batches(batch.records)
        if batch.base_sequence >= 0:
            assert entry.base_sequence == batch.base_sequence == (self.records[-1][0] + 1 if self.records else 0)
        self.records += [(record.sequence, record.value) for record in entry]
        return ProduceAnswer(0, base)


# --- splitting: Kafka's own scenarios --------------------------------------------------------------------------------


def test_split_of_a_batch_that_is_over_full() -> None:
    """RecordAccumulatorTest.testSplitBatchOffAccumulator: an estimate of 0.1 for bytes that do not compress."""
    accumulator = BatchAccumulator(batch_size=1024, compression_type="gzip")
    accumulator.estimator.set_estimation("t", "gzip", 0.1)
    values = [random.Random(i).randbytes(100) for i in range(20)]
    for value in values:
        accumulator.append(value, topic="t")
    [batch] = accumulator.drain()
    assert len(batch.records) > 1024
    accumulator.complete(batch, MESSAGE_TOO_LARGE)
    assert accumulator.estimator.estimation("t", "gzip") == 1.0
    broker = Broker(1024 + 61)
    accumulator.run(broker.send)
    assert [value for _, value in broker.records] == values
    assert broker.splits == 0
    assert accumulator.metrics()["batch-split-total"] == 1


def test_a_batch_that_fits_is_sent_once_more_and_then_for_half_of_its_size() -> None:
    """RecordAccumulator.splitAndReenqueue; tests/compat/test_producer_rules.py compares random streams."""
    accumulator = BatchAccumulator(batch_size=1000)
    for _ in range(8):
        accumulator.append(bytes(100))
    broker = Broker(400)
    sent = []

    def send(batch: ProducerBatch) -> ProduceAnswer:
        sent.append((batch.is_split, batch.records_count))
        return broker.send(batch)

    accumulator.run(send)
    assert sent == [(False, 8), (True, 8), (True, 3), (True, 3), (True, 2)]
    assert len(broker.records) == 8


def test_a_part_that_cannot_become_smaller_waits_for_its_next_attempt() -> None:
    """Kafka sends it without a pause until delivery.timeout.ms is over."""
    accumulator = BatchAccumulator(batch_size=1000, retry_backoff_ms=100, delivery_timeout_ms=1000)
    errors = []
    for _ in range(3):
        accumulator.append(b"", callback=lambda _, error: errors.append(error.code))
    sent = []

    def send(batch: ProducerBatch) -> int:
        sent.append(batch.records_count)
        return MESSAGE_TOO_LARGE

    accumulator.run(send)
    assert sent == [3, 3]
    for now in range(50, 1001, 50):
        accumulator.run(send, now)
    assert sent == [3] * 5  # after 100, 300 and 700 ms
    assert (errors, accumulator.undrained) == ([7, 7, 7], 0)


@pytest.mark.parametrize("size", [0, 1, 10])
def test_a_batch_that_kafka_would_send_again_is_halved(size: int) -> None:
    """A part takes its first record regardless of its size, and small ones with it: no batch.size cuts these."""
    accumulator = BatchAccumulator(batch_size=1000, split_in_half=True)
    for _ in range(5):
        accumulator.append(bytes(size))
    sent = []

    def send(batch: ProducerBatch) -> int:
        sent.append(batch.records_count)
        return MESSAGE_TOO_LARGE if batch.records_count > 1 else 0

    accumulator.run(send)
    assert sent == [5, 3, 2, 1, 1, 1, 2, 1, 1]


def test_split_in_two_and_their_offsets() -> None:
    """RecordAccumulatorTest.testSplitAndReenqueue: two values of 1024 zeros, batch.size 1024."""
    accumulator = BatchAccumulator(batch_size=4096)
    got = []
    for _ in range(2):
        accumulator.append(bytes(1024), callback=lambda metadata, _: got.append(metadata.offset))
    [batch] = accumulator.drain()
    small = recordpress.producer.split(batch.records, 1024)
    assert [len(recordpress.read_columns(part, ["offset"])) for part in small] == [1, 1]
    accumulator.complete(batch, ProduceAnswer(0, 0))
    assert got == [0, 1]


def test_split_keeps_sequences() -> None:
    """SenderTest.testSplitBatchAndSend: two records in one batch, the parts have sequences 0 and 1, the next is 2."""
    accumulator = BatchAccumulator(
        batch_size=1024, compression_type="gzip", producer_id=7, producer_epoch=1, is_transactional=True
    )
    accumulator.estimator.set_estimation("t", "gzip", 0.2)
    for _ in range(2):
        accumulator.append(bytes(512), topic="t")
    [batch] = accumulator.drain()
    assert (batch.base_sequence, batch.records_count) == (0, 2)
    accumulator.complete(batch, MESSAGE_TOO_LARGE)
    accumulator.append(b"later", topic="t")
    sequences = []
    while batches := accumulator.drain(flush=True):
        for part in batches:
            [entry] = recordpress.read_batches(part.records)
            assert (entry.producer_id, entry.producer_epoch, entry.is_transactional) == (7, 1, True)
            sequences.append(entry.base_sequence)
            accumulator.complete(part, ProduceAnswer(0, 500 + entry.base_sequence))
    assert sequences == [0, 1, 2]


@pytest.mark.parametrize("percent", range(1, 100, 33 if SCHEDULES < 1000 else 1))
def test_split_frequency(percent: int) -> None:
    """RecordAccumulatorTest.testSplitFrequency: less than a tenth of the batches are split."""
    numbers = random.Random(percent)
    accumulator = BatchAccumulator(batch_size=1024, compression_type="gzip", linger_ms=10)
    broker = Broker(1024 + 61)
    for _ in range(1000):
        good = numbers.random() * 100 < percent
        value = struct.pack(">25i", *(numbers.randrange(1000) for _ in range(25))) if good else numbers.randbytes(100)
        accumulator.append(value, timestamp=0)
        accumulator.run(broker.send)
    accumulator.run(broker.send, 10)
    assert len(broker.records) == 1000
    assert broker.splits / broker.batches < 0.1


@pytest.mark.parametrize("seed", range(SCHEDULES // 4))
def test_splits_are_rare_where_the_ratio_jumps(seed: int) -> None:
    """From a twentieth to nothing and back: after a split ten batches must do well before another is expected to."""
    numbers = random.Random(seed)
    batch_size = numbers.choice([1024, 4096, 16384])
    codec = numbers.choice(["gzip", "snappy", "lz4", "zstd"])
    accumulator = BatchAccumulator(batch_size=batch_size, compression_type=codec)
    accumulator.estimator.set_estimation("", codec, numbers.choice([0.05, 0.5, 1.0]))
    broker = Broker(batch_size + 61)
    run = numbers.choice([10, 100, 1000])
    for i in range(4000):
        accumulator.append(numbers.randbytes(100) if i // run % 2 else bytes(2000))
        if i % 8 == 0:
            accumulator.run(broker.send, flush=False)
    accumulator.run(broker.send, flush=True)
    assert len(broker.records) == 4000
    assert broker.splits <= 0.1 * broker.batches + 1


# --- splitting: any schedule -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(SCHEDULES))
def test_no_record_is_lost_doubled_or_reordered(seed: int) -> None:
    """Streams whose ratio jumps, brokers whose limit is near the batch size, and answers that want another attempt."""
    numbers = random.Random(seed)
    codec = numbers.choice(["none", "gzip", "snappy", "lz4", "zstd"])
    idempotent = numbers.random() < 0.6
    most = numbers.choice([400, 1085, 6000])
    accumulator = BatchAccumulator(
        batch_size=numbers.choice([0, 300, 1024, 5000]),
        compression_type=codec,
        delivery_timeout_ms=2**40,
        split_in_half=most == 400 or numbers.random() < 0.5,  # smaller than some records: a part may stay too large
        **({"producer_id": 3, "producer_epoch": 0} if idempotent else {}),
    )
    accumulator.estimator.set_estimation("", codec, numbers.choice([0.05, 0.3, 1.0]))
    broker = Broker(most, lambda: numbers.choice([0, 0, 0, 6, 19]))
    failed: list[int] = []
    stored: dict[int, int] = {}
    values = []
    now = 0
    for i in range(300):
        now += 2000  # beyond any wait between attempts
        good = numbers.random() < 0.5
        size = numbers.randrange(300)
        value = struct.pack(">i", i) + (bytes(size) if good else numbers.randbytes(size))
        values.append(value)

        def done(metadata: Any, error: Any, i: int = i) -> None:
            assert i not in stored
            if error is None:
                stored[i] = metadata.offset
            else:
                failed.append(i)

        accumulator.append(value, callback=done, now_ms=now)
        if numbers.random() < 0.2:
            accumulator.run(broker.send, now, flush=numbers.random() < 0.3)
    while accumulator.undrained or accumulator.in_flight:
        now += 2000
        accumulator.run(broker.send, now, flush=True)
    alone = {i for i, value in enumerate(values) if len(value) + 70 > broker.most}
    assert set(failed) <= alone
    assert sorted(failed + list(stored)) == list(range(300))
    kept = [i for i in range(300) if i in stored]
    assert [value for _, value in broker.records] == [values[i] for i in kept]
    assert [stored[i] for i in kept] == list(range(len(kept)))


@pytest.mark.parametrize("seed", range(SCHEDULES // 2))
def test_several_in_flight_and_any_order_of_answers(seed: int) -> None:
    """An idempotent producer keeps its order with five batches on their way, whatever comes back first."""
    numbers = random.Random(seed)
    accumulator = BatchAccumulator(
        batch_size=500, compression_type="lz4", producer_id=1, producer_epoch=0, delivery_timeout_ms=2**40
    )
    accumulator.estimator.set_estimation("", "lz4", 0.2)
    log = recordpress.broker.PartitionLog(broker_version="4.3", topic_config={"max.message.bytes": 700})
    stored = []
    for i in range(200):
        accumulator.append(numbers.randbytes(50), callback=lambda *given, i=i: stored.append((i, *given)))
    flying: list[ProducerBatch] = []
    now = 0
    while accumulator.undrained or accumulator.in_flight:
        now += 2000
        flying += accumulator.drain(now, flush=True)
        if flying and numbers.random() < 0.7:
            batch = flying.pop(numbers.randrange(len(flying)))
            answer: Any = ProduceAnswer(None)  # lost on its way there, or on its way back
            if numbers.random() < 0.8:
                stored_as = log.append(batch.records, produce_version=9)
                answer = stored_as if numbers.random() < 0.8 else answer
            accumulator.complete(batch, answer, now)
    assert [error for _, _, error in stored if error] == []
    assert sorted((i, metadata.offset) for i, metadata, _ in stored) == [(i, i) for i in range(200)]


def test_a_failed_batch_leaves_its_sequences_to_the_next() -> None:
    """TransactionManager.adjustSequencesDueToFailedBatch"""
    accumulator = BatchAccumulator(batch_size=0, producer_id=1, producer_epoch=0)
    for _ in range(3):
        accumulator.append(bytes(40))
    first, second = accumulator.drain() + accumulator.drain()
    accumulator.complete(second, 45)  # its turn has not come: it waits
    accumulator.complete(first, 87)
    assert second.base_sequence == 0
    [entry] = recordpress.read_batches(accumulator.drain(10_000)[0].records)
    assert entry.base_sequence == 0
