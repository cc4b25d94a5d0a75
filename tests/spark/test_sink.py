"""df.write.format("recordpress"): rows become segments, all of them once."""

import random
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import recordpress
from recordpress.producer import partition_for_key

pytest.importorskip("pyspark", reason="pyspark is not installed")
pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType, TimestampNTZType
from sink_writes import Rows, drawn, first_segment, is_clean, schema_of, started, stored, table, write

from recordpress.spark import KafkaLogDataSource
from recordpress.spark.schema import column_names

VALUE = ("value", StringType())


# ---- where rows go


def test_rows_go_where_kafkas_producer_sends_them(tmp_path: Path) -> None:
    """By their keys; those without one to a place that a task finds again. Order is kept."""
    first, second = drawn(3000, 1), drawn(2000, 2)
    half = [{name: values[part] for name, values in first.items()} for part in (slice(700), slice(700, None))]
    write(tmp_path / "a", half, [second], topic="t", partitions="5", batch_size="4000")
    write(tmp_path / "b", [first], [second], topic="t", partitions="5", compression_type="none")
    found = stored(tmp_path / "a")
    assert found == stored(tmp_path / "b")
    assert is_clean(tmp_path / "a") and is_clean(tmp_path / "b")
    everything = list(zip(first["key"] + second["key"], first["value"] + second["value"], strict=True))
    for number in range(5):
        rows = found[f"t-{number}"]
        assert [row for row in rows if row[0] is not None] == [
            row for row in everything if row[0] is not None and partition_for_key(row[0], 5) == number
        ]
        assert any(key is None for key, _ in rows)
        assert rows == sorted(rows, key=everything.index)
    assert sum(map(len, found.values())) == 5000


def test_columns_say_where_rows_go(tmp_path: Path) -> None:
    rows = {
        "value": [b"%d" % number for number in range(60)],
        "topic": [("b", "a", None)[number % 3] for number in range(60)],
        "partition": [(0, 7)[number % 2] for number in range(60)],
    }
    write(tmp_path, [rows], topic="rest")
    found = stored(tmp_path)
    assert found.keys() == {"a-0", "a-7", "b-0", "b-7", "rest-0", "rest-7"}
    assert found["a-7"] == [(None, b"%d" % number) for number in range(60) if number % 3 == 1 and number % 2]
    assert is_clean(tmp_path)


def test_timestamps_and_headers(tmp_path: Path) -> None:
    """A row without a timestamp gets the time of the job; what read gives, write takes."""
    times = [datetime(2026, 1, 2, 3, 4, 5, 678901, UTC), None]
    before = time.time_ns() // 1_000_000
    write(tmp_path / "a", [{"value": [b"1", b"2"], "timestamp": times}], topic="t", partitions="1")
    write(tmp_path / "b", [{"value": [b"1", b"2"]}], topic="t", partitions="1")
    [known, now] = [record.timestamp for record in first_segment(tmp_path / "a")]
    assert known == 1767323045678 and before <= now <= time.time_ns() // 1_000_000
    source = KafkaLogDataSource({"path": str(tmp_path / "a"), "includeHeaders": "true"})
    reader = source.reader(source.schema())
    [rows] = reader.read(reader.partitions()[0])
    headers = pa.array([[{"key": "k", "value": b"v"}, {"key": "n", "value": None}], None], rows["headers"].type)
    rows = rows.set_column(rows.schema.get_field_index("headers"), "headers", headers)
    writer = KafkaLogDataSource({"path": str(tmp_path / "c")}).writer(
        schema_of(*column_names("records", True, False)), False
    )
    writer.commit([writer.write(iter([rows]))])
    [first, second] = first_segment(tmp_path / "c")
    assert (first.headers, second.headers) == ([("k", b"v"), ("n", None)], [])
    assert (first.timestamp, second.timestamp) == (known, now)


# ---- batches and segments


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_batches_are_full_and_segments_end_in_time(codec: str, tmp_path: Path) -> None:
    write(
        tmp_path, [drawn(4000, 1), drawn(4000, 2)], topic="t", partitions="1", compression_type=codec,
        batch_size="10000", segment_bytes="60000",
    )  # fmt: skip
    logs = sorted((tmp_path / "t-0").glob("*.log"))
    assert len(logs) > 2 and all(path.stat().st_size <= 60000 for path in logs)
    batches = [batch for path in logs for batch in recordpress.read_batches(path.read_bytes())]
    assert {batch.compression_type for batch in batches} == {codec}
    assert all(0.97 * 10000 <= batch.size <= 10000 for batch in batches[:-1])
    first = [next(iter(recordpress.read_batches(path.read_bytes()))).base_offset for path in logs]
    assert [int(path.name[:20]) for path in logs] == first
    assert is_clean(tmp_path)


def test_a_large_record_is_a_batch_of_its_own(tmp_path: Path) -> None:
    large = random.Random(1).randbytes(5000)
    rows = {"value": [b"a", b"b", large, b"c", large]}
    write(tmp_path, [rows], topic="t", partitions="1", batch_size="1000")
    batches = list(recordpress.read_batches((tmp_path / f"t-0/{0:020}.log").read_bytes()))
    assert [batch.records_count for batch in batches] == [2, 1, 1, 1]
    with pytest.raises(recordpress.producer.RecordTooLargeError, match=r"more than max\.message\.bytes=5000"):
        write(tmp_path / "other", [rows], topic="t", partitions="1", batch_size="1000", max_message_bytes="5000")


def test_kafka_python_reads_every_record(tmp_path: Path) -> None:
    memory = pytest.importorskip("kafka.record", reason="kafka-python is not installed").MemoryRecords
    rows = drawn(500)
    write(tmp_path, [rows], topic="t", partitions="2", batch_size="3000", compression_type="gzip")
    found: list[Any] = []
    for number in range(2):
        batches = memory((tmp_path / f"t-{number}" / f"{0:020}.log").read_bytes())
        offset = 0
        while batch := batches.next_batch():
            assert batch.validate_crc()
            for record in batch:
                assert record.offset == offset
                found.append((record.key, record.value))
                offset += 1
    assert sorted(found, key=repr) == sorted(zip(rows["key"], rows["value"], strict=True), key=repr)


def test_many_partitions_of_one_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few files are open and few rows are in memory; what was written in many pieces is one segment."""
    from recordpress.spark import _sink_rows

    monkeypatch.setattr(_sink_rows, "_MOST_FILES", 4)
    monkeypatch.setattr(_sink_rows, "_MOST_BYTES", 20000)
    write(tmp_path, [drawn(300, number) for number in range(10)], topic="t", partitions="20")
    found = stored(tmp_path)
    assert len(found) == 20 and sum(map(len, found.values())) == 3000
    assert all(len(list((tmp_path / name).glob("*.log"))) == 1 for name in found)
    assert is_clean(tmp_path)


# ---- offsets


def test_a_log_grows(tmp_path: Path) -> None:
    """Also one that others began."""
    (tmp_path / "t-0").mkdir()
    theirs = recordpress.write_records([b"x"] * 10, producer_id=7, producer_epoch=0, base_sequence=0)
    (tmp_path / "t-0" / f"{0:020}.log").write_bytes(theirs)
    recordpress.log.reindex(tmp_path)
    for seed in range(2):
        write(tmp_path, [drawn(50, seed)], [drawn(30, seed)], topic="t", partitions="1")
    assert [int(path.name[:20]) for path in sorted((tmp_path / "t-0").glob("*.log"))] == [0, 10, 90]
    producers = [(tmp_path / "t-0" / f"{offset:020}.snapshot").read_bytes() for offset in (10, 170)]
    assert producers[0] == producers[1]
    assert len(stored(tmp_path)["t-0"]) == 170
    assert is_clean(tmp_path)
    with open(tmp_path / "t-0" / f"{90:020}.log", "ab") as file:
        file.write(theirs[:50])
    with pytest.raises(recordpress.CorruptRecordError, match="the last entry is truncated"):
        write(tmp_path, [drawn(5)], topic="t", partitions="1")
    assert not (tmp_path / ".recordpress-staging").exists() or not list(
        (tmp_path / ".recordpress-staging").rglob("journal.json")
    )


def numbered(*offsets: int) -> Rows:
    return {"value": [b"%d" % offset for offset in offsets], "offset": list(offsets)}


def offsets_in(root: Path) -> list[int]:
    found: list[int] = table(root, "offset")["offset"].to_pylist()
    return found


def test_offsets_that_rows_have(tmp_path: Path) -> None:
    """Gaps stay; tasks may hold them in any order; the next job continues after them."""
    how: Any = {"topic": "t", "partitions": "1"}
    write(tmp_path, [numbered(500, 502, 9_000_000_000)], [numbered(7, 5, 6), numbered(100)], **how)
    assert offsets_in(tmp_path) == [5, 6, 7, 100, 500, 502, 9_000_000_000]
    assert is_clean(tmp_path)
    write(tmp_path, [numbered(9_000_000_001, 9_000_000_005)], **how)
    assert offsets_in(tmp_path)[-2:] == [9_000_000_001, 9_000_000_005]
    write(tmp_path, [{"value": [b"x"]}], **how)
    assert offsets_in(tmp_path)[-1] == 9_000_000_006


def test_rows_without_an_offset_get_one(tmp_path: Path) -> None:
    """All of them, or some: these follow the rows of their partition that have one."""
    how: Any = {"topic": "t", "partitions": "1"}
    write(tmp_path, [{"value": [b"a", b"b"], "offset": [None, None]}], **how)
    mixed = {"value": [b"x", b"7", b"y"], "offset": [None, 7, None]}
    write(tmp_path, [mixed, {"value": [b"z"], "offset": [None]}], [numbered(5)], **how)
    found = table(tmp_path, "offset", "value")
    values = dict(zip(found["offset"].to_pylist(), found["value"].to_pylist(), strict=True))
    assert values == {0: b"a", 1: b"b", 5: b"5", 7: b"7", 8: b"x", 9: b"y", 10: b"z"}
    assert is_clean(tmp_path)


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([[numbered(1, 5)], [numbered(5, 6)]], "t-0 has rows with offsets 1 to 5 and others"),
        ([[numbered(1, 9)], [numbered(4)]], "t-0 has rows with offsets 1 to 9 and others, .* with 4 to 4"),
        ([[numbered(1, 5, 5)]], "t-0 has two rows with offset 5"),
        ([[numbered(0)]], "t-0 ends at offset 1, but the rows begin at offset 0"),
        ([[{"value": [b"x"], "offset": [-1]}]], "offset"),
    ],
)
def test_offsets_that_cannot_be(tasks: Any, message: str, tmp_path: Path) -> None:
    write(tmp_path, [numbered(0)], topic="t", partitions="1")
    before = sorted(tmp_path.rglob("*"))

    def job() -> None:
        writer, messages = started(tmp_path, *tasks, topic="t", partitions="1")
        try:
            writer.commit(messages)
        finally:
            writer.abort([None])

    with pytest.raises(recordpress.InvalidArgumentError, match=message):
        job()
    shutil.rmtree(tmp_path / ".recordpress-staging", ignore_errors=True)  # of a task whose job was never told of it
    assert sorted(tmp_path.rglob("*")) == before
    assert offsets_in(tmp_path) == [0]


def test_overwrite_replaces_the_topics_that_are_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Or, with overwriteScope=path, all of them; without rows nothing."""
    write(tmp_path, [drawn(500)], topic="t", partitions="3", segment_bytes="2000", batch_size="1000")
    write(tmp_path, [drawn(5)], topic="other", partitions="1")
    write(tmp_path, [drawn(5)], topic="t-0", partitions="1")
    (tmp_path / "t-0" / "partition.metadata").write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ\n")
    (tmp_path / "t-0" / "notes").write_text("not Kafka's")
    (tmp_path / "kept").write_text("not a partition")
    write(tmp_path, [drawn(20, 9)], topic="t", partitions="1", overwrite=True)
    others = {name: list(zip(*drawn(5).values(), strict=True)) for name in ("other-0", "t-0-0")}
    assert stored(tmp_path) == others | {"t-0": list(zip(*drawn(20, 9).values(), strict=True))}
    assert {path.name for path in (tmp_path / "t-0").iterdir()} == {
        f"{0:020}.log", f"{0:020}.index", f"{0:020}.timeindex", f"{20:020}.snapshot", "leader-epoch-checkpoint",
        "partition.metadata", "notes",
    }  # fmt: skip
    assert {path.name for path in tmp_path.iterdir()} == {"t-0", "t-0-0", "other-0", "kept", "_SUCCESS"}
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for scope in ("topics", "path"):
        writer, _ = started(tmp_path, [drawn(1)], topic="t", partitions="1", overwrite=True, overwriteScope=scope)
        caplog.clear()
        writer.commit([])
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        assert "overwrite without rows replaced nothing in" in caplog.text
        writer.abort([])
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    write(tmp_path, [drawn(7, 3)], topic="other", partitions="1", overwrite=True, overwriteScope="path")
    assert stored(tmp_path) == {"other-0": list(zip(*drawn(7, 3).values(), strict=True))}
    assert {path.name for path in tmp_path.iterdir()} == {"t-0", "other-0", "kept", "_SUCCESS"}
    assert {path.name for path in (tmp_path / "t-0").iterdir()} == {"notes"}
    with pytest.raises(recordpress.InvalidArgumentError, match="overwriteScope must be topics or path"):
        started(tmp_path, [drawn(1)], topic="t", partitions="1", overwriteScope="table")


# ---- what is refused


@pytest.mark.parametrize(
    ("schema", "options", "message"),
    [
        ([("value", IntegerType())], {}, "wrong type of column value int; expected columns: key binary or string"),
        ([("Value", StringType())], {}, "not a column of a record: Value string; expected columns: key"),
        ([("timestamp", LongType())], {}, "wrong type of column timestamp bigint"),
        ([("timestamp", TimestampNTZType())], {}, "column timestamp has no time zone: .* the time zone of the session"),
        ([("key", StringType())], {}, "there is no column named value"),
        ([VALUE], {"topic": "t"}, "add the column partition or the option partitions"),
        ([VALUE], {"partitions": "1"}, "no topic: add the column topic or the option topic"),
        ([VALUE], {"topic": "a/b"}, "'a/b' is not the name of a topic"),
        ([VALUE], {"topic": ".."}, r"'\.\.' is not the name of a topic"),
        ([VALUE], {"partitions": "0"}, "option partitions must be a number from 1"),
        ([VALUE], {"compression.type": "brotli"}, "must be none, gzip, snappy, lz4, zstd or pluggable"),
        ([VALUE], {"compression.level": "x"}, r"option compression\.level: level must be a number"),
        ([VALUE], {"compression.level": "99"}, r"option compression\.level: level of zstd must be between"),
        ([VALUE], {"compression.type": ""}, r"compression\.type must be none, gzip"),
        ([VALUE], {"writeId": "x" * 1001}, "writeId must have 1 to 1000 characters"),
        ([VALUE], {"batch.size": "10"}, r"option batch\.size must be a number from 100 to 2147483647, not '10'"),
        ([VALUE], {"max.message.bytes": "10"}, r"option max\.message\.bytes must be a number from 100 to .*, not '10'"),
        (
            [VALUE],
            {"compresion.type": "zstd"},
            r"unknown option compresion\.type .did you mean 'compression.type'.*; options for reading: ",
        ),
        ([VALUE], {"subscribe": "t"}, "unknown option subscribe; must be one of path, topic,"),
    ],
)
def test_what_a_write_does_not_take(schema: Any, options: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=message):
        KafkaLogDataSource({"path": str(tmp_path)} | options).writer(
            StructType([StructField(*one) for one in schema]), False
        )
    assert list(tmp_path.iterdir()) == []


def test_options_of_the_other_direction(tmp_path: Path) -> None:
    with pytest.raises(
        recordpress.InvalidArgumentError, match=r"unknown option compression\.type.*; must be one of path, "
    ):
        KafkaLogDataSource({"path": str(tmp_path), "compression.type": "zstd"}).schema()
    for of_read in ("Rows", "mode"):
        with pytest.raises(recordpress.InvalidArgumentError) as caught:
            KafkaLogDataSource({"path": str(tmp_path), "Topic": "t", of_read: "9"})
        assert "option Topic is for writing" in str(caught.value) and f"{of_read} for reading" in str(caught.value)
    with pytest.raises(recordpress.InvalidArgumentError, match="path is missing"):
        KafkaLogDataSource({"topic": "t"}).writer(schema_of("value"), False)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"value": [b"x", b"y"], "topic": ["t", None]}, "row 1 of its task has no topic"),
        ({"value": [b"x"], "topic": ["../t"]}, r"'\.\./t' is not the name of a topic"),
        ({"value": [b"x"], "topic": ["t"], "partition": [3]}, "partition 3 is not from 0 to 2"),
        ({"value": [b"x"], "topic": ["t"], "partition": [-1]}, "partition -1 is not from 0 to 2"),
    ],
)
def test_rows_that_a_write_does_not_take(rows: Rows, message: str, tmp_path: Path) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=message):
        write(tmp_path, [rows], partitions="3")
    assert not list(tmp_path.rglob("*.log"))
    with pytest.raises(recordpress.InvalidArgumentError, match="row 1 of its task has no partition"):
        write(tmp_path, [{"value": [b"x", b"y"], "partition": [0, None]}], topic="t")


def test_places_that_are_no_log_dir(tmp_path: Path) -> None:
    write(tmp_path / "logs", [drawn(5)], topic="t", partitions="1")
    with pytest.raises(recordpress.InvalidArgumentError, match="contains segments itself: pass the log dir"):
        write(tmp_path / "logs" / "t-0", [drawn(5)], topic="t", partitions="1")
    with pytest.raises(recordpress.InvalidArgumentError, match="is not a directory"):
        write(tmp_path / "logs" / "_SUCCESS", [drawn(5)], topic="t", partitions="1")
    with pytest.raises(OSError, match="/proc/"):
        write(Path("/proc/recordpress-logs"), [drawn(5)], topic="t", partitions="1")


# ---- Spark


def frame(spark: Any, n: int, tasks: int) -> Any:
    return spark.range(0, n, 1, tasks).selectExpr(
        "CAST(id % 97 AS STRING) AS key",
        "CONCAT('value ', id) AS value",
        "TIMESTAMP_MILLIS(1700000000000 + id) AS timestamp",
    )


def test_spark_reads_what_spark_wrote(spark: Any, tmp_path: Path) -> None:
    rows = frame(spark, 5000, 4)
    path = str(tmp_path / "logs")
    how = {"topic": "t", "partitions": "3", "compression.type": "lz4"}
    rows.write.format("recordpress").mode("append").options(**how).save(path)
    rows.write.format("recordpress").mode("append").options(**how).save(path)
    found = spark.read.format("recordpress").load(path)
    names = ["CAST(key AS STRING)", "CAST(value AS STRING)", "timestamp"]
    assert sorted(found.selectExpr(*names).collect()) == sorted(rows.union(rows).collect())
    chosen = [partition_for_key(b"%d" % (number % 97), 3) for number in range(5000)]
    assert {name: len(found) for name, found in stored(tmp_path / "logs").items()} == {
        f"t-{number}": 2 * chosen.count(number) for number in range(3)
    }
    assert is_clean(tmp_path / "logs")
    # offsets and all: a copy, by partition
    copied = found.repartition("topic", "partition").sortWithinPartitions("offset")
    copied.write.format("recordpress").mode("overwrite").save(str(tmp_path / "copy"))
    again = spark.read.format("recordpress").load(str(tmp_path / "copy"))
    assert sorted(map(str, again.collect())) == sorted(map(str, found.collect()))
    assert is_clean(tmp_path / "copy")
    rows.limit(10).write.format("recordpress").mode("overwrite").options(**how).save(path)
    assert spark.read.format("recordpress").load(path).count() == 10


def test_timestamps_without_a_time_zone(spark: Any, tmp_path: Path) -> None:
    """Spark alone knows the session's: eight hours in Los Angeles."""
    from pyspark.errors import PySparkException

    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/Los_Angeles")
    try:
        rows = spark.sql("SELECT 'x' AS value, TIMESTAMP_NTZ '2026-01-01 00:00:00' AS timestamp")
        how = {"topic": "t", "partitions": "1"}
        with pytest.raises(PySparkException, match="column timestamp has no time zone"):
            rows.write.format("recordpress").mode("append").options(**how).save(str(tmp_path / "logs"))
        rows = rows.withColumn("timestamp", rows.timestamp.cast("timestamp"))
        rows.write.format("recordpress").mode("append").options(**how).save(str(tmp_path / "logs"))
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    assert [record.timestamp for record in first_segment(tmp_path / "logs")] == [1767254400000]


def test_spark_says_what_is_wrong(spark: Any, tmp_path: Path) -> None:
    from pyspark.errors import PySparkException

    write = frame(spark, 10, 1).write.format("recordpress").mode("append")
    with pytest.raises(PySparkException, match="add the column partition or the option partitions"):
        write.option("topic", "t").save(str(tmp_path / "logs"))
    with pytest.raises(PySparkException, match="'a b' is not the name of a topic"):
        write.option("topic", "a b").option("partitions", "1").save(str(tmp_path / "logs"))
    write = frame(spark, 10, 2).selectExpr("value", "5 AS partition").write.format("recordpress").mode("append")
    with pytest.raises(PySparkException, match="is not from 0 to 1"):
        write.options(topic="t", partitions="2").save(str(tmp_path / "logs"))
    assert not list(tmp_path.rglob("*.log")) and not (tmp_path / "logs" / ".recordpress-staging").exists()
