"""A Kafka broker takes every batch of pack in a topic whose max.message.bytes is the limit.

`make -f labs.mk broker` brings its jars and runs this; without them it is skipped.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from endless import stream

import recordpress
from patience import HANG

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS / "log"), str(TESTS / "broker" / "old")]

from produce_client import Client

from broker import JARS, Broker

pytestmark = [
    pytest.mark.slow,
    pytest.mark.build,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # in modules of kafka-python
    pytest.mark.skipif(not any(JARS.glob("kafka_2.13-*.jar")), reason="no jars of a broker: make -f labs.mk broker"),
]

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
CASES = [(codec, limit) for codec in CODECS for limit in (16384, 262_144)] + [("none", 10_000_000), ("lz4", 3_000_000)]
MESSAGE_TOO_LARGE = 10


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with Broker(tmp_path_factory.mktemp("broker")) as running:
        create_topics(running)
        yield running


def create_topics(broker: Broker) -> None:
    from kafka.admin import KafkaAdminClient, NewTopic

    admin = KafkaAdminClient(bootstrap_servers=broker.address)
    admin.create_topics([
        NewTopic(f"{codec}-{limit}", 1, 1, topic_configs={"max.message.bytes": str(limit)}) for codec, limit in CASES
    ])  # fmt: skip
    admin.close()
    topics = [f"{codec}-{limit}" for codec, limit in CASES]
    deadline = time.monotonic() + HANG
    with Client(broker.port) as client:
        while client.produce(topics[-1], recordpress.write_records([b"x"]), 8).error and time.monotonic() < deadline:
            time.sleep(0.2)


@pytest.mark.parametrize(("codec", "limit"), CASES)
@pytest.mark.parametrize("name", ["access-log", "nginx-status"])
def test_a_broker_takes_every_batch(broker: Broker, name: str, codec: str, limit: int) -> None:
    topic, last = f"{codec}-{limit}", b""
    with Client(broker.port) as client:
        for batch in islice(recordpress.producer.pack(stream(name), limit=limit, compression_type=codec), 6):
            answer = client.produce(topic, batch, 8)
            assert answer.error == 0, answer
            last = batch
        values = [record.value for entry in recordpress.read_batches(last) for record in entry]
        larger = recordpress.write_records([*values, bytes(limit)], timestamps=1)
        assert client.produce(topic, larger, 8).error == MESSAGE_TOO_LARGE
