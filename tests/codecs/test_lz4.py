"""lz4 against the lz4 package, and the rules of Kafka's Lz4BlockOutputStream and Lz4BlockInputStream."""

import contextlib
import re

import lz4.block
import lz4.frame
import pytest
from hypothesis import given, strategies as st
from samples import HEADER, SIZES, exact, noise, text

import oracle
import recordpress

MAGIC = bytes.fromhex("04224d18")
END = bytes(4)
JAVA_S = [vector for vector in oracle.RECORD_SETS if re.fullmatch(r"clients-.*/v2_lz4", str(vector))]
DATA = text(200_000)


def frame(flg: int, bd: int, blocks: bytes, content_size: bytes = b"", magic: int = 2) -> bytes:
    """A frame with a right header checksum; `blocks` is all that follows it."""
    header = bytearray(MAGIC + bytes([flg, bd]) + content_size + b"\x00")
    with contextlib.suppress(recordpress.DecompressionError):  # where the flags are refused before the checksum is read
        (recordpress.fix_lz4_header if magic else recordpress.break_lz4_header)(header)
    return bytes(header) + blocks


def stored(data: bytes) -> bytes:
    return (len(data) | 1 << 31).to_bytes(4, "little") + data


def blocks(payload: bytes) -> list[tuple[bool, bytes]]:
    at, found = 7, []
    while word := int.from_bytes(payload[at : at + 4], "little"):
        size = word & 0x7FFFFFFF
        found.append((bool(word >> 31), payload[at + 4 : at + 4 + size]))
        at += 4 + size
    assert at + 4 == len(payload)
    return found


def test_headers_are_java_s():
    for magic, byte in ((0, "1a"), (1, "82"), (2, "82")):
        assert recordpress.compress(b"", "lz4", magic=magic).hex(" ") == f"04 22 4d 18 60 40 {byte} 00 00 00 00"
        stream = recordpress.compressor("lz4", magic=magic)
        assert (stream.compress(b"") + stream.flush()).hex() == f"04224d186040{byte}00000000"


@pytest.mark.parametrize("size", [size for size in SIZES if size])
def test_blocks_are_java_s(size):
    """Blocks of 64 KiB, each on its own, stored if they do not get smaller; 65536 bytes are one block."""
    for data in (text(size), noise(size)):
        parts = [data[i : i + 65536] for i in range(0, size, 65536)]
        found = blocks(recordpress.compress(data, "lz4"))
        assert len(found) == len(parts)
        for (is_stored, block), part in zip(found, parts, strict=True):
            assert len(block) <= len(part)
            assert is_stored == (len(block) == len(part))
            assert (block if is_stored else lz4.block.decompress(block, len(part))) == part


@pytest.mark.parametrize("level", [None, *range(1, 18)])
def test_lz4_reads_it(level):
    assert lz4.frame.decompress(recordpress.compress(DATA, "lz4", level)) == DATA


def test_level_9_is_the_fast_compressor():
    """Java's odd mapping: the default 9 is faster and larger than 1, and 13 to 17 are 12."""
    made = {level: recordpress.compress(DATA, "lz4", level) for level in range(1, 18)}
    assert made[9] == recordpress.compress(DATA, "lz4")
    assert len(made[9]) > len(made[1]) >= len(made[12])
    assert all(made[level] == made[12] for level in range(13, 18))


def test_other_levels_are_high_compression():
    data = text(60_000)
    ((_, block),) = blocks(recordpress.compress(data, "lz4", 5))
    assert block == lz4.block.compress(data, mode="high_compression", compression=5, store_size=False)


@given(
    data=st.binary(max_size=300),
    repeats=st.integers(1, 1000),
    block_size=st.sampled_from([4, 5, 6, 7]),
    options=st.fixed_dictionaries(
        {
            "store_size": st.booleans(),
            "content_checksum": st.booleans(),
            "block_checksum": st.booleans(),
            "compression_level": st.integers(-5, 12),
        }
    ),
)
def test_reads_frames_of_lz4(data, repeats, block_size, options):
    data *= repeats
    payload = lz4.frame.compress(data, block_size=block_size, block_linked=False, **options)
    assert recordpress.decompress(exact(payload), "lz4") == data
    for magic in (0, 1):
        assert recordpress.decompress(payload, "lz4", magic=magic) == data


@pytest.mark.parametrize(
    ("flg", "bd", "size", "right", "broken"),
    [
        (0x60, 0x40, b"", 0x82, 0x1A),
        (0x60, 0x70, b"", 0x73, 0x10),
        (0x64, 0x40, b"", 0xA7, 0x0C),
        (0x70, 0x40, b"", 0xAD, 0xEC),
        (0x68, 0x40, (1000).to_bytes(8, "little"), 0xF1, 0x07),
    ],
)
def test_fix_and_break(flg, bd, size, right, broken):
    header = bytearray(MAGIC + bytes([flg, bd]) + size + b"\x55")
    rest = bytearray(header + b"rest")
    recordpress.break_lz4_header(rest)
    assert rest == header[:-1] + bytes([broken]) + b"rest"
    recordpress.fix_lz4_header(rest)
    assert rest == header[:-1] + bytes([right]) + b"rest"


def test_fix_and_break_are_what_the_magics_write():
    new, old = bytearray(recordpress.compress(DATA, "lz4")), recordpress.compress(DATA, "lz4", magic=0)
    recordpress.break_lz4_header(memoryview(new))
    assert new == old
    recordpress.fix_lz4_header(new)
    assert new == recordpress.compress(DATA, "lz4", magic=1)


def test_fix_and_break_refuse():
    for function in (recordpress.fix_lz4_header, recordpress.break_lz4_header):
        with pytest.raises(recordpress.InvalidArgumentError, match="writable"):
            function(recordpress.compress(b"", "lz4"))
        with pytest.raises(recordpress.ArgumentTypeError, match="frame must be"):
            function("frame")
        with pytest.raises(recordpress.DecompressionError):
            function(bytearray(b"\x04\x22\x4d\x18\x60\x40"))
        with pytest.raises(recordpress.DecompressionError):
            function(bytearray(20))


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_header_checksum(magic):
    payload = bytearray(recordpress.compress(b"records", "lz4"))
    for byte in range(256):
        payload[6] = byte
        if magic == 0 or byte == 0x82:
            assert recordpress.decompress(payload, "lz4", magic=magic) == b"records"
        else:
            with pytest.raises(recordpress.DecompressionError) as caught:
                recordpress.decompress(payload, "lz4", magic=magic)
            assert (caught.value.field, caught.value.field_position) == ("HC", 6)


@pytest.mark.parametrize(
    ("flg", "bd", "field", "position"),
    [
        (0x61, 0x40, "FLG.dictID", 4),
        (0x62, 0x40, "FLG.reserved", 4),
        (0x40, 0x40, "FLG.blockIndependence", 4),
        (0x20, 0x40, "FLG.version", 4),
        (0xA0, 0x40, "FLG.version", 4),
        (0x60, 0xC0, "BD.reserved", 5),
        (0x60, 0x41, "BD.reserved", 5),
        (0x60, 0x30, "BD.blockMaxSize", 5),
        (0x60, 0x00, "BD.blockMaxSize", 5),
    ],
)
def test_refused_flags(flg, bd, field, position):
    for magic in (0, 2):
        with pytest.raises(recordpress.DecompressionError) as caught:
            recordpress.decompress(frame(flg, bd, stored(b"x") + END, magic=magic), "lz4", magic=magic)
        assert (caught.value.field, caught.value.field_position) == (field, position)


@pytest.mark.parametrize(
    ("payload", "field", "position"),
    [
        (b"", "frame", 0),
        (MAGIC, "frame", 4),
        (bytes.fromhex("02214c18") + bytes(20), "magic", 0),
        (frame(0x60, 0x40, b""), "frame", 7),
        (frame(0x60, 0x40, stored(b"x")), "frame", 12),
        (frame(0x60, 0x40, stored(b"x")[:-1]), "frame", 7),
        (frame(0x60, 0x40, stored(bytes(65537)) + END), "blockSize", 7),
        (frame(0x60, 0x40, b"\x01\x00\x01\x00" + bytes(65537) + END), "blockSize", 7),
        (frame(0x60, 0x40, b"\x03\x00\x00\x00abc" + END), "block", 11),
        (frame(0x70, 0x40, stored(b"x") + b"1234" + END), "blockChecksum", 12),
        (frame(0x64, 0x40, stored(b"x") + END), "frame", 16),
        (frame(0x64, 0x40, stored(b"x") + END + b"123"), "frame", 16),
    ],
)
def test_refused(payload, field, position):
    with pytest.raises(recordpress.DecompressionError) as caught:
        recordpress.decompress(exact(payload), "lz4")
    assert (caught.value.field, caught.value.field_position) == (field, position)


def test_a_block_that_decodes_to_more_than_the_frame_allows():
    big = lz4.block.compress(bytes(65537), store_size=False)
    payload = frame(0x60, 0x40, len(big).to_bytes(4, "little") + big + END)
    with pytest.raises(recordpress.DecompressionError) as caught:
        recordpress.decompress(payload, "lz4")
    assert caught.value.field == "block"


def test_java_does_not_verify_these():
    """The content size, the content checksum's value, and anything after the end mark."""
    for size in (0, 1, 1 << 62):
        assert recordpress.decompress(frame(0x68, 0x40, stored(b"x") + END, size.to_bytes(8, "little")), "lz4") == b"x"
    assert recordpress.decompress(frame(0x64, 0x40, stored(b"x") + END + b"1234"), "lz4") == b"x"
    plain = recordpress.compress(b"x", "lz4")
    for rest in (b"\x00", b"garbage", plain):
        assert recordpress.decompress(plain + rest, "lz4") == b"x"
        stream = recordpress.decompressor("lz4")
        assert stream.decompress(plain + rest[:1]) + stream.decompress(rest[1:]) == b"x"
        assert stream.eof and stream.unused_data == rest


def test_a_stored_block_of_no_bytes_is_the_end():
    assert recordpress.decompress(frame(0x60, 0x40, stored(b"x") + stored(b"") + b"more"), "lz4") == b"x"


@oracle.each("vector", JAVA_S)
def test_java_s_bytes(vector):
    """The fast compressor of liblz4 1.9 and 1.10 gives what lz4-java gives."""
    (batch,) = vector.expected["batches"]
    payload = vector.data[HEADER : batch["size"]]
    assert recordpress.compress(recordpress.decompress(payload, "lz4"), "lz4") == payload
