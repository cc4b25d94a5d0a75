"""Rows of Spark's Kafka connector, from a broker, and of recordpress, from that broker's directory.

The connector runs in its own Spark 4.0.0, whose environment has no recordpress: `make -f labs.mk spark-connector`
installs it and runs this.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import oracle

sys.path += [str(Path(__file__).parents[1] / "log"), str(Path(__file__).parents[2])]

from bench.spark.other_spark import OtherSpark, is_installed, schema_of
from broker import JARS, Broker

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.build,
    pytest.mark.skipif(
        not is_installed() or not any(JARS.glob("kafka_2.13-*.jar")),
        reason="the connector is not installed: make -f labs.mk spark-connector",
    ),
]

TOPICS = {"headers-v2": 2, "txn_topic": 1, "compacted.topic": 1, "lines-zstd": 1, "lines-gzip": 1}
ALL = {"subscribe": ",".join(TOPICS)}
COLUMNS = (
    "topic",
    "partition",
    "offset",
    "unix_micros(timestamp)",
    "timestampType",
    "hex(key)",
    "hex(value)",
    "to_json(headers)",
)
QUERIES: dict[str, dict[str, Any]] = {
    "everything": ALL,
    "what is committed": ALL | {"isolation.level": "read_committed"},
    "a pattern": {"subscribePattern": "(lines|headers)-.*"},
    "a partition": {"assign": {"headers-v2": [1], "txn_topic": [0]}},
    "offsets": {
        "subscribe": "headers-v2,lines-zstd",
        "startingOffsets": {"headers-v2": {"0": 3, "1": -2}, "lines-zstd": {"0": 100}},
        "endingOffsets": {"headers-v2": {"0": 11, "1": -1}, "lines-zstd": {"0": 301}},
    },
    "more tasks": {"subscribe": "lines-zstd,txn_topic", "minPartitions": 7},
    "fewer records in a task": {"subscribe": "lines-gzip", "maxRecordsPerPartition": 300},
    "a time": {"subscribe": "lines-zstd,lines-gzip", "startingTimestamp": "lines-zstd"},
    "until a time": {"subscribe": "lines-zstd", "endingTimestamp": "lines-zstd"},
    "times": {
        "subscribe": "lines-zstd",
        "startingOffsetsByTimestamp": {"lines-zstd": {"0": "lines-zstd"}},
        "endingOffsetsByTimestamp": {"lines-zstd": {"0": "later"}},
    },
}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """It serves logs of another broker; its topics keep their ids."""
    from kafka.admin import KafkaAdminClient, NewTopic

    broker = Broker(tmp_path_factory.mktemp("broker"))
    with broker:
        admin = KafkaAdminClient(bootstrap_servers=broker.address)
        admin.create_topics([NewTopic(topic, count, 1) for topic, count in TOPICS.items()])
        admin.close()
    source = tmp_path_factory.mktemp("source")
    for partition in oracle.PARTITIONS:
        name = partition.entry["dir"].removeprefix("kafka-4.3.1/")
        if name.rpartition("-")[0] in TOPICS:
            place = broker.data / name
            for path in place.iterdir():
                if path.name != "partition.metadata":
                    path.unlink()
            for path in partition.write_to(source).iterdir():
                if path.name != "partition.metadata":
                    shutil.copy(path, place)
    (broker.data / ".kafka_cleanshutdown").unlink(missing_ok=True)
    with broker:
        yield broker


@pytest.fixture(scope="module")
def queries(moments: dict[str, int]) -> dict[str, dict[str, str]]:
    """The options of each query as text."""
    found = {}
    for name, query in QUERIES.items():
        given = json.loads(json.dumps(query), object_hook=lambda found: _with_moments(found, moments))
        found[name] = {
            key: json.dumps(value) if isinstance(value, dict) else str(value) for key, value in given.items()
        }
        found[name]["includeHeaders"] = "true"
    return found


@pytest.fixture(scope="module")
def served(broker: Broker, queries: dict[str, dict[str, str]]) -> dict[str, tuple[Any, Any]]:
    """The connector's schema and rows for each query; its Spark has ended before ours starts."""
    found = {}
    with OtherSpark() as connector:
        for name, query in queries.items():
            options = {"kafka.isolation.level" if key == "isolation.level" else key: query[key] for key in query}
            options["kafka.bootstrap.servers"] = broker.address
            found[name] = connector.ask("schema", **options), connector.ask("rows", COLUMNS, **options)
    return found


@pytest.fixture(scope="module")
def moments() -> dict[str, int]:
    """Times in the middle of a topic, and after that, in ms."""
    [partition] = [one for one in oracle.PARTITIONS if one.entry["dir"] == "kafka-4.3.1/lines-zstd-0"]
    batches = [batch for log in partition.logs for batch in log.expected["batches"]]
    times = sorted(record["timestamp"] for batch in batches for record in batch["records"])
    return {"lines-zstd": times[len(times) // 2], "later": times[len(times) * 3 // 4]}


@pytest.mark.parametrize("name", QUERIES)
def test_the_rows_are_the_same(
    name: str, served: dict[str, tuple[Any, Any]], queries: dict[str, dict[str, str]], broker: Broker, spark: Any
) -> None:
    schema, rows = served[name]
    read = spark.read.format("recordpress").options(**queries[name]).load(str(broker.data))
    assert schema_of(read) == schema
    assert len(rows) > 10
    assert sorted(map(list, read.selectExpr(*COLUMNS).collect()), key=repr) == sorted(rows, key=repr)


def _with_moments(found: dict[str, Any], moments: dict[str, int]) -> dict[str, Any]:
    """Times in place of their names."""
    names = {"subscribe", "subscribePattern"}
    return {key: value if key in names else moments.get(str(value), value) for key, value in found.items()}
