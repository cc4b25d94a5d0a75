"""format("recordpress") and recordpress.spark.read: next to prebuilt Arrow batches, per GB, on all cores, and in
memory."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import recordpress.spark
from bench.answers import equal
from bench.spark import session
from bench.spark.data import Made, make
from bench.spark.prebuilt import NAMES, Prebuilt
from bench.spark.turns import Asked, Bench, median_cpu
from recordpress.spark.schema import spark_schema

TASKS = 2
PREBUILT_ROWS = 10_000  # as fast as any other number
LEAST_FLAT = 84  # batches, 0.1 GB under none


def to_nothing(rows: Any) -> Callable[[], Any]:
    """Every column of every row is made, and thrown away."""
    return lambda: rows().write.format("noop").mode("overwrite").save()


def of_log(spark: Any, path: Path, columns: tuple[str, ...] = (), **options: Any) -> Callable[[], Any]:
    chosen = {"columns": ",".join(columns)} if columns else {}
    return lambda: spark.read.format("recordpress").options(**chosen, **options).load(str(path))


def of_prebuilt(spark: Any, made: Made, columns: tuple[str, ...] = NAMES) -> Callable[[], Any]:
    options = {"set": made.record_set, "rows": made.rows, "tasks": TASKS, "batchRows": PREBUILT_ROWS}
    reader = spark.read.format("prebuilt").schema(spark_schema(columns)).options(**options)
    return lambda: reader.load()


def check(rows: Any, made: Made) -> None:
    """As many rows, offsets and bytes as were put in."""
    size = "sum(coalesce(length(key), 0) + coalesce(length(value), 0))"
    [found] = rows().selectExpr("count(*)", "count(DISTINCT partition, offset)", size, "max(timestampType)").collect()
    equal(tuple(found), (made.rows, made.rows, made.value_size, 0), "rows, offsets, bytes, timestamp types")


def ceiling(bench: Bench) -> None:
    """All columns under zstd and none, and `offset` alone, next to a source of prebuilt batches."""
    bench.spark.dataSource.register(Prebuilt)
    for codec, least in (("zstd", 0.85), ("none", 0.92)):
        with bench.directory() as root:
            made = make(root / codec, "apache5000", codec, bench.batches // TASKS, partitions=TASKS)
            ours = of_log(bench.spark, made.path, minPartitions=TASKS, maxPartitionBytes=1 << 40)
            check(ours, made)
            check_prebuilt = of_prebuilt(bench.spark, made)().count()
            equal(check_prebuilt, made.rows, "prebuilt rows")
            read = partial(
                recordpress.spark.read, bench.spark, made.path, minPartitions=TASKS, maxPartitionBytes=1 << 40
            )
            check(read, made)
            bench.table.race(
                f"all columns, {codec}",
                {
                    "prebuilt batches": to_nothing(of_prebuilt(bench.spark, made)),
                    "recordpress": to_nothing(ours),
                    "recordpress, read": to_nothing(read),
                },
                rows=made.rows,
                asked=[Asked("recordpress", "prebuilt batches", "cpu", least)],
            )
            alone = of_log(bench.spark, made.path, ("offset",), minPartitions=TASKS, maxPartitionBytes=1 << 40)
            equal(alone().selectExpr("count(offset)").collect()[0][0], made.rows, "offsets")
            bench.table.race(
                f"one column, {codec}",
                {
                    "all columns": to_nothing(ours),
                    "offset alone": to_nothing(alone),
                    "prebuilt offset": to_nothing(of_prebuilt(bench.spark, made, ("offset",))),
                },
                rows=made.rows,
                asked=[Asked("offset alone", "all columns", "cpu", 2)],
            )


def headers(bench: Bench) -> None:
    """Records counted from headers (rows=batches), beside counting them as rows."""
    with bench.directory() as root:
        made = make(root / "zstd", "apache5000", "zstd", bench.batches // TASKS, partitions=TASKS)

        def counted() -> int:
            rows = of_log(bench.spark, made.path, ("recordsCount",), rows="batches")()
            return rows.selectExpr("sum(recordsCount)").collect()[0][0]

        equal(counted(), made.rows, "records by headers")
        rows = of_log(bench.spark, made.path)
        contenders = {"all rows": to_nothing(rows), "headers": counted}
        bench.table.race("records counted", contenders, rows=made.rows)


def flat(bench: Bench) -> None:
    """CPU per GB of segments, less that of a query over one batch, for logs from 0.1 GB to all batches asked for.

    And per GB that a log has more than the one before: no fixed cost is in that.
    """
    with bench.directory() as root:
        small = make(root / "one", "apache5000", "none", 1, partitions=TASKS)
        before = (0, 0.0)
        for batches in sorted({max(bench.batches // share, LEAST_FLAT) for share in (100, 10, 1)}):
            made = make(root / str(batches), "apache5000", "none", batches // TASKS, partitions=TASKS)
            rows = to_nothing(of_log(bench.spark, made.path))
            fixed = to_nothing(of_log(bench.spark, small.path))
            cpu = median_cpu(bench.table.turns({"recordpress": rows}, less={"recordpress": fixed})["recordpress"])
            more = (cpu - before[1]) / (made.size - before[0]) * 1e9
            before = (made.size, cpu)
            text = f"{cpu / made.size * 1e9:.2f} CPU s per GB, less a query over one batch; {more:.2f} per GB more"
            bench.table.note(f"flat: {made.size / 1e9:.2f} GB", text)


def cores(bench: Bench) -> None:
    """One segment is cut: CPU seconds per second of wall, and how many tasks."""
    with bench.directory() as root:
        made = make(root / "one", "apache5000", "zstd", bench.batches)
        rows = of_log(bench.spark, made.path)
        check(rows, made)
        tasks = rows().rdd.getNumPartitions()
        cost = min(bench.table.turns({"recordpress": to_nothing(rows)})["recordpress"], key=lambda one: one.wall)
        busy = f"{cost.cpu / cost.wall:.2f} of {len(os.sched_getaffinity(0))} cores busy, {tasks} tasks"
        bench.table.note(f"one segment of {made.size / 1e9:.2f} GB", busy)


def memory(bench: Bench) -> None:
    """The most that a Python worker holds while it reads one segment in one task."""
    with bench.directory() as root:
        made = make(root / "one", "apache5000", "zstd", bench.batches)
        rows = of_log(bench.spark, made.path, minPartitions=1, maxPartitionBytes=1 << 40)
        equal(rows().rdd.getNumPartitions(), 1, "tasks")
        with Watched() as watched:
            to_nothing(rows)()
        title = f"memory, a segment of {made.size / 1e9:.2f} GB: MB in a Python worker"
        bench.table.judge(title, watched.most / 1e6, most=300)


class Watched:
    """The largest resident set of a Python worker, as the kernel remembers it (VmHWM, proc_pid_status(5)). What workers
    of earlier queries held is forgotten first (proc_pid_clear_refs(5))."""

    def __init__(self) -> None:
        self.most = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Watched:
        for pid in session.python_workers():
            with suppress(OSError):
                Path(f"/proc/{pid}/clear_refs").write_text("5")
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_over.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._is_over.wait(0.2):
            self._look()

    def _look(self) -> None:
        for pid in session.python_workers():
            try:
                status = Path(f"/proc/{pid}/status").read_text()
            except OSError:
                continue
            if found := re.search(r"VmHWM:\s+(\d+) kB", status):
                self.most = max(self.most, int(found[1]) << 10)
