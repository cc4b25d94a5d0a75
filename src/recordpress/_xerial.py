"""Snappy streams in chunks of any size; codecs/_snappy.pyx has their layout, and writes chunks of the usual size."""

from __future__ import annotations

from recordpress.codecs import compress

XERIAL = b"\x82SNAPPY\0"
HEADER = XERIAL + bytes([0, 0, 0, 1, 0, 0, 0, 1])  # the version, and the lowest version that can read it


def xerial_stream(data: bytes | memoryview, chunk_bytes: int) -> bytes:
    """Compress to chunks of `chunk_bytes` uncompressed bytes."""
    blocks = [compress(data[at : at + chunk_bytes], "snappy", raw=True) for at in range(0, len(data), chunk_bytes)]
    return HEADER + b"".join(len(block).to_bytes(4, "big") + block for block in blocks)
