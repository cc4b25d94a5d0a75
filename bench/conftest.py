"""The conventions of a benchmark file are in README.md ("Write one"); this file holds the fixtures and the report."""

import functools
import time
import zlib

import pytest
from pytest_benchmark.utils import load_timer

from bench import race as racing
from bench import report
from bench.ceiling import time_memcpy
from bench.peers.records import Peer
from bench.peers.worker import Worker


@pytest.fixture
def race(benchmark, request):
    """`race.race` for this benchmark, with the clock that --benchmark-timer names."""
    return functools.partial(racing.race, benchmark, load_timer(request.config.getoption("benchmark_timer")).target)


@pytest.fixture
def race_by_the_wall(benchmark):
    """The same for work on several threads, whose CPU times add up."""
    return functools.partial(racing.race, benchmark, time.perf_counter)


@pytest.fixture(scope="session")
def smoke(request) -> bool:
    """Whether this run only checks that every benchmark works: files are short then."""
    return request.config.getoption("benchmark_disable")


@pytest.fixture(scope="session")
def log_file(tmp_path_factory):
    """Write bytes once to a file of the session's; gives its path."""
    folder = tmp_path_factory.mktemp("logs")

    def write(name: str, data: bytes):
        path = folder / name
        if not path.exists():
            path.write_bytes(data)
        return path

    return write


@pytest.fixture
def own_process(log_file):
    """A contender that does a job of peers/worker.py on `data` in a process of its own, until the benchmark ends."""
    workers = []

    def contender(name: str, peer: Peer, job: str, data: bytes, codec: str = "none", aged: bool = False,
                  **options: object) -> racing.Contender:
        path = log_file(f"{zlib.crc32(data):08x}.log", data)
        worker = Worker(peer.name, job, str(path), codec, *["aged"] * aged)
        workers.append(worker)
        return racing.Contender(name, lambda: worker.seconds(1), elsewhere=worker.seconds, **options)

    yield contender
    for worker in workers:
        worker.close()


def pytest_terminal_summary(terminalreporter, config):
    session = getattr(config, "_benchmarksession", None)
    measured = report.lines([dict(entry.extra_info) for entry in session.benchmarks]) if session else []
    if not measured:
        return
    copied = 16 << 20
    roof = copied * 20 / time_memcpy(copied, 20) / 1e9
    terminalreporter.section(f"ratios of interleaved rounds (memcpy of 16 MiB here: {roof:.1f} GB/s)")
    terminalreporter.write_line(report.plain(measured))
