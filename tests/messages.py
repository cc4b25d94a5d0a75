"""Entries of v0 and v1 with bytes in them that no builder writes."""

from __future__ import annotations

import struct
import zlib

import recordpress

V1_BODY = struct.pack(">q", 1700000000000) + struct.pack(">i1si1s", 1, b"k", 1, b"v")


def message(magic: int, attributes: int, body: bytes, offset: int = 0) -> bytes:
    """A v0/v1 entry whose bytes after the attributes are `body`."""
    covered = bytes([magic & 255, attributes]) + body
    return struct.pack(">qiI", offset, len(covered) + 4, zlib.crc32(covered)) + covered


def wrapper(inner: bytes, offset: int = 0, magic: int = 1) -> bytes:
    """A gzip wrapper around entries."""
    value = recordpress.compress(inner, "gzip")
    timestamp = struct.pack(">q", 5) if magic else b""
    return message(magic, 1, timestamp + struct.pack(">ii", -1, len(value)) + value, offset)
