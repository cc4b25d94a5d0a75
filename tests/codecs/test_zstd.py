"""zstd against the zstandard package, and the rules of zstd-jni's streams (RFC 8878)."""

import pytest
import zstandard
from hypothesis import given, strategies as st
from samples import HEADER, KINDS, SIZES, decompressed, exact, noise, text

import oracle
import recordpress
from together import THOROUGH, sampled, together

DATA = text(200_000)
MAGIC = bytes.fromhex("28b52ffd")
EMPTY_BLOCK = bytes.fromhex("010000")
SKIPPABLE = bytes.fromhex("522a4d18 03000000") + b"abc"
WINDOWS = {-131072: None, -5: None, 1: None, 2: None, 3: 0x58, 8: 0x58, 9: 0x60, 15: 0x60, 19: 0x68, 22: 0x88}


def others(payload: bytes) -> bytes:
    return zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj().decompress(payload)


def raw_block(data: bytes, last: bool = False) -> bytes:
    return (len(data) << 3 | last).to_bytes(3, "little") + data


def java_s_way(data: bytes, level: int) -> bytes:
    """What ZstdOutputStream calls: compress, flush, end."""
    stream = zstandard.ZstdCompressor(level=level, write_content_size=False).compressobj()
    return stream.compress(data) + stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) + stream.flush()


def test_example():
    assert recordpress.compress(bytes.fromhex("10 00 00 00 02 6b 02 76 00"), "zstd").hex(" ") == (
        "28 b5 2f fd 00 58 48 00 00 10 00 00 00 02 6b 02 76 00 01 00 00"
    )


# From level 15 on, a context of tens of megabytes is cleared for each frame.
FRAMES = [(level, size) for level in WINDOWS if level < 15 for size in (0, 1, 5000, 131073)]
FRAMES += [(15, 1), (15, 131073), (19, 131073)]


@together("level, size", FRAMES)
def test_frames_are_java_s(level, size):
    """No content size, no checksum, the window of an unknown size, an empty last block; from one call and a stream."""
    data = text(size)
    stream = recordpress.compressor("zstd", level)
    one, pieces = recordpress.compress(data, "zstd", level), stream.compress(data) + stream.flush()
    java = java_s_way(data or b"", level)
    for payload in (one, pieces):
        assert payload[:5] == MAGIC + b"\x00"
        assert payload[5] == java[5] == (WINDOWS[level] or java[5])
        assert payload[-3:] == EMPTY_BLOCK
        assert others(payload) == data


def test_the_window_of_level_22():
    """128 MiB. (A stream would take seconds and nearly a gigabyte of memory.)"""
    assert recordpress.compress(b"x", "zstd", 22)[5] == WINDOWS[22]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_streams_have_java_s_calls(kind, size):
    data = KINDS[kind](size)
    stream = recordpress.compressor("zstd")
    payload = b"".join(stream.compress(data[i : i + 16384]) for i in range(0, size, 16384)) + stream.flush()
    assert others(payload) == data
    assert abs(len(payload) - len(java_s_way(data, 3))) <= 16 + size // 1000  # bundled libzstd may be another


def kafka_s_batches():
    """Record sets of one zstd batch that a Kafka client wrote."""
    for vector in oracle.RECORD_SETS:
        if str(vector).startswith("clients-") and "_zstd" in str(vector):
            (batch,) = vector.expected["batches"]
            if batch["size"] == len(vector.data):
                yield vector


def test_kafka_s_frames_are_made_again():
    """Frame header and end always; every byte where the bundled libzstd makes the same blocks."""
    vectors = list(kafka_s_batches())
    assert vectors
    equal = 0
    for vector in sampled(vectors, 3):
        if vector.entry.get("level", 3) > 18 and not THOROUGH:
            continue  # a stream of such a level takes hundreds of megabytes
        payload = vector.data[HEADER:]
        data = recordpress.decompress(payload, "zstd")
        level = vector.entry.get("level")
        stream = recordpress.compressor("zstd", level)
        for ours in (recordpress.compress(data, "zstd", level), stream.compress(data) + stream.flush()):
            same = 5 if "2.1.1" in str(vector) else 6  # zstd-jni of Kafka 2.1 writes window 50
            assert ours[:same] == payload[:same], vector
            assert ours[-3:] == payload[-3:]
            equal += ours == payload
    assert equal


@given(
    data=st.binary(max_size=300),
    repeats=st.integers(1, 1500),
    level=st.sampled_from([-5, 1, 3, 12]),
    options=st.fixed_dictionaries({"write_content_size": st.booleans(), "write_checksum": st.booleans()}),
    times=st.integers(1, 3),
)
def test_reads_frames_of_others(data, repeats, level, options, times):
    data *= repeats
    payload = zstandard.ZstdCompressor(level=level, **options).compress(data) * times
    assert recordpress.decompress(exact(payload), "zstd") == data * times
    stream = recordpress.decompressor("zstd")
    assert stream.decompress(payload[:7]) + stream.decompress(payload[7:]) + stream.flush() == data * times


@given(level=st.integers(-131072, 22), size=st.integers(0, 3000))
def test_any_level(level, size):
    assert others(recordpress.compress(text(size), "zstd", level)) == text(size)


def test_level_0_is_3():
    assert (
        recordpress.compress(DATA, "zstd", 0)
        == recordpress.compress(DATA, "zstd", 3)
        == recordpress.compress(DATA, "zstd")
    )


def test_large_contexts_are_given_back():
    """The 200 MB that level 20 takes for a long stream are not kept when it ends."""
    recordpress.release_unused()
    stream = recordpress.compressor("zstd", 20)
    assert recordpress.decompress(stream.compress(DATA) + stream.flush(), "zstd") == DATA
    del stream
    assert recordpress.release_unused() < 40 << 20


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (b"", b""),
        (SKIPPABLE, b""),
        (SKIPPABLE + recordpress.compress(b"x", "zstd") + SKIPPABLE + recordpress.compress(b"y", "zstd"), b"xy"),
        (recordpress.compress(b"", "zstd") * 3, b""),
        (MAGIC + b"\x00\x00" + raw_block(b"x", True), b"x"),
        (MAGIC + b"\x20\x01" + raw_block(b"x", True), b"x"),
        (MAGIC + b"\x01\x58\x00" + raw_block(b"x", True), b"x"),  # dictionary 0 is none
        (MAGIC + b"\x00\x58" + b"\x52\x00\x00a\x01\x00\x00", b"a" * 10),
        (recordpress.compress(b"x", "zstd") + b"\x5a", b"x"),  # zstd-jni waits for the rest of a skippable frame
        (recordpress.compress(b"x", "zstd") + b"\x28", b"x"),
    ],
)
def test_accepted(payload, expected):
    assert recordpress.decompress(exact(payload), "zstd") == expected
    stream = recordpress.decompressor("zstd")
    assert b"".join(stream.decompress(payload[i : i + 1]) for i in range(len(payload))) + stream.flush() == expected
    assert stream.eof


CONTENT = zstandard.ZstdCompressor(write_checksum=True).compress(DATA)


@pytest.mark.parametrize(
    ("payload", "field", "position"),
    [
        (b"\x00", "frame header", 0),
        (b"\x5a", "frame header", 0),
        (b"records", "frame header", 0),
        (bytes.fromhex("27b52ffd") + bytes(10), "frame header", 0),
        (recordpress.compress(b"x", "zstd") + b"\x00", "frame header", 13),
        (recordpress.compress(b"x", "zstd") + b"\x5a\x5a", "frame header", 13),
        (recordpress.compress(b"x", "zstd") + b"\x00" * 20, "frame header", 13),
        (MAGIC + b"\x08\x58" + raw_block(b"x", True), "frame header", None),
        (MAGIC + b"\x01\x58\x07" + raw_block(b"x", True), "dictionaryId", 0),
        (MAGIC + b"\x02\x58\x00\x01" + raw_block(b"x", True), "dictionaryId", 0),
        (MAGIC + b"\x00\x90" + raw_block(b"x", True), "windowLog", 0),
        (MAGIC + b"\x00\x89" + raw_block(b"x", True), "windowLog", 0),
        (MAGIC + b"\x00\xff" + raw_block(b"x", True), "windowLog", 0),
        (MAGIC + b"\x00\x58" + b"\x07\x00\x00", "block", None),
        (MAGIC + b"\x00\x58" + raw_block(bytes(131073), True), "block", None),
        (MAGIC + b"\x00\x00" + raw_block(bytes(1025), True), "block", None),
        (CONTENT[:-1] + bytes([CONTENT[-1] ^ 1]), "checksum", 0),
        (CONTENT[:-1], "frame", None),
        (SKIPPABLE[:-1], "frame", 0),
        (recordpress.compress(b"x", "zstd") + SKIPPABLE[:7], "frame", 13),
        (MAGIC + b"\x20\x02" + raw_block(b"x", True), "block", None),
    ],
)
def test_refused(payload, field, position):
    with pytest.raises(recordpress.DecompressionError) as caught:
        recordpress.decompress(exact(payload), "zstd")
    assert caught.value.field == field
    assert position is None or caught.value.field_position == position
    stream = recordpress.decompressor("zstd")
    with pytest.raises(recordpress.DecompressionError) as caught:
        decompressed(stream, payload[:3], payload[3:])
    assert caught.value.field == field
    assert position is None or caught.value.field_position == position


def test_the_largest_window():
    """2^27, in a frame of a few bytes, needs no such memory."""
    assert recordpress.decompress(MAGIC + b"\x00\x88" + raw_block(b"x", True), "zstd") == b"x"


def test_run_length_bombs_are_refused_before_anything_is_decoded():
    payload = MAGIC + b"\x00\x58" + b"\x02\x00\x10\x00" * 8192 + EMPTY_BLOCK
    before = sum(recordpress.pool_bytes())
    with pytest.raises(recordpress.OutputTooLargeError):
        recordpress.decompress(payload, "zstd")
    assert sum(recordpress.pool_bytes()) <= before + (1 << 20)


def test_a_declared_size_beyond_the_cap_is_refused():
    payload = zstandard.ZstdCompressor().compress(DATA)
    assert recordpress.decompress(payload, "zstd", len(DATA)) == DATA
    with pytest.raises(recordpress.OutputTooLargeError):
        recordpress.decompress(payload, "zstd", len(DATA) - 1)


def test_noise_is_stored():
    data = noise(300_000)
    assert len(recordpress.compress(data, "zstd")) < len(data) + 20


def test_a_block_larger_than_its_window_is_refused_whatever_room_there_is() -> None:
    """A window of 3328 bytes, a block of 70000: libzstd's streams refuse it, and so Java does."""
    frame = bytes.fromhex("28b52ffd000d54000010000001006b113bc002010000")
    with pytest.raises(recordpress.DecompressionError):
        recordpress.decompress(frame, "zstd")
    with pytest.raises(recordpress.DecompressionError):
        recordpress.decompress_into(frame, bytearray(1 << 20), "zstd")
