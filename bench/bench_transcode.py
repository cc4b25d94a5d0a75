"""Segments with another codec: against recompressing alone, the cost of verification, threads, and memory."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import recordpress
from bench.answers import equal
from bench.corpus import SETS
from bench.race import Cell, Contender, race as race_by
from recordpress.log import Manifest, RecordDigest

LEVEL = 3

# Growth in KiB from after the import to the peak; writing 5 to clear_refs sets the peak back (proc(5)).
COPY = """
import re, sys
import recordpress
def kib(name):
    return int(re.search(name + r":\\s+(\\d+) kB", open("/proc/self/status").read())[1])
open("/proc/self/clear_refs", "w").write("5")
before = kib("VmRSS")
copy = recordpress.transcode(sys.argv[1], sys.argv[2], "zstd", level=1, threads=2)
print(copy.totals["records"], kib("VmHWM") - before)
"""


def _segment(log_file, smoke: bool, codec: str = "snappy", batches: int = 200) -> tuple[Path, int]:
    batches = 4 if smoke else batches
    return log_file(f"transcode.{codec}.{batches}.log", SETS["apache5000"].batches(codec, batches)), batches


def _copy(path: Path, **options: object) -> Path:
    target = path.with_name("copy.log")
    target.unlink(missing_ok=True)
    recordpress.transcode(path, target, "zstd", level=LEVEL, **options)
    return target


def _digest(path: Path) -> RecordDigest:
    found = RecordDigest()
    found.update(path.read_bytes())
    return found


def _check(path: Path, records: int, **options: object) -> None:
    before, after = _digest(path), _digest(_copy(path, **options))
    equal((after.hexdigest(), after.records), (before.hexdigest(), records), "digest")


def _proof_percent(path: Path) -> float:
    """What decompressing, comparing and reading back take of the CPU that compressing takes, in per cent. The batches
    are the copy's; the least of some rounds."""
    batches = list(recordpress.read_batches(_copy(path).read_bytes()))
    records = [recordpress.decompress(batch.payload, "zstd") for batch in batches]
    out = bytearray(max(map(len, records)))
    whole = _copy(path).read_bytes()

    def compress() -> None:
        for data in records:
            recordpress.compress(data, "zstd", LEVEL)

    def prove() -> None:
        for batch, data in zip(batches, records, strict=True):
            size = recordpress.decompress_into(batch.payload, out, "zstd")
            if bytes(memoryview(out)[:size]) != data:
                raise ValueError("wrong answer: decompressed bytes")
        recordpress.crc32c(whole)

    def least(call) -> float:
        took = []
        for _ in range(3):
            started = time.process_time()
            call()
            took.append(time.process_time() - started)
        return min(took)

    return 100 * least(prove) / max(least(compress), 1e-9)


def bench_transcode(race, log_file, smoke):
    """snappy to zstd 3, with proof, digest and reading back, against recompressing in memory alone."""
    records = SETS["apache5000"]
    path, batches = _segment(log_file, smoke)
    data = path.read_bytes()
    total = records.count * batches
    race(
        Cell("transcode a segment", records.name, "snappy to zstd", total, records.size * batches),
        lambda: _copy(path),
        Contender("recompress alone", lambda: recordpress.recompress(data, "zstd", LEVEL)),
        check=lambda: _check(path, total),
        proof_percent=_proof_percent(path),
    )


def bench_convert(race, tmp_path_factory, smoke):
    """v1 messages to v2 batches, proven record by record, against compressing the same records alone."""
    records = SETS["apache5000"]
    batches = 2 if smoke else 40
    columns = recordpress.read_columns(records.batch("none"), ["timestamp", "key", "value"])
    keys, values = list(columns["key"]), list(columns["value"])
    times = [1700000000000 + row for row in range(records.count)]
    directory = tmp_path_factory.mktemp("convert")
    source = directory / "topic-0"
    source.mkdir()
    with open(source / "00000000000000000000.log", "wb") as file:
        for number in range(batches):
            base = number * records.count
            file.write(
                recordpress.write_records(values, keys, times, magic=1, base_offset=base, compression_type="snappy")
            )
    total = records.count * batches
    made = recordpress.write_records(values, keys, times, compression_type="none")
    payload = next(iter(recordpress.read_batches(made))).payload

    def convert() -> None:
        shutil.rmtree(directory / "copy-0", ignore_errors=True)
        recordpress.convert(source, directory / "copy-0", 2, compression_type="zstd", level=LEVEL)

    def compress() -> None:
        for _ in range(batches):
            recordpress.compress(payload, "zstd", LEVEL)

    def check() -> None:
        convert()
        equal(recordpress.open_log(directory / "copy-0").count(), total, "record count")

    race(
        Cell("convert a segment", records.name, "v1 snappy to v2 zstd", total, records.size * batches),
        convert,
        Contender("compress alone", compress),
        check=check,
    )


def _split(path: Path) -> float:
    """One thread's CPU time over that of the busier of two: what two can gain where each has a core. Other work on the
    machine does not change it, as it does the wall's time."""

    def busier(threads: int) -> float:
        everything, caller = time.process_time(), time.thread_time()
        _copy(path, threads=threads)
        everything, caller = time.process_time() - everything, time.thread_time() - caller
        return max(caller, everything - caller)

    rounds = [busier(1) / max(busier(2), 1e-9) for _ in range(5)]
    return sorted(rounds)[2]


def bench_transcode_two_threads(race_by_the_wall, log_file, smoke):
    records = SETS["apache5000"]
    path, batches = _segment(log_file, smoke)
    total = records.count * batches
    race_by_the_wall(
        Cell("transcode a segment, 2 threads", records.name, "snappy to zstd", total, records.size * batches),
        lambda: _copy(path, threads=2),
        Contender("one thread", lambda: _copy(path)),
        check=lambda: _check(path, total, threads=2),
        split=_split(path),
    )


def bench_transcode_memory(race, log_file, smoke):
    """1 GB of uncompressed batches, with two threads."""
    records = SETS["apache5000"]
    path, batches = _segment(log_file, smoke, "none", 850)
    source = os.path.dirname(os.path.dirname(recordpress.__file__))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    target = path.with_name("copy.log")
    target.unlink(missing_ok=True)
    command = [sys.executable, "-c", COPY, str(path), str(target)]
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    found, grown = map(int, output.split())
    race(
        Cell("peak memory, transcoding 1 GB", records.name, "none to zstd", found, path.stat().st_size),
        lambda: recordpress.log.verify(target),
        check=lambda: equal(found, records.count * batches, "record count"),
        growth_mib=grown / 1024,
    )


def _small_batches(directory: Path, producers: int, records: int) -> Path:
    """The partition of a topic with log lines in batches of 8, by producers in turns."""
    source = directory / "topic-0"
    source.mkdir(parents=True)
    lines, start = SETS["apache5000"].values, 1_700_000_000_000
    with open(source / f"{0:020d}.log", "wb") as file:
        for offset in range(0, records, 8):
            number, options = offset // 8, {}
            if producers:
                options = {
                    "producer_id": number % producers,
                    "producer_epoch": 0,
                    "base_sequence": number // producers * 8,
                }
            values = [lines[at % len(lines)] for at in range(offset, offset + 8)]
            file.write(
                recordpress.write_records(
                    values, base_offset=offset, timestamps=start + offset, compression_type="snappy", **options
                )
            )
    return source


def _joined(source: Path, producers: str) -> Manifest:
    """A copy with batches of up to 1,000 records; every producer is expired."""
    target = source.parent / "copy" / source.name
    shutil.rmtree(target.parent, ignore_errors=True)
    limits = {"batch_bytes": 512 << 10, "batch_records": 1000}
    return recordpress.transcode(source, target, "zstd", level=LEVEL, producers=producers, now_ms=1 << 41, **limits)


@pytest.mark.parametrize(("way", "producers"), [("keep", 1), ("settle", 8)])
def bench_transcode_joined(benchmark, tmp_path_factory, smoke, way, producers):
    """Batches of producers, joined, against the same records without producers: CPU time of all threads, proof and
    reading back included, and the part of the saving."""
    records = 8000 if smoke else 1_000_000
    directory = tmp_path_factory.mktemp("joined")
    without = _small_batches(directory / "without", 0, records)
    source = _small_batches(directory / way, producers, records)
    made, plain = _joined(source, way), _joined(without, "keep")

    def saving(copy: Manifest) -> float:
        return 1 - copy.totals["bytes"] / copy.totals["source_bytes"]

    def check() -> None:
        [one], [other] = made.segments, plain.segments
        equal((one.records, other.records), (records, records), "record count")
        # those of settled producers are without them
        equal(one.digest, other.digest if way == "settle" else _digest(Path(one.source.file)).hexdigest(), "digest")

    size = sum(map(len, SETS["apache5000"].values)) * records // SETS["apache5000"].count
    race_by(
        benchmark,
        time.process_time,
        Cell(f"join batches of {producers} producers, {way}", "apache5000", "snappy to zstd", records, size),
        Contender("recordpress", lambda: _joined(source, way), check, rounds=3),
        Contender("without ids", lambda: _joined(without, "keep"), rounds=3),
        saved_percent=100 * saving(made),
        of_saving_percent=100 * saving(made) / saving(plain),
    )
