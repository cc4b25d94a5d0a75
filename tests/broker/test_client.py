"""What a compressed stream tells of its client, for streams of known clients."""

import gzip
import zlib

import pytest

import oracle
import recordpress
from recordpress.broker._client import client_of

TEXT = b"a line of text\n" * 2000


def told(codec: str, payload: bytes) -> str:
    return client_of(codec, memoryview(payload))


@pytest.mark.parametrize("level", [1, 6, 9])
def test_gzip(level: int) -> None:
    shown = {1: ", level 1", 6: "", 9: ", level 9"}[level]
    assert told("gzip", gzip.compress(TEXT, level)) in (
        f"gzip, Java 16, Go or Python{shown}",
        f"gzip, zlib{shown}",  # from Python 3.11 on zlib writes the header, unless the time is given
    )
    packer = zlib.compressobj(level, wbits=31)
    assert told("gzip", packer.compress(TEXT) + packer.flush()) == f"gzip, zlib{shown}"


@pytest.mark.parametrize(
    ("codec", "expected"),
    [
        ("none", "none"),
        ("gzip", "gzip, Java 16, Go or Python"),
        ("snappy", "snappy, xerial"),
        ("lz4", "lz4, blocks of 64 KiB"),
        ("zstd", "zstd, streamed, level 3 to 8"),
    ],
)
def test_kafka_s_java_client(codec: str, expected: str) -> None:
    vectors = [v for v in oracle.RECORD_SETS if v.file == f"batches/clients-4.3.1/json_v2_{codec}.bin"]
    for batch in recordpress.read_batches(vectors[0].data):
        assert client_of(codec, batch.payload) == expected


def test_other_writers() -> None:
    zstandard = pytest.importorskip("zstandard")
    lz4 = pytest.importorskip("lz4.frame")
    assert told("zstd", zstandard.ZstdCompressor(level=3).compress(TEXT)) == "zstd, at once"
    assert told("lz4", lz4.compress(TEXT * 200, block_size=lz4.BLOCKSIZE_MAX4MB, content_checksum=True)) == (
        "lz4, blocks of 4 MiB, content checksum"
    )
    assert told("snappy", b"\x10\x3cabcdefghijklmnop") == "snappy, raw"


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd", "5"])
def test_bytes_that_are_no_stream(codec: str) -> None:
    for size in range(20):
        assert told(codec, b"\xff" * size).startswith(codec)
