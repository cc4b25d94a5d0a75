"""recordpress.polars.scan_log: a query gives what the same query over all records gives, and reads less."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import recordpress.polars
from recordpress.log import FileRecords, LogReader

pl = pytest.importorskip("polars")

from recordpress.polars import scan_log

START = datetime(2026, 9, 1, tzinfo=UTC)
START_MS = int(START.timestamp() * 1000)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two topics of two partitions, each of three segments of ten batches, which no test changes."""
    root = tmp_path_factory.mktemp("logs")
    for topic in ("orders", "a.b"):
        for partition in range(2):
            directory = root / f"{topic}-{partition}"
            directory.mkdir()
            for base in range(0, 300, 100):
                data = b"".join(
                    recordpress.write_records(
                        [b"%s %d" % (topic.encode(), offset + i) for i in range(10)],
                        keys=[b"%d" % (i % 3) for i in range(10)],
                        timestamps=[START_MS + 1000 * (offset + i) for i in range(10)],
                        base_offset=offset,
                        compression_type="zstd",
                    )
                    for offset in range(base, base + 100, 10)
                )
                (directory / f"{base:020}.log").write_bytes(data)
    return root


@pytest.fixture(scope="module")
def everything(logs: Path) -> Any:
    names = ["topic", "partition", "offset", "timestamp", "timestampType", "key", "value", "headers"]
    return pl.DataFrame(recordpress.open_log(logs).read(names))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str], Any]]:
    """(file, columns, options) of every segment that is read."""
    found: list[tuple[str, list[str], Any]] = []
    columns = FileRecords.columns

    def noting(self: FileRecords, names: Any, **options: Any) -> Any:
        found.append((Path(self.path).parent.name, list(names), options))
        return columns(self, names, **options)

    monkeypatch.setattr(FileRecords, "columns", noting)
    return found


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


by_offset, by_time, by_topic, by_partition = (pl.col(name) for name in ("offset", "timestamp", "topic", "partition"))
QUERIES = {
    "all": lambda frame: frame,
    "topic": lambda frame: frame.filter(by_topic == "orders"),
    "topic in": lambda frame: frame.filter(by_topic.is_in(["a.b", "c"]), by_partition > 0),
    "topic like": lambda frame: frame.filter(by_topic.str.starts_with("ord") & (by_partition == 1)),
    "offset": lambda frame: frame.filter(by_offset >= 150),
    "offset from the left": lambda frame: frame.filter(pl.lit(250) <= by_offset),
    "offset range": lambda frame: frame.filter((by_offset > 95) & (by_offset <= 105)),
    "offset equal": lambda frame: frame.filter(by_offset == 123),
    "or": lambda frame: frame.filter((by_offset == 3) | (by_offset == 250)),
    "not": lambda frame: frame.filter(~(by_offset < 290)),
    "computed": lambda frame: frame.filter(by_offset * 2 >= 500),
    "between": lambda frame: frame.filter(by_offset.is_between(97, 103)),
    "time": lambda frame: frame.filter(by_time >= at(150), by_time < at(160)),
    "time between milliseconds": lambda frame: frame.filter(by_time > at(150.0005), by_time <= at(152.0005)),
    "time equal": lambda frame: frame.filter(by_time == at(7)),
    "time in another zone": lambda frame: frame.filter(
        at(280).astimezone(ZoneInfo("Asia/Tokyo")) < by_time.dt.convert_time_zone("Asia/Tokyo")
    ),
    "key": lambda frame: frame.filter(pl.col("key") == b"1", by_offset < 20),
    "nothing": lambda frame: frame.filter(by_topic == "c"),
    "contradiction": lambda frame: frame.filter(by_offset > 100, by_offset < 50),
    "beyond": lambda frame: frame.filter(by_offset < 2**63 - 1, by_offset > -(2**63)),
    "head": lambda frame: frame.head(7),
    "slice": lambda frame: frame.slice(305, 10),
    "filter and head": lambda frame: frame.filter(by_partition == 1, by_offset >= 20).head(3),
    "aggregate": lambda frame: frame.group_by("topic").agg(pl.len(), by_offset.max()).sort("topic"),
    "length": lambda frame: frame.select(pl.len()),
    "columns": lambda frame: frame.select("value", "topic"),
    "filter on another column": lambda frame: frame.filter(by_offset > 290).select("value"),
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_queries_give_what_they_give_over_all_records(query: Any, logs: Path, everything: Any) -> None:
    assert everything.height == 1200
    expected = query(everything.lazy()).collect()
    found = query(scan_log(logs)).collect()
    assert found.schema == expected.schema
    assert found.equals(expected)


def test_what_comparisons_say() -> None:
    """Polars turns most of them round before a source sees them."""
    for expression, bounds in (
        (pl.lit(250) <= by_offset, {"start_offset": 250}),
        (pl.lit(250) > by_offset, {"end_offset": 251}),
        (pl.lit(7) == by_offset, {"start_offset": 7, "end_offset": 8}),
        (by_time < at(1), {"end_timestamp": START_MS + 1001}),
        (by_offset != 7, {}),
        (by_offset + 1 > 7, {}),
        (by_offset > by_partition, {}),
        (by_offset > 1.5, {}),
        (pl.col("producerId") > 7, {}),
    ):
        assert recordpress.polars._bounds_of(expression) == bounds, expression


def test_only_the_columns_of_the_query_are_decoded(logs: Path, read: Any) -> None:
    scan_log(logs).select("offset").collect()
    assert {tuple(names) for _, names, _ in read} == {("offset",)}
    read.clear()
    scan_log(logs).filter(pl.col("key") == b"1").select("value", "topic").collect()
    assert {frozenset(names) for _, names, _ in read} == {frozenset(["value", "key"])}


def test_only_the_partitions_of_the_query_are_read(logs: Path, read: Any) -> None:
    scan_log(logs).filter(by_topic == "orders", by_partition.is_in([1, 5]), pl.col("key") == b"1").collect()
    assert {name for name, _, _ in read} == {"orders-1"}


@pytest.mark.parametrize(
    ("predicate", "segments"),
    [
        (by_offset >= 250, 1),
        (by_offset < 50, 1),
        ((by_offset >= 120) & (by_offset < 130) & (pl.col("key") == b"1"), 1),
        (by_time >= at(250), 1),
        (by_offset == 150, 1),
        (by_offset * 2 >= 500, 3),
    ],
)
def test_only_the_segments_of_the_query_are_read(predicate: Any, segments: int, logs: Path, read: Any) -> None:
    scan_log(logs / "orders-0").filter(predicate).collect()
    assert len(read) == segments


def test_reading_ends_with_the_rows_that_are_asked_for(logs: Path, read: Any) -> None:
    assert scan_log(logs).head(5).collect().height == 5
    assert len(read) == 1


def test_options_of_a_read(logs: Path, tmp_path: Path) -> None:
    logs = shutil.copytree(logs, tmp_path / "logs")
    path = logs / "orders-0" / f"{100:020}.log"
    path.write_bytes(path.read_bytes()[:-1] + b"\xff")
    with pytest.raises((recordpress.CorruptRecordError, pl.exceptions.ComputeError), match="checksum"):
        scan_log(logs).select("offset").collect()
    assert scan_log(logs, on_corrupt="skip").select("offset").collect().height == 1190
    frame = scan_log(logs / "a.b-1", columns=["offset", "producerId"], start_offset=295)
    assert frame.collect().to_dict(as_series=False) == {"offset": [295, 296, 297, 298, 299], "producerId": [-1] * 5}
    assert frame.filter(by_offset > 3).collect().height == 5
    with pytest.raises(recordpress.InvalidArgumentError, match="unknown column"):
        scan_log(logs, columns=["ofset"])


def test_a_plan_is_made_without_reading(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LogReader, "_read_segment", None)
    assert "offset" in scan_log(logs).filter(by_offset > 3).explain()
