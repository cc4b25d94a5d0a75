"""Jobs that open files in the tasks, compared with the same work without Spark, and with rows through the JVM."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import recordpress
import recordpress.spark
from bench.answers import equal
from bench.spark.data import make
from bench.spark.reading import check, of_log, to_nothing
from bench.spark.turns import Asked, Bench, median_cpu

LEVEL = 3  # of zstd, Kafka's own default


def _copied(directories: tuple[str, str]) -> int:
    source, target = directories
    manifest = recordpress.transcode(source, target, "zstd", level=LEVEL)
    return sum(segment.records for partition in manifest.partitions for segment in partition.segments)


def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=get_context("spawn"))


def transcode(bench: Bench) -> None:
    """snappy to zstd: recordpress.spark.transcode and a warm pool of as many processes, one partition a call."""
    with bench.directory() as root, _pool() as pool:
        partitions = 4
        made = make(root / "log", "apache5000", "snappy", bench.batches // partitions, partitions=partitions)
        directories = sorted(made.path.iterdir())

        def by_pool() -> int:
            shutil.rmtree(root / "copy", ignore_errors=True)
            (root / "copy").mkdir()
            pairs = [(str(one), str(root / "copy" / one.name)) for one in directories]
            return sum(pool.map(_copied, pairs))

        def by_spark() -> int:
            shutil.rmtree(root / "copy", ignore_errors=True)
            done = recordpress.spark.transcode(bench.spark, made.path, root / "copy", "zstd", level=LEVEL)
            return sum(row.records for row in done.collect())

        equal((by_pool(), by_spark()), (made.rows, made.rows), "records")
        contenders = {"a pool of processes": by_pool, "recordpress.spark.transcode": by_spark}
        asked = [Asked("recordpress.spark.transcode", "a pool of processes", "wall", 1 / 1.1)]
        bench.table.race("transcode, snappy to zstd", contenders, rows=made.rows, asked=asked)


def parquet(bench: Bench) -> None:
    """recordpress.spark.to_parquet beside read + df.write.parquet, both with zstd."""
    with bench.directory() as root:
        made = make(root / "log", "apache5000", "zstd", bench.batches // 2, partitions=2)

        def by_rows() -> None:
            rows = of_log(bench.spark, made.path)().drop("topic", "partition")
            rows.write.option("compression", "zstd").mode("overwrite").parquet(str(root / "rows"))

        def by_tasks() -> None:
            shutil.rmtree(root / "tasks", ignore_errors=True)
            recordpress.spark.to_parquet(bench.spark, made.path, root / "tasks")

        for work, place in ((by_rows, "rows"), (by_tasks, "tasks")):
            work()
            found = bench.spark.read.parquet(str(root / place)).selectExpr("count(*)", "sum(length(value))").collect()
            equal(found[0][0], made.rows, "rows")
        bench.table.race(
            "to Parquet",
            {"read + df.write.parquet": by_rows, "recordpress.spark.to_parquet": by_tasks},
            rows=made.rows,
            asked=[
                Asked("recordpress.spark.to_parquet", "read + df.write.parquet", what, 3) for what in ("wall", "cpu")
            ],
        )


def tiny(bench: Bench) -> None:
    """Many segments of one batch of 100 records: reading them, and what four times as many add to a job (an inventory,
    which reads headers alone)."""
    with bench.directory() as root:
        made = {}
        for name, count in (("few", bench.segments), ("many", 4 * bench.segments)):
            made[name] = make(root / name, "apache100", "zstd", 1, partitions=10, segments=count // 10)
        rows = of_log(bench.spark, made["few"].path)
        check(rows, made["few"])
        few = bench.table.turns({"read": to_nothing(rows)})["read"]
        bench.table.judge(f"{bench.segments} tiny segments: CPU s to read", median_cpu(few), most=10)

        def inventory(path: Path) -> int:
            return sum(row.segments for row in recordpress.spark.inventory(bench.spark, path).collect())

        equal(inventory(made["many"].path), 4 * bench.segments, "segments")
        costs = bench.table.turns({name: lambda name=name: inventory(made[name].path) for name in made})
        ratio = median_cpu(costs["many"]) / median_cpu(costs["few"])
        bench.table.judge(f"inventory of {4 * bench.segments}: CPU s, over a fourth", ratio, most=4)
