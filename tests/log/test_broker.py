"""A broker that is started on what `repair`, `transcode` and `convert` wrote serves every record of it.

`make -f labs.mk broker` brings its jars and runs this; without them it is skipped.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress
from broker import JARS, Broker
from facts import bytes_fact
from recordpress.log import repair, scan

pytestmark = [
    pytest.mark.slow,
    pytest.mark.build,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # in modules of kafka-python
    pytest.mark.skipif(not any(JARS.glob("kafka_2.13-*.jar")), reason="no jars of a broker: make -f labs.mk broker"),
]

# one of them in message format v1
NAMES = [f"kafka-4.3.1/{topic}-0" for topic in ("lines-lz4", "txn_topic", "compacted.topic")]
NAMES += ["kafka-0.10.2.2/old-lz4-0"]
OLD = ["kafka-0.9.0.1/old-snappy-0", "kafka-0.10.2.2/old-lz4-0"]  # v0 and v1
# compaction left one batch in each segment there
MEANT_TO_LOSE = {"repaired.lines-lz4", "repaired.txn_topic", "repaired.old-lz4"}
Rows = list[tuple[int, Any, Any]]


def damaged(partition: oracle.Partition, root: Path) -> tuple[Path, set[int]]:
    """A copy with a broken batch in every segment, and broken indexes; and the offsets that are lost."""
    directory = partition.write_to(root)
    draw = random.Random(str(partition))
    lost: set[int] = set()
    for path in sorted(directory.iterdir()):
        data = bytearray(path.read_bytes())
        if path.suffix == ".log":
            batches = [batch for batch in recordpress.read_batches(bytes(data)) if not batch.is_control]
            if len(batches) > 1:
                batch = draw.choice(batches)
                lost.update(record.offset for record in batch)
                data[batch.position + batch.size - 1] ^= 1
        elif path.suffix in (".index", ".timeindex", ".txnindex", ".snapshot"):
            data += b"?"
        path.write_bytes(data)
    return directory, lost


def expected(partition: oracle.Partition, isolation_level: str, lost: set[int]) -> Rows:
    """What a consumer got of the log when it was whole, but for what was lost."""
    if isolation_level == "read_committed" and isolation_level in partition.entry:
        rows = partition.consumed(isolation_level)
    else:
        batches = [batch for log in partition.logs for batch in log.expected["batches"]]
        rows = [record for batch in batches if not batch.get("is_control") for record in batch["records"]]
    return [(row["offset"], row["key"], row["value"]) for row in rows if row["offset"] not in lost]


def create_topics(address: str, names: list[str]) -> None:
    from kafka.admin import KafkaAdminClient, NewTopic

    admin = KafkaAdminClient(bootstrap_servers=address)
    admin.create_topics([NewTopic(name, 1, 1) for name in names])
    admin.close()


def consumed(address: str, topic: str, isolation_level: str) -> Rows:
    """All that a consumer gets."""
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(
        bootstrap_servers=address, isolation_level=isolation_level, enable_auto_commit=False, group_id=None
    )
    partition = TopicPartition(topic, 0)
    consumer.assign([partition])
    consumer.seek_to_beginning(partition)
    [end] = consumer.end_offsets([partition]).values()
    rows: Rows = []
    while consumer.position(partition) < end:
        for records in consumer.poll(timeout_ms=1000).values():
            rows += [(record.offset, bytes_fact(record.key), bytes_fact(record.value)) for record in records]
    consumer.close()
    return rows


def repaired(partition: oracle.Partition, root: Path) -> tuple[Path, set[int]]:
    """A copy without the broken batches."""
    source, lost = damaged(partition, root / "damaged")
    repair(source, root / "repaired" / source.name)
    return root / "repaired" / source.name, lost


def transcoded(partition: oracle.Partition, root: Path) -> tuple[Path, set[int]]:
    """A copy under another codec, its small batches joined."""
    source = partition.write_to(root / "whole")
    codec = "gzip" if "old" in partition.entry["topic"] else "zstd"
    copy = root / "transcoded" / source.name
    recordpress.transcode(source, copy, codec, batch_bytes=1 << 18, min_gain=None)
    return copy, set()


def converted(partition: oracle.Partition, root: Path) -> tuple[Path, set[int]]:
    """A copy in message format v2."""
    source = partition.write_to(root / "old")
    recordpress.convert(source, root / "converted" / source.name, 2)
    return root / "converted" / source.name, set()


TOPICS = {p.entry["topic"]: p for p in oracle.PARTITIONS if str(p) in NAMES}
# by the name of the broker's topic
PARTITIONS = {f"{made.__name__}.{topic}": (made, p) for topic, p in TOPICS.items() for made in (repaired, transcoded)}
PARTITIONS |= {f"converted.{p.entry['topic']}": (converted, p) for p in oracle.PARTITIONS if str(p) in OLD}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, set[int]]]]:
    """The broker's address, and by topic the offsets that were lost."""
    root = tmp_path_factory.mktemp("broker")
    lost, copies = {}, {}
    for topic, (made, partition) in PARTITIONS.items():
        copies[topic], lost[topic] = made(partition, root)
    broker = Broker(root)
    with broker:
        create_topics(broker.address, list(PARTITIONS))
    for topic in PARTITIONS:
        place = broker.data / f"{topic}-0"
        for path in place.iterdir():
            if path.name != "partition.metadata":  # the new topic's id
                path.unlink()
        for path in copies[topic].iterdir():
            if path.name != "partition.metadata":
                shutil.copy(path, place)
    with broker:
        yield broker.address, lost
    # what the broker made of them is as good as new
    assert all(scan(broker.data / f"{topic}-0").findings == [] for topic in PARTITIONS)


@pytest.mark.parametrize("isolation_level", ["read_uncommitted", "read_committed"])
@pytest.mark.parametrize("topic", PARTITIONS)
def test_every_record_is_served(served: tuple[str, dict[str, set[int]]], topic: str, isolation_level: str) -> None:
    pytest.importorskip("kafka")
    address, lost = served
    rows = expected(PARTITIONS[topic][1], isolation_level, lost[topic])
    assert len(rows) > 10 and (lost[topic] or topic not in MEANT_TO_LOSE)
    assert consumed(address, topic, isolation_level) == rows
