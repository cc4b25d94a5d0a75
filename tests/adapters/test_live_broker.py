"""Columns out of and into both clients, with a Kafka broker.

`make -f labs.mk broker` brings its jars and runs this; without them it is skipped.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import recordpress.adapters.aiokafka as under_aiokafka
import recordpress.adapters.kafka_python as under_kafka_python
from patience import HANG

sys.path.append(str(Path(__file__).parents[1] / "log"))

from broker import JARS, Broker

pytestmark = [
    pytest.mark.slow,
    pytest.mark.build,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # in modules of kafka-python
    pytest.mark.skipif(not any(JARS.glob("kafka_2.13-*.jar")), reason="no jars of a broker: make -f labs.mk broker"),
]

EXAMPLE = Path(__file__).parents[2] / "examples" / "live_parquet.py"
ROWS = 30_000
STEP, STEPS = 500, 30  # records of one call, and calls
VALUES = [b"value %d " % number * (1 + number % 9) for number in range(ROWS)]
KEYS = [b"key %d" % (number % 500) if number % 3 else None for number in range(ROWS)]
HEADERS = [[{"key": "n", "value": b"%d" % number}] for number in range(ROWS)]
TABLE = pa.table(
    {
        "key": pa.array(KEYS, pa.binary()),
        "value": pa.array(VALUES, pa.binary()),
        "headers": pa.array(HEADERS, pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
        "timestamp": pa.array(range(1_700_000_000_000, 1_700_000_000_000 + ROWS), pa.timestamp("ms", "UTC")),
    }
)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    settings = "offsets.topic.num.partitions=1\nmessage.max.bytes=300000\n"
    with Broker(tmp_path_factory.mktemp("broker"), settings=settings) as running:
        yield running


def create(broker: Broker, topic: str, partitions: int) -> None:
    from kafka.admin import KafkaAdminClient, NewTopic

    admin = KafkaAdminClient(bootstrap_servers=broker.address)
    admin.create_topics([NewTopic(topic, partitions, 1)])
    admin.close()


@pytest.fixture
def topic(broker: Broker, request: pytest.FixtureRequest) -> str:
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
    create(broker, name, 3)
    return name


async def send_by_aiokafka(
    address: str, topic: str, codec: str | None, transactional: bool, batch_bytes: int = 250_000
) -> Any:
    from aiokafka import AIOKafkaProducer

    producer = AIOKafkaProducer(
        bootstrap_servers=address, compression_type=codec, transactional_id=topic if transactional else None
    )
    await producer.start()
    try:
        if not transactional:
            sent = await under_aiokafka.send_columns(producer, topic, TABLE, batch_bytes=batch_bytes)
            return list(await sent.offsets()), await sent.batches()
        async with producer.transaction():
            sent = await under_aiokafka.send_columns(producer, topic, TABLE, batch_bytes=batch_bytes)
        await producer.begin_transaction()
        await (await under_aiokafka.send_columns(producer, topic, TABLE[:100], 0)).batches()
        await producer.abort_transaction()
        return list(await sent.offsets()), await sent.batches()
    finally:
        await producer.stop()


def send_by_kafka_python(address: str, topic: str, codec: str | None, transactional: bool) -> Any:
    from kafka import KafkaProducer

    options = {"transactional_id": topic} if transactional else {}
    producer = KafkaProducer(bootstrap_servers=address, compression_type=codec, **options)
    try:
        if transactional:
            producer.init_transactions()
            producer.begin_transaction()
        sent = under_kafka_python.send_columns(producer, topic, TABLE, batch_bytes=250_000)
        result = list(sent.offsets(HANG)), sent.batches(HANG)
        if transactional:
            producer.commit_transaction()
            producer.begin_transaction()
            under_kafka_python.send_columns(producer, topic, TABLE[:100], 0).batches(HANG)
            producer.abort_transaction()
        return result
    finally:
        producer.close()


async def consume_by_aiokafka(address: str, topic: str) -> pa.Table:
    from aiokafka import AIOKafkaConsumer

    consumer = AIOKafkaConsumer(
        topic, bootstrap_servers=address, auto_offset_reset="earliest", isolation_level="read_committed"
    )
    await consumer.start()
    parts: list[pa.Table] = []

    async def is_at_end() -> bool:
        ends = await consumer.end_offsets(consumer.assignment())
        return bool(ends) and ends == {one: await consumer.position(one) for one in ends}

    async def read() -> None:
        while not await is_at_end():
            parts.extend([pa.table(part) async for part in under_aiokafka.columns(consumer, timeout_ms=100)])

    try:
        await asyncio.wait_for(read(), HANG)
        return pa.concat_tables(parts)
    finally:
        await consumer.stop()


def consume_by_kafka_python(address: str, topic: str) -> pa.Table:
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=address,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        group_id=None,
        max_poll_records=7_000,
    )
    try:
        parts = []
        while sum(map(len, parts)) < ROWS or len(parts[-1]):
            part = under_kafka_python.poll_columns(consumer, 700)
            parts.append(pa.table(part))
        return pa.concat_tables(parts)
    finally:
        consumer.close()


def check(table: pa.Table, offsets: list[int], batches: list[Any]) -> None:
    """All rows once, where the result of sending them says; rows with a key where Kafka's partitioner puts them."""
    assert table.num_rows == ROWS == sum(batch.num_rows for batch in batches)
    numbers = [int(value.split()[1]) for value in table["value"].to_pylist()]
    assert sorted(numbers) == list(range(ROWS))
    table = table.take(pa.array(sorted(range(ROWS), key=numbers.__getitem__)))
    assert table["offset"].to_pylist() == offsets
    assert table.select(TABLE.column_names).cast(TABLE.schema).equals(TABLE)
    from aiokafka.partitioner import murmur2

    for key, partition in zip(KEYS[:2000], table["partition"].to_pylist(), strict=False):
        assert key is None or partition == (murmur2(key) & 0x7FFFFFFF) % 3


@pytest.mark.parametrize(
    ("client", "codec", "transactional"),
    [
        ("aiokafka", None, True),
        ("aiokafka", "gzip", False),
        ("aiokafka", "zstd", True),
        ("kafka-python", "snappy", False),
        ("kafka-python", "lz4", True),
    ],
)
def test_there_and_back(broker: Broker, topic: str, client: str, codec: str | None, transactional: bool) -> None:
    """Columns that one client writes and the other reads."""
    if client == "aiokafka":
        sent = asyncio.run(send_by_aiokafka(broker.address, topic, codec, transactional))
        table = consume_by_kafka_python(broker.address, topic)
    else:
        sent = send_by_kafka_python(broker.address, topic, codec, transactional)
        table = asyncio.run(consume_by_aiokafka(broker.address, topic))
    check(table, *sent)


def test_kafka_python_splits_what_the_broker_refuses_for_its_size(broker: Broker, topic: str) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=broker.address)  # its own limit is 1 MiB, the broker's is 300,000
    try:
        sent = under_kafka_python.send_columns(producer, topic, TABLE)
        offsets, batches = list(sent.offsets(HANG)), sent.batches(HANG)
    finally:
        producer.close()
    check(asyncio.run(consume_by_aiokafka(broker.address, topic)), offsets, batches)


def test_aiokafka_reports_what_the_broker_refuses_for_its_size(broker: Broker, topic: str) -> None:
    from aiokafka import AIOKafkaProducer
    from aiokafka.errors import MessageSizeTooLargeError

    async def send() -> None:
        producer = AIOKafkaProducer(bootstrap_servers=broker.address)
        await producer.start()
        try:
            sent = await under_aiokafka.send_columns(producer, topic, TABLE, 1)
            with pytest.raises(MessageSizeTooLargeError):
                await sent.batches()
        finally:
            await producer.stop()

    asyncio.run(send())


def test_the_parquet_example_writes_every_record_once_although_it_is_killed(
    broker: Broker, topic: str, tmp_path: Path
) -> None:
    import pyarrow.parquet as pq

    asyncio.run(send_by_aiokafka(broker.address, topic, None, False, 10_000))
    command = [sys.executable, "-W", "ignore", str(EXAMPLE), broker.address, topic, str(tmp_path)]
    command += ["--max-bytes", "10000"]
    for files in (1, 3):
        with subprocess.Popen([*command]) as running:
            while len(list(tmp_path.glob("*.parquet"))) < files:
                assert running.poll() is None
                time.sleep(0.005)
            running.kill()  # kill -9, most likely in the middle of a file
    rows = 0
    while rows < len(VALUES):  # a busy broker may let it wait for longer than --idle-ms
        subprocess.run([*command, "--idle-ms", "1000", "--max-bytes", "1000000"], check=True, timeout=HANG)
        table = pa.concat_tables([pq.read_table(path) for path in sorted(tmp_path.glob("*.parquet"))])
        rows = table.num_rows
    assert sorted(table["value"].to_pylist()) == sorted(VALUES)


# --- a broker that is killed, and a group that rebalances ---------------------------------------------------------


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[Broker]:
    """A broker that the test may kill."""
    with Broker(tmp_path, settings="log.flush.interval.messages=1\n") as running:
        yield running


def kill_and_restart(broker: Broker) -> None:
    os.kill(broker.pid, signal.SIGKILL)
    broker._process.wait()
    time.sleep(0.5)
    broker.__enter__()


def numbered(start: int) -> pa.Table:
    return pa.table({"value": pa.array([b"%d" % n for n in range(start, start + STEP)], pa.binary())})


def test_aiokafka_keeps_order_and_loses_nothing_when_the_broker_is_killed(own_broker: Broker) -> None:
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    create(own_broker, "t", 1)

    async def run() -> list[bytes]:
        producer = AIOKafkaProducer(bootstrap_servers=own_broker.address, enable_idempotence=True, linger_ms=1)
        consumer = AIOKafkaConsumer("t", bootstrap_servers=own_broker.address, auto_offset_reset="earliest")
        await producer.start()
        await consumer.start()
        restarted = None
        sending = []
        for step in range(STEPS):  # the queue is full while the broker is away: the call waits
            sending.append(await under_aiokafka.send_columns(producer, "t", numbered(step * STEP), 0))
            if step == STEPS // 3:
                restarted = asyncio.create_task(asyncio.to_thread(kill_and_restart, own_broker))
                await asyncio.sleep(0.05)
        for sent in sending:
            await sent.batches()
        assert restarted is not None
        await restarted
        values: list[bytes] = []
        async for part in under_aiokafka.columns(consumer, ["value"]):
            values += part["value"].to_pylist()
            if len(values) >= STEP * STEPS:
                break
        await producer.stop()
        await consumer.stop()
        return values

    assert asyncio.run(asyncio.wait_for(run(), HANG)) == [b"%d" % n for n in range(STEP * STEPS)]


SENDER = f"""
import sys, time
import pyarrow as pa
from kafka import KafkaProducer
import recordpress.adapters.kafka_python as fast

producer = KafkaProducer(bootstrap_servers=sys.argv[1], enable_idempotence=True)
sending = []
for step in range({STEPS}):
    values = [b"%d" % number for number in range(step * {STEP}, (step + 1) * {STEP})]
    sending.append(fast.send_columns(producer, "t", pa.table({{"value": values}}), 0))
    print(step, flush=True)
    time.sleep(0.05)
assert [offset for sent in sending for offset in sent.offsets({HANG})] == list(range({STEP * STEPS}))
"""


def test_kafka_python_keeps_order_and_loses_nothing_when_the_broker_is_killed(own_broker: Broker) -> None:
    create(own_broker, "t", 1)
    command = [sys.executable, "-W", "ignore", "-c", SENDER, own_broker.address]  # it leaves sockets open
    with subprocess.Popen(command, stdout=subprocess.PIPE) as sender:
        assert sender.stdout is not None
        while int(sender.stdout.readline()) < STEPS // 3:
            pass
        kill_and_restart(own_broker)
        sender.stdout.read()
    assert sender.returncode == 0
    table = asyncio.run(consume_by_aiokafka(own_broker.address, "t"))
    assert table["value"].to_pylist() == [b"%d" % n for n in range(STEP * STEPS)]


@contextlib.contextmanager
def stopped(broker: Broker) -> Iterator[None]:
    """Let the broker stand still."""
    os.kill(broker.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(broker.pid, signal.SIGCONT)


def check_what_was_said(broker: Broker, said: list[int | None]) -> None:
    """Each batch that was said to be written is at its offset; all are in order, none is there twice."""
    values = [int(value) for value in asyncio.run(consume_by_aiokafka(broker.address, "t"))["value"].to_pylist()]
    assert values == sorted(set(values))
    for step, offset in enumerate(said):
        if offset is not None:
            assert values[offset : offset + STEP] == list(range(step * STEP, (step + 1) * STEP))
    assert said[0] == 0
    assert said[-1] is not None


def test_aiokafka_says_what_was_written_when_requests_time_out(own_broker: Broker) -> None:
    """Ten callers wait for the queue while the broker stands still for longer than a request may take."""
    from aiokafka import AIOKafkaProducer
    from aiokafka.errors import KafkaError

    create(own_broker, "t", 1)

    async def run() -> list[int | None]:
        producer = AIOKafkaProducer(
            bootstrap_servers=own_broker.address, enable_idempotence=True, request_timeout_ms=2000, linger_ms=1
        )
        await producer.start()

        async def send(step: int) -> int | None:
            try:
                sent = await under_aiokafka.send_columns(producer, "t", numbered(step * STEP), 0)
                return (await sent.batches())[0].offset
            except KafkaError:
                return None

        said = [await send(0)]
        with stopped(own_broker):
            waiting = [asyncio.create_task(send(step)) for step in range(1, 11)]
            await asyncio.sleep(4)
        said += [await task for task in waiting]
        said.append(await send(11))
        await producer.stop()
        return said

    check_what_was_said(own_broker, asyncio.run(asyncio.wait_for(run(), HANG)))


def test_kafka_python_says_what_was_written_when_requests_time_out(own_broker: Broker) -> None:
    """The sixth batch waits for the queue, for as long as max_block_ms allows."""
    from kafka import KafkaProducer
    from kafka.errors import KafkaError, KafkaTimeoutError

    create(own_broker, "t", 1)
    producer = KafkaProducer(
        bootstrap_servers=own_broker.address, enable_idempotence=True, request_timeout_ms=2000, max_block_ms=1500
    )

    def send(step: int) -> Any:
        return under_kafka_python.send_columns(producer, "t", numbered(step * STEP), 0)

    def offset_of(sent: Any) -> int | None:
        try:
            return int(sent.batches(HANG)[0].offset)
        except KafkaError:
            return None

    said = [offset_of(send(0))]
    with stopped(own_broker):
        sent = [send(step) for step in range(1, 6)]
        with pytest.raises(KafkaTimeoutError, match="max_block_ms"):
            under_kafka_python.send_columns(producer, "t", numbered(6 * STEP), 0, batch_bytes=1_000)
        time.sleep(2.5)
    said += [offset_of(one) for one in sent]
    said += [None, offset_of(send(7))]  # some batches of the sixth call may be written
    producer.close()
    check_what_was_said(own_broker, said)


def test_a_group_that_rebalances_reads_every_record_once(broker: Broker, topic: str) -> None:
    """Consumers join and leave while records arrive; the clients commit by themselves."""
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    seen = bytearray(STEP * STEPS)

    async def consume(stop: asyncio.Event) -> None:
        consumer = AIOKafkaConsumer(
            topic, bootstrap_servers=broker.address, group_id=topic, auto_offset_reset="earliest",
            auto_commit_interval_ms=100, heartbeat_interval_ms=100, session_timeout_ms=60_000, max_poll_records=150,
        )  # fmt: skip
        await consumer.start()
        reader = under_aiokafka.columns(consumer, ["value"], timeout_ms=50)
        while not stop.is_set():
            async for part in reader:
                for value in part["value"].to_pylist():
                    seen[int(value)] += 1
                if stop.is_set():
                    break
        await consumer.stop()

    async def run() -> None:
        producer = AIOKafkaProducer(bootstrap_servers=broker.address)
        await producer.start()
        stop, leave = asyncio.Event(), asyncio.Event()
        members = [asyncio.create_task(consume(stop))]
        for step in range(STEPS):
            await under_aiokafka.send_columns(producer, topic, numbered(step * STEP), step % 3)
            await asyncio.sleep(0.1)
            if step == STEPS // 3:
                members.append(asyncio.create_task(consume(leave)))
            if step == 2 * STEPS // 3:
                leave.set()
        while 0 in seen:
            await asyncio.sleep(0.05)
        stop.set()
        await asyncio.gather(*members)
        await producer.stop()

    asyncio.run(asyncio.wait_for(run(), HANG))
    assert set(seen) == {1}
