"""zstd: the start of another frame after the last one, which Kafka does not notice in a record batch."""

import pytest

import recordpress
from together import together

RECORDS = [b"one", b"two"]
FRAME = recordpress.compress(b"more" * 100, "zstd")
SKIPPABLE = bytes.fromhex("502a4d18 08000000") + bytes(8)


def batch(tail: bytes) -> bytes:
    data = bytearray(recordpress.write_records(RECORDS, compression_type="zstd") + tail)
    data[8:12] = (len(data) - 12).to_bytes(4, "big")
    data[17:21] = recordpress.crc32c(bytes(data[21:])).to_bytes(4, "big")
    return bytes(data)


@pytest.mark.parametrize("tail", [FRAME[:n] for n in (1, 3, 4, 5, 8, 12)] + [SKIPPABLE[:n] for n in (1, 4, 7, 15)])
def test_the_start_of_a_frame_is_ignored_in_a_batch_alone(tail: bytes) -> None:
    [read] = recordpress.read_batches(batch(tail))
    assert [record.value for record in read] == RECORDS
    assert recordpress.read_columns(batch(tail), ["value"])["value"].to_pylist() == RECORDS
    if len(tail) > 1:
        with pytest.raises(recordpress.DecompressionError):
            recordpress.decompress(recordpress.compress(b"x", "zstd") + tail, "zstd")


@pytest.mark.parametrize("tail", [b"\0", b"\x28\xb6", b"\x28\xb5\x2f\xfe", b"\x50\x2a\x4d\x19", FRAME[:-3]])
def test_other_bytes_are_an_error(tail: bytes) -> None:
    with pytest.raises(recordpress.RecordpressError):
        recordpress.read_columns(batch(tail))


RAW = recordpress.compress(bytes(range(256)), "zstd")
RAW_BEGINS = 6 + 3  # the headers of the frame and of its first block, a raw one
LAST_BLOCK = len(FRAME) - 3  # the empty one


def streamed(payload: bytes) -> bytes:
    stream = recordpress.decompressor("zstd")
    return stream.decompress(payload) + stream.flush()


@pytest.mark.parametrize(
    ("frame", "longest"), [(FRAME, LAST_BLOCK - 1), (RAW, RAW_BEGINS), (SKIPPABLE, len(SKIPPABLE) - 1)]
)
def test_prefixes_of_every_length(frame: bytes, longest: int) -> None:
    """In a batch the start of a frame is ignored as long as it has no output; streams and calls ignore one byte."""
    whole = recordpress.compress(b"x", "zstd")
    for n in range(1, len(frame)):
        for check in (True, False):
            try:
                [read] = recordpress.read_batches(batch(frame[:n]), check_crcs=check)
                assert [record.value for record in read] == RECORDS
                assert n <= longest
            except recordpress.RecordpressError:
                assert n > longest, n
        for read in (lambda data: recordpress.decompress(data, "zstd"), streamed):
            if n == 1:
                assert read(whole + frame[:n]) == b"x"
            else:
                with pytest.raises(recordpress.DecompressionError):
                    read(whole + frame[:n])


@together("n", range(1, len(RAW)))
def test_a_prefix_alone_is_an_error(n: int) -> None:
    """It is only ignored after a whole frame."""
    data = bytearray(recordpress.write_records(RECORDS, compression_type="zstd")[:61] + RAW[:n])
    data[8:12] = (len(data) - 12).to_bytes(4, "big")
    data[17:21] = recordpress.crc32c(bytes(data[21:])).to_bytes(4, "big")
    with pytest.raises(recordpress.DecompressionError):
        [list(read) for read in recordpress.read_batches(bytes(data))]
