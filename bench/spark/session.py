"""A quiet Spark, and its cost: CPU seconds of driver, JVM and Python workers."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    wall: float
    cpu: float  # of this process and all that it started


def start(conf: dict[str, str] | None = None) -> Any:
    """A session with Java's usual compilers and collector, as users have it."""
    from pyspark.sql import SparkSession

    here = Path(__file__)  # workers import bench.spark.prebuilt, and begin with site/sitecustomize.py
    paths = [str(here.parents[2]), str(here.parent / "site"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = (
        SparkSession.builder.master("local[*]")
        .appName("recordpress benchmarks")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.shuffle.partitions", "2")
    )
    for name, value in (conf or {}).items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def cost(work: Callable[[], Any], more: tuple[int, ...] = ()) -> Cost:
    """What one call takes; `more` are processes that work for it and were started by others (a broker)."""
    roots = (os.getpid(), *more)
    cpu, wall = cpu_seconds(*roots), time.perf_counter()
    work()
    return Cost(time.perf_counter() - wall, cpu_seconds(*roots) - cpu)


def cpu_seconds(*roots: int) -> float:
    """User and system time of these processes and their descendants, with those that have ended (proc_pid_stat(5))."""
    ticks, children = _processes()
    return sum(ticks.get(pid, 0) for pid in _tree(roots, children)) / _TICKS


def _processes() -> tuple[dict[int, int], dict[int, list[int]]]:
    ticks: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended; its parent counts it
        ticks[int(name)] = sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
        children.setdefault(int(fields[1]), []).append(int(name))
    return ticks, children


def _tree(roots: tuple[int, ...], children: dict[int, list[int]]) -> set[int]:
    found: set[int] = set()
    todo = list(roots)
    while todo:
        pid = todo.pop()
        if pid not in found:
            found.add(pid)
            todo += children.get(pid, [])
    return found


def python_workers() -> list[int]:
    """The processes in which Spark runs Python, their daemon included."""
    tree = _tree((os.getpid(),), _processes()[1]) - {os.getpid()}
    return [pid for pid in tree if "pyspark.worker" in _command(pid)]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""
