"""BatchAccumulator: filling, draining, answers, and what callers hand in."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable
from typing import Any

import pytest

import recordpress
from recordpress.producer import BatchAccumulator, CompressionRatioEstimator, ProduceAnswer, ProducerBatch

MESSAGE_TOO_LARGE = 10


# --- filling ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ratio", "records"), [(1.0, 8), (0.5, 16)])
def test_a_batch_takes_what_the_estimate_allows(ratio: float, records: int) -> None:
    """Records of 107 bytes and a limit of 1024: 8 at a ratio of 1.0, 16 at 0.5."""
    accumulator = BatchAccumulator(batch_size=1024, compression_type="lz4", linger_ms=1000)
    accumulator.estimator.set_estimation("", "lz4", ratio)
    value = bytes(98)
    full = [accumulator.append(value) for _ in range(records + 1)]
    assert full == [False] * records + [True]
    [batch] = accumulator.drain()
    assert (batch.records_count, batch.uncompressed_size) == (records, 107 * records)


def test_a_batch_sees_no_later_estimate() -> None:
    estimator = CompressionRatioEstimator()
    accumulator = BatchAccumulator(batch_size=1024, compression_type="lz4", estimator=estimator)
    accumulator.append(bytes(100))
    estimator.set_estimation("", "lz4", 0.01)
    for _ in range(7):
        assert not accumulator.append(bytes(100))
    assert accumulator.append(bytes(100))


def test_batch_size_0_is_one_record_per_batch() -> None:
    accumulator = BatchAccumulator(batch_size=0)  # but for a few records of some bytes: there is room for any record
    assert [accumulator.append(bytes(40)) for _ in range(3)] == [False, True, True]
    sent = []
    accumulator.run(lambda batch: sent.append(batch.records_count))
    assert sent == [1, 1, 1]


def test_the_first_record_is_taken_whatever_its_size() -> None:
    accumulator = BatchAccumulator(batch_size=10)
    assert not accumulator.append(bytes(1000))  # the write limit is its upper bound, some bytes more than it takes
    assert not accumulator.append(b"")
    assert accumulator.append(bytes(10))
    assert [batch.records_count for batch in accumulator.drain()] == [2]


@pytest.mark.parametrize(("magic", "codec"), [(2, "none"), (2, "gzip"), (1, "none"), (1, "gzip"), (0, "none")])
def test_a_record_larger_than_a_request(magic: int, codec: str) -> None:
    """AbstractRecords.estimateSizeInBytesUpperBound: uncompressed, whatever the codec."""
    key, headers = b"k", [("h", b"v")] if magic == 2 else ()
    overhead = {2: 61 + 21 + 2 + 2 + 5, 1: 12 + 22 + 1, 0: 12 + 14 + 1}[magic]
    overhead += 22 if (magic, codec) == (1, "gzip") else 0
    value = bytes(1000 - overhead)
    BatchAccumulator(magic=magic, compression_type=codec, max_request_size=1000).append(value, key, headers=headers)
    accumulator = BatchAccumulator(magic=magic, compression_type=codec, max_request_size=1000)
    with pytest.raises(recordpress.producer.RecordTooLargeError) as caught:
        accumulator.append(value + b"x", key, headers=headers)
    assert (caught.value.field, caught.value.code) == ("max_request_size", MESSAGE_TOO_LARGE)
    assert accumulator.undrained == 0


def test_partitions_fill_their_own_batches() -> None:
    accumulator = BatchAccumulator()
    for i in range(6):
        accumulator.append(b"%d" % i, topic="ab"[i % 2], partition=i % 3)
    drained = accumulator.drain()
    assert sorted((batch.topic, batch.partition, batch.records_count) for batch in drained) == [
        (topic, partition, 1) for topic in "ab" for partition in range(3)
    ]


# --- draining --------------------------------------------------------------------------------------------------------


def test_linger_flush_and_close() -> None:
    accumulator = BatchAccumulator(linger_ms=5)
    accumulator.append(b"x", now_ms=100)
    assert (accumulator.drain(104), accumulator.ready(105), accumulator.next_ready_ms(101)) == ([], [("", 0)], 4)
    assert accumulator.ready(100, flush=True) == [("", 0)]
    accumulator.close()
    assert accumulator.ready(100) == [("", 0)]
    with pytest.raises(recordpress.ClosedError):
        accumulator.append(b"y")


def test_a_request_has_a_batch_of_each_partition_and_a_size() -> None:
    accumulator = BatchAccumulator(max_request_size=1000)
    for partition in range(4):
        accumulator.append(bytes(400), partition=partition)
    requests = []
    while batches := accumulator.drain():
        assert len({batch.partition for batch in batches}) == len(batches)
        requests.append([batch.partition for batch in batches])
        for batch in batches:
            accumulator.complete(batch)
    assert sorted([one for request in requests for one in request]) == [0, 1, 2, 3]
    assert max(map(len, requests)) == 2


def test_max_in_flight() -> None:
    accumulator = BatchAccumulator(batch_size=0, max_in_flight=2)
    for _ in range(3):
        accumulator.append(bytes(40))
    first, second = accumulator.drain() + accumulator.drain()
    assert (accumulator.drain(), accumulator.in_flight) == ([], [first, second])
    accumulator.complete(second)
    assert len(accumulator.drain()) == 1


# --- answers ---------------------------------------------------------------------------------------------------------


def test_callbacks_get_offset_and_timestamp() -> None:
    accumulator = BatchAccumulator()
    got: list[Any] = []
    for i in range(3):
        accumulator.append(b"x", topic="t", partition=4, timestamp=10 + i, callback=lambda *given: got.append(given))
    accumulator.run(lambda batch: ProduceAnswer(0, 7))
    assert got == [(("t", 4, 7 + i, 10 + i), None) for i in range(3)]


def test_some_callbacks_are_none() -> None:
    accumulator = BatchAccumulator()
    got = []
    for i in range(5):
        accumulator.append(b"x", callback=(lambda metadata, _: got.append(metadata.offset)) if i in (2, 4) else None)
    accumulator.run(lambda batch: ProduceAnswer(0, 10, log_append_time=5))
    assert got == [12, 14]


def test_record_errors_go_to_their_records() -> None:
    accumulator = BatchAccumulator()
    got = []
    for _ in range(3):
        accumulator.append(b"x", callback=lambda _, error: got.append((error.code, error.message)))
    accumulator.run(lambda batch: ProduceAnswer(87, record_errors=[(1, "no key")], error_message="one record"))
    assert [code for code, _ in got] == [None, 87, None]
    assert got[1][1] == "no key"


def test_retries_wait_and_end() -> None:
    accumulator = BatchAccumulator(retries=2, retry_backoff_ms=100)
    errors = []
    accumulator.append(b"x", callback=lambda _, error: errors.append(error.code), now_ms=0)
    for attempt, now in enumerate((0, 100, 300)):
        assert accumulator.drain(now - 1) == [] if now else True
        [batch] = accumulator.drain(now)
        assert batch.attempts == attempt
        accumulator.complete(batch, 6, now)
    assert errors == [6]
    assert accumulator.undrained == 0


def test_a_batch_that_waits_for_too_long() -> None:
    accumulator = BatchAccumulator(delivery_timeout_ms=100, linger_ms=1000)
    errors = []
    accumulator.append(b"x", callback=lambda _, error: errors.append(error.code), now_ms=0)
    assert accumulator.drain(100) == []
    assert errors == [7]


def test_an_expired_batch_is_not_split() -> None:
    """Kafka's Sender fails a batch that is done already, whatever the broker says of it later."""
    accumulator = BatchAccumulator(delivery_timeout_ms=100)
    accumulator.append(b"x")
    accumulator.append(b"y")
    [batch] = accumulator.drain(50)
    assert accumulator.abort() == 1
    with pytest.raises(recordpress.InvalidArgumentError):
        accumulator.complete(batch, MESSAGE_TOO_LARGE, 200)
    assert accumulator.undrained == 0


@pytest.mark.parametrize("code", [10, 18, 87, 76])
def test_a_single_record_is_not_split(code: int) -> None:
    accumulator = BatchAccumulator()
    errors = []
    accumulator.append(b"x", callback=lambda _, error: errors.append(error.code))
    accumulator.run(lambda batch: code)
    assert errors == [code]


def test_an_answer_that_is_none_of_ours() -> None:
    accumulator = BatchAccumulator()
    accumulator.append(b"x")
    [batch] = accumulator.drain()
    with pytest.raises(recordpress.ArgumentTypeError):
        accumulator.complete(batch, "fine")
    accumulator.complete(batch, 0)
    with pytest.raises(recordpress.InvalidArgumentError):
        accumulator.complete(batch, 0)


# --- the caller's own code -------------------------------------------------------------------------------------------


def test_callbacks_that_raise() -> None:
    accumulator = BatchAccumulator()
    called = []

    def callback(metadata: Any, error: Any) -> None:
        called.append(metadata)
        raise RuntimeError(len(called))

    for _ in range(3):
        accumulator.append(b"x", callback=callback)
    with pytest.raises(BaseExceptionGroup) as caught:
        accumulator.run(lambda batch: 0)
    assert len(called) == len(caught.value.exceptions) == 3
    assert accumulator.in_flight == []


def test_a_send_that_raises_loses_nothing() -> None:
    accumulator = BatchAccumulator()
    for partition in range(3):
        accumulator.append(b"%d" % partition, partition=partition)
    sent = []

    def send(batch: ProducerBatch) -> int:
        if len(sent) == 1 and batch.attempts == 0:
            raise ConnectionError
        sent.append(batch.partition)
        return 0

    with pytest.raises(ConnectionError):
        accumulator.run(send)
    assert (accumulator.undrained, accumulator.in_flight) == (2, [])
    accumulator.run(send, 1000)
    assert sorted(sent) == [0, 1, 2]


def test_run_async() -> None:
    accumulator = BatchAccumulator(batch_size=0)
    for i in range(6):
        accumulator.append(bytes(40), partition=i % 2)
    sent = []

    async def send(batch: ProducerBatch) -> ProduceAnswer:
        await asyncio.sleep(0)
        sent.append(batch.partition)
        return ProduceAnswer(0, len(sent))

    asyncio.run(accumulator.run_async(send))
    assert sorted(sent) == [0, 0, 0, 1, 1, 1]
    accumulator.append(b"x")
    coroutine = send(accumulator)  # type: ignore[arg-type]
    with pytest.raises(recordpress.ArgumentTypeError, match="run_async"):
        accumulator.run(lambda batch: coroutine)
    coroutine.close()
    assert accumulator.undrained == 1


@pytest.mark.parametrize("kind", [bytes, bytearray])
def test_headers_that_call_back(kind: Callable[[bytes], Any]) -> None:
    accumulator = BatchAccumulator()

    def headers() -> Any:
        accumulator.append(b"inside")
        yield "h", b"v"

    with pytest.raises(recordpress.InvalidArgumentError, match="in use"):
        accumulator.append(kind(b"outside"), headers=headers())
    assert accumulator.append(b"after") is False
    [batch] = accumulator.drain()
    assert batch.records_count == 1


@pytest.mark.parametrize("now_ms", ["soon", -1, None, 2**63])
def test_a_clock_that_is_none(now_ms: Any) -> None:
    """Also where the batch is there already."""
    accumulator = BatchAccumulator()
    accumulator.append(b"x")
    with pytest.raises((recordpress.InvalidArgumentError, recordpress.ArgumentTypeError)) as caught:
        accumulator.append(b"y", now_ms=now_ms)
    assert caught.value.field == "now_ms"
    [batch] = accumulator.drain()
    assert batch.records_count == 1


def test_what_is_counted() -> None:
    accumulator = BatchAccumulator()
    assert math.isnan(accumulator.metrics()["batch-size-avg"])
    accumulator.append(bytes(98))
    accumulator.run(lambda batch: 0)
    size = accumulator.metrics()["batch-size-max"]
    assert size == accumulator.metrics()["batch-size-avg"] == 61 + 107
    assert accumulator.metrics()["compression-rate-avg"] == 1.0


# --- split() ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
@pytest.mark.parametrize("magic", [1, 2])
def test_split_keeps_magic_codec_and_records(magic: int, codec: str) -> None:
    """ProducerBatchTest.testSplitPreservesMagicAndCompressionType, and headers, at 512 and 200 bytes."""
    if (magic, codec) in ((1, "none"), (1, "zstd")):
        pytest.skip("not split, or no such batch")
    numbers = random.Random(4)
    rows = [(numbers.randbytes(30), b"k%d" % i, i, [("h", b"v")] if magic == 2 else []) for i in range(40)]
    whole = recordpress.BatchBuilder(magic, codec)
    for value, key, timestamp, headers in rows:
        whole.append(value, key, timestamp, headers)
    parts = recordpress.producer.split(whole.build(), 512)
    assert len(parts) > 2
    batches = [batch for part in parts for batch in recordpress.read_batches(part)]
    assert {(batch.magic, batch.compression_type, batch.base_offset) for batch in batches} == {(magic, codec, 0)}
    got = [(r.value, r.key, r.timestamp, r.headers) for batch in batches for r in batch]
    assert got == rows


@pytest.mark.parametrize(
    "records",
    [
        b"",
        recordpress.write_records([b"a"]) * 2,
        recordpress.empty_batch(0, 3),
        recordpress.write_records([b"a", b"b"], magic=1),
        recordpress.write_records([b"a"], magic=0),
    ],
)
def test_what_is_not_split(records: bytes) -> None:
    with pytest.raises(recordpress.InvalidArgumentError) as caught:
        recordpress.producer.split(records, 100)
    assert caught.value.field == "records"
