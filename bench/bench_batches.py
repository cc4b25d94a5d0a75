"""Batches, read from their headers only."""

import mmap

import pyarrow as pa

import recordpress
from bench.answers import equal
from bench.corpus import SETS
from bench.race import Cell


def bench_batch_table(race, log_file, smoke):
    """One row for each of 8,000 batches of 4.8 kB; the file is mapped once, its pages are in memory."""
    records, batches = SETS["apache100"], 80 if smoke else 8000
    path = log_file(f"apache100.zstd.{batches}.log", records.batches("zstd", batches))
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        expected = list(range(0, batches * records.count, records.count))

        def check() -> None:
            table = pa.table(recordpress.batch_table(data))
            equal(table["baseOffset"].to_pylist(), expected, "base offsets")

        race(
            Cell("headers only", records.name, "zstd", batches, unit="batches"),
            lambda: recordpress.batch_table(data),
            check=check,
        )
