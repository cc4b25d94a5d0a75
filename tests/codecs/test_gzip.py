"""gzip against Python's own, and the rules of Java's GZIPInputStream (RFC 1952)."""

import gzip
import struct
import zlib

import pytest
from hypothesis import given, strategies as st
from samples import decompressed, exact, text

import recordpress

DATA = text(5000)


def member(data=DATA, flags=0, fields=b"", method=8, crc=None, size=None, wrong_header_sum=0):
    header = struct.pack("<2sBBLBB", b"\x1f\x8b", method, flags, 1234567, 0, 3) + fields
    if flags & 2:
        header += struct.pack("<H", (zlib.crc32(header) & 0xFFFF) ^ wrong_header_sum)
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = deflate.compress(data) + deflate.flush()
    trailer = struct.pack("<LL", zlib.crc32(data) if crc is None else crc, len(data) if size is None else size)
    return header + body + trailer


def test_header_is_java_s():
    for payload in (recordpress.compress(DATA, "gzip"), recordpress.compressor("gzip").compress(b"")):
        assert payload[:10].hex(" ") == "1f 8b 08 00 00 00 00 00 00 ff"


@pytest.mark.parametrize("level", [None, -1, *range(1, 10)])
def test_python_reads_it(level):
    assert gzip.decompress(recordpress.compress(DATA, "gzip", level)) == DATA


def test_levels_differ():
    sizes = [len(recordpress.compress(text(100_000), "gzip", level)) for level in (1, 6, 9)]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == 3
    assert (
        recordpress.compress(DATA, "gzip")
        == recordpress.compress(DATA, "gzip", 6)
        == recordpress.compress(DATA, "gzip", -1)
    )


def test_streams_are_zlib_s():
    """Java deflates with zlib, memory level 8."""
    stream = recordpress.compressor("gzip", 4)
    payload = stream.compress(DATA[:100]) + stream.compress(DATA[100:]) + stream.flush()
    deflate = zlib.compressobj(4, zlib.DEFLATED, -15, 8)
    body = deflate.compress(DATA) + deflate.flush()
    assert payload == bytes.fromhex("1f8b08000000000000ff") + body + struct.pack("<LL", zlib.crc32(DATA), len(DATA))


@given(data=st.binary(max_size=500), level=st.integers(0, 9), times=st.integers(1, 5))
def test_reads_members_of_python(data, level, times):
    payload = gzip.compress(data, level) * times
    assert recordpress.decompress(exact(payload), "gzip") == data * times


@pytest.mark.parametrize(
    ("flags", "fields"),
    [
        (0x01, b""),
        (0x04, b"\x00\x00"),
        (0x04, b"\x05\x00extra"),
        (0x08, b"name\x00"),
        (0x10, b"comment\x00"),
        (0x02, b""),
        (0x1E, b"\x01\x00xname\x00\x00"),
        (0xE0, b""),
    ],
)
def test_header_options(flags, fields):
    payload = member(flags=flags, fields=fields)
    assert recordpress.decompress(exact(payload), "gzip") == DATA
    stream = recordpress.decompressor("gzip")
    assert b"".join(stream.decompress(payload[i : i + 1]) for i in range(len(payload))) == DATA
    assert stream.eof
    for cut in range(1, 10 + len(fields)):
        with pytest.raises(recordpress.DecompressionError):
            recordpress.decompress(exact(payload[:cut]), "gzip")


@pytest.mark.parametrize(
    ("payload", "field", "position"),
    [
        (b"", "header", 0),
        (zlib.compress(DATA), "header", 0),
        (member()[10:], "header", 0),
        (member(method=7), "header", 0),
        (member(flags=2, wrong_header_sum=1), "header", 0),
        (member(crc=1), "trailer", None),
        (member(size=1), "trailer", None),
        (member()[:-1], "member", None),
        (member()[:-9], "body", 10),
        (member() + member(crc=1), "trailer", None),
        (member() + member()[:-20], "body", None),
    ],
)
def test_refused(payload, field, position):
    with pytest.raises(recordpress.DecompressionError) as caught:
        recordpress.decompress(exact(payload), "gzip")
    assert caught.value.field == field
    assert position is None or caught.value.field_position == position
    stream = recordpress.decompressor("gzip")
    with pytest.raises(recordpress.DecompressionError) as caught:
        decompressed(stream, payload)
    assert caught.value.field in (field, "member")


@pytest.mark.parametrize("rest", [b"\x00", bytes(100), b"garbage" * 5, member()[:18], b"\x1f\x8b\x08" + b"\xff" * 40])
def test_what_is_no_member_behind_one_is_ignored(rest):
    assert recordpress.decompress(exact(member() + rest), "gzip") == DATA
    stream = recordpress.decompressor("gzip")
    assert stream.decompress(member() + rest) + stream.flush() == DATA
    assert stream.unused_data == rest


def test_position_is_that_of_the_failing_member():
    first = member()
    with pytest.raises(recordpress.DecompressionError) as caught:
        recordpress.decompress(first + member(crc=1), "gzip")
    assert caught.value.field_position == 2 * len(first) - 8


def test_size_field_is_only_a_hint():
    """It covers the last member only, modulo 2^32."""
    payload = member(text(50_000)) + member(b"x")
    assert recordpress.decompress(payload, "gzip") == text(50_000) + b"x"
    assert recordpress.decompress(payload, "gzip", 50_001) == text(50_000) + b"x"
    with pytest.raises(recordpress.OutputTooLargeError):
        recordpress.decompress(payload, "gzip", 50_000)


@pytest.mark.parametrize("last", [1_000, 60_000, 100_000])
def test_size_field_of_a_dense_last_member(last):
    """The last member's size, which a small payload can set very high, is not the payload's."""
    payload = member(bytes(1 << 20)) + member(bytes(last))
    assert recordpress.decompress(payload, "gzip") == bytes((1 << 20) + last)
