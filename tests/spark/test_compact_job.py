"""compact after a streaming sink, by tasks of executors, on a disk and in a store; readers keep their offsets."""

from pathlib import Path
from typing import Any

import pytest

import recordpress
from files.conftest import S3Server, s3, s3_server  # noqa: F401

pytest.importorskip("pyspark", reason="pyspark is not installed")
pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.usefixtures("in_this_process")]

from pyspark.sql.streaming.datasource import ReadAllAvailable
from sink_writes import drawn, started

from recordpress.log import verify
from recordpress.spark import KafkaLogDataSource

BATCHES, ROWS = 4, 60  # of a stream, and in each


@pytest.fixture(params=["local", "s3"])
def log_dir(request: Any, tmp_path: Path) -> str:
    """What a streaming sink leaves: segments of each batch in both partitions."""
    path = str(tmp_path / "logs") if request.param == "local" else request.getfixturevalue("s3").url("logs/sink")
    for number in range(BATCHES):
        sink(path, number)
    return path


def sink(path: str, seed: int) -> None:
    writer, messages = started(path, [drawn(ROWS, seed)], topic="t", partitions="2")  # type: ignore[arg-type]
    writer.commit(messages)


def rows(path: str, **options: Any) -> list[tuple[Any, ...]]:
    names = ["partition", "offset", "timestamp", "key", "value"]
    return [
        row
        for columns in recordpress.open_log(path).read(names, **options)
        for row in zip(*(columns[name].to_pylist() for name in names), strict=True)
    ]


def bases(path: str) -> list[list[int]]:
    return [[one.base_offset for one in partition.segments] for partition in recordpress.open_log(path).partitions]


def test_it_merges_what_the_sink_left(log_dir: str) -> None:
    before, old = rows(log_dir), bases(log_dir)
    merged = recordpress.spark.compact(None, log_dir)
    assert [(one["segmentsBefore"], one["segmentsAfter"], one["batchesAfter"]) for one in merged] == [(3, 1, 1)] * 2
    assert sum(one["records"] for one in merged) == sum(ends[-1] for ends in old)
    assert rows(log_dir) == before
    assert bases(log_dir) == [[0, ends[-1]] for ends in old]
    for partition in recordpress.open_log(log_dir).partitions:
        [first, _] = partition.segments
        assert set(first.files) == {".index", ".timeindex"}
    assert recordpress.spark.compact(None, log_dir) == []
    sink(log_dir, 99)
    recordpress.spark.compact(None, log_dir, include_active_segment=True)
    assert bases(log_dir) == [[0], [0]]
    sink(log_dir, 100)
    assert set(before) < set(rows(log_dir))
    assert len(rows(log_dir)) == ROWS * (BATCHES + 2)
    assert verify(log_dir, "record").findings == []


def stream(path: str) -> Any:
    source = KafkaLogDataSource({"path": path, "columns": "partition,offset,value"})
    return source.streamReader(source.schema())


def read(reader: Any, start: Any, end: Any) -> list[dict[str, Any]]:
    found = [row for part in reader.partitions(start, end) for batch in reader.read(part) for row in batch.to_pylist()]
    return sorted(found, key=lambda row: (row["partition"], row["offset"]))


@pytest.mark.parametrize("log_dir", ["local"], indirect=True)
@pytest.mark.parametrize("with_active", [False, True])
def test_streams_and_readers_continue_at_their_offsets(log_dir: str, with_active: bool) -> None:
    reader = stream(log_dir)
    start = {"t": {"0": 37, "1": 41}}
    end = reader.latestOffset(start, ReadAllAvailable())
    expected, by_offset = read(reader, start, end), rows(log_dir, start_offset=55)
    assert len(expected) > 100
    recordpress.spark.compact(None, log_dir, include_active_segment=with_active)
    assert read(stream(log_dir), start, end) == expected
    assert rows(log_dir, start_offset=55) == by_offset
    sink(log_dir, 99)
    sink(log_dir, 100)
    again = stream(log_dir)
    later = again.latestOffset(end, ReadAllAvailable())
    assert len(read(again, start, end) + read(again, end, later)) == len(read(again, start, later)) > len(expected)
