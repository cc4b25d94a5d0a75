"""A producer and a consumer of each client, with its adapter under them, through a Kafka broker: every codec.

`make -f labs.mk broker` brings its jars and runs this; without them it is skipped.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from clients import AIOKAFKA, CODECS, KAFKA_PYTHON

import recordpress
from patience import HANG

sys.path.append(str(Path(__file__).parents[1] / "log"))

from broker import JARS, Broker

pytestmark = [
    pytest.mark.slow,
    pytest.mark.build,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # in modules of kafka-python
    pytest.mark.skipif(not any(JARS.glob("kafka_2.13-*.jar")), reason="no jars of a broker: make -f labs.mk broker"),
]

TIME = 1_700_000_000_000
ROWS = [
    (None if i % 5 == 0 else b"key %d" % i, None if i % 7 == 3 and i % 5 else b"value %d " % i * (1 + i % 40), TIME + i)
    for i in range(3000)
]
HEADERS: list[tuple[str, bytes]] = [("number", b"1"), ("empty", b"")]
Rows = list[tuple[int, Any, Any, int, list[tuple[str, bytes]]]]
EXPECTED: Rows = [(offset, key, value, time, HEADERS) for offset, (key, value, time) in enumerate(ROWS)]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with Broker(tmp_path_factory.mktemp("broker")) as running:
        create_topics(running)
        yield running


def create_topics(broker: Broker) -> None:
    from kafka.admin import KafkaAdminClient, NewTopic

    names = [f"{client}-{codec}-{transactional}" for client in ("aiokafka", "kafka-python") for codec in CODECS
             for transactional in (False, True)]  # fmt: skip
    admin = KafkaAdminClient(bootstrap_servers=broker.address)
    admin.create_topics([NewTopic(name, 1, 1) for name in names])
    admin.close()


async def produce(address: str, topic: str, codec: str, transactional: bool) -> None:
    from aiokafka import AIOKafkaProducer

    producer = AIOKafkaProducer(
        bootstrap_servers=address,
        compression_type=None if codec == "none" else codec,
        transactional_id=topic if transactional else None,
        linger_ms=5,
    )
    await producer.start()
    try:
        if transactional:
            async with producer.transaction():
                await send(producer, topic)
            await producer.begin_transaction()
            await producer.send_and_wait(topic, b"aborted", partition=0)
            await producer.abort_transaction()
        else:
            await send(producer, topic)
    finally:
        await producer.stop()


async def send(producer: Any, topic: str) -> None:
    sent = [
        await producer.send(topic, value, key=key, timestamp_ms=time, headers=list(HEADERS), partition=0)
        for key, value, time in ROWS
    ]
    assert [(await future).offset for future in sent] == list(range(len(ROWS)))


async def consume(address: str, topic: str) -> Rows:
    from aiokafka import AIOKafkaConsumer

    consumer = AIOKafkaConsumer(
        topic, bootstrap_servers=address, auto_offset_reset="earliest", isolation_level="read_committed"
    )
    await consumer.start()
    rows: Rows = []
    try:
        while len(rows) < len(ROWS):
            row = await asyncio.wait_for(consumer.getone(), HANG)
            rows.append((row.offset, row.key, row.value, row.timestamp, list(row.headers)))
        extra = await consumer.getmany(timeout_ms=300)
        assert not any(extra.values()), "nothing of a transaction that was aborted"
    finally:
        await consumer.stop()
    return rows


@pytest.mark.parametrize("transactional", [False, True], ids=["plain", "transaction"])
@pytest.mark.parametrize("codec", CODECS)
def test_aiokafka(broker: Broker, codec: str, transactional: bool) -> None:
    topic = f"aiokafka-{codec}-{transactional}"

    async def there_and_back() -> Rows:
        await produce(broker.address, topic, codec, transactional)
        return await consume(broker.address, topic)

    with AIOKAFKA.adapter.installed():
        assert asyncio.run(there_and_back()) == EXPECTED
    assert asyncio.run(consume(broker.address, topic)) == EXPECTED, "by aiokafka alone"
    assert stored(broker, topic) == {codec}


@pytest.mark.parametrize("transactional", [False, True], ids=["plain", "transaction"])
@pytest.mark.parametrize("codec", CODECS)
def test_kafka_python(broker: Broker, codec: str, transactional: bool) -> None:
    topic = f"kafka-python-{codec}-{transactional}"
    with KAFKA_PYTHON.adapter.installed():
        produce_by_kafka_python(broker.address, topic, codec, transactional)
        assert consume_by_kafka_python(broker.address, topic) == EXPECTED
    assert consume_by_kafka_python(broker.address, topic) == EXPECTED, "by kafka-python alone"
    assert stored(broker, topic) == {codec}


def produce_by_kafka_python(address: str, topic: str, codec: str, transactional: bool) -> None:
    from kafka import KafkaProducer

    options = {"transactional_id": topic} if transactional else {}
    producer = KafkaProducer(
        bootstrap_servers=address, compression_type=None if codec == "none" else codec, linger_ms=5, **options
    )
    if transactional:
        producer.init_transactions()
        producer.begin_transaction()
    sent = [
        producer.send(topic, value, key=key, timestamp_ms=time, headers=list(HEADERS), partition=0)
        for key, value, time in ROWS
    ]
    producer.flush()
    assert [future.get(HANG).offset for future in sent] == list(range(len(ROWS)))
    if transactional:
        producer.commit_transaction()
        producer.begin_transaction()
        producer.send(topic, b"aborted", partition=0).get(HANG)
        producer.abort_transaction()
    producer.close()


def consume_by_kafka_python(address: str, topic: str) -> Rows:
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(
        topic, bootstrap_servers=address, auto_offset_reset="earliest", isolation_level="read_committed",
        consumer_timeout_ms=HANG * 1000,
    )  # fmt: skip
    found = itertools.islice(consumer, len(ROWS))
    rows = [(row.offset, row.key, row.value, row.timestamp, list(row.headers)) for row in found]
    assert not consumer.poll(timeout_ms=300), "nothing of a transaction that was aborted"
    consumer.close()
    return rows


def stored(broker: Broker, topic: str) -> set[str]:
    """The codecs of the batches with records, as the broker keeps them."""
    data = b"".join(path.read_bytes() for path in sorted((broker.data / f"{topic}-0").glob("*.log")))
    return {batch.compression_type for batch in recordpress.read_batches(data) if batch.records_count > 1}
