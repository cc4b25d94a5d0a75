"""zstd frames with windows above 8 MiB that come in pieces: holding them changes only when their output comes."""

from functools import cache

import pytest
import zstandard
from hypothesis import given, strategies as st
from samples import decompressed, noise, text

import recordpress

LARGE = 3 << 20  # more than a stream keeps of a frame that is hardly smaller than its output
PIECE = 1 << 16


@cache
def wide(kind, size: int, checksum: bool = False) -> bytes:
    """A frame of another writer with a window of 128 MiB."""
    options = zstandard.ZstdCompressionParameters.from_level(3, window_log=27, write_checksum=checksum)
    stream = zstandard.ZstdCompressor(compression_params=options).compressobj()
    return stream.compress(kind(size)) + stream.flush()


@pytest.mark.parametrize("checksum", [False, True])
def test_a_frame_is_given_when_it_is_whole(checksum):
    """Wherever it is cut, and with frames before and after it."""
    data = text(400_000)
    frame = wide(text, len(data), checksum)
    other = recordpress.compress(b"others", "zstd")
    for cut in [*range(2, 24), len(frame) // 2, *range(len(frame) - 8, len(frame))]:
        stream = recordpress.decompressor("zstd")
        assert stream.decompress(other + frame[:cut]) == b"others"
        assert not stream.eof
        assert stream.decompress(frame[cut:] + other + frame) == data + b"others" + data
        assert stream.eof
        assert stream.flush() == b""


@given(st.lists(st.integers(0, 1 << 20), max_size=9), st.sampled_from([text, noise, bytes]))
def test_any_cut(at, kind):
    size = 1_200_000
    frame = wide(kind, size, checksum=True)
    at = sorted(min(i, len(frame)) for i in at)
    pieces = [frame[a:b] for a, b in zip([0, *at], [*at, len(frame)], strict=True)]
    assert decompressed(recordpress.decompressor("zstd", size), *pieces) == kind(size)


def test_byte_by_byte():
    frame = wide(text, 20_000)
    assert decompressed(recordpress.decompressor("zstd"), *[bytes([byte]) for byte in frame]) == text(20_000)


@pytest.mark.parametrize("checksum", [False, True])
def test_a_frame_that_is_hardly_smaller_than_its_output_does_not_wait(checksum):
    """It would take as much memory as its output."""
    data = noise(LARGE)
    frame = wide(noise, LARGE, checksum)
    stream = recordpress.decompressor("zstd")
    given = [stream.decompress(frame[at : at + PIECE]) for at in range(0, len(frame), PIECE)]
    assert b"".join(given) + stream.flush() == data
    assert len(b"".join(given[: len(given) // 2])) > LARGE // 3


def test_a_cap_decides_how_long_a_frame_waits():
    """With a low cap the same frame is held: it cannot become large."""
    data = noise(LARGE)
    frame = wide(noise, LARGE)
    stream = recordpress.decompressor("zstd", LARGE)
    assert stream.decompress(frame[:-1]) == b""
    assert stream.decompress(frame[-1:]) == data


@pytest.mark.parametrize("kind", [text, noise])
@pytest.mark.parametrize("cut", [5, 1000, 2 << 20])
def test_caps(kind, cut):
    frame = wide(kind, LARGE)
    assert len(decompressed(recordpress.decompressor("zstd", LARGE), frame[:cut], frame[cut:])) == LARGE
    with pytest.raises(recordpress.OutputTooLargeError):
        decompressed(recordpress.decompressor("zstd", LARGE - 1), frame[:cut], frame[cut:])


@pytest.mark.parametrize("cut", [0, 3, 7, 400])
@pytest.mark.parametrize("at", [10, 5000, -2])
def test_damage_is_found_where_one_call_finds_it(at, cut):
    """In a block, in a checksum; positions count from the payload's start."""
    good = recordpress.compress(b"x" * 100, "zstd")
    frame = bytearray(wide(text, 400_000, checksum=True))
    frame[at] ^= 0xFF
    with pytest.raises(recordpress.DecompressionError) as one:
        recordpress.decompress(good + frame, "zstd")
    stream = recordpress.decompressor("zstd")
    with pytest.raises(recordpress.DecompressionError) as pieces:
        decompressed(stream, good + frame[:cut], frame[cut:-1], frame[-1:])
    assert type(pieces.value) is type(one.value)
    assert pieces.value.field_position == len(good)


@pytest.mark.parametrize("size", [7, 400, 30_000])
def test_a_frame_that_is_cut_short(size):
    stream = recordpress.decompressor("zstd")
    stream.decompress(wide(text, 400_000)[:size])
    assert not stream.eof
    with pytest.raises(recordpress.DecompressionError):
        stream.flush()
