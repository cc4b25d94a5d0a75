"""Inputs for the targets to start from: record sets that Kafka wrote, cut into what each target reads.

seeds.py FOLDER writes them to FOLDER/target/. The first bytes of an input are the target's own choices (targets/*.c).
"""

from __future__ import annotations

import hashlib
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import oracle

MOST_BYTES = 4096
V2_HEADER = 61
XERIAL_HEADER = 16
GZIP_HEADER = 10  # Java's, without texts
# A batch of the plug-in "demo", which leaves its one record as it is.
PLUGGABLE = bytes.fromhex(
    "0000000000000000 0000003f ffffffff 02 fd5876c5 0005 00000000 0000018bcfe56800 0000018bcfe56800 ffffffffffffffff"
    "ffff ffffffff 00000001 04 64656d6f 10000000026b027600"
)


def entries(data: bytes) -> Iterator[bytes]:
    while len(data) >= 17:
        end = 12 + struct.unpack_from(">i", data, 8)[0]
        if not 17 < end <= len(data):
            return
        yield data[:end]
        data = data[end:]


def payload(entry: bytes) -> tuple[int, bytes]:
    """The codec and what it compressed: the records of a v2 batch, the value of a message without a key."""
    if entry[16] == 2:
        return entry[22] & 7, entry[V2_HEADER:]
    return entry[17] & 7, entry[34 if entry[16] else 26 :]


def snappy_blocks(stream: bytes) -> Iterator[bytes]:
    """The elements of each block of xerial's framing, without the preamble."""
    at = XERIAL_HEADER
    while at + 4 < len(stream):
        size = struct.unpack_from(">I", stream, at)[0]
        block = stream[at + 4 : at + 4 + size]
        preamble = next((i + 1 for i, byte in enumerate(block[:5]) if byte < 0x80), 0)
        yield block[preamble:]
        at += 4 + size


def inputs_of(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Pairs of target and input."""
    yield "batch_header", b"\0" + data
    yield "batch_header", b"\0" + PLUGGABLE
    for number, entry in enumerate(entries(data)):
        codec, packed = payload(entry)
        yield "cursor", bytes([16, *range(16)]) + entry
        yield "record", b"\2" + packed if entry[16] == 2 else b"\1" + entry
        count = entry[V2_HEADER - 1 : V2_HEADER] if entry[16] == 2 else b"\1"
        yield "columns", bytes([0, 0xFF, entry[16]]) + count + bytes(2) + (packed if entry[16] == 2 else entry)
        if entry[16] == 2 and codec == 0:
            yield "skip", packed
        yield "run", bytes([12, 255, number % 16]) + entry
        yield "decimal", entry[:64]
        yield "crc32c", bytes(15) + entry
        yield "snappy_encode", bytes([1, 0, 1, 9]) + packed
        yield "utf8", packed
        yield "json", packed
        if codec == 1:
            yield "deflate_cut", bytes([200, 6, 9, 1, 0]) + packed[GZIP_HEADER:]
        if codec == 2:
            for block in snappy_blocks(packed):
                yield "snappy", b"\0" + block
        if codec == 3:
            yield "lz4_header", packed[:64]
    yield "pool", bytes(range(0, 240, 7)) + bytes(range(0, 240, 7))


def write(folder: Path, most: int = 400) -> None:
    """At most `most` inputs for each target, of the record sets in their order."""
    written: dict[str, set[str]] = {}
    for vector in oracle.EVERYTHING:
        for target, content in inputs_of(vector.data):
            names = written.setdefault(target, set())
            if len(content) > MOST_BYTES or len(names) >= most:
                continue
            name = hashlib.sha1(content).hexdigest()[:16]
            names.add(name)
            (folder / target).mkdir(parents=True, exist_ok=True)
            (folder / target / name).write_bytes(content)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
