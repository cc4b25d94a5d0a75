"""A log as lines of text: `recordpress dump` against Kafka's own DumpLogSegments, both as commands that write to a
file.

Times are wall times, start included, because both commands may use all processors.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import recordpress
from bench.answers import equal
from bench.corpus import SETS
from bench.race import Cell, Contender

ROOT = Path(__file__).parents[1]
JARS = ROOT / "build/broker"  # `make -f labs.mk broker` puts them there
SOURCE = os.path.dirname(os.path.dirname(recordpress.__file__))
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([SOURCE, os.environ.get("PYTHONPATH", "")])}
ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed command has its bytecode


def _command(name: str, command: list[str], target: Path, lines: int, rounds: int) -> Contender:
    """A command as a contender."""

    def run(times: int, _clock: str) -> float:
        seconds = 0.0
        for _ in range(times):
            target.unlink(missing_ok=True)  # half a gigabyte takes a while, which is not the command's
            with open(target, "wb") as file:
                started = time.perf_counter()
                subprocess.run(command, check=True, stdout=file, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
                seconds += time.perf_counter() - started
        return seconds

    def check() -> None:
        run(1, "")
        with open(target, "rb") as file:
            found = sum(line.startswith((b'{"topic"', b"| offset")) for line in file)
        target.unlink()
        equal(found, lines, f"lines of {name}")

    return Contender(name, lambda: None, check, elsewhere=run, rounds=rounds)


def bench_dump_json_lines(race_by_the_wall, tmp_path_factory, smoke):
    """1.5 million records of 300 zstd batches."""
    records, batches = SETS["apache5000"], 2 if smoke else 300
    directory = tmp_path_factory.mktemp("dump") / "topic-0"
    directory.mkdir()
    path = directory / "00000000000000000000.log"
    path.write_bytes(records.batches("zstd", batches))
    total = records.count * batches
    target = directory.parent / "lines"
    ours = [sys.executable, "-m", "recordpress", "dump", str(directory), "-f", "jsonl"]
    tool = ["java", "-XX:+UseSerialGC", "-cp", f"{JARS}/*", "org.apache.kafka.tools.DumpLogSegments"]
    rivals = []
    if (JARS / ".jars").exists():
        command = [*tool, "--print-data-log", "--files", str(path)]
        rivals.append(_command("DumpLogSegments", command, target, total, rounds=2))
    race_by_the_wall(
        Cell("dump as JSON lines", records.name, "zstd", total, records.size * batches),
        _command("recordpress", ours, target, total, rounds=3),
        *rivals,
    )
