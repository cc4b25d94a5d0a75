"""Fixtures and the report; README.md has the conventions of a benchmark file ("Writing a benchmark")."""

import functools
import sys
import time
import zlib
from collections.abc import Sequence

import pytest
from pytest_benchmark.utils import load_timer

from bench import race as racing, report
from bench.answers import equal
from bench.ceiling import libraries_used, time_memcpy
from bench.peers.built import PROGRAMS
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
def elsewhere():
    """A contender that is a separate process, started by a command line, until the benchmark ends."""
    workers = []

    def contender(name: str, command: Sequence[str], told: str | None = None, **options: object) -> racing.Contender:
        worker = Worker(command)
        workers.append(worker)
        if told is not None:
            options["check"] = lambda: equal(worker.ask("answer"), told, f"records of {name}")
        return racing.Contender(name, lambda: worker.seconds(1), elsewhere=worker.seconds, **options)

    yield contender
    for worker in workers:
        worker.close()


@pytest.fixture
def own_process(elsewhere, log_file):
    """A contender that does a job of peers/worker.py on `data`."""

    def contender(
        name: str, peer: Peer, job: str, data: bytes, codec: str = "none", long_lived: bool = False, **options: object
    ) -> racing.Contender:
        path = log_file(f"{zlib.crc32(data):08x}.log", data)
        command = [
            sys.executable,
            "-m",
            "bench.peers.worker",
            peer.name,
            job,
            str(path),
            codec,
            *["long-lived"] * long_lived,
        ]
        return elsewhere(name, command, **options)

    return contender


@pytest.fixture
def built(elsewhere, log_file):
    """The programs of peers/built.py as contenders, as many as there are; `told` is what each has to answer."""

    def contenders(job: str, data: bytes, told: str, **options: object) -> list[racing.Contender]:
        path = log_file(f"{zlib.crc32(data):08x}.log", data)
        return [
            elsewhere(program.name, [*program.command, job, str(path)], told, **options)
            for program in PROGRAMS
            if job in program.jobs and program.file.exists()
        ]

    return contenders


def pytest_terminal_summary(terminalreporter, config):
    session = getattr(config, "_benchmarksession", None)
    infos = [dict(entry.extra_info) for entry in session.benchmarks] if session else []
    measured, failed = report.lines(infos), report.failures(infos)
    if not measured and not failed:
        return
    copied = 16 << 20
    roof = copied * 20 / time_memcpy(copied, 20) / 1e9
    terminalreporter.section("ratios of interleaved rounds")
    terminalreporter.write_line(f"with {libraries_used()}; memcpy of 16 MiB here: {roof:.1f} GB/s")
    terminalreporter.write_line(report.plain(measured, failed))
