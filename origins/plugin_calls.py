"""The calls that KIP-984 compares. As a program, which runs under callgrind: one of them on a file, several times."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import recordpress

Call = Callable[[], object]


class SnappyPlugin:
    """Kafka's snappy under another name."""

    thread_safe = True

    def compress(self, data: bytes) -> bytes:
        return recordpress.compress(data, "snappy")

    def decompress(self, data: bytes, max_output: int) -> bytes:
        return recordpress.decompress(data, "snappy", max_decompressed_bytes=max_output)


def calls(data: bytes) -> dict[str, tuple[Call, Call]]:
    """Return calls with a registry, each next to the call without."""
    registry, empty = recordpress.CodecRegistry(), recordpress.CodecRegistry()
    registry.register("org.example.snappy", SnappyPlugin())
    stored = recordpress.compress(data, "snappy")
    named = recordpress.compress(data, "org.example.snappy", codecs=registry)
    compress, decompress = partial(recordpress.compress, data), partial(recordpress.decompress, stored)
    return {
        "plug-in compresses": (partial(compress, "org.example.snappy", codecs=registry), partial(compress, "snappy")),
        "plug-in decompresses": (
            partial(recordpress.decompress, named, "org.example.snappy", codecs=registry),
            partial(decompress, "snappy"),
        ),
        "empty registry compresses": (partial(compress, "snappy", codecs=empty), partial(compress, "snappy")),
        "empty registry decompresses": (partial(decompress, "snappy", codecs=empty), partial(decompress, "snappy")),
    }


if __name__ == "__main__":
    file, name, which, times = sys.argv[1:]
    found = calls(Path(file).read_bytes())
    for pair in found.values():  # what a first call does is not counted
        for call in pair:
            call()
    for _ in range(int(times)):
        found[name][int(which)]()
