"""A broker that is started on a log dir which `df.write.format("recordpress")` wrote serves every record of it, and
goes on; also after `compact`.

`make -f labs.mk broker` brings its jars and runs this; without them it is skipped.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recordpress

sys.path += [str(Path(__file__).parents[1] / "log")]

from broker import JARS, Broker

pytest.importorskip("pyspark", reason="pyspark is not installed")
pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.build,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # in modules of kafka-python
    pytest.mark.skipif(not any(JARS.glob("kafka_2.13-*.jar")), reason="no jars of a broker: make -f labs.mk broker"),
]

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PARTITIONS = 3
ROWS = 6000


def rows(topic: str, first: int) -> Any:
    numbers = range(first, first + ROWS)
    return pa.record_batch({
        "key": [b"%d" % (number % 50) if number % 7 else None for number in numbers],
        "value": [b"%s %d" % (topic.encode(), number) * 5 if number % 11 else None for number in numbers],
        "topic": [topic] * ROWS,
        "timestamp": pa.array([1_700_000_000_000 + number for number in numbers], pa.timestamp("ms", "UTC")),
    })  # fmt: skip


def write(root: Path, topic: str, tasks: list[Any], **options: str) -> None:
    from recordpress.spark import KafkaLogDataSource
    from recordpress.spark.schema import spark_schema

    given = {"path": str(root), "partitions": str(PARTITIONS)} | options
    writer: Any = KafkaLogDataSource(given).writer(spark_schema(tasks[0].schema.names), False)
    writer.commit([writer.write(iter([task])) for task in tasks])


def create_topics(address: str) -> None:
    from kafka.admin import KafkaAdminClient, NewTopic

    admin = KafkaAdminClient(bootstrap_servers=address)
    admin.create_topics([NewTopic(codec, PARTITIONS, 1) for codec in CODECS])
    admin.close()


@pytest.fixture(scope="module", params=[False, True], ids=["as-written", "compacted"])
def broker(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    broker = Broker(tmp_path_factory.mktemp("broker"))
    with broker:
        create_topics(broker.address)
    for codec in CODECS:
        for path in broker.data.glob(f"{codec}-[0-9]/*"):
            if path.name != "partition.metadata":  # the new topic's id
                path.unlink()
    (broker.data / ".kafka_cleanshutdown").unlink(missing_ok=True)  # all of what is there is looked at again
    for codec in CODECS:
        how = {"compression.type": codec, "batch.size": "8000", "segment.bytes": "40000"}
        write(broker.data, codec, [rows(codec, 0), rows(codec, ROWS)], **how)
        write(broker.data, codec, [rows(codec, 2 * ROWS)], **how)
    if request.param:
        merged = recordpress.log.compact(broker.data)
        assert len(merged) > 10 and all(one.segments_after == 1 for one in merged)
        assert any(one.batches_after < one.batches_before for one in merged)
    with broker:
        yield broker
    places = [f"{codec}-{number}" for codec in CODECS for number in range(PARTITIONS)]
    assert all(recordpress.log.scan(broker.data / place).findings == [] for place in places)


@pytest.mark.parametrize("codec", CODECS)
def test_every_record_is_served(broker: Broker, codec: str) -> None:
    from kafka import KafkaConsumer, KafkaProducer, TopicPartition

    consumer = KafkaConsumer(bootstrap_servers=broker.address, enable_auto_commit=False, group_id=None)
    places = [TopicPartition(codec, number) for number in range(PARTITIONS)]
    consumer.assign(places)
    consumer.seek_to_beginning()
    ends = consumer.end_offsets(places)
    found: dict[Any, list[Any]] = {place: [] for place in places}
    while any(consumer.position(place) < ends[place] for place in places):
        for place, records in consumer.poll(timeout_ms=1000).items():
            found[place] += records
    expected = [row for first in range(3) for row in rows(codec, first * ROWS).to_pylist()]
    for place, records in found.items():
        assert [record.offset for record in records] == list(range(ends[place]))
        for one in records:
            assert one.key is None or recordpress.producer.partition_for_key(one.key, PARTITIONS) == place.partition
    facts = [(one.timestamp, one.key, one.value) for records in found.values() for one in records]
    assert sorted(facts, key=repr) == sorted(
        ((int(row["timestamp"].timestamp() * 1000), row["key"], row["value"]) for row in expected), key=repr
    )
    # by time, which is in the indexes; and a producer goes on at the end
    [(place, at)] = consumer.offsets_for_times({places[0]: 1_700_000_000_000 + 2 * ROWS}).items()
    assert found[place][at.offset].timestamp >= 1_700_000_000_000 + 2 * ROWS
    assert all(record.timestamp < 1_700_000_000_000 + 2 * ROWS for record in found[place][: at.offset])
    producer = KafkaProducer(bootstrap_servers=broker.address)
    sent = producer.send(codec, b"one more", partition=0).get(30)
    assert sent.offset == ends[places[0]]
    producer.close()
    consumer.close()
