"""Every reader of the files next to a log, and of a copy's manifest, on files that are nearly right.

An input is a byte that chooses the reader, and the file. All that may come out is an error of recordpress; what was
read is written, and read as the same again.
"""

from __future__ import annotations

import copy
import functools
import io
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import campaign
import mutate

import oracle
import recordpress
from recordpress import log
from recordpress.log import sidecars

MOST_BYTES = 3000
VALUES = [None, True, -1, 1 << 70, 1.5, "text", "", "\ud800", [], [1], [[]], {}, {"a": 1}]
_CHECKPOINT = b"0\n3\norders 0 4500\norders 1 12\na.b-c 7 9223372036854775807\n"


def _written(write: Callable[..., None], *more: Any) -> Callable[[Any], bytes]:
    def bytes_of(entries: Any) -> bytes:
        target = io.BytesIO()
        padding = (entries.padding,) if more else ()
        write(target, entries, *more, *padding)
        return target.getvalue()

    return bytes_of


def _manifest_bytes(manifest: log.Manifest) -> bytes:
    assert manifest.totals
    assert manifest.findings is not None
    return manifest.to_json().encode()


BASE = 5  # offset of the segment
READERS: dict[str, tuple[Callable[[bytes], Any], Callable[[Any], bytes]]] = {
    ".index": (lambda data: sidecars.read_offset_index(data, BASE), _written(sidecars.write_offset_index, BASE)),
    ".timeindex": (lambda data: sidecars.read_time_index(data, BASE), _written(sidecars.write_time_index, BASE)),
    ".txnindex": (sidecars.read_transaction_index, _written(sidecars.write_transaction_index)),
    ".snapshot": (sidecars.read_snapshot, _written(sidecars.write_snapshot)),
    "leader-epoch-checkpoint": (sidecars.read_leader_epochs, _written(sidecars.write_leader_epochs)),
    "offset-checkpoint": (sidecars.read_offset_checkpoint, _written(sidecars.write_offset_checkpoint)),
    "partition.metadata": (sidecars.read_partition_metadata, _written(sidecars.write_partition_metadata)),
    "manifest.json": (log.Manifest.from_json, _manifest_bytes),
}
NAMES = list(READERS)


def _a_manifest() -> bytes:
    source = log.SourceFile("logs/a-0/0.log", 100, 2, 1.5, ("lz4",), 0)
    segment = log.CopiedSegment("0.log", 0, 20, 20, 2, 90, ("zstd",), "00" * 16, "0" * 8, 1, 0, source)
    partition = log.CopiedPartition("a", 0, "a-0", ("partition.metadata",), (segment,))
    options = {"compression_type": "zstd", "level": 3, "batch_bytes": None, "min_gain": 0.0}
    versions = {"manifest": 1, "recordpress": "1"}
    return log.Manifest("transcode", options, "logs", True, (partition,), (), versions).to_json().encode()


@functools.cache
def seeds(name: str) -> list[bytes]:
    if name == "manifest.json":
        return [_a_manifest()]
    found = {data for p in oracle.PARTITIONS for data in p.files(name) if 0 < len(data) <= MOST_BYTES}
    return sorted(found) + [_CHECKPOINT] * (name == "offset-checkpoint") or [bytes(12), bytes(range(36))]


def _another_value(document: Any, rng: random.Random) -> None:
    """Somewhere in a JSON document."""
    while True:
        keys = list(document) if isinstance(document, dict) else list(range(len(document)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(document[key], dict | list) and rng.random() < 0.8:
            document = document[key]
            continue
        if rng.random() < 0.2 and isinstance(document, dict):
            del document[key]
        else:
            document[key] = copy.deepcopy(rng.choice(VALUES))
        return


def draw(rng: random.Random) -> bytes:
    number = rng.randrange(len(NAMES))
    data = bytearray(rng.choice(seeds(NAMES[number])))
    if NAMES[number] == "manifest.json" and rng.random() < 0.8:
        document = json.loads(data)
        for _ in range(rng.choice((1, 1, 2, 5))):
            _another_value(document, rng)
        data = bytearray(json.dumps(document).encode())
    else:
        for _ in range(rng.choice((0, 1, 1, 2, 4))):
            if data:
                rng.choice(mutate.CHANGES)(data, rng)
    if rng.random() < 0.01:
        data = bytearray(rng.choice((b"[", b'{"a":', b"0\n1\n")) * 20_000)
    return bytes([number]) + bytes(data)[: campaign.MOST_BYTES - 1]


def run(data: bytes) -> None:
    read, write = READERS[NAMES[(data[0] if data else 0) % len(NAMES)]]
    try:
        found = read(data[1:])
    except recordpress.RecordpressError:
        return
    again = read(write(found))
    if again != found:
        raise AssertionError(f"{found!r} is read as {again!r} when it was written")


if __name__ == "__main__":
    sys.exit(campaign.main("sidecars", draw, run))
