"""Small logs for the tests of the command, good and damaged."""

import struct
from pathlib import Path

import recordpress
from recordpress.typing import CompressionType

PREFIX = struct.Struct(">q")  # the base offset of a batch
SEGMENT = "00000000000000000000.log"


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


def many_batches(directory: Path, count: int = 200_000) -> Path:
    """A partition whose batches take a while to walk over."""
    batch = recordpress.write_records([b"value"], timestamps=[1_700_000_000_000])
    log = bytearray(batch * count)
    for offset in range(count):  # the checksum does not cover the base offset
        PREFIX.pack_into(log, offset * len(batch), offset)
    return partition(directory, bytes(log))
