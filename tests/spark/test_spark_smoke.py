"""What `make -f labs.mk spark-versions` tries on every release line of Spark: one query of each kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordpress

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")]

from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F

from patience import HANG
from recordpress.spark import functions

LOGS = Path(__file__).resolve().parents[2] / "demo" / "logs"
SESSIONS = str(LOGS / "sessions-0")


def test_register_twice_and_read(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    recordpress.spark.register(spark)
    monkeypatch.delattr(type(spark.udf), "register")  # Spark warns of a function that is replaced
    recordpress.spark.register(spark)
    frame = spark.read.format("recordpress").option("includeHeaders", "true").load(SESSIONS)
    late = recordpress.open_log(SESSIONS).read(["offset"], start_offset=1000).to_pyarrow().num_rows
    assert frame.where("offset >= 1000 AND partition = 0").count() == late > 0
    assert spark.read.format("recordpress").schema("Offset long").load(SESSIONS).agg(F.min("offset")).first()[0] == 0
    assert {*frame.columns} >= {"key", "value", "headers"}


def test_batches(spark: Any) -> None:
    rows = spark.read.format("recordpress").option("rows", "batches").load(SESSIONS).collect()
    assert sum(row.recordsCount for row in rows if not row.isControl) == 1634


def test_read(spark: Any) -> None:
    rows = recordpress.spark.read(spark, SESSIONS, includeHeaders=True)
    assert rows.schema == spark.read.format("recordpress").option("includeHeaders", "true").load(SESSIONS).schema
    assert rows.count() == 1634 and rows.first().headers is None


@pytest.mark.slow
def test_jobs(spark: Any, tmp_path: Path) -> None:
    assert recordpress.spark.inventory(spark, SESSIONS).first().records == 1634
    recordpress.spark.transcode(spark, SESSIONS, tmp_path / "sessions-0", "zstd").collect()
    assert [row.isSame for row in recordpress.spark.compare(spark, SESSIONS, tmp_path / "sessions-0").collect()] == [
        True
    ]
    assert recordpress.spark.verify(spark, tmp_path / "sessions-0", "record").count() == 0
    recordpress.spark.to_parquet(spark, SESSIONS, tmp_path / "parquet")
    assert spark.read.parquet(str(tmp_path / "parquet")).count() == 1634


def test_values(spark: Any) -> None:
    frame = spark.createDataFrame([(b"123456789",), (None,)], "value binary")
    small = frame.select(functions.compress("value", "zstd", 9).alias("value"))
    assert [row[0] and bytes(row[0]) for row in small.select(functions.decompress("value")).collect()] == [
        b"123456789",
        None,
    ]
    assert [row[0] for row in frame.select(functions.crc32c("value")).collect()] == [0xE3069283, None]


@pytest.mark.slow
def test_record_sets(spark: Any) -> None:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        batch = recordpress.write_records(
            [b"a", None], keys=[None, b"k"], headers=[[("h", b"1")], []], timestamps=[1_700_000_000_123, 5]
        )
        frame = spark.createDataFrame([(batch,), (None,)], "batch binary")
        sets = frame.select(functions.read_record_set("batch").alias("records"))
        records = sets.selectExpr("inline(records)").selectExpr("*", "unix_millis(timestamp) AS ms")
        found = [(row.offset, row.ms, row.timestampType, row.key, row.value) for row in records.collect()]
        assert [(*row[:3], row[3] and bytes(row[3]), row[4] and bytes(row[4])) for row in found] == [
            (0, 1_700_000_000_123, 0, None, b"a"),
            (1, 5, 0, b"k", None),
        ]
        again = [row[0] for row in sets.select(functions.write_record_set("records")).collect()]
        assert [one and bytes(one) for one in again] == [batch, None]
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.slow
def test_write(spark: Any, tmp_path: Path) -> None:
    rows = spark.read.format("recordpress").load(SESSIONS).select("key", "value", "timestamp")
    rows.write.format("recordpress").mode("append").option("topic", "new").option("partitions", 2).save(
        str(tmp_path / "w")
    )
    assert spark.read.format("recordpress").load(str(tmp_path / "w")).count() == 1634


@pytest.mark.slow
def test_table(spark: Any, tmp_path: Path) -> None:
    path = f"path '{tmp_path}/log'"
    spark.sql(f"CREATE TABLE smoke USING recordpress OPTIONS ({path}, columns 'value,offset')")
    try:
        assert spark.sql("SELECT * FROM smoke").collect() == []
        spark.sql(f"INSERT INTO smoke WITH ({path}, topic 'new', partitions 1) VALUES (X'61', 7L)")
        assert [tuple(row) for row in spark.sql("SELECT * FROM smoke").collect()] == [(b"a", 7)]
    finally:
        spark.sql("DROP TABLE smoke")


def ended(query: Any, target: str) -> None:
    """Run a query to its end. Spark gives a stream's Python process ten seconds to start, and no setting changes that:
    a query that failed by it goes on from its checkpoint, on a busy machine several times."""
    for _ in range(100):
        try:
            assert query.start(target).awaitTermination(HANG)
            return
        except StreamingQueryException as error:
            if "Python worker failed to connect back" not in str(error):
                raise
    pytest.fail("Spark never started the Python process of the stream")


@pytest.mark.slow
def test_stream(spark: Any, tmp_path: Path) -> None:
    """Every row once, although the query is started again before its last batch was committed."""

    def run() -> None:
        rows = spark.readStream.format("recordpress").option("includeActiveSegment", "true").load(SESSIONS)
        query = rows.select("key", "value", "topic", "partition", "timestamp").writeStream.format("recordpress")
        query = query.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
        ended(query, str(tmp_path / "copy"))

    run()
    for path in (tmp_path / "checkpoint" / "commits").iterdir():
        path.unlink()
    run()
    copy = spark.read.format("recordpress").load(str(tmp_path / "copy"))
    assert copy.count() == 1634 and copy.agg(F.max("offset")).first()[0] == 1633
