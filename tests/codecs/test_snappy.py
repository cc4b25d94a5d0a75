"""snappy against python-snappy and cramjam, the rules of snappy-java's SnappyInputStream, and its encoder's bytes."""

import json
import re
import struct

import cramjam
import pytest
import snappy
import snappy_shapes
from hypothesis import given, strategies as st
from samples import HEADER as PAYLOAD, SIZES, exact, noise, text

import oracle
import recordpress

HEADER = bytes.fromhex("82534e41505059000000000100000001")
JAVA_S = [
    vector
    for vector in oracle.RECORD_SETS
    if re.match(r"clients-[34]\.", str(vector)) and vector.entry.get("codec") == "snappy" and vector.entry["magic"] == 2
]
RECORDED = json.loads(snappy_shapes.RECORDED.read_text())
DATA = text(100_000)


def chunk(data: bytes) -> bytes:
    block = snappy.compress(data)
    return struct.pack(">i", len(block)) + block


def chunks(payload: bytes) -> list[bytes]:
    assert payload[:16] == HEADER
    at, found = 16, []
    while at < len(payload):
        (length,) = struct.unpack_from(">i", payload, at)
        found.append(snappy.decompress(payload[at + 4 : at + 4 + length]))
        at += 4 + length
    assert at == len(payload)
    return found


@pytest.mark.parametrize("size", SIZES)
def test_chunks_are_java_s(size):
    data = text(size)
    assert chunks(recordpress.compress(data, "snappy")) == [data[i : i + 32768] for i in range(0, size, 32768)]


def test_nothing_is_a_header_alone():
    assert recordpress.compress(b"", "snappy") == HEADER
    assert recordpress.decompress(HEADER, "snappy") == b""


@pytest.mark.parametrize("size", SIZES)
def test_raw(size):
    data = text(size)
    payload = recordpress.compress(data, "snappy", raw=True)
    assert snappy.decompress(payload) == bytes(cramjam.snappy.decompress_raw(payload)) == data
    assert recordpress.decompress(exact(payload), "snappy") == data


def test_raw_is_smaller():
    assert len(recordpress.compress(DATA, "snappy", raw=True)) < len(recordpress.compress(DATA, "snappy"))


@given(data=st.binary(max_size=400), repeats=st.integers(1, 200))
def test_reads_blocks_of_others(data, repeats):
    data *= repeats
    assert recordpress.decompress(exact(bytes(cramjam.snappy.compress_raw(data))), "snappy") == data
    assert recordpress.decompress(exact(HEADER + (chunk(data) if data else b"")), "snappy") == data


@given(data=st.binary(min_size=1, max_size=200), repeats=st.integers(1, 100), where=st.data())
def test_damaged_blocks_are_judged_as_others_do(data, repeats, where):
    """The same verdict as libsnappy's rules in Rust, and the same bytes."""
    block = bytearray(snappy.compress(data * repeats))
    for _ in range(where.draw(st.integers(1, 3))):
        block[where.draw(st.integers(0, len(block) - 1))] ^= 1 << where.draw(st.integers(0, 7))
    block = bytes(block[: where.draw(st.integers(1, len(block)))])
    try:
        expected = bytes(cramjam.snappy.decompress_raw(block))
    except (cramjam.DecompressionError, MemoryError, OverflowError):
        expected = None
    try:
        found = recordpress.decompress(exact(block), "snappy", 1 << 20)
    except recordpress.OutputTooLargeError:
        return
    except recordpress.DecompressionError:
        found = None
    assert found == expected


@pytest.mark.parametrize("version", [b"\x01\x00\x00\x00" * 2, bytes(8), b"\x00\x00\x00\x09" * 2])
def test_versions_of_the_first_header_do_not_matter(version):
    assert recordpress.decompress(HEADER[:8] + version + chunk(b"records"), "snappy") == b"records"


def test_streams_one_after_the_other():
    one = HEADER + chunk(b"first ")
    assert recordpress.decompress(one + HEADER + chunk(b"second"), "snappy") == b"first second"
    assert recordpress.decompress(one + HEADER, "snappy") == b"first "
    assert recordpress.decompress(one + HEADER[:4] + bytes(12) + chunk(b"second"), "snappy") == b"first second"
    for rest in (HEADER[:4], HEADER[:15], HEADER[:8] + bytes(8), HEADER[:8] + b"\xff" * 8):
        with pytest.raises(recordpress.DecompressionError) as caught:
            recordpress.decompress(exact(one + rest), "snappy")
        assert caught.value.field_position in (len(one), len(one) + 8)


def streamed(payload: bytes, size: int) -> bytes:
    stream = recordpress.decompressor("snappy")
    out = [stream.decompress(payload[i : i + size]) for i in range(0, len(payload), size)]
    return b"".join(out) + stream.flush()


@pytest.mark.parametrize("at", range(4, 16))
def test_a_damaged_second_header(at):
    """snappy-java's SnappyInputStream.isValidHeader: a wrong rest of the magic ends one read alone, a version below
    1 is an error, a higher one is not, and the compatible version is not looked at."""
    damaged = bytearray(HEADER)
    damaged[at] ^= 0x80
    payload = HEADER + chunk(b"first ") + damaged + chunk(b"second")
    for read in (lambda: recordpress.decompress(exact(payload), "snappy"), lambda: streamed(payload, 5)):
        if at == 8:
            with pytest.raises(recordpress.DecompressionError, match="xerial header"):
                read()
        else:
            assert read() == b"first second"


@pytest.mark.parametrize("rest", [b"\x00", b"\x00\x00", b"\xff\xff\xff"])
def test_up_to_three_bytes_after_the_last_chunk_are_ignored(rest):
    assert recordpress.decompress(HEADER + chunk(b"x") + rest, "snappy") == b"x"


@pytest.mark.parametrize(
    ("payload", "field", "position"),
    [
        (b"", "payload", 0),
        (HEADER + bytes(4), "chunkLength", 16),
        (HEADER + b"\xff\xff\xff\xfd", "chunkLength", 16),
        (HEADER + b"\x20\x00\x00\x01" + b"x" * 50, "chunkLength", 16),
        (HEADER + b"\x00\x00\x00\x09x", "chunk", 16),
        (HEADER + chunk(b"x") + b"\x00\x00\x00\x02\x05\x00", "block", 27),
        (HEADER + b"\x00\x00\x00\x01\x80", "block", 20),
        # more is claimed than so few bytes can hold: damage, and not a matter of the cap
        (HEADER + b"\x00\x00\x00\x07\xff\xff\xff\xff\x0f\x00x", "block", 20),
        (HEADER + chunk(b"x") + b"\x00\x00\x00\x07\xff\xff\xff\xff\x0f\x00x", "block", 27),
        (b"\xff\x06\x00\x00sNaPpY", "block", 0),  # the framing format, which Kafka does not use
        (b"\x05\x00x", "block", 0),
        (b"\xff\xff\xff\xff\x0f\x00x", "block", 0),
        (b"\x04\x0cabcd\x00", "block", 0),
        (b"\x08\x00a\x0d\x02", "block", 0),  # reaches before the start
        (b"\x04\x00a\x0d\x00", "block", 0),  # offset 0
    ],
)
def test_refused(payload, field, position):
    with pytest.raises(recordpress.DecompressionError) as caught:
        recordpress.decompress(exact(payload), "snappy")
    assert (caught.value.field, caught.value.field_position) == (field, position)


def test_an_empty_block_in_a_chunk():
    assert recordpress.decompress(HEADER + b"\x00\x00\x00\x01\x00" + chunk(b"x"), "snappy") == b"x"


@pytest.mark.parametrize("kind", [text, noise])
def test_python_snappy_reads_it(kind):
    """Its `hadoop` and framed formats are others; the blocks are the same."""
    data = kind(70_000)
    assert b"".join(chunks(recordpress.compress(data, "snappy"))) == data


@oracle.each("vector", JAVA_S)
def test_java_s_bytes(vector):
    """Clients before 3.6 had a libsnappy with another encoder."""
    for batch in vector.expected["batches"]:
        payload = vector.data[batch["position"] + PAYLOAD : batch["position"] + batch["size"]]
        assert recordpress.compress(recordpress.decompress(payload, "snappy"), "snappy") == payload


def test_java_s_bytes_are_there():
    assert len(JAVA_S) >= 3


@pytest.mark.parametrize("shape", snappy_shapes.SHAPES)
def test_libsnappy_s_bytes(shape):
    """Of 1.1.10, by digests; snappy_shapes.py says how they were recorded."""
    assert snappy_shapes.digest(snappy_shapes.SHAPES[shape](1 << 20)) == RECORDED["inputs"][shape]
    found = snappy_shapes.facts(lambda data: recordpress.compress(data, "snappy", raw=True), shape)
    assert found == RECORDED["blocks"][shape]


@pytest.mark.parametrize(
    ("data", "block"),
    [
        (b"", "00"),
        (b"a", "01 00 61"),
        (b"a" * 16, "10 3c" + 16 * "61"),  # all of it is tail
        (b"a" * 19, "13 00 61 46 01 00"),
        (b"a" * 66, "42 00 61 ee 01 00 05 01"),  # 65 are 60 and 5
        (b"a" * 81, "51 00 61 fe 01 00 3e 01 00"),
        (b"a" * 200, "c8 01 00 61 fe 01 00 fe 01 00 fe 01 00 0d 01"),
        (b"abcdefghijk" * 4, "2c 28" + b"abcdefghijk".hex() + "82 0b 00"),
        (bytes(range(61)) * 2, "7a f0 3c" + bytes(range(61)).hex() + "f2 3d 00"),
    ],
)
def test_libsnappy_s_blocks(data, block):
    assert recordpress.compress(data, "snappy", raw=True).hex() == block.replace(" ", "")


@given(
    pieces=st.lists(st.tuples(st.binary(max_size=80), st.integers(1, 70_000), st.integers(0, 300)), max_size=40),
    repeats=st.integers(1, 30),
)
def test_others_read_its_blocks(pieces, repeats):
    """Literals, and copies from anywhere before them."""
    data = bytearray()
    for literal, offset, length in pieces * repeats:
        data += literal
        repeated = data[-offset:]
        data += (repeated * (length // max(1, len(repeated)) + 1))[:length]
    data = bytes(data)
    block = recordpress.compress(exact(data), "snappy", raw=True)
    assert len(block) <= 32 + len(data) + len(data) // 6
    assert snappy.decompress(block) == bytes(cramjam.snappy.decompress_raw(block)) == data
    assert recordpress.decompress(exact(block), "snappy") == data
