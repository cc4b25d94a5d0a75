"""Records per second of client CPU time, through a broker: columns of recordpress next to the clients' own objects.

`make -f labs.mk live` runs it; `--all` also measures five codecs, small batches and records of 1 KB. `--turns` compares
the columns more often with the network and `read_columns`: a single turn is off by up to a fifth on a shared machine.
Each contender runs in a separate process, whose CPU time counts, all threads included, from the first fetch to the last
record.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

import recordpress
import recordpress.adapters.aiokafka as under_aiokafka
import recordpress.adapters.kafka_python as under_kafka_python

ROOT = Path(__file__).parents[1]
LINE = "10.0.%d.%d - - [17/May/2015:10:05:%02d] GET /item/%d HTTP/1.1 %d "
MAX_BYTES = 16 << 20
PEERS = ROOT / "build" / "bench" / "live"  # confluent-kafka and kafkars, which nothing else needs
TIMEOUT = 600  # seconds of a contender; chosen, not measured
FETCH_ALONE, READ_ALONE = "fetch alone (aiokafka)", "read_columns of the log"
# factors by which slow peers get fewer records
SLOW = {"kafka-python": 20, "aiokafka": 8, "confluent-kafka": 4, "confluent-kafka, columns_of": 8}


def table_of(count: int, size: int) -> pa.Table:
    """Log lines of this size, all different."""
    lines = [
        (LINE % (n % 7, n % 251, n % 60, n * 7919 % 1_000_003, n)).ljust(size, "x")[:size].encode()
        for n in range(min(count, 50_000))
    ]
    values = pa.array(lines, pa.binary())
    return pa.table({"value": pa.chunked_array([values] * -(-count // len(lines)))})[:count]


# --- consumers: each returns the CPU seconds from its start to the last record ------------------------------------


async def aiokafka_consumer(address: str) -> Any:
    from aiokafka import AIOKafkaConsumer

    consumer = AIOKafkaConsumer(
        bootstrap_servers=address, auto_offset_reset="earliest", enable_auto_commit=False,
        max_partition_fetch_bytes=4 << 20,
    )  # fmt: skip
    await consumer.start()
    return consumer


def consume_aiokafka(address: str, topic: str, count: int) -> float:
    async def run() -> float:
        from aiokafka import TopicPartition

        consumer = await aiokafka_consumer(address)
        start, rows = time.process_time(), 0
        consumer.assign([TopicPartition(topic, 0)])
        while rows < count:
            rows += sum(map(len, (await consumer.getmany(timeout_ms=1000)).values()))
        seconds = (time.process_time() - start) * count / rows
        await consumer.stop()
        return seconds

    return asyncio.run(run())


def consume_aiokafka_columns(address: str, topic: str, count: int) -> float:
    async def run() -> float:
        from aiokafka import TopicPartition

        consumer = await aiokafka_consumer(address)
        start, rows = time.process_time(), 0
        consumer.assign([TopicPartition(topic, 0)])
        async for part in under_aiokafka.columns(consumer):
            rows += part.num_rows
            if rows >= count:
                break
        seconds = (time.process_time() - start) * count / rows
        await consumer.stop()
        return seconds

    return asyncio.run(run())


def fetch_only(address: str, topic: str, count: int) -> float:
    """The network's share of it: aiokafka's fetcher, whose bytes are dropped."""

    async def run() -> float:
        from aiokafka import TopicPartition

        consumer = await aiokafka_consumer(address)
        fetcher = consumer._fetcher
        start = time.process_time()
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        under_aiokafka.columns(consumer)
        reached = 0
        while reached < count:
            await fetcher._create_fetch_waiter()
            for result in list(fetcher._records.values()):
                reached = result._partition_records._records.end_offset()
                result._assignment.state_value(partition).consumed_to(reached)
            fetcher._records.clear()
            fetcher._notify(fetcher._wait_consume_future)
        seconds = (time.process_time() - start) * count / reached
        await consumer.stop()
        return seconds

    return asyncio.run(run())


def kafka_python_consumer(address: str, topic: str) -> Any:
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(
        bootstrap_servers=address, auto_offset_reset="earliest", enable_auto_commit=False, group_id=None,
        max_poll_records=1_000_000, max_partition_fetch_bytes=4 << 20,
    )  # fmt: skip
    consumer.assign([TopicPartition(topic, 0)])
    return consumer


def polled(address: str, topic: str, count: int, rows_of_poll: Callable[[Any], int]) -> float:
    consumer = kafka_python_consumer(address, topic)
    start, rows = time.process_time(), 0
    while rows < count:
        rows += rows_of_poll(consumer)
    seconds = (time.process_time() - start) * count / rows
    consumer.close()
    return seconds


def consume_kafka_python(address: str, topic: str, count: int) -> float:
    return polled(address, topic, count, lambda consumer: sum(map(len, consumer.poll(1000).values())))


def consume_kafka_python_columns(address: str, topic: str, count: int) -> float:
    return polled(address, topic, count, lambda consumer: len(under_kafka_python.poll_columns(consumer, 1000)))


def consume_confluent(address: str, topic: str, count: int, rows_of: Callable[[Any], int] = len) -> float:
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": address, "group.id": "bench", "enable.auto.commit": False})
    start, rows = time.process_time(), 0
    consumer.assign([TopicPartition(topic, 0, 0)])
    while rows < count:
        rows += rows_of(consumer.consume(5000, 1.0))
    seconds = (time.process_time() - start) * count / rows
    consumer.close()
    return seconds


def consume_confluent_columns(address: str, topic: str, count: int) -> float:
    from recordpress.adapters import columns_of

    return consume_confluent(address, topic, count, lambda messages: len(columns_of(messages)))


def consume_kafkars(address: str, topic: str, count: int) -> float:
    from kafkars import ConsumerManager, SourceTopic

    start, rows = time.process_time(), 0
    manager = ConsumerManager({"bootstrap.servers": address, "group.id": "bench"}, [SourceTopic.from_earliest(topic)])
    while rows < count:
        rows += manager.poll(timeout_ms=1000).num_rows
    return (time.process_time() - start) * count / rows


def read_columns_of_log(directory: str, topic: str, count: int) -> float:
    data = b"".join(path.read_bytes() for path in sorted(Path(directory, f"{topic}-0").glob("*.log")))
    start = time.process_time()
    rows = sum(part.num_rows for part in recordpress.iter_columns(data, batch_bytes=4 << 20))
    return (time.process_time() - start) * count / rows


# --- producers ----------------------------------------------------------------------------------------------------


def aiokafka_producer(send: Callable[[Any, str, pa.Table, int], Any]) -> Callable[..., float]:
    def produce(address: str, topic: str, count: int, size: int, codec: str, batch: int) -> float:
        table = table_of(count, size)

        async def run() -> float:
            from aiokafka import AIOKafkaProducer

            producer = AIOKafkaProducer(
                bootstrap_servers=address, compression_type=None if codec == "none" else codec, linger_ms=20,
                max_request_size=MAX_BYTES, max_batch_size=batch * (size + 20),
            )  # fmt: skip
            await producer.start()
            start = time.process_time()
            await send(producer, topic, table, batch)
            seconds = time.process_time() - start
            await producer.stop()
            return seconds

        return asyncio.run(run())

    return produce


async def send_columns(producer: Any, topic: str, table: pa.Table, batch: int) -> None:
    for start in range(0, len(table), batch):  # one batch each
        sent = await under_aiokafka.send_columns(producer, topic, table[start : start + batch], 0)
    await sent.batches()


async def send_messages(producer: Any, topic: str, table: pa.Table, batch: int) -> None:
    for value in table["value"].to_pylist():
        await producer.send(topic, value, partition=0)
    await producer.flush()


def kafka_python_producer(send: Callable[[Any, str, pa.Table, int], None]) -> Callable[..., float]:
    def produce(address: str, topic: str, count: int, size: int, codec: str, batch: int) -> float:
        from kafka import KafkaProducer

        table = table_of(count, size)
        producer = KafkaProducer(
            bootstrap_servers=address, compression_type=None if codec == "none" else codec, linger_ms=20,
            batch_size=batch * (size + 20), max_request_size=MAX_BYTES,
        )  # fmt: skip
        start = time.process_time()
        send(producer, topic, table, batch)
        producer.flush()
        seconds = time.process_time() - start
        producer.close()
        return seconds

    return produce


def send_kafka_python_columns(producer: Any, topic: str, table: pa.Table, batch: int) -> None:
    for start in range(0, len(table), batch):
        sent = under_kafka_python.send_columns(producer, topic, table[start : start + batch], 0)
    sent.batches()


def send_kafka_python_messages(producer: Any, topic: str, table: pa.Table, batch: int) -> None:
    for value in table["value"].to_pylist():
        producer.send(topic, value, partition=0)


def produce_confluent(address: str, topic: str, count: int, size: int, codec: str, batch: int) -> float:
    from confluent_kafka import Producer

    values = table_of(count, size)["value"].to_pylist()
    producer = Producer(
        {"bootstrap.servers": address, "compression.type": codec, "linger.ms": 20, "batch.num.messages": batch,
         "batch.size": MAX_BYTES, "message.max.bytes": MAX_BYTES, "queue.buffering.max.messages": 2_000_000}
    )  # fmt: skip
    start = time.process_time()
    for value in values:
        producer.produce(topic, value, partition=0)
    producer.flush()
    return time.process_time() - start


CONSUMERS: dict[str, Callable[..., float]] = {
    "aiokafka, columns": consume_aiokafka_columns,
    "aiokafka": consume_aiokafka,
    "kafka-python, columns": consume_kafka_python_columns,
    "kafka-python": consume_kafka_python,
    "confluent-kafka": consume_confluent,
    "confluent-kafka, columns_of": consume_confluent_columns,
    "kafkars": consume_kafkars,
    FETCH_ALONE: fetch_only,
    READ_ALONE: read_columns_of_log,
}
PRODUCERS: dict[str, Callable[..., float]] = {
    "aiokafka, columns": aiokafka_producer(send_columns),
    "aiokafka": aiokafka_producer(send_messages),
    "kafka-python, columns": kafka_python_producer(send_kafka_python_columns),
    "kafka-python": kafka_python_producer(send_kafka_python_messages),
    "confluent-kafka": produce_confluent,
}


def measure(kind: str, name: str, *arguments: Any) -> float | None:
    """CPU seconds of a process; None if the contender is not installed, or fails."""
    command = [sys.executable, "-m", "bench.live", kind, name, json.dumps(arguments)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(PEERS)])}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=TIMEOUT)
    if ran.returncode:
        print(f"{name}: {ran.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return float(ran.stdout)


def columns_and_peers(broker: Any, codec: str, size: int, batch: int, count: int, turns: int) -> None:
    """Measure one cell of the table: produce with each contender, then consume what the first one wrote."""
    from kafka.admin import KafkaAdminClient, NewTopic

    print(f"\n{codec}, records of {size} B, {batch} a batch", flush=True)
    admin = KafkaAdminClient(bootstrap_servers=broker.address)
    topics = [f"{codec}-{size}-{batch}-{number}" for number in range(len(PRODUCERS))]
    ours = None
    for name, topic in zip(PRODUCERS, topics, strict=True):
        admin.create_topics([NewTopic(topic, 1, 1)])
        share = count // SLOW.get(name, 1)
        seconds = measure("produce", name, broker.address, topic, share, size, codec, batch)
        ours = show("produce", name, seconds and share / seconds, ours)
    ours = None
    for name in CONSUMERS:
        share = count // SLOW.get(name, 1)
        source = str(broker.data) if name == READ_ALONE else broker.address
        seconds = measure("consume", name, source, topics[0], share)
        ours = show("consume", name, seconds and share / seconds, ours)
    if turns:
        share_of_network(broker, topics[0], count, turns)
    admin.close()


def share_of_network(broker: Any, topic: str, count: int, turns: int) -> None:
    """Print the CPU time of the columns over that of a fetch that decodes nothing and of read_columns together."""
    ratios = []
    for _ in range(turns):
        ours, fetch, read = (
            measure("consume", name, str(broker.data) if name == READ_ALONE else broker.address, topic, count) or 0.0
            for name in ("aiokafka, columns", FETCH_ALONE, READ_ALONE)
        )
        ratios.append(ours / (fetch + read))
    print(f"  columns / (fetch alone + read_columns): median of {turns} turns {statistics.median(ratios):.2f}, "
          f"{min(ratios):.2f} to {max(ratios):.2f}", flush=True)  # fmt: skip


def show(verb: str, name: str, rate: float | None, ours: float | None) -> float | None:
    """Print a row as soon as it is measured; the rate that the following rows are compared with."""
    ours = ours or rate
    if rate and ours:
        print(f"  {verb}  {name:28}{rate / 1e6:6.2f} M records per CPU second {ours / rate:6.1f}", flush=True)
    return ours


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="five codecs, small batches, records of 1 KB")
    parser.add_argument("--records", type=int, default=1_000_000, help="of 100 B")
    parser.add_argument("--turns", type=int, default=0, help="compare with fetch and read_columns so often, in turns")
    options = parser.parse_args()
    sys.path.append(str(ROOT / "tests" / "log"))
    from broker import Broker

    cells = [(codec, 100, 5000) for codec in ("none", "lz4", "zstd")]
    if options.all:
        cells = [(codec, size, batch) for size in (100, 1000) for batch in (5000, 100)
                 for codec in ("none", "gzip", "snappy", "lz4", "zstd")]  # fmt: skip
    print("last column: how many times as fast the columns of aiokafka are", flush=True)
    settings = f"message.max.bytes={MAX_BYTES}\n"
    with tempfile.TemporaryDirectory() as directory, Broker(Path(directory), settings=settings) as broker:
        for codec, size, batch in cells:
            columns_and_peers(broker, codec, size, batch, options.records * 100 // size, options.turns)


if __name__ == "__main__":
    if sys.argv[1:2] in (["consume"], ["produce"]):
        contenders = CONSUMERS if sys.argv[1] == "consume" else PRODUCERS
        print(contenders[sys.argv[2]](*json.loads(sys.argv[3])))
    else:
        main()
