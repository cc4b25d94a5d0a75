"""Real lines without an end: each with a running number before it, so that no codec sees a line twice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyarrow as pa

import recordpress

LOGS = Path(__file__).parents[2] / "demo" / "logs"
NAMED = os.environ.get("RECORDPRESS_LINES")  # a directory of other files of lines
ROWS = 2000


def names() -> list[str]:
    if NAMED:
        return sorted(path.name for path in Path(NAMED).iterdir() if path.suffix in (".log", ".json", ""))
    return ["access-log", "access-json", "nginx-status", "sessions"]


@cache
def lines(name: str) -> list[bytes]:
    if NAMED:
        return (Path(NAMED) / name).read_bytes().splitlines()
    return recordpress.open_log(str(LOGS / f"{name}-*")).read(["value"]).to_pyarrow()["value"].to_pylist()


def values(name: str, start: int, count: int) -> list[bytes]:
    known = lines(name)
    return [b"%d %b" % (number, known[number % len(known)]) for number in range(start, start + count)]


def columns(name: str, start: int, count: int) -> pa.RecordBatch:
    found = values(name, start, count)
    return pa.record_batch({"timestamp": pa.array(range(start, start + count)), "value": pa.array(found, pa.binary())})


def stream(name: str) -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        at = 0
        while True:
            yield columns(name, at, ROWS)
            at += ROWS

    return pa.RecordBatchReader.from_batches(columns(name, 0, 0).schema, batches())
