"""Whole commands: `ls` of many segments, and the cost of reading and transcoding per GB of few and of many segments,
minus the cost of a log of one batch."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

import recordpress
from bench.answers import equal
from bench.corpus import SETS
from bench.race import Cell

SOURCE = os.path.dirname(os.path.dirname(recordpress.__file__))
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([SOURCE, os.environ.get("PYTHONPATH", "")])}
ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed command has its bytecode
SEGMENT_BATCHES = 317  # 0.1 GB
LARGEST = "RECORDPRESS_BENCH_SEGMENTS"  # 100 of them are 10 GB
READ = "import sys, recordpress; print(sum(columns.num_rows for columns in recordpress.open_log(sys.argv[1]).read()))"


def _run(command: Sequence[str]) -> tuple[bytes, float, float]:
    """What it printed, its CPU time and the wall's, in seconds."""
    before, started = os.times(), time.perf_counter()
    output = subprocess.run([sys.executable, *command], check=True, capture_output=True, env=ENVIRONMENT).stdout
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return output, cpu, time.perf_counter() - started


def bench_ls(race, tmp_path_factory, smoke):
    """1,000 segments of a partition, with their indexes."""
    segments = 10 if smoke else 1000
    directory = tmp_path_factory.mktemp("ls") / "topic-0"
    directory.mkdir()
    batch = SETS["apache100"].batch("zstd")
    for number in range(segments):
        stem = directory / f"{100 * number:020}"
        stem.with_suffix(".log").write_bytes((100 * number).to_bytes(8, "big") + batch[8:])
        for suffix in (".index", ".timeindex"):
            stem.with_suffix(suffix).touch()
    runs = [_run(["-m", "recordpress", "ls", str(directory)]) for _ in range(1 if smoke else 5)]
    race(
        Cell("ls of 1,000 segments", "apache100", "zstd", segments, unit="segments"),
        lambda: None,
        check=lambda: equal(b"topic" in runs[0][0], True, "the table"),
        cpu_seconds=min(cpu for _, cpu, _ in runs),
        wall_seconds=min(wall for _, _, wall in runs),
    )


def _log(root: Path, segment: Path, count: int) -> Path:
    """A log dir of so many partitions, all of them links to one segment."""
    for number in range(count):
        directory = root / f"topic-{number}"
        directory.mkdir(parents=True)
        os.link(segment, directory / segment.name)
    return root


@pytest.mark.parametrize("work", ["read", "transcode"])
def bench_flat(race, tmp_path_factory, smoke, work):
    """snappy segments of 0.1 GB, read or under zstd 1: one, ten, and RECORDPRESS_BENCH_SEGMENTS."""
    records, root = SETS["apache5000"], tmp_path_factory.mktemp("flat")
    batches = 2 if smoke else SEGMENT_BATCHES
    segment, single = root / "00000000000000000000.log", root / "one" / "00000000000000000000.log"
    segment.write_bytes(records.batches("snappy", batches))
    single.parent.mkdir()
    single.write_bytes(records.batch("snappy"))
    counts = [1, 2] if smoke else [1, 10, *map(int, os.environ.get(LARGEST, "").split())]

    def seconds(log: Path, rows: int, rounds: int) -> float:
        target = root / "copy"
        command = ["-m", "recordpress", "transcode", str(log), str(target), "--codec", "zstd", "--level", "1"]
        taken = []
        for _ in range(rounds):
            output, cpu, _ = _run(["-c", READ, str(log)] if work == "read" else command)
            if work == "read":
                equal(int(output), rows, "record count")
            else:
                equal(recordpress.open_log(target).count(), rows, "record count")
                shutil.rmtree(target)
            taken.append(cpu)
        return min(taken)

    fixed = seconds(_log(root / "single", single, 1), records.count, 1 if smoke else 5)
    size = segment.stat().st_size / 1e9
    costs = {}
    for count in counts:
        log = _log(root / f"log{count}", segment, count)
        rounds = 1 if smoke or count > 10 else 5 if count == 1 else 2
        cost = seconds(log, count * batches * records.count, rounds) - fixed
        costs[count] = max(cost, 1e-6) / (count * size)  # the two batches of a smoke run may cost nothing
    race(
        Cell(f"{work}, by the GB of segments", records.name, "snappy", counts[-1] * batches * records.count),
        lambda: None,
        flat_percent=100 * (max(costs.values()) / min(costs.values()) - 1),
        **{f"s per GB of {count * size:.1f}": cost for count, cost in costs.items()},
    )
    shutil.rmtree(root)
