"""Logs of odd shapes through Spark: gaps, empty batches, extreme times and offsets, old formats, odd names."""

from __future__ import annotations

import pickle
import struct
from pathlib import Path
from typing import Any

import pytest

import recordpress

pytest.importorskip("pyspark", reason="pyspark is not installed")
pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

import recordpress.spark
from recordpress.checksum import crc32c
from recordpress.log import end_offset
from recordpress.spark import KafkaLogDataSource

LAST = (1 << 63) - 1
FIRST_MS, LAST_MS = -((LAST + 1) // 1000), LAST // 1000  # that fit microseconds
_LENGTH, _CRC, _ATTRIBUTES, _DELTA, _BASE_TIME, _COUNT = 8, 17, 21, 23, 27, 57  # DefaultRecordBatch
_HEADER = 61


def checked(batch: bytearray) -> bytes:
    struct.pack_into(">I", batch, _CRC, crc32c(bytes(batch[_ATTRIBUTES:])))
    return bytes(batch)


def at_time(batch: bytes, timestamp: int) -> bytes:
    """Another first and largest timestamp, such as our writer refuses and Kafka's reader does not."""
    changed = bytearray(batch)
    struct.pack_into(">qq", changed, _BASE_TIME, timestamp, timestamp)
    return checked(changed)


def empty(base: int, last: int) -> bytes:
    """What compaction leaves of a batch whose records are all gone, to keep a producer's sequence."""
    batch = bytearray(recordpress.write_records([b""], base_offset=base)[:_HEADER])
    struct.pack_into(">i", batch, _LENGTH, _HEADER - 12)
    struct.pack_into(">i", batch, _DELTA, last - base)
    struct.pack_into(">i", batch, _COUNT, 0)
    return checked(batch)


def log(directory: Path, *segments: tuple[int, bytes]) -> Path:
    directory.mkdir(parents=True)
    for base, data in segments:
        (directory / f"{base:020d}.log").write_bytes(data)
    return directory


@pytest.fixture
def compacted(tmp_path: Path) -> Path:
    """Offsets 3, 7, 30 and 65 of 0 to 99; one segment has no record."""
    first = recordpress.write_records([b"3", b"7"], offsets=[3, 7], timestamps=[10, 20]) + empty(8, 20)
    first += recordpress.write_records([b"30"], base_offset=30, timestamps=[30])
    last = recordpress.write_records([b"65"], base_offset=65, timestamps=[5]) + empty(66, 99)
    return log(tmp_path / "logs" / "t-0", (0, first), (40, empty(40, 50)), (60, last))


def rows(path: Path, **options: str) -> list[dict[str, Any]]:
    """What tasks give; times as microseconds."""
    source = KafkaLogDataSource({"path": str(path)} | options)
    reader = source.reader(source.schema())
    found = []
    for piece in reader.partitions():
        for batch in reader.read(pickle.loads(pickle.dumps(piece))):
            names = batch.schema.names
            arrays = [batch.column(n).cast("int64") if n == "timestamp" else batch.column(n) for n in names]
            found += pa.RecordBatch.from_arrays(arrays, names).to_pylist()
    return found


def offsets(path: Path, **options: str) -> list[int]:
    return [row["offset"] for row in rows(path, columns="offset", **options)]


SPLITS: list[dict[str, str]] = [{}, {"maxPartitionBytes": "1"}, {"maxRecordsPerPartition": "3"}]


@pytest.mark.parametrize("split", SPLITS, ids=str)
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [3, 7, 30, 65]),
        ({"startingOffsets": '{"t":{"0":8}}'}, [30, 65]),
        ({"startingOffsets": '{"t":{"0":45}}'}, [65]),
        ({"startingOffsets": '{"t":{"0":-2}}', "endingOffsets": '{"t":{"0":45}}'}, [3, 7, 30]),
        ({"endingOffsets": '{"t":{"0":7}}'}, [3]),
        ({"endingOffsets": '{"t":{"0":100}}'}, [3, 7, 30, 65]),
        ({"startingOffsets": '{"t":{"0":100}}'}, []),
        ({"startingTimestamp": "11"}, [7, 30, 65]),
        ({"endingTimestamp": "21"}, [3, 7]),
        ({"startingTimestamp": "31", "startingOffsetsByTimestampStrategy": "latest"}, []),
    ],
)
def test_a_compacted_log(options: dict[str, str], expected: list[int], split: dict[str, str], compacted: Path) -> None:
    """With any bounds, cut anywhere. Times are looked up once, as ListOffsets does: after that offsets count."""
    assert offsets(compacted, **options, **split) == expected


def test_the_headers_of_a_compacted_log(compacted: Path) -> None:
    expected = [(3, 7), (8, 20), (30, 30), (40, 50), (65, 65), (66, 99)]
    for level in ("batches", "bytes"):
        found = [(row["baseOffset"], row["lastOffset"]) for row in rows(compacted, rows=level)]
        assert found == expected
    [partition] = recordpress.open_log(compacted).partitions
    assert end_offset(partition) == 100
    with pytest.raises(recordpress.InvalidArgumentError, match=r"has offsets from 0 to 100, but .* has 101"):
        offsets(compacted, endingOffsets='{"t":{"0":101}}')


@pytest.mark.parametrize("append_time", [False, True])
@pytest.mark.parametrize("timestamp", [FIRST_MS, -62135596800001, -2, -1, 0, 253402300800000, LAST_MS])
def test_times(timestamp: int, append_time: bool, tmp_path: Path) -> None:
    """Before the year 1, after 9999, up to what microseconds hold."""
    kind: Any = {"timestamp_type": 1, "log_append_time": 0} if append_time else {}
    path = log(tmp_path / "t-0", (0, at_time(recordpress.write_records([b"a"], timestamps=[0], **kind), timestamp)))
    [row] = rows(path)
    assert row["timestamp"] == (None if timestamp == -1 else 1000 * timestamp)
    assert row["timestampType"] == (1 if append_time else 0)
    [record] = [record for batch in recordpress.read_batches((path / f"{0:020d}.log").read_bytes()) for record in batch]
    assert record.timestamp == timestamp


@pytest.mark.parametrize("timestamp", [-LAST - 1, FIRST_MS - 1, LAST_MS + 1, LAST])
def test_times_that_microseconds_do_not_hold(timestamp: int, tmp_path: Path) -> None:
    """An error that says which, as in Spark's own source; a mode passes over the batch; other columns are there."""
    batches = [recordpress.write_records([b"%d" % n], timestamps=[n], base_offset=n) for n in range(3)]
    batches[1] = at_time(batches[1], timestamp)
    path = log(tmp_path / "t-0", (0, b"".join(batches)))
    with pytest.raises(recordpress.InvalidArgumentError, match=f"timestamp {timestamp} ms does not fit") as caught:
        rows(path)
    assert caught.value.offset == 1
    assert offsets(path) == [0, 1, 2]
    assert [row["offset"] for row in rows(path, mode="DROPMALFORMED")] == [0, 2]
    assert [row["offset"] for row in rows(path, mode="PERMISSIVE") if row["_corrupt_record"] is None] == [0, 2]


@pytest.mark.parametrize("topic", ["a.b_c", "x" * 249, "orders-0", "-", "...", "a-0-1", "_"])
def test_names_of_topics(topic: str, tmp_path: Path) -> None:
    path = log(tmp_path / f"{topic}-0", (0, recordpress.write_records([b"a"])))
    for root in (path, tmp_path):
        [row] = rows(root, subscribe=topic)
        assert (row["topic"], row["partition"]) == (topic, 0)
    assert rows(tmp_path, assign=f'{{"{topic}": [0]}}') == [row]


def test_the_last_offsets_of_all(tmp_path: Path) -> None:
    path = log(tmp_path / "t-0", (LAST - 2, recordpress.write_records([b"a", b"b"], base_offset=LAST - 2)))
    assert offsets(path) == [LAST - 2, LAST - 1]
    assert offsets(path, startingOffsets=f'{{"t":{{"0":{LAST - 1}}}}}') == [LAST - 1]
    assert offsets(path, endingOffsets=f'{{"t":{{"0":{LAST}}}}}') == [LAST - 2, LAST - 1]
    beyond = log(tmp_path / "u-0", (LAST - 1, recordpress.write_records([b"a", b"b"], base_offset=LAST - 1)))
    assert offsets(beyond) == [LAST - 1, LAST]
    assert end_offset(recordpress.open_log(beyond).partitions[0]) == LAST
    assert offsets(beyond, endingOffsets=f'{{"u":{{"0":{LAST}}}}}') == [LAST - 1]


def test_through_spark_and_back(spark: Any, compacted: Path) -> None:
    """Every shape that the sink takes, with its offsets, and as Parquet: the same rows as without Spark."""
    root = compacted.parent
    old = recordpress.write_records([b"old", None], keys=[None, b""], magic=0, base_offset=0)
    old += recordpress.write_records([b"less old"], magic=1, base_offset=2, timestamps=[253402300800000])
    log(root / "old.log_-0-1", (0, old))
    headers: Any = [[("a", None), ("", b""), ("a", b"x")], [], None]
    log(
        root / f"{'n' * 249}-7",
        (0, recordpress.write_records([None, b"", b"v"], timestamps=[0, 1, 2], headers=headers)),
    )
    log(root / "late-0", (LAST - 2, recordpress.write_records([b"a", b"b"], base_offset=LAST - 2, timestamps=[5, 5])))

    def collected(frame: Any) -> list[str]:
        names = ["topic", "partition", "offset", "unix_micros(timestamp) AS t", "key", "value", "headers"]
        return sorted(str(row.asDict(True)) for row in frame.selectExpr(*names).collect())

    read = spark.read.format("recordpress").options(includeHeaders="true", maxPartitionBytes="300")
    frame = read.load(str(root))
    expected = sorted(
        str({
            "topic": partition.topic,
            "partition": partition.partition,
            "offset": row["offset"],
            "t": None if row["timestamp"] is None else 1000 * row["timestamp"],
            "key": row["key"],
            "value": row["value"],
            "headers": row["headers"] or None,
        })
        for partition in recordpress.open_log(root).partitions
        for row in _without_spark(root / str(partition))
    )  # fmt: skip
    assert collected(frame) == expected
    timed = frame.where("timestamp IS NOT NULL")
    ordered = timed.repartition("topic", "partition").sortWithinPartitions("topic", "partition", "offset")
    ordered.write.format("recordpress").mode("append").save(str(root.parent / "copy"))
    assert collected(read.load(str(root.parent / "copy"))) == collected(timed)
    assert recordpress.log.verify(root.parent / "copy", "record").findings == []
    recordpress.spark.to_parquet(spark, root, root.parent / "parquet")
    names = "topic string, partition int, offset long, timestamp timestamp, key binary, value binary"
    parquet = spark.read.schema(f"{names}, headers array<struct<key: string, value: binary>>")
    assert collected(parquet.parquet(str(root.parent / "parquet"))) == expected


def _without_spark(path: Path) -> list[dict[str, Any]]:
    table = recordpress.open_log(path).read(["offset", "timestamp", "key", "value", "headers"]).to_pyarrow()
    times = table.column("timestamp").cast("int64").to_pylist()
    rows = table.drop_columns(["timestamp"]).to_pylist()
    return [row | {"timestamp": time} for row, time in zip(rows, times, strict=True)]
