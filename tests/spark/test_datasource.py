"""format("kpress"): rows are what Kafka's consumer returned, in a task and without Spark around the reader."""

import pickle
from pathlib import Path
from typing import Any

import pytest

import facts
import kpress
import oracle

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = pytest.mark.spark

from pyspark.sql.types import BinaryType, StructField, StructType

from kpress.spark import KafkaLogDataSource, ReadOptions
from kpress.spark.schema import arrow_schema, spark_schema

DEMO_LOGS = Path(__file__).resolve().parents[2] / "demo" / "logs"
RECORDS = {  # demo/logs/README.md
    ("access-json", 0): 5481,
    ("access-json", 1): 4519,
    ("access-log", 0): 4398,
    ("access-log", 1): 2829,
    ("access-log", 2): 2773,
    ("nginx-status", 0): 500,
    ("sessions", 0): 1634,
    ("sessions", 1): 1966,
}


def row_facts(row: dict[str, Any]) -> facts.Facts:
    """In the words of the consumer's results."""
    timestamp = row["timestamp"]
    return {
        "partition": row["partition"],
        "offset": row["offset"],
        "timestamp": -1 if timestamp is None else timestamp,
        "timestamp_type": facts.TIMESTAMP_TYPES[row["timestampType"]],
        "key": facts.bytes_fact(row["key"]),
        "value": facts.bytes_fact(row["value"]),
        "headers": [[header["key"], facts.bytes_fact(header["value"])] for header in row["headers"]],
    }


def without_epoch(row: facts.Facts) -> facts.Facts:
    return {name: value for name, value in row.items() if name != "leader_epoch"}


def read(path: Path, **options: str) -> list[dict[str, Any]]:
    """What tasks would give: partitions go through pickle, as they do on the way to an executor."""
    source = KafkaLogDataSource({"path": str(path), "includeHeaders": "true"} | options)
    reader = source.reader(source.schema())
    rows = []
    for partition in reader.partitions():
        for batch in pickle.loads(pickle.dumps(reader)).read(pickle.loads(pickle.dumps(partition))):
            assert batch.schema.equals(arrow_schema(include_headers=True))
            times = batch.column("timestamp").cast("int64").to_pylist()
            for row, time in zip(batch.to_pylist(), times, strict=True):
                rows.append(row | {"timestamp": time // 1000 if time is not None else None})
    return rows


CONSUMED = [
    (partition, isolation)
    for partition in oracle.PARTITIONS
    for isolation in ("read_committed", "read_uncommitted")
    if partition.entry.get(isolation)
]


@pytest.mark.parametrize(("partition", "isolation"), CONSUMED, ids=str)
def test_rows_are_what_the_consumer_returned(partition: oracle.Partition, isolation: str, tmp_path: Path) -> None:
    rows = read(partition.write_to(tmp_path), **{"isolation.level": isolation})
    assert [row_facts(row) for row in rows] == [without_epoch(row) for row in partition.consumed(isolation)]


@pytest.mark.parametrize("size", ["1", "5000", "2147483647"])
def test_the_size_of_a_fetch_does_not_show(size: str) -> None:
    path = DEMO_LOGS / "sessions-0"
    assert read(path, **{"max.partition.fetch.bytes": size}) == read(path)


def test_an_open_transaction_is_not_read_when_committed(tmp_path: Path) -> None:
    directory = tmp_path / "t-0"
    directory.mkdir()
    options = {"producer_id": 1, "producer_epoch": 0, "base_sequence": 0, "is_transactional": True}
    (directory / "00000000000000000000.log").write_bytes(
        kpress.write_records([b"a"] * 3)
        + kpress.write_records([b"b"] * 3, base_offset=3, **options)
        + kpress.write_records([b"c"] * 3, base_offset=6)
    )
    assert [row["offset"] for row in read(directory, **{"isolation.level": "read_committed"})] == [0, 1, 2]
    assert len(read(directory)) == 9


def test_a_damaged_segment_is_named(tmp_path: Path) -> None:
    directory = tmp_path / "t-0"
    directory.mkdir()
    path = directory / "00000000000000000000.log"
    path.write_bytes(kpress.write_records([b"a"])[:-1] + b"\1")
    with pytest.raises(kpress.CorruptRecordError) as caught:
        read(directory)
    assert (caught.value.file, caught.value.position) == (str(path), 17)


SEGMENTS = ("00000000000000000000.log", "00000000000000000090.log")


def two_segments(root: Path) -> tuple[Path, list[bytes]]:
    """A partition of 30 batches of 3 records in each of two segments."""
    directory = root / "t-0"
    directory.mkdir()
    batches = [kpress.write_records([b"value"] * 3, base_offset=3 * i) for i in range(60)]
    (directory / SEGMENTS[0]).write_bytes(b"".join(batches[:30]))
    (directory / SEGMENTS[1]).write_bytes(b"".join(batches[30:]))
    return directory, batches


@pytest.mark.parametrize("segment", [0, 1])
def test_rows_do_not_vanish_behind_a_damaged_length(segment: int, tmp_path: Path) -> None:
    """Kafka's readers would take it for a cut last entry: 60 of 90 rows were lost silently."""
    directory, batches = two_segments(tmp_path)
    path = directory / SEGMENTS[segment]
    data = bytearray(path.read_bytes())
    at = sum(map(len, batches[:10]))
    data[at + 9] = 1  # 65,536 more
    path.write_bytes(data)
    assert sum(1 for _ in kpress.read_batches(bytes(data))) == 10
    with pytest.raises(kpress.CorruptRecordError) as caught:
        read(directory)
    assert (caught.value.file, caught.value.position) == (str(path), at)


@pytest.mark.parametrize(("tail", "what"), [(b"", "an entry that is cut"), (bytes(500), "zeros")])
def test_only_the_last_segment_may_have_a_tail(
    tail: bytes, what: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directory, batches = two_segments(tmp_path)
    last = directory / SEGMENTS[1]
    data = last.read_bytes()
    last.write_bytes(data + tail if tail else data[:-5])
    rows = read(directory)
    trailing = len(tail) or len(batches[-1]) - 5
    assert len(rows) == 180 if tail else 177
    assert [record.getMessage() for record in caplog.records] == [f"{last} ends in {trailing} bytes of {what}"]
    first = directory / SEGMENTS[0]
    data = first.read_bytes()
    first.write_bytes(data + tail if tail else data[:-5])
    with pytest.raises(kpress.CorruptRecordError) as caught:
        read(directory)
    assert caught.value.file == str(first)


# ---- options


def test_options() -> None:
    given = {"PATH": "/logs", "Subscribe": " a ,b,", "INCLUDEHEADERS": "True", "isolation.level": "read_committed"}
    assert ReadOptions.parse(given) == ReadOptions("/logs", ("a", "b"), True, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "p", "startingOffsets": "earliest"}, "unknown option startingoffsets; accepted are path, subscribe"),
        ({}, "a path is needed"),
        ({"path": "p", "includeHeaders": "yes"}, "includeHeaders must be false or true, not 'yes'"),
        ({"path": "p", "isolation.level": "serializable"}, "read_uncommitted or read_committed, not 'serializable'"),
        ({"path": "p", "max.partition.fetch.bytes": "0"}, "from 1 to 2147483647, not '0'"),
        ({"path": "p", "max.partition.fetch.bytes": "1 MB"}, "not '1 MB'"),
        ({"path": "p", "max.partition.fetch.bytes": "9" * 5000}, "from 1 to 2147483647, not '9999"),
    ],
)
def test_options_that_are_not_accepted(options: dict[str, str], message: str) -> None:
    with pytest.raises(kpress.InvalidArgumentError, match=message) as caught:
        ReadOptions.parse(options)
    assert caught.value.field is not None
    assert caught.value.field.lower() in [*map(str.lower, options), "path"]


def test_topics_that_are_not_there() -> None:
    with pytest.raises(kpress.InvalidArgumentError, match="no topic orders; it has access-json, access-log"):
        read(DEMO_LOGS, subscribe="sessions,orders")


def test_the_schema_is_given() -> None:
    source = KafkaLogDataSource({"path": "p"})
    assert source.schema() == spark_schema(include_headers=False)
    with pytest.raises(kpress.InvalidArgumentError, match="key, value, topic"):
        source.reader(StructType([StructField("key", BinaryType())]))


# ---- through Spark


def test_spark_finds_and_reads_the_demo_logs(spark: Any) -> None:
    logs = spark.read.format("kpress").load(str(DEMO_LOGS))
    assert logs.schema == spark_schema(include_headers=False)
    counts = logs.groupBy("topic", "partition").count().collect()
    assert {(row.topic, row.partition): row["count"] for row in counts} == RECORDS


def test_spark_reads_committed_rows(spark: Any, tmp_path: Path) -> None:
    partition = next(found for found in oracle.PARTITIONS if str(found) == "kafka-4.3.1/txn_topic-0")
    partition.write_to(tmp_path)
    logs = (
        spark.read.format("kpress")
        .options(includeHeaders=True, subscribe="txn_topic", **{"isolation.level": "read_committed"})
        .load(str(tmp_path))
    )
    rows = logs.selectExpr("*", "unix_millis(timestamp) AS millis").orderBy("offset").collect()
    found = [row_facts(row.asDict(recursive=True) | {"timestamp": row.millis}) for row in rows]
    assert found == [without_epoch(row) for row in partition.consumed("read_committed")]


def test_spark_shows_what_is_wrong_with_an_option(spark: Any) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException, match="unknown option startingoffsets; accepted are path, subscribe"):
        spark.read.format("kpress").option("startingOffsets", "earliest").load(str(DEMO_LOGS)).count()
