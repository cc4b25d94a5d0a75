"""Whatever is odd about a log, all ways to read it give the same records: `odd_logs` has the rule, and the drawings."""

import contextlib
import io
import json
import pickle
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recordpress
from odd_logs import KINDS, OddLog, Row, T, draw_odd_log, window
from recordpress.log import LogReader, end_offset, splits, stats_of
from recordpress.log._read import ReadOptions
from together import THOROUGH, draws, sampled, thinned

NAMES = ["offset", "timestamp", "value"]
ISOLATIONS = ("read_uncommitted", "read_committed")


def rows_of(results: Any) -> list[Row]:
    found: list[Row] = []
    for columns in results:
        found += map(Row, columns["offset"], times_of(columns), columns["value"])
    return found


def times_of(columns: Any) -> list[int]:
    import pyarrow as pa

    table = columns.to_pyarrow()
    return [-1 if time is None else time for time in table["timestamp"].cast(pa.int64()).to_pylist()]


def draw_window(draw: random.Random, rows: list[Row]) -> dict[str, int]:
    """Bounds at records, and next to them."""
    found: dict[str, int] = {}
    row = draw.choice(rows) if rows else Row(3, T, b"")
    if draw.random() < 0.7:
        found["start_offset"] = row.offset + draw.choice((-1, 0, 1))
    if draw.random() < 0.5:
        found["end_offset"] = (draw.choice(rows).offset if rows else 9) + draw.choice((-1, 0, 1))
    if draw.random() < 0.4:
        found["start_timestamp"] = min(row.timestamp + draw.choice((-1, 0, 1)), (1 << 63) - 1)
    if draw.random() < 0.3:
        found["end_timestamp"] = min((draw.choice(rows).timestamp if rows else T) + draw.choice((0, 1)), (1 << 63) - 1)
    return found


def within(rows: list[Row], given: dict[str, int]) -> list[Row]:
    return window(rows, *map(given.get, ("start_offset", "end_offset", "start_timestamp", "end_timestamp")))


class Case:
    """One drawn directory."""

    def __init__(self, log: OddLog, path: Path, draw: random.Random) -> None:
        self.log, self.path, self.draw = log, path, draw
        self.opened = recordpress.open_log(path)
        self.on_corrupt: Any = "skip" if log.is_damaged else "raise"
        self.isolation: Any = draw.choice(ISOLATIONS)
        self.rows = log.rows(self.isolation)

    def expect(self, found: list[Row], rows: list[Row], what: str, given: dict[str, int] | None = None) -> None:
        if given and self.log.hides_a_jump:
            # an entry within a segment that was not opened may be in the range, or have the offset of a record here
            bounds = given.get("start_offset"), given.get("end_offset")
            missing = [row for row in rows if row not in set(found) and not self.log.may_be_passed_over(row, *bounds)]
            assert not missing, f"{what}: {missing}"
            assert set(found) <= set(within([row for one in self.log.entries for row in one.rows], given)), what
        else:
            assert found == rows, what

    # --- ways to read ---------------------------------------------------------------------------------------------

    def read(self) -> None:
        for threads in (1, 3):
            with self.opened.read(
                NAMES, isolation_level=self.isolation, on_corrupt=self.on_corrupt, threads=threads
            ) as reader:
                found = rows_of(reader)
            if self.log.is_lost_after_damage:
                assert found == self.rows or reader.findings
                continue
            self.expect(found, self.rows, f"read with {threads} threads")
            if self.log.loses and self.isolation == "read_uncommitted":
                assert {one.rule for one in reader.findings} & {"segment overlap", "offset order"}

    def read_windows(self) -> None:
        for _ in range(4):
            given: Any = draw_window(self.draw, self.rows)
            options = given | {"isolation_level": self.isolation, "on_corrupt": self.on_corrupt}
            found = rows_of(self.opened.read(NAMES, threads=self.draw.choice((1, 3)), **options))
            self.expect(found, within(self.rows, given), f"read {given}", given)

    def small_results(self) -> None:
        options = ReadOptions(
            isolation_level=self.isolation, on_corrupt=self.on_corrupt, result_rows=1, result_bytes=1, batch_bytes=1
        )
        self.expect(rows_of(LogReader(self.opened.partitions, NAMES, options)), self.rows, "small results")

    def pieces(self) -> None:
        for size in self.draw.sample((60, 150, 400, 1 << 20), 2):
            given = draw_window(self.draw, self.rows) if self.draw.random() < 0.5 else {}
            self._in_pieces(size, given)

    def _in_pieces(self, size: int, given: dict[str, int]) -> None:
        [partition] = self.opened.partitions
        times: Any = {name: value for name, value in given.items() if name.endswith("timestamp")}
        options = ReadOptions(isolation_level=self.isolation, on_corrupt=self.on_corrupt, **times)
        ranges = {str(partition): (given.get("start_offset"), given.get("end_offset"))}
        found: list[Row] = []
        is_committed = self.isolation == "read_committed"
        for piece in splits.plan([partition], size, committed=is_committed, ranges=ranges):
            for split in pickle.loads(pickle.dumps(piece)):
                found += rows_of(splits.read_split(split, NAMES, options, []))
        self.expect(found, within(self.rows, given), f"pieces of {size}: {given}", given or {"end_offset": 1 << 62})

    def count(self) -> None:
        assert self.opened.count() == len(self.log.rows()), "count"

    def batches(self) -> None:
        entries = [entry for entry in self.log.entries if not entry.is_damage]
        ends = [batch.header.last_offset + 1 for batch in self.opened.batches()]
        assert ends == [entry.header_end for entry in entries], "batches"
        [partition] = self.opened.partitions
        assert stats_of(partition).seen.batches == len(entries), "stats"

    def end(self) -> None:
        [partition] = self.opened.partitions
        if not self.log.hides_a_jump:
            assert end_offset(partition) == self.log.end, "end_offset"

    def timestamp(self) -> None:
        [partition] = self.opened.partitions
        if not self.log.rows():
            return
        row = self.draw.choice(self.log.rows())
        later = [one for entry in self.log.entries for one in entry.rows]
        first = next(one.offset for one in later if one.timestamp >= row.timestamp)  # a marker's, too
        if not self.log.loses:
            assert splits.offset_of_timestamp(partition, row.timestamp) == first, "offset_of_timestamp"

    def polars(self) -> None:
        pl = pytest.importorskip("polars")
        from recordpress.polars import scan_log

        offset = self.draw.choice(self.rows).offset if self.rows else 5
        frame = scan_log(self.path, columns=["offset", "value"], isolation_level=self.isolation)
        found = frame.filter(pl.col("offset") >= offset).collect().rows()
        found = self._rows(found)
        self.expect(found, within(self.rows, {"start_offset": offset}), "polars", {"start_offset": offset})

    # --- commands -------------------------------------------------------------------------------------------------

    def _rows(self, found: list[tuple[int, bytes]]) -> list[Row]:
        known = {(row.offset, row.value): row for entry in self.log.entries for row in entry.rows}
        return [known[one] for one in found]

    def _printed(self, *arguments: object) -> list[Row]:
        from recordpress.cli import main

        options = ["--isolation-level", self.isolation, "-f", "jsonl", "--columns", "offset,value"]
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        err = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main([*map(str, arguments), str(self.path), *options])
        assert status in (0, 1), err.getvalue()
        lines = out.buffer.getvalue().splitlines()  # type: ignore[attr-defined]
        return self._rows([(row["offset"], row["value"].encode()) for row in map(json.loads, lines)])

    def dump(self) -> None:
        offset = self.draw.choice(self.rows).offset if self.rows else 5
        found = self._printed("dump", "--offset", f"{offset}..")
        self.expect(found, within(self.rows, {"start_offset": offset}), "dump", {"start_offset": offset})

    def find(self) -> None:
        found = self._printed("find", "--value-contains", " of ")
        self.expect(found, self.rows, "find")

    def tail(self) -> None:
        last = sorted(row.offset for row in self.rows)[-3:]
        found = self._printed("tail", "-n", 3)
        if not self.log.hides_a_jump:
            self.expect(found, [row for row in self.rows if row.offset in last], "tail")

    # --- copies ---------------------------------------------------------------------------------------------------

    def transcode(self) -> None:
        target = self.path.parent / "copy" / "t-0"
        recordpress.transcode(self.path, target, compression_type="lz4")
        found = rows_of(recordpress.open_log(target).read(NAMES))
        assert found == self.log.rows(), "transcode, then read"

    def repair(self) -> None:
        target = self.path.parent / "repaired" / "t-0"
        report = recordpress.log.repair(self.path, target)
        found = rows_of(recordpress.open_log(target).read(NAMES))
        rows = self.log.rows()
        assert set(found) <= {row for entry in self.log.entries for row in entry.rows}
        assert len(found) == len(set(found)) and (set(rows) <= set(found) or report.findings), "repair, then read"


ALWAYS: list[Callable[[Case], None]] = [Case.read, Case.read_windows, Case.pieces]
INTACT: list[Callable[[Case], None]] = [Case.count, Case.end, Case.small_results]
DEAR: list[Callable[[Case], None]] = [
    Case.batches, Case.timestamp, Case.polars, Case.dump, Case.find, Case.tail, Case.transcode, Case.repair,
]  # fmt: skip


def in_a_store(case: Case, name: str) -> Case:
    """The same directory in an object store, whose indexes are not trusted."""
    import fsspec

    fsspec.filesystem("memory").pipe({f"/{name}/t-0/{one.name}": one.read_bytes() for one in case.path.iterdir()})
    opened = recordpress.open_log(f"memory://{name}/t-0")
    case.opened = type(opened)(splits.with_checks(opened.partitions))
    return case


WRAPPERS = [name for name in KINDS if "wrapper" in name]
BEFORE = sorted(set(KINDS) - set(WRAPPERS))


def check(
    seed: int, directory: Path, dear: int, first: list[str] | None = None, kinds: list[str] | None = None
) -> Iterator[str]:
    """What is wrong about one drawn directory, with one of the kinds `first` and others."""
    draw = random.Random(seed)
    kinds = kinds or sorted(KINDS)
    first = first or kinds
    log = draw_odd_log(draw, first[seed % len(first)], kinds=kinds)
    case = Case(log, log.write(directory / f"{seed}" / "t-0"), draw)
    ways = ALWAYS if log.is_damaged else [*ALWAYS, *INTACT, *draw.sample(DEAR, dear)]
    for way in ALWAYS[:1] if log.is_lost_after_damage else ways:
        try:
            way(case)
        except Exception as error:
            kinds = ", ".join(log.kinds)
            yield f"{seed}: {way.__name__}, {case.isolation}, {kinds}: {type(error).__name__} {error}"[:600]


FOUND = (2477, 2846, 3076, 3084, 3692)  # by others: where readers differed, once


def test_every_way_to_read_gives_the_same_records(tmp_path: Path) -> None:
    wrong = [line for seed in (*range(draws(200)), *FOUND) for line in check(seed, tmp_path, 1, kinds=BEFORE)]
    assert not wrong, "\n".join(wrong)


def test_every_way_to_read_gives_the_same_records_of_old_wrappers(tmp_path: Path) -> None:
    wrong = [line for seed in range(draws(48)) for line in check(seed, tmp_path, 1, WRAPPERS)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("first", thinned(range(0, 60, 20), 3))
def test_a_store_with_checks_gives_the_same_records(first: int, tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    for seed in sampled(range(first, first + 20), 2):
        draw = random.Random(seed)
        log = draw_odd_log(draw, sorted(KINDS)[seed % len(KINDS)])
        if not log.is_lost_after_damage:
            case = in_a_store(Case(log, log.write(tmp_path / f"{seed}" / "t-0"), draw), f"odd-{seed}")
            for way in ALWAYS if log.is_damaged else [*ALWAYS, *INTACT]:
                way(case)


LOGS = 5000 if THOROUGH else 500


@pytest.mark.slow
@pytest.mark.parametrize("first", range(200, LOGS, 300))
def test_every_way_to_read_gives_the_same_records_of_many_logs(first: int, tmp_path: Path) -> None:
    wrong = [line for seed in range(first, first + 300) for line in check(seed, tmp_path, 1)]
    assert not wrong, "\n".join(wrong)
