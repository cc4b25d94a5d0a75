"""Record sets whose few bytes inflate to a gigabyte stop at the cap, with little memory.

They are made with other people's codecs and read in a separate process (cost_of_reading.py), whose peak memory
is then that of the reading.
"""

from __future__ import annotations

import gzip
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import lz4.block
import pytest
import snappy
import zstandard
from hostile_sets import with_right_crc

GIB = 1 << 30
LZ4_BLOCK = 4 << 20


def _gzip() -> bytes:
    member = gzip.compress(bytes(16 << 20), 9)
    return member * (GIB // (16 << 20))


def _snappy() -> bytes:
    """128 MiB only: snappy makes nothing smaller than a 21st."""
    chunk = snappy.compress(bytes(8 << 20))
    header = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
    return header + (struct.pack(">i", len(chunk)) + chunk) * 16


def _snappy_preamble() -> bytes:
    """10 kB that say they are 1 GiB: more than snappy can make of them, which is its own error."""
    return b"\x80\x80\x80\x80\x04" + bytes(10_000)


def _lz4() -> bytes:
    block = lz4.block.compress(bytes(LZ4_BLOCK), store_size=False)
    frame = b"\x04\x22\x4d\x18\x60\x70\x73"  # independent blocks of up to 4 MiB, header checksum 73
    return frame + (struct.pack("<I", len(block)) + block) * (GIB // LZ4_BLOCK) + bytes(4)


def _lz4_broken_header_checksum() -> bytes:
    return _lz4().replace(b"\x60\x70\x73", b"\x60\x70\x10", 1)


def _zstd() -> bytes:
    frame = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    data = frame.compress(bytes(16 << 20)) + frame.flush()
    return data * (GIB // (16 << 20))


def _zstd_with_size() -> bytes:
    """A frame that says it holds 1 GiB and does."""
    frame = zstandard.ZstdCompressor().compressobj(size=GIB)
    data = b"".join(frame.compress(bytes(16 << 20)) for _ in range(GIB // (16 << 20)))
    return data + frame.flush()


PAYLOADS: dict[str, tuple[int, int, Callable[[], bytes]]] = {
    # name: magic, codec id, payload
    "v0-gzip": (0, 1, _gzip),
    "v0-snappy": (0, 2, _snappy),
    "v0-lz4": (0, 3, _lz4_broken_header_checksum),
    "v1-gzip": (1, 1, _gzip),
    "v1-lz4": (1, 3, _lz4),
    "v2-gzip": (2, 1, _gzip),
    "v2-snappy": (2, 2, _snappy),
    "v2-snappy-preamble": (2, 2, _snappy_preamble),
    "v2-lz4": (2, 3, _lz4),
    "v2-zstd": (2, 4, _zstd),
    "v2-zstd-with-size": (2, 4, _zstd_with_size),
}


def record_set(magic: int, codec_id: int, payload: bytes) -> bytes:
    """One entry around a payload: it says it holds 100 million records."""
    if magic == 2:
        head = struct.pack(">hiqqqhii", codec_id, 99_999_999, 0, 0, -1, -1, -1, 100_000_000)
        data = struct.pack(">qiibI", 0, 49 + len(payload), -1, 2, 0) + head + payload
    else:
        timestamp = struct.pack(">q", 0) if magic else b""
        body = struct.pack(">bb", magic, codec_id) + timestamp + struct.pack(">ii", -1, len(payload)) + payload
        data = struct.pack(">qiI", 0, 4 + len(body), 0) + body
    return data


@pytest.mark.slow
@pytest.mark.memory
@pytest.mark.parametrize("name", PAYLOADS)
def test_a_bomb_stops_at_the_cap(name: str, tmp_path: Path) -> None:
    magic, codec_id, make = PAYLOADS[name]
    bomb = tmp_path / "bomb"
    bomb.write_bytes(with_right_crc(record_set(magic, codec_id, make())))
    script = Path(__file__).with_name("cost_of_reading.py")
    paths = os.pathsep.join([str(script.parent.parent), *sys.path])
    child = [sys.executable, str(script), str(bomb)]
    out = subprocess.run(child, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": paths})
    *errors, growth = out.stdout.split()
    assert errors == ["DecompressionError" if make is _snappy_preamble else "OutputTooLargeError"]
    if "RECORDPRESS_SANITIZED" not in os.environ:  # a sanitizer keeps what was freed
        assert int(growth) < 16 << 20
