"""A topic with another codec: `recordpress transcode` on its directory, against the usual way through a broker, where
Java's consumer reads it and Java's producer writes each record into a topic with that codec.

All CPU time counts: that of the command, and that of the client and the broker with their JITs and garbage collectors.
Kafka runs with the JVM options of its own scripts, and its client uses large batches and fetches.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import recordpress
from bench.answers import equal
from bench.corpus import SETS
from bench.peers.built import RECOMPRESS
from bench.race import Cell, Contender

ROOT = Path(__file__).parents[1]
SOURCE = os.path.dirname(os.path.dirname(recordpress.__file__))
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([SOURCE, os.environ.get("PYTHONPATH", "")])}
ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed command has its bytecode
LEVEL = "3"
LOG = "00000000000000000000.log"
# kafka-server-start.sh and kafka-run-class.sh
SERVER = ("java", "-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
          "-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent", "-XX:MaxInlineLevel=15",
          "-Djava.awt.headless=true", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")  # fmt: skip
TICKS = os.sysconf("SC_CLK_TCK")


def bench_recompress(race, tmp_path_factory, smoke):
    """1 GB of records in snappy batches of 5,000, to zstd 3."""
    records, batches = SETS["apache5000"], 4 if smoke else 850
    root = tmp_path_factory.mktemp("recompress")
    (root / "from-0").mkdir()
    (root / "from-0" / LOG).write_bytes(records.batches("snappy", batches))
    total = records.count * batches
    cell = Cell("a topic under another codec", records.name, "snappy to zstd", total, records.size * batches)
    ours = _transcode(root, total)
    if not RECOMPRESS.file.exists():
        race(cell, ours)
        return
    with _serving(root / "from-0" / LOG) as broker:
        race(cell, ours, _through(broker, total))
    shutil.rmtree(root)


def _transcode(root: Path, total: int) -> Contender:
    source, target = root / "from-0", root / "to-0"
    command = [sys.executable, "-m", "recordpress", "transcode", str(source), str(target), "--codec", "zstd"]

    def run(times: int, clock: str) -> float:
        spent = _Spent()
        for _ in range(times):
            shutil.rmtree(target, ignore_errors=True)
            subprocess.run([*command, "--level", LEVEL], check=True, capture_output=True, env=ENVIRONMENT)
        return spent.seconds(clock)

    def check() -> None:
        run(1, "perf_counter")
        equal(recordpress.open_log(target).count(), total, "record count")

    return Contender("recordpress", lambda: None, check, elsewhere=run, rounds=2)


def _through(broker: Any, total: int) -> Contender:
    """The broker's client."""
    copied = []

    def run(times: int, clock: str) -> float:
        spent = _Spent(broker.pid)
        for _ in range(times):
            command = [*RECOMPRESS.command, "copy", broker.address, "from", "to", "zstd", LEVEL]
            copied.append(int(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        return spent.seconds(clock)

    def check() -> None:
        """This run warms the broker, too."""
        run(1, "perf_counter")
        log = recordpress.open_log(broker.data / "to-0")
        codecs = {batch.compression_type for batch in log.batches()}
        equal((copied, log.count(), codecs), ([total], total, {"zstd"}), "copied records")

    return Contender("consume and produce", lambda: None, check, elsewhere=run, rounds=2)


@contextmanager
def _serving(log: Path) -> Iterator[Any]:
    """A broker whose topic "from" has these records, with an empty topic "to"."""
    specification = importlib.util.spec_from_file_location("broker", ROOT / "tests/log/broker.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    directory = log.parents[1] / "broker"
    directory.mkdir()
    broker = module.Broker(directory, java=SERVER)
    with broker:
        subprocess.run([*RECOMPRESS.command, "create", broker.address, "from", "to"], check=True, capture_output=True)
    for path in (broker.data / "from-0").iterdir():
        if path.name != "partition.metadata":  # the topic's id
            path.unlink()
    shutil.copy(log, broker.data / "from-0")
    with broker:
        yield broker


class _Spent:
    """Seconds since it was made: the wall's, or the CPU time of processes that were started and ended since, and of one
    that continues."""

    def __init__(self, process: int | None = None) -> None:
        self._process = process
        self._wall, self._cpu = time.perf_counter(), self._spent()

    def _spent(self) -> float:
        times = os.times()
        spent = times.children_user + times.children_system
        if self._process is not None:
            # after the name, which may hold anything: utime and stime are fields 14 and 15 of proc(5)
            fields = Path(f"/proc/{self._process}/stat").read_text().rpartition(")")[2].split()
            spent += (int(fields[11]) + int(fields[12])) / TICKS
        return spent

    def seconds(self, clock: str) -> float:
        return time.perf_counter() - self._wall if clock == "perf_counter" else self._spent() - self._cpu
