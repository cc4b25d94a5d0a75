"""The work that travels: each task gets its own alone, and a plan reads no data, however many segments there are."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recordpress

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark]

from pyspark import cloudpickle

from recordpress.files import LocalFileSystem
from recordpress.log import reindex
from recordpress.log.copy.tasks import grouped
from recordpress.spark import (
    KafkaLogDataSource,
    _compare,
    _estimate,
    _inventory,
    _jobs,
    _parquet,
    _read,
    _run,
    _transcode,
    _verify,
    datasource,
)

RECORDS = 10
JOBS: dict[str, Callable[[Path, Path], Any]] = {
    "inventory": lambda logs, _: recordpress.spark.inventory(None, logs),  # type: ignore[arg-type]
    "estimate": lambda logs, _: recordpress.spark.estimate(None, logs, "lz4"),  # type: ignore[arg-type]
    "verify": lambda logs, _: recordpress.spark.verify(None, logs),  # type: ignore[arg-type]
    "compare": lambda logs, _: recordpress.spark.compare(None, logs, logs),  # type: ignore[arg-type]
    "transcode": lambda logs, target: recordpress.spark.transcode(None, logs, target, "lz4"),  # type: ignore[arg-type]
    "to_parquet": lambda logs, target: recordpress.spark.to_parquet(None, logs, target),  # type: ignore[arg-type]
}


def logs_of(root: Path, segments: int) -> Path:
    directory = root / f"{segments} segments" / "t-0"
    directory.mkdir(parents=True)
    for base in range(0, segments * RECORDS, RECORDS):
        producer: Any = {"producer_id": 1, "producer_epoch": 0, "base_sequence": base}
        data = recordpress.write_records([b"value"] * RECORDS, base_offset=base, **producer)
        (directory / f"{base:020d}.log").write_bytes(data)
    reindex(directory)
    return directory.parent


@pytest.mark.parametrize("job", JOBS)
def test_what_travels_grows_with_the_log_and_not_faster(
    job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The function that all tasks get is the same for any log; ten times the segments are ten times the rest."""
    sent: list[tuple[int, int, int]] = []

    def run(spark: Any, what: str, work: Any, items: Any) -> list[Any]:
        sizes = [len(pickle.dumps((work, item))) for item in items]
        sent.append((len(cloudpickle.dumps(_run._worker())), max(sizes, default=0), sum(sizes)))
        return [pickle.loads(pickle.dumps(work(pickle.loads(pickle.dumps(item))))) for item in items]

    for module in (_compare, _estimate, _inventory, _parquet, _transcode, _verify):
        monkeypatch.setattr(module, "run", run)
        monkeypatch.setattr(module, "table", lambda spark, rows, schema: list(rows))
    monkeypatch.setattr(_jobs, "parallelism_of", lambda spark: 10_000)
    monkeypatch.setattr(datasource, "_LEAST_TASK_BYTES", 1000)
    found = []
    for segments in (20, 200):
        sent.clear()
        JOBS[job](logs_of(tmp_path, segments), tmp_path / f"{job} of {segments}")
        closures, largest, totals = zip(*sent, strict=True)
        found.append((set(closures), max(largest), sum(totals)))
    (few_closures, few_largest, few_total), (closures, largest, total) = found
    assert few_closures == closures and max(closures) < 5000
    assert total < 12 * few_total and largest < 12 * few_largest
    assert total <= 400 * 200 * (1 + (job == "compare"))  # of both logs


@pytest.mark.filterwarnings("ignore:.*pandas:FutureWarning")
def test_very_many_tasks_travel_in_slices(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark sends a task in one message: all items in one failed from 127,000 segments on."""
    monkeypatch.setattr(_run, "_SLICE_BYTES", 1000)
    numbers = [number % 900 for number in range(60)]
    sizes, spread = [], _run._spread
    monkeypatch.setattr(_run, "_spread", lambda spark, items: (sizes.append(len(items)), spread(spark, items))[1])
    assert _run.run(spark, "test", len, [bytes(number) for number in numbers]) == numbers
    assert sum(sizes) == 60 and len(sizes) > 1


def test_a_slice_is_full_and_not_too_full() -> None:
    mebibyte = bytes(1 << 20)

    def sizes(items: list[bytes]) -> list[int]:
        return [len(group) for group in grouped(items, len, _run._SLICE_BYTES)]

    assert sizes([mebibyte] * 20) == [8, 8, 4]
    assert sizes([mebibyte * 9, b"", mebibyte * 9]) == [1, 1, 1]
    assert sizes([b""]) == [1]


def test_rows_travel_with_their_own_piece_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[list[bytes]] = []

    class Spread:
        def mapInArrow(self, worker: Any, schema: Any) -> None:
            assert len(cloudpickle.dumps(worker)) < 5000

    def spread(spark: Any, items: list[bytes]) -> Spread:
        sent.append(items)
        return Spread()

    monkeypatch.setattr(_read, "spread", spread)
    monkeypatch.setattr(_read, "parallelism_of", lambda spark: 10_000)
    monkeypatch.setattr(datasource, "_LEAST_TASK_BYTES", 1000)
    for segments in (20, 200):
        recordpress.spark.read(None, logs_of(tmp_path, segments))  # type: ignore[arg-type]
    few, many = sent
    assert len(many) > 8 * len(few) and max(map(len, many)) < 1.5 * max(map(len, few))


@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
def test_a_plan_reads_no_segment(isolation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots say where transactions are open: the driver reads no header of a batch for that."""
    opened: Counter[str] = Counter()
    open_file = LocalFileSystem.open

    def counted(self: LocalFileSystem, path: str) -> Any:
        opened[path.rpartition(".")[2]] += 1
        return open_file(self, path)

    source = KafkaLogDataSource({"path": str(logs_of(tmp_path, 300)), "isolation.level": isolation})
    monkeypatch.setattr(datasource, "_LEAST_TASK_BYTES", 1000)
    monkeypatch.setattr(LocalFileSystem, "open", counted)
    assert len(source.reader(source.schema()).partitions()) > 1
    assert opened["log"] == 0 and opened["index"] <= 300 and opened["snapshot"] <= 300
