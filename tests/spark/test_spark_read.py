"""recordpress.spark.read: the rows of format("recordpress"), read another way."""

import pickle
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]

import pyarrow as pa

from recordpress.spark import _read
from recordpress.spark._offsets import Topics

LOGS = Path(__file__).resolve().parents[2] / "demo" / "logs"


def damaged(root: Path) -> Path:
    """Three batches of ten records, the second of which has another checksum; and one more in a last segment."""
    directory = root / "t-0"
    directory.mkdir()
    batches = [bytearray(recordpress.write_records([b"value"] * 10, base_offset=10 * number)) for number in range(4)]
    batches[1][-1] ^= 1
    (directory / f"{0:020d}.log").write_bytes(b"".join(batches[:3]))
    (directory / f"{30:020d}.log").write_bytes(batches[3])
    return directory


def in_order(rows: Any) -> list[str]:
    return sorted(map(str, rows.collect()))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"includeHeaders": True},
        {"subscribe": "sessions", "isolation.level": "read_committed"},
        {"columns": "offset"},
        {"rows": "batches"},
        {"rows": "bytes", "subscribe": "nginx-status"},
        {"maxRecordsPerPartition": 300, "subscribePattern": "a.*", "columns": "topic,partition,offset,timestamp"},
    ],
    ids=str,
)
def test_the_rows_are_those_of_the_data_source(spark: Any, options: dict[str, Any]) -> None:
    rows = recordpress.spark.read(spark, LOGS, **options)
    source = spark.read.format("recordpress").options(**options).load(str(LOGS))
    assert rows.schema == source.schema
    assert in_order(rows) == in_order(source) != []


def carried(path: Path, **options: Any) -> list[dict[str, Any]]:
    """What tasks give, without Spark around them."""
    reader = _read._reader(path, options, None)
    items = [pickle.dumps((reader.options, piece)) for piece in reader.partitions()]
    work = _read._worker()
    return [row for item in items for one in work([pa.record_batch({"item": [item]})]) for row in one.to_pylist()]


@oracle.each("partition", oracle.PARTITIONS)
def test_the_rows_of_directories_of_brokers(partition: oracle.Partition, tmp_path: Path) -> None:
    """Offsets and values; `test_datasource` compares the reader's rows in full."""
    path = partition.write_to(tmp_path)
    for isolation in ("read_committed", "read_uncommitted"):
        if not partition.entry.get(isolation):
            continue
        rows = carried(path, **{"isolation.level": isolation})
        assert [row["offset"] for row in rows] == [row["offset"] for row in partition.consumed(isolation)]


@pytest.mark.parametrize("mode", ["DROPMALFORMED", "PERMISSIVE"])
def test_damage(spark: Any, mode: str, tmp_path: Path) -> None:
    path = damaged(tmp_path)
    rows = recordpress.spark.read(spark, path, mode=mode)
    assert in_order(rows) == in_order(spark.read.format("recordpress").option("mode", mode).load(str(path)))
    assert rows.where("offset IS NOT NULL AND value IS NOT NULL").count() == 30


def test_damage_is_an_error(spark: Any, tmp_path: Path) -> None:
    from pyspark.errors import PySparkException

    rows = recordpress.spark.read(spark, damaged(tmp_path))
    with pytest.raises(PySparkException, match=r"CorruptRecordError: stored checksum .*0\.log, byte 181, offset 10"):
        rows.count()


def test_a_task_has_one_piece(spark: Any) -> None:
    options: dict[str, Any] = {"subscribe": "access-log", "maxRecordsPerPartition": 500}
    pieces = _read._reader(LOGS, options, None).partitions()
    rows = recordpress.spark.read(spark, LOGS, **options)
    assert rows.rdd.getNumPartitions() == len(pieces) > 10
    assert all(rows.rdd.mapPartitions(lambda found: [sum(1 for _ in found)]).collect())


def test_a_log_without_rows(spark: Any) -> None:
    at_the_end = {"startingTimestamp": 4_102_444_800_000, "startingOffsetsByTimestampStrategy": "latest"}  # 2100
    assert recordpress.spark.read(spark, LOGS, **at_the_end).count() == 0


def test_what_is_given() -> None:
    paths = [LOGS / "sessions-0", str(LOGS / "sessions-1")]
    options = {"columns": ["offset", "value"], "SUBSCRIBE": "sessions", "minPartitions": None, "includeheaders": True}
    reader = _read._reader(paths, options, 3)
    assert reader.options.paths == tuple(map(str, paths)) and reader.names == ("offset", "value")
    assert reader.options.include_headers and reader.options.min_partitions is None and reader.parallelism == 3
    assert reader.options.topics == Topics(names=("sessions",))


@pytest.mark.parametrize(
    ("options", "field", "message"),
    [
        ({"path": "/logs"}, "path", "path is not accepted here: src has the paths"),
        (
            {"subscribed": "a"},
            "subscribed",
            "unknown option subscribed (did you mean 'subscribe'?); must be one of path, subscribe,",
        ),
        ({"maxFilesPerTrigger": 3}, "maxFilesPerTrigger", "option maxFilesPerTrigger needs spark.readStream"),
        ({"columns": ["offsets"]}, "columns", "unknown column offsets; must be one of key, value,"),
        ({"minPartitions": 0}, "minPartitions", "option minPartitions must be a number from 1 to"),
    ],
)
def test_what_is_refused(options: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError) as caught:
        _read._reader(LOGS, options, None)
    assert caught.value.field == field and caught.value.message.startswith(message)


@pytest.mark.parametrize("src", [None, 5, b"logs", "", "a\0b", [5], [LOGS, b"logs"], {}.items])
def test_what_is_no_path_is_refused_by_name(src: Any) -> None:
    with pytest.raises(recordpress.RecordpressError) as caught:
        _read._reader(src, {}, None)
    assert caught.value.field == "src"


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing-here"):
        _read._reader([LOGS, tmp_path / "nothing-here"], {}, None)
