"""What holds for every codec: round trips, caps, hostile bytes, arguments."""

import struct
import threading
import tracemalloc
import zlib

import numpy
import pytest
from hypothesis import given, strategies as st
from samples import CODECS, FRAMED, KINDS, SIZES, crafted, decompressed, exact, stream_failed, text

import recordpress
from together import together

codecs = pytest.mark.parametrize("codec", CODECS)
framed = pytest.mark.parametrize("codec", FRAMED)


@codecs
@pytest.mark.parametrize("kind", KINDS)
@together("size", SIZES)
def test_round_trip(codec, kind, size):
    data = KINDS[kind](size)
    payload = recordpress.compress(data, codec)
    assert len(payload) <= recordpress.compress_bound(size, codec)
    assert recordpress.decompress(exact(payload), codec) == data
    assert recordpress.decompress(payload, codec, size) == data
    if size:
        with pytest.raises(recordpress.OutputTooLargeError):
            recordpress.decompress(payload, codec, size - 1)


@given(data=st.binary(max_size=3000), repeats=st.integers(1, 60), codec=st.sampled_from(CODECS), where=st.data())
def test_round_trip_of_anything(data, repeats, codec, where):
    data = data * repeats
    raw = codec == "snappy" and where.draw(st.booleans())
    payload = recordpress.compress(exact(data), codec, raw=raw)
    assert recordpress.decompress(exact(payload), codec) == data
    out = bytearray(len(data) + where.draw(st.integers(0, 100)))
    assert recordpress.decompress_into(payload, out, codec) == len(data)
    assert out[: len(data)] == data


@codecs
def test_into_takes_what_fits(codec):
    data = text(5000)
    payload = recordpress.compress(data, codec)
    for room in (len(payload), len(payload) + 1, recordpress.compress_bound(5000, codec)):
        out = (memoryview(bytearray(room + 1)))[:room]
        assert recordpress.compress_into(data, out, codec) == len(payload)
        assert out[: len(payload)] == payload
    for room in (0, 1, len(payload) - 1):
        with pytest.raises(recordpress.InvalidArgumentError, match="too small") as caught:
            recordpress.compress_into(data, bytearray(room), codec)
        assert caught.value.field == "out"
    for room in (0, 1, 4999):
        with pytest.raises(recordpress.InvalidArgumentError, match="too small"):
            recordpress.decompress_into(payload, bytearray(room), codec)


@codecs
def test_into_refuses_its_own_input(codec):
    memory = bytearray(1000)
    with pytest.raises(recordpress.InvalidArgumentError, match="overlap"):
        recordpress.compress_into(memoryview(memory)[:100], memoryview(memory)[50:], codec)
    with pytest.raises(recordpress.InvalidArgumentError, match="overlap"):
        recordpress.decompress_into(memoryview(memory)[:100], memory, codec)
    assert recordpress.compress_into(memoryview(memory)[:100], memoryview(memory)[100:], codec)


@framed
def test_reads_what_kafka_reads(codec):
    payloads = crafted(codec)
    assert payloads
    for payload in payloads:
        if stream_failed(payload):
            with pytest.raises(recordpress.DecompressionError):
                recordpress.decompress(exact(payload.data), codec)
        else:
            output = recordpress.decompress(exact(payload.data), codec)
            assert payload.size is None or len(output) == payload.size, payload


@framed
def test_every_cut_is_an_error(codec):
    data = text(400)
    for payload in {recordpress.compress(data, codec), recordpress.compress(data, codec, raw=codec == "snappy")}:
        for size in range(len(payload)):
            if size == 0 and codec == "zstd":
                assert recordpress.decompress(b"", codec) == b""  # no frames decode to nothing
                continue
            if size == 16 and codec == "snappy" and payload.startswith(b"\x82SNAPPY"):
                assert recordpress.decompress(payload[:16], codec) == b""  # and so do no chunks
                continue
            if codec == "snappy" and payload.startswith(b"\x82SNAPPY") and 16 < size < 20:
                continue  # three bytes after the last chunk are ignored
            with pytest.raises(recordpress.DecompressionError) as caught:
                recordpress.decompress(exact(payload[:size]), codec)
            assert 0 <= caught.value.field_position <= size
            assert caught.value.rule
            with pytest.raises(recordpress.RecordpressError):
                recordpress.decompress_into(exact(payload[:size]), bytearray(400), codec)


@framed
@pytest.mark.parametrize("raw", [False, True])
def test_every_flipped_bit_is_an_error_or_some_output(codec, raw):
    """No crash, no read out of bounds (under sanitizers), nothing beyond the cap."""
    payload = recordpress.compress(text(300), codec, raw=raw and codec == "snappy")
    for bit in range(8 * len(payload)):
        flipped = bytearray(payload)
        flipped[bit // 8] ^= 1 << bit % 8
        outputs = []
        for read in (
            lambda data: recordpress.decompress(data, codec, 10_000),
            lambda data: decompressed(recordpress.decompressor(codec, 10_000), data),
        ):
            try:
                outputs.append(read(exact(bytes(flipped))))
                assert len(outputs[-1]) <= 10_000
            except (recordpress.DecompressionError, recordpress.OutputTooLargeError):
                outputs.append(None)
        if codec == "zstd" and outputs[0] is None:
            continue  # libzstd's streams take a compressed block of no bytes, its one call does not
        assert outputs[0] == outputs[1], bit


def bomb(codec: str) -> bytes:
    """1 GB of zeros, in as few bytes as the codec can say it."""
    gigabyte = 1 << 30
    if codec == "gzip":
        deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
        megabyte = deflate.compress(bytes(1 << 20)) + deflate.flush(zlib.Z_FULL_FLUSH)
        return (
            recordpress.compress(b"", "gzip")[:10] + megabyte * 1024 + deflate.flush() + struct.pack("<LL", 0, gigabyte)
        )
    if codec == "snappy":  # a block that says so and does not hold it
        return b"\x80\x80\x80\x80\x04" + b"\x00\x00" + b"\xfe\x01\x00" * 3000
    if codec == "lz4":  # 255 bytes a byte
        block = recordpress.compress(bytes(4 << 20), "lz4")[7:-4]
        return recordpress.compress(b"", "lz4")[:7] + block * (gigabyte // (4 << 20)) + bytes(4)
    blocks = gigabyte >> 17
    return bytes.fromhex("28b52ffd0058") + b"\x02\x00\x10\x00" * (blocks - 1) + b"\x03\x00\x10\x00"


@framed
def test_bombs_stop_at_the_cap(codec):
    payload = bomb(codec)
    tracemalloc.start()
    before = sum(recordpress.pool_bytes())
    with pytest.raises((recordpress.OutputTooLargeError, recordpress.DecompressionError)):
        recordpress.decompress(payload, codec, 1 << 20)
    with pytest.raises((recordpress.OutputTooLargeError, recordpress.DecompressionError)):
        decompressed(recordpress.decompressor(codec, 1 << 20), payload)
    with pytest.raises(
        (recordpress.OutputTooLargeError, recordpress.DecompressionError, recordpress.InvalidArgumentError)
    ):
        recordpress.decompress_into(payload, bytearray(1000), codec)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * len(payload) + (4 << 20)
    assert sum(recordpress.pool_bytes()) - before < 4 * len(payload) + (8 << 20)


@pytest.mark.parametrize(
    ("codec", "payload"),
    [
        ("gzip", recordpress.compress(b"x", "gzip")[:-4] + b"\xff\xff\xff\xff"),
        ("snappy", b"\xff\xff\xff\xff\x0f\x00x"),
        ("zstd", bytes.fromhex("28b52ffdc058") + (1 << 33).to_bytes(8, "little") + bytes.fromhex("010000")),
    ],
)
def test_declared_sizes_are_not_believed(codec, payload):
    """A header that claims gigabytes costs no memory."""
    before = sum(recordpress.pool_bytes())
    tracemalloc.start()
    with pytest.raises((recordpress.DecompressionError, recordpress.OutputTooLargeError)):
        recordpress.decompress(payload, codec)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20
    assert sum(recordpress.pool_bytes()) - before < 1 << 20


def test_codecs_are_named():
    with pytest.raises(
        recordpress.InvalidArgumentError, match="'none', 'gzip', 'snappy', 'lz4' or 'zstd', not 'brotli'"
    ):
        recordpress.compress(b"", "brotli")
    for function in (
        lambda: recordpress.compress(b"", 4),
        lambda: recordpress.decompress(b"", None),
        lambda: recordpress.compressor(b"zstd"),
        lambda: recordpress.decompressor(1),
        lambda: recordpress.compress_bound(1, 1),
    ):
        with pytest.raises(recordpress.ArgumentTypeError, match="compression_type must be a str"):
            function()


@pytest.mark.parametrize(
    ("codec", "levels", "beyond", "range"),
    [
        ("gzip", (-1, 1, 9), (0, -2, 10), "between 1 and 9 or -1, not"),
        ("lz4", (1, 9, 17), (0, -1, 18), "between 1 and 17, not"),
        ("zstd", (-131072, -5, 0, 3, 22), (-131073, 23), "between -131072 and 22, not"),
    ],
)
def test_levels(codec, levels, beyond, range):
    data = text(3000)
    for make in (
        lambda level: recordpress.compress(data, codec, level),
        lambda level: recordpress.compress(data, codec, level=level),
    ):
        for level in levels:
            assert recordpress.decompress(make(level), codec) == data
        assert make(None) == make("kafka-default") == recordpress.compress(data, codec)
        for level in (*beyond, 1 << 40, -(1 << 70)):
            with pytest.raises(recordpress.InvalidArgumentError, match=range):
                make(level)
        for level in ("fast", 1.0, True, b"1"):
            with pytest.raises(recordpress.ArgumentTypeError, match="level must be an int"):
                make(level)


@pytest.mark.parametrize("codec", ["none", "snappy"])
def test_codecs_without_levels(codec):
    assert recordpress.compress(b"x", codec, None) == recordpress.compress(b"x", codec, "kafka-default")
    for make in (recordpress.compress, lambda data, *rest: recordpress.compressor(*rest)):
        with pytest.raises(recordpress.InvalidArgumentError, match=f"{codec} has no levels"):
            make(b"x", codec, 1)


@codecs
def test_magic(codec):
    for magic in (3, -1, 1 << 80):
        with pytest.raises(recordpress.InvalidArgumentError, match="magic must be from 0 to 2"):
            recordpress.compress(b"", codec, magic=magic)
    for magic in (None, "2", 2.0, True):
        with pytest.raises(recordpress.ArgumentTypeError, match="magic must be an int"):
            recordpress.decompress(b"", codec, magic=magic)
    for magic in (0, 1):
        if codec == "zstd":
            with pytest.raises(recordpress.InvalidArgumentError, match="zstd needs magic 2"):
                recordpress.compress(b"", codec, magic=magic)
            with pytest.raises(recordpress.InvalidArgumentError, match="zstd needs magic 2"):
                recordpress.decompressor(codec, magic=magic)
        else:
            assert recordpress.decompress(recordpress.compress(b"x", codec, magic=magic), codec, magic=magic) == b"x"


@codecs
def test_max_decompressed_bytes(codec):
    assert recordpress.decompress(recordpress.compress(b"", codec), codec, 0) == b""
    for bad in (-1, 1 << 31, 1 << 90):
        with pytest.raises(
            recordpress.InvalidArgumentError, match="max_decompressed_bytes must be from 0 to 2147483647"
        ):
            recordpress.decompress(b"", codec, bad)
    for bad in (None, "1", 1.0):
        with pytest.raises(recordpress.ArgumentTypeError, match="max_decompressed_bytes must be an int"):
            recordpress.decompressor(codec, bad)


@codecs
def test_buffers(codec):
    data = text(2000)
    payload = recordpress.compress(data, codec)
    for view in (bytearray(data), memoryview(data), numpy.frombuffer(data, dtype="u1"), numpy.frombuffer(data, "<u4")):
        assert recordpress.compress(view, codec) == payload
    for bad in ("text", 5, None, [1]):
        with pytest.raises(recordpress.ArgumentTypeError, match="data must be a bytes-like object"):
            recordpress.compress(bad, codec)
        with pytest.raises(recordpress.ArgumentTypeError, match="data must be a bytes-like object"):
            recordpress.decompress(bad, codec)
        with pytest.raises(recordpress.ArgumentTypeError, match="out must be a writable"):
            recordpress.compress_into(data, bad, codec)
    gaps = memoryview(data)[::2]
    for function in (recordpress.compress, recordpress.decompress):
        with pytest.raises(recordpress.InvalidArgumentError, match="data must be a contiguous"):
            function(gaps, codec)
    with pytest.raises(recordpress.InvalidArgumentError, match="out must be a writable"):
        recordpress.compress_into(data, bytes(9999), codec)
    with pytest.raises(recordpress.InvalidArgumentError, match="out must be a writable"):
        recordpress.decompress_into(payload, bytes(9999), codec)


def test_bound():
    with pytest.raises(recordpress.InvalidArgumentError, match="size must be from 0"):
        recordpress.compress_bound(-1, "lz4")
    with pytest.raises(recordpress.ArgumentTypeError, match="size must be an int"):
        recordpress.compress_bound("1", "lz4")


@framed
def test_threads_have_contexts_of_their_own(codec):
    texts = [text(20_000 + i) for i in range(4)]
    wrong = []

    def work(data: bytes) -> None:
        for _ in range(30):
            if recordpress.decompress(recordpress.compress(data, codec), codec) != data:
                wrong.append(data)

    threads = [threading.Thread(target=work, args=(data,)) for data in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
