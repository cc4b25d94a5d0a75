"""Jobs whose workers are killed, or fail, at every point: nothing is lost, nothing double, and nothing left over."""

import os
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import recordpress
from together import sampled

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

import spark_faults

import recordpress.spark
from recordpress.log import _file_records
from recordpress.log.copy import _copy_parts, tasks as copy_tasks
from recordpress.spark import _compare, _parquet, _transcode, datasource
from recordpress.spark._run import run


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A segment that is large for the pieces of these tests, and two small ones; of three producers in turns, one of
    which aborts a transaction that begins in the first segment and ends in the second."""
    for module in (_file_records, _copy_parts, copy_tasks):
        monkeypatch.setattr(module, "CHUNK_BYTES", spark_faults.PIECE)
    monkeypatch.setattr(datasource, "_LEAST_TASK_BYTES", 4 * spark_faults.PIECE)
    directory = tmp_path / "logs" / "t-0"
    directory.mkdir(parents=True)
    offset = 0
    for batches in (40, 2, 2):
        data, base = b"", offset
        for number in range(batches):
            of_producer: dict[str, Any] = {"producer_id": number // 4 % 3, "producer_epoch": 0, "base_sequence": offset}
            data += recordpress.write_records(
                [os.urandom(100) for _ in range(10)],
                base_offset=offset,
                timestamps=1000,
                is_transactional=number // 4 % 3 == 2,
                **of_producer,
            )
            offset += 10
        if batches == 2 and base == 400:
            marker = recordpress.BatchBuilder(
                base_offset=offset, is_control=True, is_transactional=True, producer_id=2, producer_epoch=0
            )
            marker.append_end_txn_marker(False, 0, timestamp=1000)
            data, offset = data + marker.build(), offset + 1
        (directory / f"{base:020d}.log").write_bytes(data)
    return tmp_path / "logs"


def faulty(monkeypatch: pytest.MonkeyPatch, module: Any, directory: Path, fault: str) -> None:
    directory.mkdir()

    def running(spark: Any, what: str, work: Any, items: Any) -> Any:
        return run(spark, what, spark_faults.once, [(str(directory), fault, work, item) for item in items])

    monkeypatch.setattr(module, "run", running)


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("producers", "fault"), sampled(product((None, "keep", "settle"), spark_faults.FAULTS), 3))
def test_a_copy(
    fault: str, producers: str | None, spark: Any, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One worker of those that look for producers, copy parts, copy whole segments, and join."""
    faulty(monkeypatch, _transcode, tmp_path / "faults", fault)
    options: dict[str, Any] = {"min_gain": None}
    options |= {"batch_bytes": 1 << 20, "producers": producers} if producers else {}
    recordpress.spark.transcode(spark, logs, tmp_path / "copy", "lz4", **options)
    assert {path.name.partition("-")[0] for path in (tmp_path / "faults").iterdir()} == {
        "CopyGroup", "CopyPart", "JoinGroup", *(["ProducerScan"] if producers else [])
    }  # fmt: skip
    recordpress.transcode(logs, tmp_path / "other", "lz4", **options)
    if producers == "settle":
        [partition] = recordpress.log.Manifest.read(tmp_path / "other").partitions
        assert partition.settled == {"batches": 22, "aborted_records": 70, "markers": 0}
    found = files(tmp_path / "copy")
    assert found.pop("_SUCCESS") == b""
    assert found == files(tmp_path / "other")
    assert {path.name for path in tmp_path.iterdir()} == {"logs", "copy", "other", "faults"}


@pytest.mark.parametrize("fault", spark_faults.FAULTS)
def test_parquet(fault: str, spark: Any, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = recordpress.spark.to_parquet(spark, logs, tmp_path / "other").collect()
    faulty(monkeypatch, _parquet, tmp_path / "faults", fault)
    assert recordpress.spark.to_parquet(spark, logs, tmp_path / "parquet").collect() == expected
    assert len(list((tmp_path / "faults").iterdir())) == 1
    assert files(tmp_path / "parquet") == files(tmp_path / "other")
    assert {path.name for path in tmp_path.iterdir()} == {"logs", "parquet", "other", "faults"}


def test_a_comparison(spark: Any, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faulty(monkeypatch, _compare, tmp_path / "faults", "done")
    [row] = recordpress.spark.compare(spark, logs, logs).collect()
    assert (row.isSame, row.recordsLeft, row.recordsRight) == (True, 440, 440)


@pytest.mark.parametrize("job", ["transcode", "to_parquet"])
def test_a_driver_that_is_lost_and_a_second_job_at_once(
    job: str, spark: Any, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one is refused; the first one is lost before its end; and the next one is the first one's end."""
    module: Any = _transcode if job == "transcode" else _parquet
    call = getattr(recordpress.spark, job)

    def lost(spark: Any, what: str, work: Any, items: Any) -> Any:
        run(spark, what, spark_faults.once, [(str(tmp_path), "none", work, item) for item in items[:2]])
        with pytest.raises(recordpress.InvalidArgumentError, match="another call is writing"):
            call(spark, logs, tmp_path / "done")
        raise RuntimeError("the driver is lost")

    with monkeypatch.context() as patch:
        patch.setattr(module, "run", lost)
        with pytest.raises(RuntimeError, match="the driver is lost"):
            call(spark, logs, tmp_path / "done")
    assert not (tmp_path / "done").exists()
    call(spark, logs, tmp_path / "done")
    call(spark, logs, tmp_path / "other")
    found, expected = files(tmp_path / "done"), files(tmp_path / "other")
    if job == "transcode":  # which says what was done when
        del found["recordpress-manifest.jsonl"], expected["recordpress-manifest.jsonl"]
    assert found == expected
    assert not [path for path in tmp_path.rglob(".*") if path.exists()]


def test_a_destination_that_cannot_be_written_is_told_at_once(spark: Any, logs: Path) -> None:
    for job in (recordpress.spark.transcode, recordpress.spark.to_parquet):
        with pytest.raises(OSError, match="/proc/"):
            job(spark, logs, "/proc/recordpress-copy")
