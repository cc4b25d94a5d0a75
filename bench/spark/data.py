"""Log directories built from the batches of bench/corpus, which Kafka's Java client wrote."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from bench.corpus import SETS


@dataclass(frozen=True)
class Made:
    """A log directory of one topic."""

    path: Path
    record_set: str
    rows: int
    size: int  # bytes of its segments
    value_size: int  # bytes of keys and values


def make(path: Path, record_set: str, codec: str, batches: int, partitions: int = 1, segments: int = 1) -> Made:
    """The topic ``lines`` with as many batches in each segment; offsets go on from segment to segment."""
    records = SETS[record_set]
    one, size = records.batch(codec), 0
    for partition in range(partitions):
        directory = path / f"lines-{partition}"
        directory.mkdir(parents=True)
        for segment in range(segments):
            base = segment * batches * records.count
            with open(directory / f"{base:020d}.log", "wb") as file:
                for number in range(batches):
                    file.write(struct.pack(">q", base + number * records.count))
                    file.write(memoryview(one)[8:])
                size += file.tell()
    count = batches * partitions * segments
    return Made(path, record_set, count * records.count, size, count * records.size)
