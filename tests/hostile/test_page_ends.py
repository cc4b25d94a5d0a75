"""A payload whose last byte is the last one of its page, as in a mapped segment of a whole number of pages."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from hostile_sets import exact

import kpress

# 200 bytes: one literal whose length takes four bytes, then a copy with an offset of four bytes. It says 200 and
# holds fewer, so every reader refuses it.
BLOCK = bytes([200, 1]) + bytes([252, 15, 0, 0, 0]) + b"a" * 16 + bytes([15, 1, 0, 0])


def _batch(payload: bytes, codec: int) -> bytes:
    """A v2 batch of one record around a payload that was made by hand."""
    header = bytearray(kpress.write_records([b""])[:61]) + payload
    struct.pack_into(">i", header, 8, len(header) - 12)
    struct.pack_into(">h", header, 21, codec)
    struct.pack_into(">I", header, 17, kpress.crc32c(bytes(header[21:])))
    return bytes(header)


CALLS: dict[str, Callable[[memoryview], object]] = {
    "read_columns": kpress.read_columns,
    "iter_columns": lambda data: list(kpress.iter_columns(data)),
    "read_batches": lambda data: [list(batch) for batch in kpress.read_batches(data)],
    "recompress": lambda data: kpress.recompress(data, "none"),
}


@pytest.mark.parametrize("call", CALLS)
def test_snappy_block_in_a_batch(call):
    with pytest.raises(kpress.KpressError):
        CALLS[call](exact(_batch(BLOCK, 2)))


def streamed(data: memoryview) -> bytes:
    stream = kpress.decompressor("snappy")
    return stream.decompress(data) + stream.flush()


def test_snappy_block_alone():
    with pytest.raises(kpress.DecompressionError):
        kpress.decompress(exact(BLOCK), "snappy")
    with pytest.raises(kpress.DecompressionError):
        streamed(exact(BLOCK))
