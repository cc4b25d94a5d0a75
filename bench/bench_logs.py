"""Logs: a directory read to its end, against the same record sets in memory; the memory that a large segment takes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import recordpress
from bench.answers import COLUMNS, equal
from bench.corpus import SETS, RecordSet
from bench.race import Cell, Contender
from recordpress.files import LocalFileSystem, RandomAccessFile
from recordpress.log._header_walk import HeaderWalk

SEGMENTS = 4


def _segments(records: RecordSet, codec: str, batches: int) -> list[bytes]:
    """The record set of each segment; all have the same offsets, so each is read as its own partition."""
    return [records.batches(codec, batches // SEGMENTS)] * SEGMENTS


def _log_dir(root: Path, segments: list[bytes]) -> Path:
    for number, data in enumerate(segments):
        directory = root / f"topic-{number}"
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / "00000000000000000000.log"
        if not path.exists():
            path.write_bytes(data)
    return root


@pytest.mark.parametrize("codec", ["none", "zstd"])
def bench_read_directory(race, tmp_path_factory, smoke, codec):
    """Four segments of 50 batches of 5,000 records, page cache warm: open, list, read, close."""
    records, batches = SETS["apache5000"], SEGMENTS if smoke else 50 * SEGMENTS
    segments = _segments(records, codec, batches)
    root = _log_dir(tmp_path_factory.mktemp("directory"), segments)
    total = records.count * batches

    def read() -> int:
        return sum(columns.num_rows for columns in recordpress.open_log(root).read(COLUMNS))

    def in_memory() -> int:
        return sum(
            columns.num_rows
            for data in segments
            for columns in recordpress.iter_columns(data, COLUMNS, batch_bytes=_like(records, codec))
        )

    race(
        Cell("read a directory", records.name, codec, total, records.size * batches),
        read,
        Contender("in memory", in_memory, lambda: equal(in_memory(), total, "record count")),
        check=lambda: equal(read(), total, "record count"),
    )


def _like(records: RecordSet, codec: str) -> int:
    """Bytes of entries that give columns of 5 MB, as `Log.read` makes them."""
    return (5 << 20) * len(records.batch(codec)) // records.size


class _Noted(RandomAccessFile):
    """A file that keeps a note of each read."""

    def __init__(self, file: RandomAccessFile) -> None:
        self.file, self.name, self.size = file, file.name, file.size
        self.reads: list[tuple[int, int]] = []

    def read_at(self, position: int, length: int) -> bytes:
        self.reads.append((position, length))
        return self.file.read_at(position, length)

    def close(self) -> None:
        self.file.close()


def bench_header_hop(race, log_file, smoke):
    """8,000 batches of 4.8 kB by their headers, page cache warm, against a loop of the same reads and nothing else."""
    records, batches = SETS["apache100"], 80 if smoke else 8000
    path = log_file(f"apache100.zstd.{batches}.log", records.batches("zstd", batches))
    with LocalFileSystem().open(str(path)) as file:
        noted = _Noted(file)
        passed = sum(1 for _ in HeaderWalk(noted))
        buffer = memoryview(bytearray(max(length for _, length in noted.reads)))

        def hop() -> None:
            HeaderWalk(file).find_offset(1 << 62)

        def bare_reads() -> None:
            for position, length in noted.reads:
                file.read_into(position, buffer[:length])

        def check() -> None:
            equal(passed, batches, "batches")
            if len(noted.reads) > min(passed, file.size // (64 << 10) + 1):
                raise AssertionError(f"{len(noted.reads)} reads of {file.size} bytes")

        cell = Cell("hop from header to header", records.name, "zstd", batches, unit="batches")
        race(cell, hop, Contender("bare reads", bare_reads), check=check)


# Growth in KiB from after the import to the peak; writing 5 to clear_refs sets the peak back (proc(5)).
READ = """
import re, sys
import recordpress, recordpress.log
recordpress.log.Log
def kib(name):
    return int(re.search(name + r":\\s+(\\d+) kB", open("/proc/self/status").read())[1])
open("/proc/self/clear_refs", "w").write("5")
before = kib("VmRSS")
rows = sum(columns.num_rows for columns in recordpress.open_log(sys.argv[1]).read(threads=int(sys.argv[2])))
print(rows, kib("VmHWM") - before)
"""


@pytest.mark.parametrize("threads", [1, 2])
def bench_memory_of_a_read(race, tmp_path_factory, smoke, threads):
    """A segment of 1 GB, 6,900 zstd batches of 5,000 records, which hold 8 GB."""
    records, times = SETS["apache5000"], 1 if smoke else 69
    batches = 4 if smoke else 100
    directory = tmp_path_factory.mktemp("memory") / "topic-0"
    directory.mkdir()
    path = directory / "00000000000000000000.log"
    with open(path, "wb") as file:
        for _ in range(times):
            file.write(records.batches("zstd", batches))
    source = os.path.dirname(os.path.dirname(recordpress.__file__))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    output = subprocess.run(
        [sys.executable, "-c", READ, str(directory), str(threads)],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    ).stdout
    path.unlink()
    rows, grown = map(int, output.split())
    total = records.count * batches * times
    race(
        Cell(f"peak memory, reading 1 GB, {threads} threads", records.name, "zstd", 1, records.size),
        lambda: None,
        check=lambda: equal(rows, total, "record count"),
        growth_mib=grown / 1024,
    )
