"""format("recordpress"): rows are what Kafka's consumer returned, in a task and without Spark around the reader."""

import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import facts
import oracle
import recordpress

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark]

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import datasource
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from recordpress.files import LocalFileSystem
from recordpress.spark import KafkaLogDataSource, ReadOptions
from recordpress.spark.datasource import bytes_of_task
from recordpress.spark.schema import arrow_schema, column_names, spark_schema

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
        "headers": [[header["key"], facts.bytes_fact(header["value"])] for header in row["headers"] or ()],
    }


def without_epoch(row: facts.Facts) -> facts.Facts:
    return {name: value for name, value in row.items() if name != "leader_epoch"}


def read(path: Path, **options: str) -> list[dict[str, Any]]:
    """What tasks would give: partitions go through pickle, as they do on the way to an executor."""
    source = KafkaLogDataSource({"path": str(path), "includeHeaders": "true"} | options)
    reader = source.reader(source.schema())
    rows = []
    for partition in reader.partitions():
        for batch in cloudpickle.loads(cloudpickle.dumps(reader)).read(cloudpickle.loads(cloudpickle.dumps(partition))):
            assert batch.schema.equals(arrow_schema(column_names("records", True, False)))
            assert [] not in batch.column("headers").to_pylist()  # null, as in Spark's Kafka source
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
        recordpress.write_records([b"a"] * 3)
        + recordpress.write_records([b"b"] * 3, base_offset=3, **options)
        + recordpress.write_records([b"c"] * 3, base_offset=6)
    )
    assert [row["offset"] for row in read(directory, **{"isolation.level": "read_committed"})] == [0, 1, 2]
    assert len(read(directory)) == 9


def test_a_damaged_segment_is_named(tmp_path: Path) -> None:
    directory = tmp_path / "t-0"
    directory.mkdir()
    path = directory / "00000000000000000000.log"
    path.write_bytes(recordpress.write_records([b"a"])[:-1] + b"\1")
    with pytest.raises(recordpress.CorruptRecordError) as caught:
        read(directory)
    assert (caught.value.file, caught.value.position) == (str(path), 0)


SEGMENTS = ("00000000000000000000.log", "00000000000000000090.log")


def two_segments(root: Path) -> tuple[Path, list[bytes]]:
    """A partition of 30 batches of 3 records in each of two segments."""
    directory = root / "t-0"
    directory.mkdir()
    batches = [recordpress.write_records([b"value"] * 3, base_offset=3 * i) for i in range(60)]
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
    assert sum(1 for _ in recordpress.read_batches(bytes(data))) == 10
    with pytest.raises(recordpress.CorruptRecordError) as caught:
        read(directory)
    assert (caught.value.file, caught.value.position) == (str(path), at)


@pytest.mark.parametrize(("tail", "what"), [(b"", "the last entry is truncated"), (bytes(500), "zero bytes follow")])
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
    [message] = [record.getMessage() for record in caplog.records]
    assert message.startswith(f"{last}: byte ") and what in message and str(trailing) in message
    first = directory / SEGMENTS[0]
    data = first.read_bytes()
    first.write_bytes(data + tail if tail else data[:-5])
    with pytest.raises(recordpress.CorruptRecordError) as caught:
        read(directory)
    assert caught.value.file == str(first)


# ---- options


def test_options() -> None:
    given = {"PATH": "/logs", "Subscribe": " a ,b,", "INCLUDEHEADERS": "True", "isolation.level": "read_committed"}
    options = ReadOptions.parse(given)
    assert (options.paths, options.topics.names) == (("/logs",), ("a", "b"))
    assert (options.include_headers, options.isolation_level) == (True, "read_committed")
    assert ReadOptions.parse({"paths": '["/a", "s3://b/c"]'}).paths == ("/a", "s3://b/c")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"startingOffset": "earliest"},
            "unknown option startingOffset .did you mean 'startingOffsets'.*; options for reading: path, subscribe",
        ),
        ({"includeHeaders": "yes"}, "includeHeaders must be true or false, not 'yes'"),
        ({"isolation.level": "serializable"}, "read_uncommitted or read_committed, not 'serializable'"),
        ({"max.partition.fetch.bytes": "0"}, "from 1 to 2147483647, not '0'"),
        ({"max.partition.fetch.bytes": "1 MB"}, "not '1 MB'"),
        ({"max.partition.fetch.bytes": "9" * 5000}, "from 1 to 2147483647, not '9999"),
        ({"minPartitions": "-1"}, "minPartitions must be a number from 1"),
        ({"mode": "strict"}, "mode must be FAILFAST, DROPMALFORMED or PERMISSIVE, not 'strict'"),
        ({"rows": "rows"}, "rows must be records, batches or bytes, not 'rows'"),
        ({"columns": "key,valeu"}, "unknown column valeu; must be one of key, value, topic"),
        ({"columns": "key,key"}, "each column once"),
        ({"columns": " , "}, "at least one"),
        ({"rows": "batches", "columns": "value"}, "must be one of topic, partition, file"),
        ({"mode": "permissive", "columns": "value"}, "_corrupt_record string, which is missing"),
        ({"subscribe": "a", "assign": "{}"}, "only one of subscribe, assign"),
        ({"subscribePattern": "(a"}, "regular expression"),
        ({"subscribePattern": "[[ab]]"}, "subscribePattern must mean the same .*: Possible nested set at position 1"),
        ({"subscribePattern": "[a-z&&b]"}, "subscribePattern must mean the same .*: Possible set intersection"),
        (
            {"subscribePattern": "a{4294967296}"},
            "subscribePattern is not a regular expression that Python accepts: the repetition number",
        ),
        ({"subscribePattern": "(" * 100_000}, "subscribePattern is not a regular expression"),
        ({"paths": "/logs"}, r'paths must be JSON like \["/logs", "s3://bucket/logs"\], not \'/logs\''),
        ({"paths": '{"a": 1}'}, "paths must be JSON like"),
        ({"paths": '["/logs", 1]'}, "paths must be JSON like"),
        ({"paths": "[" * 100_000}, "paths must be JSON like"),
        ({"assign": "a-0"}, r"assign must be JSON like \{\"orders\": \[0, 1\]\}, not 'a-0'"),
        ({"assign": '{"a": [true]}'}, "assign must be JSON"),
        ({"startingOffsets": "first"}, "startingOffsets must be JSON like .*, or earliest or latest, not 'first'"),
        ({"startingOffsets": ""}, "startingOffsets must be JSON like"),
        ({"subscribe": " , "}, "subscribe names no topic"),
        ({"subscribePattern": ""}, "subscribePattern names no topic"),
        ({"assign": '{"a": []}'}, "assign names no topic"),
        ({"assign": ""}, "assign must be JSON"),
        ({"mode": "Drop"}, "or PERMISSIVE, not 'Drop'"),
        ({"failOnDataLoss": ""}, "must be true or false, not ''"),
        ({"endingOffsets": "earliest"}, "cannot be earliest"),
        ({"endingOffsets": '{"a": {"0": -2}}'}, "endingOffsets must be JSON"),
        ({"endingOffsets": '{"a": {"zero": 2}}'}, "endingOffsets must be JSON"),
        ({"endingOffsets": "[" * 100_000}, "endingOffsets must be JSON"),
        ({"startingTimestamp": "2026-09-01"}, "startingTimestamp must be milliseconds since 1970"),
        ({"startingOffsetsByTimestamp": "7"}, "startingOffsetsByTimestamp must be JSON"),
        ({"startingOffsetsByTimestampStrategy": "None"}, "must be error or latest, not 'None'"),
        ({"startingOffsetsByTimestampStrategy": ""}, "must be error or latest, not ''"),
        ({"startingTimestamp": "0" * 30 + "9" * 25}, "startingTimestamp must be milliseconds since 1970"),
        ({"endingTimestamp": "0" * 30 + "9" * 5000}, "endingTimestamp must be milliseconds since 1970"),
        ({"subscribePattern": r"\Qorders\E"}, r"regular expression that Python accepts: bad escape \\Q at position 0"),
        (
            {"isolation.level": "read_committed", "rows": "batches"},
            r"isolation\.level=read_committed needs rows=records",
        ),
        (
            {"isolation.level": "read_committed", "rows": "bytes"},
            r"isolation\.level=read_committed needs rows=records",
        ),
        ({"includeHeaders": "true", "rows": "bytes"}, "includeHeaders needs rows=records: rows=bytes"),
        ({"max.partition.fetch.bytes": "9", "rows": "batches"}, "fetch.bytes needs rows=records or rows=bytes"),
    ],
)
def test_options_that_are_not_accepted(options: dict[str, str], message: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=message) as caught:
        KafkaLogDataSource({"path": "p"} | options)
    assert caught.value.field is not None
    assert caught.value.field.lower() in map(str.lower, options)


def test_a_path_is_needed() -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="path is missing"):
        KafkaLogDataSource({}).schema()
    with pytest.raises(recordpress.InvalidArgumentError, match="path is missing"):
        KafkaLogDataSource({}).reader(spark_schema(["value"]))  # of a table that was created with columns
    kinds = {
        "/nowhere": FileNotFoundError,
        "/nowhere/*": FileNotFoundError,
        "/tmp/no-*-such": recordpress.RecordpressError,
    }
    for path, kind in kinds.items():
        with pytest.raises(kind, match=re.escape(path.partition("*")[0].rstrip("/"))):
            KafkaLogDataSource({"path": path}).schema()  # what load() asks for
    KafkaLogDataSource({"path": "s3://no-such-bucket/logs"}).schema()  # a store is asked once a query is planned
    with pytest.raises(recordpress.InvalidArgumentError, match="nowhere://"):
        read(Path("/"), paths='["nowhere://bucket/logs"]')


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subscribe": "sessions,orders"}, "no topic orders; it has access-json, access-log"),
        ({"subscribePattern": "x.*"}, "no topic matching 'x.*'; it has access-json"),
        ({"assign": '{"sessions": [0, 2]}'}, "no partition sessions-2; it has access-json-0"),
        ({"startingOffsets": '{"sessions": {"7": 0}}'}, "startingOffsets names sessions-7, which is not read"),
        ({"startingOffsets": '{"sessions": {"0": 9999}}'}, "offsets from 0 to 1643, but option startingOffsets has"),
        ({"endingOffsets": '{"sessions": {"0": 1644}}'}, "failOnDataLoss=false"),
        ({"startingTimestamp": "99999999999999"}, "no record with a timestamp of 99999999999999 or later"),
    ],
)
def test_what_is_not_there(options: dict[str, str], message: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=message):
        read(DEMO_LOGS, **options)


def numbers(path: Path, **options: str) -> dict[tuple[str, int], list[int]]:
    found: dict[tuple[str, int], list[int]] = {}
    for row in read(path, **options):
        found.setdefault((row["topic"], row["partition"]), []).append(row["offset"])
    return found


def test_topics_and_offsets() -> None:
    assert {topic for topic, _ in numbers(DEMO_LOGS, subscribePattern="access-.*")} == {"access-json", "access-log"}
    assert numbers(DEMO_LOGS, assign='{"sessions": [1], "nginx-status": [0]}').keys() == {
        ("sessions", 1),
        ("nginx-status", 0),
    }
    found = numbers(
        DEMO_LOGS,
        subscribe="sessions",
        startingOffsets='{"sessions": {"0": 100, "1": -2}}',
        endingOffsets='{"sessions": {"0": 110, "1": -1}}',
    )
    every = numbers(DEMO_LOGS, subscribe="sessions")
    assert found == {("sessions", 0): list(range(100, 110)), ("sessions", 1): every["sessions", 1]}
    found = numbers(
        DEMO_LOGS, subscribe="sessions", endingOffsets='{"sessions": {"0": 5000, "1": 1}}', failOnDataLoss="false"
    )
    assert {key: len(offsets) for key, offsets in found.items()} == {("sessions", 0): 1634, ("sessions", 1): 1}


def test_offsets_by_timestamp() -> None:
    """As a broker's ListOffsets finds them. Markers have a timestamp, too, so this topic has no transactions."""
    rows = read(DEMO_LOGS / "access-log-0")
    times = [row["timestamp"] for row in rows]
    start, end = sorted(times)[500], sorted(times)[900]
    first = next(row["offset"] for row in rows if row["timestamp"] >= start)
    last = next(row["offset"] for row in rows if row["timestamp"] >= end)
    expected = {("access-log", 0): [row["offset"] for row in rows if first <= row["offset"] < last]}
    assert len(expected["access-log", 0]) > 100
    path = DEMO_LOGS / "access-log-0"
    assert numbers(path, startingTimestamp=str(start), endingTimestamp=str(end)) == expected
    by_partition = [json.dumps({"access-log": {"0": time}}) for time in (start, end)]
    assert (
        numbers(path, startingOffsetsByTimestamp=by_partition[0], endingOffsetsByTimestamp=by_partition[1]) == expected
    )
    late = {"startingTimestamp": str(max(times) + 1), "startingOffsetsByTimestampStrategy": "latest"}
    assert numbers(path, **late) == {}
    assert len(read(path, endingTimestamp=str(max(times) + 1))) == len(rows)


def test_several_paths_and_patterns() -> None:
    several = json.dumps([str(DEMO_LOGS / "sessions-*"), f"file://{DEMO_LOGS}/nginx-status-0"])
    assert numbers(DEMO_LOGS, paths=several).keys() == {("sessions", 0), ("sessions", 1), ("nginx-status", 0)}


# ---- columns


def test_only_the_columns_that_are_asked_for() -> None:
    source = KafkaLogDataSource({"path": str(DEMO_LOGS / "sessions-0"), "columns": "offset, topic"})
    assert source.schema() == spark_schema(["offset", "topic"])
    [piece] = source.reader(source.schema()).partitions()
    batch = next(iter(source.reader(source.schema()).read(piece)))
    assert batch.schema.equals(arrow_schema(["offset", "topic"]))
    with pytest.raises(
        recordpress.InvalidArgumentError, match=r"option columns \(offset, topic\) and the schema \(offset"
    ):
        source.reader(spark_schema(["offset"]))


def test_the_schema_is_a_part_of_ours() -> None:
    source = KafkaLogDataSource({"path": str(DEMO_LOGS)})
    assert source.schema() == spark_schema(column_names("records", False, False))
    with pytest.raises(recordpress.InvalidArgumentError, match="unknown column valeu; must be one of key, value"):
        source.reader(StructType([StructField("valeu", BinaryType())]))


@pytest.mark.parametrize("value_format", ["avro", "protobuf"])
def test_columns_of_confluents_framing(tmp_path: Path, value_format: str) -> None:
    """They are made of the values, which need not be columns themselves."""
    indexes = {"avro": b"", "protobuf": b"\4\2\0"}[value_format]
    values = [b"\0\0\0\1\0" + indexes + b"old", None, b"plain", b"\0\0\0\0\2" + indexes]
    path = tmp_path / "orders-0" / "00000000000000000000.log"
    path.parent.mkdir()
    path.write_bytes(recordpress.write_records(values, compression_type="lz4"))
    expected = {
        "valuePayload": [b"old", None, None, b""],
        "offset": [0, 1, 2, 3],
        "valueSchemaId": [256, None, None, 2],
    }
    for names in ("valuePayload,offset,VALUESCHEMAID", "valueSchemaId", "value,valuePayload"):
        source = KafkaLogDataSource({"path": str(tmp_path), "columns": names, "valueFormat": value_format})
        reader = source.reader(source.schema())
        [batch] = reader.read(reader.partitions()[0])
        assert batch.schema.equals(arrow_schema(source.schema().names))
        found = batch.to_pydict()
        assert found.pop("value", values) == values
        assert found == {name: expected[name] for name in found}
    assert "valueSchemaId" not in KafkaLogDataSource({"path": str(tmp_path)}).schema().names
    with pytest.raises(recordpress.InvalidArgumentError, match="unknown column valueSchemaId"):
        KafkaLogDataSource({"path": str(tmp_path), "rows": "batches", "columns": "valueSchemaId"})


def test_the_schema_may_have_any_case() -> None:
    """As for Spark's own sources; the result has the names of the schema."""
    source = KafkaLogDataSource({"path": str(DEMO_LOGS / "sessions-0"), "columns": "Offset,VALUE"})
    reader = source.reader(StructType([StructField("oFFset", LongType()), StructField("VALUE", BinaryType())]))
    batch = next(iter(reader.read(reader.partitions()[0])))
    assert batch.schema.equals(pa.schema([("oFFset", pa.int64()), ("VALUE", pa.binary())]))
    assert batch.column("oFFset")[0].as_py() == 0 and batch.column("VALUE").null_count == 0
    with pytest.raises(recordpress.InvalidArgumentError, match="each column once"):
        source.reader(StructType([StructField(name, LongType()) for name in ("offset", "OFFSET")]))
    with pytest.raises(recordpress.InvalidArgumentError, match="column offset cannot be NOT NULL: Spark takes"):
        source.reader(StructType([StructField("Offset", LongType(), False), StructField("value", BinaryType())]))
    with pytest.raises(recordpress.InvalidArgumentError, match="column offset is bigint, not binary"):
        source.reader(StructType([StructField("offset", BinaryType())]))


# ---- tasks


@pytest.mark.parametrize(
    ("total", "most", "cores", "expected"),
    [
        (1 << 30, 128 << 20, 2, 128 << 20),
        (100 << 20, 128 << 20, 4, 25 << 20),
        (100 << 20, 128 << 20, 1000, 4 << 20),
        (100 << 20, 1 << 20, 1000, 1 << 20),
        (0, 128 << 20, 2, 4 << 20),
        (3 * 128 << 20, 128 << 20, 2, 96 << 20),  # as many for each core
    ],
)
def test_the_size_of_a_task(total: int, most: int, cores: int, expected: int) -> None:
    assert bytes_of_task(total, most, cores) == expected


@pytest.mark.parametrize(("level", "expected"), [("records", 128 << 20), ("batches", 4 << 30), ("bytes", 128 << 20)])
def test_a_task_that_reads_headers_alone_has_more_files(level: str, expected: int) -> None:
    assert ReadOptions.parse({"path": "/logs", "rows": level}).max_partition_bytes == expected
    assert ReadOptions.parse({"path": "/logs", "rows": level, "maxPartitionBytes": "1"}).max_partition_bytes == 1


def test_tasks_are_as_many_as_wanted() -> None:
    def tasks(**options: str) -> int:
        source = KafkaLogDataSource({"path": str(DEMO_LOGS)} | options)
        return len(source.reader(source.schema()).partitions())

    assert tasks() == 2  # all of it has 4.5 MB
    assert tasks(maxPartitionBytes="100000") > 10
    assert tasks(subscribe="sessions", maxRecordsPerPartition="100") == 2 + 15 + 3 + 18
    whole = sorted(str(row) for row in read(DEMO_LOGS))
    assert sorted(str(row) for row in read(DEMO_LOGS, maxPartitionBytes="50000")) == whole
    assert sorted(str(row) for row in read(DEMO_LOGS, maxRecordsPerPartition="333")) == whole


@pytest.mark.parametrize(("checks", "rows"), [("false", 0), ("true", 30)])
def test_the_indexes_of_a_store_are_checked_on_request(checks: str, rows: int) -> None:
    """The name of the second segment hides offsets of the first."""
    memory = pytest.importorskip("fsspec").filesystem("memory")
    for base, count in ((0, 100), (50, 5)):
        data = recordpress.write_records([b"value"] * count, base_offset=base)
        memory.pipe_file(f"/spark-checks/t-0/{base:020d}.log", data)
    options = {"path": "memory://spark-checks", "startingOffsets": '{"t": {"0": 70}}', "checkIndexes": checks}
    source = KafkaLogDataSource(options)
    reader = source.reader(source.schema())
    assert sum(batch.num_rows for piece in reader.partitions() for batch in reader.read(piece)) == rows


def test_a_plan_opens_a_file_once_and_is_linear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the ends of segments (in stores none is opened: test_s3_splits); the work of a task is pickled with that task
    alone."""
    for number in range(3):
        directory = tmp_path / f"t-{number}"
        directory.mkdir()
        for base in range(700):
            (directory / f"{base * 10:020d}.log").write_bytes(b"x" * 100)
            (directory / f"{base * 10:020d}.index").write_bytes(b"")

    opened: Counter[str] = Counter()
    open_file = LocalFileSystem.open

    def counted(self: LocalFileSystem, path: str) -> Any:
        opened[path] += 1
        return open_file(self, path)

    monkeypatch.setattr(LocalFileSystem, "open", counted)
    source = KafkaLogDataSource({"path": str(tmp_path), "maxPartitionBytes": "5000"})
    reader = source.reader(source.schema())
    pieces = reader.partitions()
    assert opened and set(opened.values()) == {1}
    assert len(pieces) == 42
    assert len(cloudpickle.dumps(reader)) < 5000
    assert max(len(cloudpickle.dumps(piece)) for piece in pieces) < 50 * 1000


# ---- damage


def damaged(root: Path) -> tuple[Path, int]:
    """A partition whose 11th batch of 30 has a wrong checksum, and that batch's position."""
    directory, batches = two_segments(root)
    path = directory / SEGMENTS[0]
    data = bytearray(path.read_bytes())
    at = sum(map(len, batches[:10]))
    data[at + 70] ^= 1
    path.write_bytes(data)
    return directory, at


def lost(path: Path, **options: str) -> list[dict[str, Any]]:
    """The rows that are reports."""
    source = KafkaLogDataSource({"path": str(path), "mode": "PERMISSIVE"} | options)
    reader = source.reader(source.schema())
    rows = [row for piece in reader.partitions() for batch in reader.read(piece) for row in batch.to_pylist()]
    assert source.schema().fieldNames()[-1] == "_corrupt_record"
    return [row for row in rows if row["_corrupt_record"] is not None]


@pytest.mark.parametrize("level", ["records", "bytes"])
def test_modes(level: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    directory, at = damaged(tmp_path)
    name = {"records": "offset", "bytes": "baseOffset"}[level]
    options = {"path": str(directory), "rows": level, "columns": name}

    def values(**more: str) -> list[int]:
        source = KafkaLogDataSource(options | more)
        reader = source.reader(source.schema())
        return [row[name] for one in reader.partitions() for batch in reader.read(one) for row in batch.to_pylist()]

    step = {"records": 1, "bytes": 3}[level]
    expected = [*range(0, 30, step), *range(33, 180, step)]
    with pytest.raises(recordpress.CorruptRecordError, match="checksum"):
        values()
    assert values(mode="dropMalformed") == expected
    assert "stored checksum" in caplog.text
    [row] = lost(directory, rows=level)
    finding = json.loads(row["_corrupt_record"])
    assert finding["rule"] == "checksum" and finding["position"] == at
    assert (row["topic"], row["partition"]) == ("t", 0)


def test_batches_as_rows() -> None:
    """What Kafka's header says, as in `Log.batch_table`."""
    source = KafkaLogDataSource({"path": str(DEMO_LOGS), "rows": "batches", "maxPartitionBytes": "100000"})
    reader = source.reader(source.schema())
    rows = [row for piece in reader.partitions() for batch in reader.read(piece) for row in batch.to_pylist()]
    expected = recordpress.open_log(DEMO_LOGS).batch_table().select(list(rows[0])).to_pylist()
    assert rows == expected


@oracle.each("partition", oracle.PARTITIONS[::4])
def test_batches_of_all_versions_as_rows(partition: oracle.Partition, tmp_path: Path) -> None:
    path = partition.write_to(tmp_path)
    source = KafkaLogDataSource({"path": str(path), "rows": "batches"})
    reader = source.reader(source.schema())
    rows = [row for piece in reader.partitions() for batch in reader.read(piece) for row in batch.to_pylist()]
    assert rows == recordpress.open_log(path).batch_table().select(source.schema().fieldNames()).to_pylist()


def test_bytes_as_rows() -> None:
    path = DEMO_LOGS / "sessions-1"
    source = KafkaLogDataSource({"path": str(path), "rows": "bytes", "columns": "batch"})
    reader = source.reader(source.schema())
    data = [row["batch"] for one in reader.partitions() for batch in reader.read(one) for row in batch.to_pylist()]
    assert b"".join(data) == b"".join(file.read_bytes() for file in sorted(path.glob("*.log")))


# ---- filters


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ([datasource.GreaterThanOrEqual(("offset",), 1600)], 42),
        ([datasource.GreaterThan(("offset",), 1600), datasource.LessThanOrEqual(("offset",), 1610)], 10),
        ([datasource.LessThan(("offset",), 7), datasource.EqualTo(("topic",), "sessions")], 7),
        ([datasource.In(("offset",), (3, 5))], 3),
        ([datasource.EqualTo(("partition",), 1)], 0),
        ([datasource.EqualTo(("value",), b""), datasource.StringContains(("topic",), "x")], 1634),
        ([datasource.EqualTo(("a", "offset"), 7)], 1634),
    ],
)
def test_filters_narrow_what_is_read(filters: list[Any], count: int) -> None:
    source = KafkaLogDataSource({"path": str(DEMO_LOGS / "sessions-0")})
    source.is_pushdown_on = True
    reader = source.reader(source.schema())
    assert reader.pushFilters(filters) == filters  # Spark applies them again
    assert sum(batch.num_rows for piece in reader.partitions() for batch in reader.read(piece)) == count


def test_filters_on_time() -> None:
    path = DEMO_LOGS / "sessions-0"
    times = [row["timestamp"] for row in read(path)]
    limit = datetime.fromtimestamp(times[700] / 1000, UTC)
    source = KafkaLogDataSource({"path": str(path)})
    source.is_pushdown_on = True
    for filters, expected in (
        ([datasource.GreaterThanOrEqual(("timestamp",), limit)], [time for time in times if time >= times[700]]),
        ([datasource.LessThan(("timestamp",), limit)], [time for time in times if time <= times[700]]),
        ([datasource.EqualTo(("timestamp",), limit)], [time for time in times if time == times[700]]),
    ):
        reader = source.reader(source.schema())
        reader.pushFilters(filters)
        assert sum(batch.num_rows for one in reader.partitions() for batch in reader.read(one)) == len(expected)


# ---- through Spark


def test_spark_finds_and_reads_the_demo_logs(spark: Any) -> None:
    logs = spark.read.format("recordpress").load(str(DEMO_LOGS))
    assert logs.schema == spark_schema(column_names("records", False, False))
    counts = logs.groupBy("topic", "partition").count().collect()
    assert {(row.topic, row.partition): row["count"] for row in counts} == RECORDS


def test_spark_reads_committed_rows(spark: Any, tmp_path: Path) -> None:
    partition = next(found for found in oracle.PARTITIONS if str(found) == "kafka-4.3.1/txn_topic-0")
    partition.write_to(tmp_path)
    logs = (
        spark.read.format("recordpress")
        .options(includeHeaders=True, subscribe="txn_topic", **{"isolation.level": "read_committed"})
        .load(str(tmp_path))
    )
    rows = logs.selectExpr("*", "unix_millis(timestamp) AS millis").orderBy("offset").collect()
    found = [row_facts(row.asDict(recursive=True) | {"timestamp": row.millis}) for row in rows]
    assert found == [without_epoch(row) for row in partition.consumed("read_committed")]


def test_spark_shows_what_is_wrong_with_an_option(spark: Any) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(
        PySparkException,
        match=r"unknown option startingoffset .did you mean 'startingOffsets'.*; options for reading: path, subscribe",
    ):
        spark.read.format("recordpress").option("startingOffset", "earliest").load(str(DEMO_LOGS)).count()


def test_spark_takes_columns_and_filters(spark: Any, tmp_path: Path) -> None:
    """Filters reach the reader where the session allows it; what it read is counted by its plan of offsets."""
    assert spark.read.format("recordpress").schema("offset long").load(str(DEMO_LOGS)).count() == sum(RECORDS.values())
    key = "spark.sql.python.filterPushdown.enabled"
    spark.conf.set(key, "true")
    try:
        recordpress.spark.register(spark)
        logs = spark.read.format("recordpress").option("columns", "offset,partition,topic").load(str(DEMO_LOGS))
        wanted = logs.where("topic = 'sessions' AND partition = 1 AND offset >= 1000 AND offset < 1010")
        assert [row.offset for row in wanted.orderBy("offset").collect()] == list(range(1000, 1010))
        plan = wanted._jdf.queryExecution().executedPlan().toString()
        assert "PushedFilters" not in plan or "offset" in plan
    finally:
        spark.conf.set(key, "false")
        recordpress.spark.register(spark)
    assert logs.sparkSession.read.format("recordpress").load(str(DEMO_LOGS)).where("offset = 3").count() == 8


def test_spark_reports_damage_in_rows(spark: Any, tmp_path: Path) -> None:
    directory, _ = damaged(tmp_path)
    logs = spark.read.format("recordpress").option("mode", "PERMISSIVE").load(str(directory))
    assert logs.where("_corrupt_record IS NULL").count() == 177
    [row] = logs.where("_corrupt_record IS NOT NULL").collect()
    assert json.loads(row._corrupt_record)["rule"] == "checksum"
    batches = spark.read.format("recordpress").option("rows", "batches").load(str(directory))
    assert batches.selectExpr("sum(recordsCount)", "max(lastOffset)").collect()[0] == (180, 179)
