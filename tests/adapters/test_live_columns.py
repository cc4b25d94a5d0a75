"""Columns out of both clients' consumers, from scripted fetches: what the client returns as messages, as columns."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import threading
import time
import tracemalloc
import types
from collections.abc import Callable, Coroutine
from typing import Any

import aiokafka
import kafka
import pyarrow as pa
import pytest
from aiokafka import TopicPartition
from aiokafka.consumer.fetcher import PartitionRecords
from aiokafka.consumer.subscription_state import SubscriptionState
from aiokafka.partitioner import murmur2
from hypothesis import given, settings, strategies as st
from kafka import TopicPartition as KafkaPartition
from scripted import ScriptedLog, aiokafka_consumer, kafka_python_consumer, rows_of, rows_of_messages

import recordpress
import recordpress.adapters.aiokafka as under_aiokafka
import recordpress.adapters.kafka_python as under_kafka_python
from patience import HANG
from recordpress.adapters import _aiokafka_columns, columns_of
from recordpress.adapters._aiokafka_columns import ResponseReader
from recordpress.adapters._packed import packed_batches, producer_table, streams_of

NAMES = ["topic", "partition", "offset", "key", "value"]
A, B = TopicPartition("t", 0), TopicPartition("t", 1)
KA, KB = KafkaPartition("t", 0), KafkaPartition("t", 1)
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
MANY = 1_000_000


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 30))


def lines(count: int, start: int = 0) -> list[bytes | None]:
    return [b"value %d" % number for number in range(start, start + count)]


def two_partitions(a: Any = A, b: Any = B, max_bytes: int = 1 << 20) -> ScriptedLog:
    """All codecs and magics, gaps of a compacted log, transactions of all fates, control batches at the end."""
    log = ScriptedLog(max_bytes)
    for number, codec in enumerate(CODECS):
        log.write(
            a, lines(40, number * 40), keys=[b"k%d" % n if n % 3 else None for n in range(40)], compression_type=codec
        )
    log.write(a, lines(5), base_offset=log.end(a) + 20)
    for magic in (0, 1):
        log.write(b, lines(10), magic=magic, compression_type="gzip")
    for producer, commit in ((7, False), (8, True), (7, True), (9, False)):
        first = log.write(b, lines(6), producer_id=producer, producer_epoch=0, base_sequence=0, is_transactional=True)
        log.write(b, lines(3))
        log.mark(b, commit, producer)
        if not commit:
            log.aborted.setdefault(b, []).append((producer, first))
    return log


async def is_at_end(consumer: Any, log: ScriptedLog) -> bool:
    return all([await consumer.position(partition) == log.end(partition) for partition in consumer.assignment()])


async def collect(consumer: Any, log: ScriptedLog, **options: Any) -> list[Any]:
    rows: list[Any] = []
    reader = under_aiokafka.columns(consumer, NAMES, timeout_ms=10, **options)
    while not await is_at_end(consumer, log):  # after a time-out, the reader can be continued
        await all_of(reader, rows)
    return rows


async def all_of(reader: Any, rows: list[Any]) -> None:
    async for part in reader:
        assert part.num_rows
        rows += rows_of(part)


async def messages_of(consumer: Any, log: ScriptedLog) -> list[Any]:
    rows: list[Any] = []
    while not await is_at_end(consumer, log):
        rows += rows_of_messages(await consumer.getmany(timeout_ms=10))
    return rows


# --- both: the same records as messages -------------------------------------------------------------------------


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
@pytest.mark.parametrize("max_bytes", [None, 1, 300])
def test_aiokafka_gives_the_records_of_getmany(isolation: str, max_bytes: int | None) -> None:
    log = two_partitions(max_bytes=900)

    async def test() -> None:
        async with aiokafka_consumer(log, A, B, isolation_level=isolation) as consumer:
            with under_aiokafka.installed():  # whose differences from aiokafka are those of the columns
                expected = await messages_of(consumer, log)
            ends = [await consumer.position(partition) for partition in (A, B)]
        async with aiokafka_consumer(log, A, B, isolation_level=isolation) as consumer:
            rows = await collect(consumer, log, max_bytes=max_bytes)
            assert [await consumer.position(partition) for partition in (A, B)] == ends
        assert sorted(rows) == sorted(expected)
        assert [row[2] for row in rows if row[1] == 0] == sorted(row[2] for row in rows if row[1] == 0)

    run(test())


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
@pytest.mark.parametrize(("max_bytes", "max_records"), [(None, MANY), (1, MANY), (300, 7), (None, 1)])
def test_kafka_python_gives_the_records_of_poll(isolation: str, max_bytes: int | None, max_records: int) -> None:
    log = two_partitions(KA, KB, max_bytes=900)

    def polled(poll: Callable[[Any], list[Any]]) -> tuple[list[Any], list[int]]:
        with kafka_python_consumer(log, KA, KB, isolation_level=isolation) as consumer:
            rows: list[Any] = []
            for _ in range(1000):
                rows += poll(consumer)
                ends = [consumer.position(partition) for partition in (KA, KB)]
                if ends == [log.end(KA), log.end(KB)]:
                    break
            return rows, ends

    def columns(consumer: Any) -> list[Any]:
        part = under_kafka_python.poll_columns(consumer, 0, max_bytes, columns=NAMES, max_records=max_records)
        assert part.num_rows <= max_records
        return rows_of(part)

    with under_kafka_python.installed():
        expected, ends = polled(lambda consumer: rows_of_messages(consumer.poll(0)))
    rows, our_ends = polled(columns)
    assert sorted(rows) == sorted(expected)
    assert our_ends == ends


# --- positions ----------------------------------------------------------------------------------------------------


def test_aiokafka_cuts_inside_a_batch_and_keeps_the_rest() -> None:
    log = ScriptedLog()
    log.write(A, lines(10), compression_type="zstd")
    log.write(A, lines(4, 10))

    async def test() -> None:
        async with aiokafka_consumer(log, A, max_poll_records=3) as consumer:
            seen = []
            async for part in under_aiokafka.columns(consumer, ["offset"], timeout_ms=1000):
                seen.append(part["offset"].to_pylist())
                assert await consumer.position(A) == seen[-1][-1] + 1
                if seen[-1][-1] == 13:
                    break
            assert seen == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11], [12, 13]]
            assert [offset for _, offset in log.fetches if offset < 14] == [0], "one fetch gave all of it"

    run(test())


def test_aiokafka_frees_a_fetch_that_was_read() -> None:
    """At once, and not when garbage is collected: a consumer would hold all that it has fetched in the meantime."""
    log = two_partitions()

    async def test() -> None:
        async with aiokafka_consumer(log, A) as consumer:
            await anext(under_aiokafka.columns(consumer))
            held = [one for one in gc.get_objects() if type(one) is PartitionRecords]
            assert not held

    gc.collect()
    gc.disable()
    try:
        run(test())
    finally:
        gc.enable()


def test_aiokafka_items_and_messages_can_be_mixed() -> None:
    log = two_partitions(max_bytes=900)

    async def test() -> None:
        async with aiokafka_consumer(log, A, B, isolation_level="read_committed") as consumer:
            with under_aiokafka.installed():
                expected = await messages_of(consumer, log)
        async with aiokafka_consumer(log, A, B, isolation_level="read_committed") as consumer:
            reader = under_aiokafka.columns(consumer, NAMES, timeout_ms=10, max_bytes=200)
            rows = []
            for step in range(MANY):
                if step % 3 == 0:
                    rows += rows_of_messages(await consumer.getmany(timeout_ms=10, max_records=2 + step % 4))
                elif (part := await anext(reader, None)) is not None:
                    rows += rows_of(part)
                if await is_at_end(consumer, log):
                    break
        assert sorted(rows) == sorted(expected)

    run(test())


def test_kafka_python_columns_and_messages_can_be_mixed() -> None:
    log = two_partitions(KA, KB, max_bytes=900)

    def rows(mixed: bool) -> list[Any]:
        found: list[Any] = []
        with kafka_python_consumer(log, KA, KB, isolation_level="read_committed") as consumer:
            for step in range(MANY):
                if mixed and step % 3:
                    found += rows_of(under_kafka_python.poll_columns(consumer, 0, 300, columns=NAMES, max_records=9))
                else:
                    found += rows_of_messages(consumer.poll(0, max_records=2 + step % 4))
                if [consumer.position(partition) for partition in (KA, KB)] == [log.end(KA), log.end(KB)]:
                    return sorted(found)
        raise AssertionError

    with under_kafka_python.installed():
        expected = rows(False)
    assert rows(True) == expected


def test_aiokafka_decodes_while_other_callbacks_run_and_the_next_fetch_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = ScriptedLog(max_bytes=1)
    log.write(A, lines(5))
    log.write(A, lines(5, 5))
    reached, barrier = hold_decoding(monkeypatch)

    async def test() -> None:
        async with aiokafka_consumer(log, A) as consumer:
            item = asyncio.ensure_future(anext(under_aiokafka.columns(consumer, ["offset"])))
            while not reached.is_set() or (A, 5) not in log.fetches:
                await asyncio.sleep(0.001)  # the event loop is alive, and the second fetch is sent
            assert not item.done()
            assert committed(consumer) == {A: 0}, "nothing was returned"
            barrier.set()
            assert (await item)["offset"].to_pylist() == [0, 1, 2, 3, 4]
            assert committed(consumer) == {A: 5}

    run(test())


def committed(consumer: Any) -> dict[Any, int]:
    """What a commit would send."""
    assignment = consumer._subscription.subscription.assignment
    return {partition: offset.offset for partition, offset in assignment.all_consumed_offsets().items()}


def hold_decoding(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    reached, barrier = threading.Event(), threading.Event()
    take = _aiokafka_columns.FetchedColumns.take

    def held(self: Any, *limits: Any) -> Any:
        reached.set()
        assert barrier.wait(HANG)
        return take(self, *limits)

    monkeypatch.setattr(_aiokafka_columns.FetchedColumns, "take", held)
    return reached, barrier


class Transport:
    """Pieces may be fed unless it is paused."""

    is_paused = False

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False


async def answers(sizes: list[int], pieces: list[int], adopted_after: int) -> list[Any]:
    """What reads of these sizes return if the bytes arrive in these pieces, and then the connection ends."""
    transport = Transport()
    reader = asyncio.StreamReader(limit=16)
    reader.set_transport(transport)  # type: ignore[arg-type]
    found: list[Any] = []

    async def read() -> None:
        try:
            for size in sizes:
                found.append(await reader.readexactly(size))
        except asyncio.IncompleteReadError as error:
            found.append((error.partial, error.expected))

    task = asyncio.create_task(read())
    data = bytes(index % 251 for index in range(sum(pieces)))
    for number, piece in enumerate(pieces):
        if number == adopted_after:
            ResponseReader.adopt(types.SimpleNamespace(_conns={0: types.SimpleNamespace(_reader=reader)}))
            assert type(reader) is ResponseReader
            reader.largest = 120
        if number % 3:
            await asyncio.sleep(0)
        while transport.is_paused and not task.done():
            await asyncio.sleep(0)
        reader.feed_data(data[:piece])
        data = data[piece:]
    reader.feed_eof()
    await task
    return found


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 200), max_size=8),
    st.lists(st.integers(0, 150), min_size=1, max_size=20),
    st.integers(0, 3),
)
def test_aiokafka_reads_large_responses_as_from_asyncios_reader(
    sizes: list[int], pieces: list[int], adopted_after: int
) -> None:
    async def test() -> None:
        assert await answers(sizes, pieces, adopted_after) == await answers(sizes, pieces, MANY)

    run(test())


def test_aiokafka_reads_responses_that_way_from_the_first_item_on() -> None:
    log = two_partitions()

    async def test() -> None:
        async with aiokafka_consumer(log, A) as consumer:
            connection = types.SimpleNamespace(_reader=asyncio.StreamReader())
            closed = types.SimpleNamespace(_reader=None)
            consumer._client._conns = {0: closed, 1: connection}
            await anext(under_aiokafka.columns(consumer))
            assert type(connection._reader) is ResponseReader

    run(test())


def test_aiokafka_is_not_interrupted_in_a_large_response() -> None:
    """The transport is not paused before all of the response is there, and the reader wakes once."""

    async def test() -> None:
        transport, reader = Transport(), ResponseReader(limit=16)
        reader.set_transport(transport)  # type: ignore[arg-type]
        task = asyncio.create_task(reader.readexactly(1000))
        for _ in range(10):
            await asyncio.sleep(0)
            assert not transport.is_paused and not task.done()
            reader.feed_data(bytes(100))
        assert await task == bytes(1000)
        reader.feed_data(bytes(100))  # which nobody waits for
        assert transport.is_paused
        assert await reader.readexactly(100) == bytes(100)
        assert not transport.is_paused

    run(test())


def test_aiokafka_does_not_make_room_for_any_length_that_is_claimed() -> None:
    async def test() -> None:
        reader = ResponseReader()
        tracemalloc.start()
        task = asyncio.create_task(reader.readexactly(int.from_bytes(b"HTTP", "big")))
        await asyncio.sleep(0)
        reader.feed_data(b"/1.1 400 Bad Request")
        await asyncio.sleep(0)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
        reader.feed_eof()
        with pytest.raises(asyncio.IncompleteReadError):
            await task

    try:
        run(test())
    finally:
        tracemalloc.stop()


def test_aiokafka_reports_a_connection_that_is_lost_in_a_large_response() -> None:
    async def test() -> None:
        reader = ResponseReader(limit=16)
        task = asyncio.create_task(reader.readexactly(1000))
        await asyncio.sleep(0)
        reader.feed_data(bytes(100))
        reader.set_exception(ConnectionResetError("lost"))
        for _ in range(2):
            with pytest.raises(ConnectionResetError, match="lost"):
                await (task if not task.done() else reader.readexactly(1000))
        reader.feed_data(bytes(100))  # what was still on its way

    run(test())


@pytest.mark.parametrize("what", ["seek", "pause", "rebalance", "rejoin", "cancel"])
@pytest.mark.parametrize("max_bytes", [None, 1], ids=["whole", "divided"])
def test_aiokafka_returns_nothing_that_the_client_would_not(
    monkeypatch: pytest.MonkeyPatch, what: str, max_bytes: int | None
) -> None:
    """Something happens while records are decoded: they are not returned, and none is missed or repeated."""
    log = ScriptedLog()
    for start in range(0, 20, 5):
        log.write(A, lines(5, start))
    reached, barrier = hold_decoding(monkeypatch)

    async def test() -> None:
        async with aiokafka_consumer(log, A) as consumer:
            reader = under_aiokafka.columns(consumer, ["offset"], timeout_ms=50, max_bytes=max_bytes)
            item = asyncio.ensure_future(anext(reader, None))
            while not reached.is_set():
                await asyncio.sleep(0.001)
            first = 0
            if what == "seek":
                consumer.seek(A, 7)
                first = 7
            elif what == "pause":
                consumer.pause(A)
            elif what == "rebalance":
                consumer._subscription.unsubscribe()
                consumer._subscription.assign_from_user({A})
                consumer.seek(A, 3)
                first = 3
            elif what == "rejoin":  # after the last commit of the old assignment, and before the new one
                monkeypatch.setattr(SubscriptionState, "reassignment_in_progress", True)
                monkeypatch.setattr(SubscriptionState, "wait_for_assignment", lambda self: asyncio.sleep(9))
            else:
                item.cancel()
            barrier.set()
            offsets: list[int] = []
            if what in ("pause", "rejoin", "cancel"):
                assert await asyncio.gather(item, return_exceptions=True) != [[]]
                assert await consumer.position(A) == 0
                assert what == "cancel" or item.result() is None, "the time-out"
                monkeypatch.undo()
                consumer.resume(A)
            elif (part := await item) is not None:
                offsets += part["offset"].to_pylist()
            while not await is_at_end(consumer, log):
                async for part in reader:
                    offsets += part["offset"].to_pylist()
                    if offsets[-1] == 19:
                        break
            assert offsets == list(range(first, 20))

    run(test())


def test_kafka_python_keeps_what_is_paused_and_drops_what_was_sought() -> None:
    log = ScriptedLog()
    log.write(KA, lines(10))

    with kafka_python_consumer(log, KA) as consumer:

        def poll() -> list[int]:
            part = under_kafka_python.poll_columns(consumer, 0, columns=["offset"], max_records=4)
            offsets: list[int] = part["offset"].to_pylist()
            return offsets

        while not (first := poll()):
            pass
        assert first == [0, 1, 2, 3]
        assert consumer.position(KA) == 4
        consumer.pause(KA)
        assert poll() == []
        consumer.resume(KA)
        assert poll() == [4, 5, 6, 7]
        consumer.seek(KA, 1)
        while not (again := poll()):
            pass
        assert again == [1, 2, 3, 4]


# --- errors -------------------------------------------------------------------------------------------------------


def damaged(log: ScriptedLog, partition: Any) -> None:
    end, data = log.batches[partition][1]
    log.batches[partition][1] = (end, data[:17] + bytes([data[17] ^ 1]) + data[18:])  # its checksum


@pytest.mark.parametrize("max_bytes", [None, 1], ids=["whole", "divided"])
def test_aiokafka_raises_damage_after_the_rows_before_it_until_it_is_passed(max_bytes: int | None) -> None:
    log = ScriptedLog()
    for start in range(0, 15, 5):
        log.write(A, lines(5, start))
    log.write(B, lines(3))
    damaged(log, A)

    async def test() -> None:
        async with aiokafka_consumer(log, A, B) as consumer:
            reader = under_aiokafka.columns(consumer, NAMES, timeout_ms=1000, max_bytes=max_bytes)
            rows = []
            for _ in range(3):
                with pytest.raises(aiokafka.errors.CorruptRecordException) as caught:
                    await all_of(reader, rows)
                assert isinstance(caught.value.__cause__, recordpress.CorruptRecordError)
                assert await consumer.position(A) == 5
            assert sorted(row[1:3] for row in rows) == [(0, n) for n in range(5)] + [(1, n) for n in range(3)]
            consumer.seek(A, 10)
            assert [row[2] for row in rows_of(await anext(reader))] == [10, 11, 12, 13, 14]
        async with aiokafka_consumer(log, A, check_crcs=False) as consumer:
            assert len(await collect(consumer, log, max_bytes=max_bytes)) >= 10

    run(test())


def test_kafka_python_raises_damage_after_the_rows_before_it_until_it_is_passed() -> None:
    log = ScriptedLog()
    for start in range(0, 15, 5):
        log.write(KA, lines(5, start))
    damaged(log, KA)

    with kafka_python_consumer(log, KA) as consumer:
        offsets: list[int] = []

        def poll(times: int) -> None:
            for _ in range(times):
                offsets.extend(under_kafka_python.poll_columns(consumer, 0, columns=["offset"])["offset"])

        for _ in range(3):
            with pytest.raises(kafka.errors.CorruptRecordError) as caught:
                poll(9)
            assert isinstance(caught.value.__cause__, recordpress.CorruptRecordError)
            assert consumer.position(KA) == 5
        assert offsets == [0, 1, 2, 3, 4]
        consumer.seek(KA, 10)
        poll(3)
        assert offsets == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]


def test_errors_of_a_fetch_are_the_clients() -> None:
    log = ScriptedLog()
    log.write(A, lines(3))
    log.errors[A] = aiokafka.errors.TopicAuthorizationFailedError.errno

    async def test() -> None:
        async with aiokafka_consumer(log, A) as consumer:
            reader = under_aiokafka.columns(consumer, ["offset"], timeout_ms=1000)
            with pytest.raises(aiokafka.errors.TopicAuthorizationFailedError):
                await anext(reader)
            assert (await anext(reader))["offset"].to_pylist() == [0, 1, 2]

    run(test())


def test_deserializers_are_refused_by_name() -> None:
    async def test() -> None:
        async with aiokafka_consumer(ScriptedLog(), A, value_deserializer=bytes.decode) as consumer:
            with pytest.raises(recordpress.InvalidArgumentError, match="value_deserializer"):
                under_aiokafka.columns(consumer)
        consumer._fetcher, consumer._value_deserializer = None, None
        with pytest.raises(recordpress.InvalidArgumentError, match=r"not started: await consumer\.start"):
            under_aiokafka.columns(consumer)

    run(test())
    with (
        pytest.warns(DeprecationWarning, match="key_deserializer"),
        kafka_python_consumer(ScriptedLog(), key_deserializer=bytes.decode) as consumer,
        pytest.raises(recordpress.InvalidArgumentError, match="key_deserializer"),
    ):
        under_kafka_python.poll_columns(consumer)


# --- results ------------------------------------------------------------------------------------------------------


def test_columns_by_partition_and_their_types() -> None:
    log = two_partitions()

    async def test() -> None:
        async with aiokafka_consumer(log, A, B) as consumer:
            item = await anext(under_aiokafka.columns(consumer, by_partition=True, binary_type="large_binary"))
            assert all(set(part["partition"].to_pylist()) == {partition.partition} for partition, part in item.items())
            part = next(iter(item.values()))
            assert part.column_names[:4] == ["topic", "partition", "offset", "timestamp"]
            assert part["value"].type == "large_binary"
            with pytest.raises(recordpress.InvalidArgumentError, match="values"):
                under_aiokafka.columns(consumer, ["values"])

    run(test())
    log = two_partitions(KA, KB)
    with kafka_python_consumer(log, KA, KB) as consumer:
        empty = under_kafka_python.poll_columns(consumer, columns=["value", "topic"])
        assert (empty.num_rows, empty.column_names) == (0, ["value", "topic"])
        by_partition = under_kafka_python.poll_columns(consumer, by_partition=True, max_records=MANY)
        assert {key: len(part) for key, part in by_partition.items()} == {KA: 205, KB: 56}


def test_kafka_python_counts_columns_in_its_metrics() -> None:
    log = ScriptedLog()
    log.write(KA, lines(40))
    with kafka_python_consumer(log, KA) as consumer:
        for _ in range(3):
            under_kafka_python.poll_columns(consumer, max_records=MANY)
        metrics = consumer.metrics()["consumer-fetch-manager-metrics"]
        assert metrics["records-per-request-avg"] == 40
        assert metrics["fetch-size-avg"] == len(log.batches[KA][0][1])


def test_other_consumers_keep_their_own_classes() -> None:
    log = ScriptedLog()
    log.write(A, lines(3))

    async def test() -> None:
        async with aiokafka_consumer(log, A) as consumer, aiokafka_consumer(log, A) as other:
            await anext(under_aiokafka.columns(consumer, ["offset"]))
            names = other._fetcher._proc_fetch_request.__func__.__globals__
            assert names["MemoryRecords"] is aiokafka.consumer.fetcher.MemoryRecords
            assert [m.offset for m in (await other.getmany(timeout_ms=1000))[A]] == [0, 1, 2]

    run(test())


# --- batches in ---------------------------------------------------------------------------------------------------


def test_a_batch_gets_its_producer_when_it_is_sent() -> None:
    table = pa.table({"key": [b"k"] * 3, "value": [b"a", b"b", None], "timestamp": pa.array([5, 6, 7], pa.int64())})
    [batch] = packed_batches(table, 4, None, 10_000)
    batch.set_producer(7, 1, 40, True)
    batch.set_producer(8, 2, 42, False)
    [header] = recordpress.read_batches(bytes(batch.data))
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (8, 2, 42)
    assert not header.is_transactional
    batch.set_producer(8, 2, 42, True)
    [header] = recordpress.read_batches(bytes(batch.data))
    assert header.is_transactional
    assert [record.value for record in header] == [b"a", b"b", None]


def test_rows_are_divided_by_key() -> None:
    keys = [None if number % 4 == 0 else b"%d" % (number % 9) for number in range(100)]
    table = producer_table(
        pa.table({"key": keys, "value": [b"%d" % number for number in range(100)], "offset": [1] * 100})
    )
    assert table.column_names == ["key", "value", "timestamp"]
    by_partition: dict[int | None, list[int]] = {}
    for stream in streams_of(table, None, [3, 5, 8], None):
        assert stream.rows is not None
        by_partition[stream.partition] = stream.rows.to_pylist()
        assert stream.table["value"].to_pylist() == [b"%d" % row for row in stream.rows.to_pylist()]
    expected: dict[int | None, list[int]] = {}
    for row, key in enumerate(keys):
        expected.setdefault(None if key is None else [3, 5, 8][(murmur2(key) & 0x7FFFFFFF) % 3], []).append(row)
    assert by_partition == expected
    by_length = streams_of(table, None, [3, 5], lambda key: len(key))
    assert sorted((stream.partition or 0, len(stream.table)) for stream in by_length) == [(0, 25), (1, 75)]
    assert [stream.partition for stream in streams_of(table, 5, [3, 5], None)] == [5]
    assert [stream.partition for stream in streams_of(table.drop(["key"]), None, [3, 5], None)] == [None]


def test_timestamps_are_now_unless_they_are_given() -> None:
    before = time.time() * 1000 - 1
    times = pa.array([1, None], pa.timestamp("us", "UTC"))
    table = producer_table(pa.table({"value": [b"a", b"b"], "timestamp": times}))
    given, now = table["timestamp"].cast(pa.int64()).to_pylist()
    assert given == 1
    assert before <= now / 1000 <= time.time() * 1000
    with pytest.raises(recordpress.InvalidArgumentError, match="'valeu'"):
        producer_table(pa.table({"valeu": [b"a"]}))


def test_serializers_are_refused_by_name() -> None:
    producer = types.SimpleNamespace(_key_serializer=None, _value_serializer=str)
    with pytest.raises(recordpress.InvalidArgumentError, match="value_serializer"):
        asyncio.run(under_aiokafka.send_columns(producer, "t", pa.table({"value": [b"a"]})))  # type: ignore[arg-type]
    config = {"key_serializer": str, "value_serializer": None}
    with pytest.raises(recordpress.InvalidArgumentError, match="key_serializer"):
        under_kafka_python.send_columns(types.SimpleNamespace(config=config), "t", pa.table({}))  # type: ignore[arg-type]


# --- columns of messages ------------------------------------------------------------------------------------------


class ConfluentMessage:
    """As confluent_kafka.Message: a method per field."""

    def __init__(self, error: object = None, **fields: Any) -> None:
        for name, value in {"error": error, **fields}.items():
            setattr(self, name, lambda value=value: value)


def test_messages_of_all_clients_give_the_same_columns() -> None:
    log = two_partitions()

    async def test() -> list[Any]:
        async with aiokafka_consumer(log, A, B) as consumer:
            with under_aiokafka.installed():
                batches = []
                while not await is_at_end(consumer, log):
                    batches.append(await consumer.getmany(timeout_ms=10))
        return [message for batch in batches for part in batch.values() for message in part]

    messages = asyncio.run(test())
    columns = columns_of(messages)
    assert columns.column_names == ["topic", "partition", *recordpress.read_columns(b"").column_names]
    assert sorted(rows_of(columns)) == sorted(rows_of_messages({A: messages}))
    confluent = [
        ConfluentMessage(
            topic=m.topic, partition=m.partition, offset=m.offset, key=m.key, value=m.value,
            headers=list(m.headers) or None,
            timestamp=(0, 0) if m.timestamp is None else (m.timestamp_type + 1, m.timestamp),
        )
        for m in messages
    ]  # fmt: skip
    assert columns_of(confluent).to_pyarrow().equals(columns.to_pyarrow())
    with pytest.raises(recordpress.InvalidArgumentError, match=r"messages\[1\] has an error: broken"):
        columns_of([confluent[0], ConfluentMessage(error="broken", offset=0)])


def test_messages_keep_time_types_headers_and_their_order() -> None:
    rows = [(0, 5, 1, [("h", None)]), (1, 5, 1, []), (2, 9, 1, []), (7, 3, 0, [("a", b"b"), ("a", b"c")])]
    messages = [
        aiokafka.ConsumerRecord("t", 2, offset, time, kind, None, b"v", None, -1, 1, tuple(headers))
        for offset, time, kind, headers in rows
    ]
    found = columns_of(messages, ["offset", "timestamp", "timestampType", "headers"]).to_pyarrow().to_pydict()
    assert found["offset"] == [0, 1, 2, 7]
    assert [time.timestamp() * 1000 for time in found["timestamp"]] == [5, 5, 9, 3]
    assert found["timestampType"] == [1, 1, 1, 0]
    assert [[(h["key"], h["value"]) for h in row] for row in found["headers"]] == [headers for *_, headers in rows]
    assert columns_of([], ["value"]).num_rows == 0
    with pytest.raises(recordpress.ArgumentTypeError):
        columns_of([dataclasses.replace(messages[0], value="text")])


@pytest.mark.parametrize(("count", "thread"), [(100, False), (5_000, True)])
def test_only_a_large_table_is_packed_in_a_thread(count: int, thread: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call for 100 rows would otherwise cost as much as a hundred single sends."""
    threads, packed = [], []

    async def partitions_for(_: str) -> set[int]:
        return {0}

    async def send_batch(batch: Any, _: str, partition: int) -> Any:
        packed.append((batch.record_count(), partition))
        return asyncio.get_running_loop().create_future()

    async def to_thread(call: Callable[..., Any], *arguments: Any) -> Any:
        threads.append(call)
        return call(*arguments)

    producer: Any = types.SimpleNamespace(
        partitions_for=partitions_for, send_batch=send_batch, _partitioner=None, _max_request_size=MANY,
        _txn_manager=None, _metadata=types.SimpleNamespace(available_partitions_for_topic=lambda _: {0}),
        _key_serializer=None, _value_serializer=None, _message_accumulator=types.SimpleNamespace(_compression_type=0),
    )  # fmt: skip
    monkeypatch.setattr(asyncio, "to_thread", to_thread)
    run(under_aiokafka.send_columns(producer, "t", pa.table({"value": lines(count)}), 0))
    assert packed == [(count, 0)]
    assert bool(threads) is thread
