"""Codec contexts are reused, and release_unused() frees the idle ones."""

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

import recordpress
from patience import HANG

CODECS = ("gzip", "snappy", "lz4", "zstd")


def test_release_unused_frees_contexts_and_blocks() -> None:
    recordpress.release_unused()
    for codec in CODECS:
        recordpress.decompress(recordpress.compress(bytes(100), codec), codec)
    pooled = sum(recordpress.pool_bytes())
    released = recordpress.release_unused()
    states = released - (pooled - sum(recordpress.pool_bytes()))
    assert states > 1 << 17  # those of zstd take more, and the table of snappy 32 KiB
    assert recordpress.release_unused() == 0
    result = recordpress.read_columns(recordpress.write_records([bytes(1 << 20)], compression_type="zstd"))
    del result
    if "RECORDPRESS_SANITIZED" not in os.environ:  # under a sanitizer no block is pooled
        assert recordpress.pool_bytes()[1] > 0
        assert recordpress.release_unused() > 1 << 20
        assert recordpress.pool_bytes()[1] == 0
    for codec in CODECS:
        assert recordpress.decompress(recordpress.compress(b"again", codec), codec) == b"again"


class Nested:
    """A codec that calls recordpress while recordpress calls it."""

    def compress(self, data: bytes) -> bytes:
        return recordpress.compress(data, "zstd")

    def decompress(self, data: bytes, max_output: int) -> bytes:
        return recordpress.decompress(data, "zstd", max_decompressed_bytes=max_output)


def test_contexts_in_use_at_once_are_all_kept_and_freed() -> None:
    codecs = recordpress.CodecRegistry()
    codecs.register("nested", Nested())
    recordpress.release_unused()
    recordpress.compress(bytes(100), "zstd")
    one = recordpress.release_unused()
    for _ in range(2):  # the context that the outer call takes now is the one that the inner call had before
        assert recordpress.decompress(recordpress.compress(bytes(100), "nested", codecs=codecs), "zstd") == bytes(100)
    assert recordpress.release_unused() >= 2 * one
    assert recordpress.release_unused() == 0


class Meeting:
    """A codec whose calls wait for each other, so that each has a context."""

    def __init__(self) -> None:
        self._barrier = Barrier(2)

    def compress(self, data: bytes) -> bytes:
        self._barrier.wait(HANG)
        return data

    def decompress(self, data: bytes, max_output: int) -> bytes:
        return data


def test_a_thread_is_given_the_context_that_it_had_before() -> None:
    codecs = recordpress.CodecRegistry()
    codecs.register("meeting", Meeting())
    recordpress.release_unused()
    recordpress.compress(bytes(100), "zstd")
    one = recordpress.release_unused()
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        data = bytearray(b"x")  # whose copy a context holds
        meetings = [thread.submit(recordpress.compress, data, "meeting", codecs=codecs) for thread in (first, second)]
        assert [meeting.result() for meeting in meetings] == [b"x", b"x"]
        for thread in (first, second, first):  # in turn: both contexts are free each time
            thread.submit(recordpress.compress, bytes(100), "zstd").result()
    assert recordpress.release_unused() >= 2 * one
    assert recordpress.release_unused() == 0


@pytest.mark.parametrize("made", [recordpress.Compressor, recordpress.Decompressor])
def test_streams_that_were_not_made_say_so(made: type) -> None:
    stream = made.__new__(made)
    for use in ("compress", "decompress"):
        if hasattr(stream, use):
            with pytest.raises(TypeError, match="create one with"):
                getattr(stream, use)(b"x")
    with pytest.raises(TypeError, match="create one with"):
        stream.flush()


@pytest.mark.parametrize("flags", [0x08, 0x10])
def test_a_long_text_in_a_gzip_header_comes_in_small_pieces(flags: int) -> None:
    whole = recordpress.compress(b"data", "gzip")
    text = b"name" * 50_000
    payload = whole[:3] + bytes([flags]) + whole[4:10] + text + b"\0" + whole[10:]
    stream = recordpress.decompressor("gzip")
    out = b"".join(stream.decompress(payload[i : i + 7]) for i in range(0, len(payload), 7))
    assert out + stream.flush() == b"data" == recordpress.decompress(payload, "gzip")
