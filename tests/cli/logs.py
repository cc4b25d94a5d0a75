"""Small logs for the tests of the command, good and damaged."""

import random
import struct
from pathlib import Path
from typing import Any

import recordpress
from recordpress.typing import CompressionType

PREFIX = struct.Struct(">q")  # the base offset of a batch
SEGMENT = "00000000000000000000.log"
T = 1_700_000_000_000


def batches(count: int = 5, records: int = 10, codec: CompressionType = "gzip") -> list[bytes]:
    """Batches that follow each other from offset 0 on."""
    text = b"a value that can be compressed "
    return [
        recordpress.write_records(
            [text * 20 + b"%d" % offset for offset in range(base, base + records)],
            keys=[b"k%d" % offset for offset in range(base, base + records)],
            timestamps=[1_700_000_000_000 + offset for offset in range(base, base + records)],
            compression_type=codec,
            base_offset=base,
        )
        for base in range(0, count * records, records)
    ]


def partition(directory: Path, data: bytes | None = None, name: str = "orders-0") -> Path:
    """A partition with one segment."""
    path = directory / name
    path.mkdir(parents=True)
    (path / SEGMENT).write_bytes(b"".join(batches()) if data is None else data)
    return path


def damaged(directory: Path, name: str = "orders-0") -> Path:
    """A partition whose second batch of five has a bit that flipped."""
    parts = batches()
    data = bytearray(b"".join(parts))
    data[len(parts[0]) + 70] ^= 1
    return partition(directory, bytes(data), name)


def files_of(directory: Path) -> dict[str, bytes]:
    """Every file below a directory, by its path in it."""
    files = (path for path in sorted(directory.rglob("*")) if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def many_batches(directory: Path, count: int = 20_000) -> Path:
    """A partition with a batch for each record."""
    batch = recordpress.write_records([b"value"], timestamps=[1_700_000_000_000])
    log = bytearray(batch * count)
    for offset in range(count):  # the checksum does not cover the base offset
        PREFIX.pack_into(log, offset * len(batch), offset)
    return partition(directory, bytes(log))


def lines(number: int, draw: random.Random) -> list[bytes]:
    return [b"GET /articles/%d?user=%d 200" % (draw.randrange(1000), draw.randrange(10**6)) for _ in range(number)]


def log_of(directory: Path, rate: float, depth: int = 10, producers: int = 4, batches: int = 3000, **more: Any) -> Path:
    """Two partitions of a topic whose producers, with ids or without, send this many records a second to each."""
    draw = random.Random(1)
    for number in range(2):
        data = bytearray()
        for batch in range(batches):
            round_, of = batch // max(producers, 1), dict[str, Any]()
            if producers:
                of = {"producer_id": batch % producers, "producer_epoch": 0, "base_sequence": round_ * depth}
            of |= {"timestamps": T + round(1000 * round_ * depth / rate), "compression_type": "lz4"} | more
            data += recordpress.write_records(lines(depth, draw), base_offset=batch * depth, **of)
        partition(directory / "logs", bytes(data), f"orders-{number}")
    return directory / "logs"
