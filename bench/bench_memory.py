"""Memory, not time: growth of the resident set of a process while it streams a file."""

import os
import subprocess
import sys

import recordpress
from bench.corpus import SETS
from bench.race import Cell

# Growth in KiB from after the import to the peak; writing 5 to clear_refs sets the peak back (proc(5)).
STREAM = """
import re, sys
import recordpress
def kib(name):
    return int(re.search(name + r":\\s+(\\d+) kB", open("/proc/self/status").read())[1])
rows = 0
with open(sys.argv[1], "rb") as file:
    open("/proc/self/clear_refs", "w").write("5")
    before = kib("VmRSS")
    for columns in recordpress.iter_columns(file, ["offset", "timestamp", "key", "value"], check_crcs=True):
        rows += columns.num_rows
    print(rows, kib("VmHWM") - before)
"""


def bench_memory(race, log_file, smoke):
    """190 zstd batches of 5,000 records: 29 MB that hold 230 MB."""
    records, batches = SETS["apache5000"], 4 if smoke else 190
    path = log_file(f"apache5000.zstd.{batches}.log", records.batches("zstd", batches))
    source = os.path.dirname(os.path.dirname(recordpress.__file__))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    output = subprocess.run(
        [sys.executable, "-c", STREAM, str(path)], check=True, capture_output=True, text=True, env=environment
    ).stdout
    rows, grown = map(int, output.split())

    def stream() -> int:
        with open(path, "rb") as file:
            return sum(columns.num_rows for columns in recordpress.iter_columns(file, ["offset"], check_crcs=True))

    def check() -> None:
        if rows != records.count * batches:
            raise ValueError(f"wrong answer: {rows} records")

    race(
        Cell("peak memory, streaming a file", records.name, "zstd", records.count * batches, records.size * batches),
        stream,
        check=check,
        growth_mib=grown / 1024,
    )
