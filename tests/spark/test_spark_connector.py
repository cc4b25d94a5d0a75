"""Rows through Spark's own Kafka connector, from a broker, and through recordpress, from that broker's directory.

`make -f labs.mk spark-connector` brings both, with the only Spark whose connector can be had, and runs this.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import oracle

sys.path += [str(Path(__file__).parents[1] / "log")]

from broker import JARS, ROOT, Broker

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")
OF_SPARK = sorted((ROOT / "build" / "bench" / "spark-connector").glob("*.jar"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.build,
    pytest.mark.skipif(
        pyspark.__version__ != "4.0.0" or not OF_SPARK or not any(JARS.glob("kafka_2.13-*.jar")),
        reason="no connector for this Spark: make -f labs.mk spark-connector",
    ),
]

TOPICS = {"headers-v2": 2, "txn_topic": 1, "compacted.topic": 1, "lines-zstd": 1, "lines-gzip": 1}
ALL = {"subscribe": ",".join(TOPICS)}
COLUMNS = ("topic", "partition", "offset", "timestamp", "timestampType", "hex(key)", "hex(value)", "to_json(headers)")
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
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", ",".join(map(str, OF_SPARK)))
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def moments() -> dict[str, int]:
    """Times in the middle of a topic, and after that, in ms."""
    [partition] = [one for one in oracle.PARTITIONS if one.entry["dir"] == "kafka-4.3.1/lines-zstd-0"]
    batches = [batch for log in partition.logs for batch in log.expected["batches"]]
    times = sorted(record["timestamp"] for batch in batches for record in batch["records"])
    return {"lines-zstd": times[len(times) // 2], "later": times[len(times) * 3 // 4]}


@pytest.mark.parametrize("name", QUERIES)
def test_the_rows_are_the_same(name: str, spark: Any, broker: Broker, moments: dict[str, int]) -> None:
    given = json.loads(json.dumps(QUERIES[name]), object_hook=lambda found: _with_moments(found, moments))
    options = {key: json.dumps(value) if isinstance(value, dict) else str(value) for key, value in given.items()}
    options["includeHeaders"] = "true"
    of_files = spark.read.format("recordpress").options(**options).load(str(broker.data))
    if level := options.pop("isolation.level", None):
        options["kafka.isolation.level"] = level
    of_broker = spark.read.format("kafka").option("kafka.bootstrap.servers", broker.address).options(**options).load()
    assert [(field.name, field.dataType) for field in of_files.schema] == [
        (field.name, field.dataType) for field in of_broker.schema
    ]
    served, read = (rows_of(source) for source in (of_broker, of_files))
    assert len(served) > 10
    assert read == served


def rows_of(source: Any) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, source.selectExpr(*COLUMNS).collect()), key=repr)


def _with_moments(found: dict[str, Any], moments: dict[str, int]) -> dict[str, Any]:
    """Times in place of their names."""
    names = {"subscribe", "subscribePattern"}
    return {key: value if key in names else moments.get(str(value), value) for key, value in found.items()}
