"""Workers killed while they read, drivers killed before they commit, disks that are full: nothing is lost, nothing is
there twice, and the next run leaves nothing but its result."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recordpress
from patience import HANG
from together import THOROUGH

pytest.importorskip("pyspark", reason="pyspark is not installed")
pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

import spark_faults
from pyspark import cloudpickle
from spark_processes import environment_of

import recordpress.spark
from recordpress.spark import KafkaLogDataSource, _parquet, _stream_sink, _transcode
from recordpress.spark._run import run
from recordpress.spark.schema import spark_schema

RECORDS = 400


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Two partitions of two segments, the last of which is active for a stream."""
    for partition in (0, 1):
        directory = tmp_path / "logs" / f"t-{partition}"
        directory.mkdir(parents=True)
        for base in (0, RECORDS // 2):
            offsets = range(base, base + RECORDS // 2)
            values = [b"%d %d " % (partition, offset) + os.urandom(60) for offset in offsets]
            batches = [
                recordpress.write_records(values[n : n + 10], base_offset=base + n) for n in range(0, len(values), 10)
            ]
            (directory / f"{base:020d}.log").write_bytes(b"".join(batches))
    return tmp_path / "logs"


def rows_of(logs: Path) -> list[tuple[int, int, bytes]]:
    return sorted(
        (partition.partition, *row.values())
        for partition in recordpress.open_log(logs).partitions
        for row in recordpress.open_log(logs / str(partition)).read(["offset", "value"]).to_pyarrow().to_pylist()
    )


def files(root: Path) -> dict[str, bytes]:
    found = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    found.pop("recordpress-manifest.jsonl", None)  # it says what was done when
    return found


# ---- readers


def test_a_worker_that_is_killed_while_it_reads(spark: Any, logs: Path) -> None:
    """Its task is tried again from its beginning."""
    spark.dataSource.register(spark_faults.DyingSource)
    (logs.parent / "fault").touch()
    how = {"max.partition.fetch.bytes": "2000", "columns": "partition,offset,value"}
    found = spark.read.format("recordpressdying").options(**how).load(str(logs)).collect()
    assert Path(f"{logs}-taken").exists()
    assert sorted((row.partition, row.offset, bytes(row.value)) for row in found) == rows_of(logs)


def test_a_worker_that_is_killed_while_it_reads_a_stream(spark: Any, logs: Path) -> None:
    spark.dataSource.register(spark_faults.DyingSource)
    (logs.parent / "fault").touch()
    stream = spark.readStream.format("recordpressdying")
    stream = stream.options(includeActiveSegment="true", **{"max.partition.fetch.bytes": "2000"}).load(str(logs))
    query = stream.select("partition", "offset", "value").writeStream.format("parquet")
    query = query.option("checkpointLocation", str(logs.parent / "checkpoint")).trigger(availableNow=True)
    query.start(str(logs.parent / "out")).awaitTermination(300)
    assert Path(f"{logs}-taken").exists()
    found = spark.read.parquet(str(logs.parent / "out")).collect()
    assert sorted((row.partition, row.offset, bytes(row.value)) for row in found) == rows_of(logs)


# ---- drivers

DRIVER = """
import sys, time
from pathlib import Path
from pyspark import TaskContext
from pyspark.sql import SparkSession
from spark_processes import QUICK
import recordpress.spark
from recordpress.spark import _parquet, _transcode
from recordpress.spark._run import run

job, logs, target, ready = sys.argv[1:]
settings = {"spark.ui.enabled": "false", "spark.driver.extraJavaOptions": QUICK}
builder = SparkSession.builder.master("local[2]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()

def wait():
    Path(ready).touch()
    time.sleep(600)

def done(*given):
    run(*given)
    wait()

def last(batches):
    yield from batches
    if TaskContext.get().partitionId() == 1:
        while not list(Path(target).rglob(".recordpress-staging/*/*/*.log")):  # of the other task
            time.sleep(0.05)
        wait()

_transcode.run = _parquet.run = done
if job == "write":
    rows = spark.read.format("recordpress").option("columns", "value,partition").load(logs).coalesce(2)
    rows = rows.repartition(2).mapInArrow(last, rows.schema)
    rows.write.format("recordpress").mode("append").options(topic="t", writeId="1").save(target)
else:
    getattr(recordpress.spark, job)(spark, logs, target)
"""


def killed_before_its_commit(job: str, logs: Path, target: Path) -> None:
    """A driver, with its JVM and its workers."""
    ready = logs.parent / "ready"
    command = [sys.executable, "-W", "ignore", "-c", DRIVER, job, str(logs), str(target), str(ready)]
    with open(logs.parent / "driver.txt", "wb") as said:
        driver = subprocess.Popen(
            command, env=environment_of(sys.executable), stdout=said, stderr=said, start_new_session=True
        )
        latest = time.monotonic() + HANG
        while not ready.exists() and driver.poll() is None and time.monotonic() < latest:
            time.sleep(0.05)
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
    assert ready.exists(), (logs.parent / "driver.txt").read_text()[-3000:]


@pytest.mark.parametrize("job", ["transcode", "to_parquet", "write"] if THOROUGH else ["transcode"])
def test_a_driver_that_is_killed_before_its_commit(job: str, spark: Any, logs: Path, tmp_path: Path) -> None:
    """The same job again is the whole result."""
    target = tmp_path / "place" / "done"
    killed_before_its_commit(job, logs, target)
    assert not list(target.glob("t-*"))
    if job == "write":
        assert list(target.rglob(".recordpress-staging/*/*/*.log"))
        rows = spark.read.format("recordpress").option("columns", "value,partition").load(str(logs))
        for _ in range(2):  # the second one does nothing
            rows.write.format("recordpress").mode("append").options(topic="t", writeId="1").save(str(target))
        assert sorted(row[2] for row in rows_of(target)) == sorted(row[2] for row in rows_of(logs))
        assert {path.name for path in target.iterdir()} == {"t-0", "t-1", "_SUCCESS", "_recordpress-writes.json"}
    else:
        call = getattr(recordpress.spark, job)
        call(spark, logs, target)
        call(spark, logs, tmp_path / "other")
        assert files(target) == files(tmp_path / "other")
    assert not list((tmp_path / "place").rglob(".*"))


# ---- full disks


def copied(logs: Path, target: Path) -> None:
    recordpress.spark.transcode(None, logs, target, "lz4", min_gain=None)  # type: ignore[arg-type]


def as_parquet(logs: Path, target: Path) -> None:
    recordpress.spark.to_parquet(None, logs, target)  # type: ignore[arg-type]


def write_of(made: Any, commit: Callable[[Any, list[Any]], None]) -> None:
    """What Spark does with a writer: `abort` if anything fails."""
    rows = [pa.record_batch({"value": [b"%d " % n + bytes(range(200)) for n in range(100)]}) for _ in range(2)]
    writer, messages = cloudpickle.loads(cloudpickle.dumps(made)), []
    try:
        messages += [writer.write(iter([batch])) for batch in rows]
        commit(writer, messages)
    except BaseException:
        abort = [*messages, *[None] * (len(rows) - len(messages))]
        writer.abort(abort) if commit is by_commit else writer.abort(abort, 0)
        raise


def by_commit(writer: Any, messages: list[Any]) -> None:
    writer.commit(messages)


OPTIONS = {"topic": "t", "partitions": "1", "compression.type": "none"}


def written(logs: Path, target: Path) -> None:
    made = KafkaLogDataSource(OPTIONS | {"path": str(target)}).writer(spark_schema(["value"]), False)
    write_of(made, by_commit)


def streamed(logs: Path, target: Path) -> None:
    given = OPTIONS | {"path": str(target), "checkpointLocation": "x"}
    made = KafkaLogDataSource(given).streamWriter(spark_schema(["value"]), False)
    write_of(made, lambda writer, messages: writer.commit(messages, 0))


@pytest.mark.parametrize("size", [0, 2000, 9000])
@pytest.mark.parametrize("job", [copied, as_parquet, written, streamed])
def test_a_full_disk(
    job: Any, size: int, logs: Path, tmp_path: Path, in_this_process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One error, which names a file; the next run is as if nothing had been."""
    query = str(uuid.uuid4())
    monkeypatch.setattr(_stream_sink, "_query_id", lambda: query)
    target = tmp_path / "place" / "done"
    with spark_faults.full_disk(size), pytest.raises(OSError, match="File too large") as caught:
        job(logs, target)
    assert str(target.parent) in str(caught.value)
    assert not list(target.rglob("*.log")) and not list(target.rglob("*.parquet"))
    job(logs, target)
    job(logs, tmp_path / "other")
    found, expected = files(target), files(tmp_path / "other")
    if job in (written, streamed):  # the time of the job is in its records
        assert found.keys() == expected.keys()
        rows = recordpress.open_log(target).read(["offset", "value"]).to_pyarrow()
        assert rows == recordpress.open_log(tmp_path / "other").read(["offset", "value"]).to_pyarrow()
        assert rows.num_rows == 200
    else:
        assert found == expected
    assert not list((tmp_path / "place").rglob(".*"))


@pytest.mark.skipif(not THOROUGH, reason="takes long: make full")
@pytest.mark.parametrize("module", [_transcode, _parquet])
def test_a_full_disk_of_executors(
    module: Any, spark: Any, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = recordpress.spark.transcode if module is _transcode else recordpress.spark.to_parquet

    def full(spark: Any, what: str, work: Any, items: Any) -> Any:
        return run(spark, what, spark_faults.on_a_full_disk, [(work, item) for item in items])

    with monkeypatch.context() as patch:
        patch.setattr(module, "run", full)
        with pytest.raises(Exception, match="File too large") as caught:
            job(spark, logs, tmp_path / "done")
    assert str(tmp_path) in str(caught.value)
    job(spark, logs, tmp_path / "done")
    job(spark, logs, tmp_path / "other")
    assert files(tmp_path / "done") == files(tmp_path / "other")
    assert not list(tmp_path.rglob(".*"))
