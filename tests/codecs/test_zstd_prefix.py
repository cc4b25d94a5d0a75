"""zstd: the start of another frame after the last one, which Kafka does not notice in a record batch."""

import pytest

import kpress

RECORDS = [b"one", b"two"]
FRAME = kpress.compress(b"more" * 100, "zstd")
SKIPPABLE = bytes.fromhex("502a4d18 08000000") + bytes(8)


def batch(tail: bytes) -> bytes:
    data = bytearray(kpress.write_records(RECORDS, compression_type="zstd") + tail)
    data[8:12] = (len(data) - 12).to_bytes(4, "big")
    data[17:21] = kpress.crc32c(bytes(data[21:])).to_bytes(4, "big")
    return bytes(data)


@pytest.mark.parametrize("tail", [FRAME[:n] for n in (1, 3, 4, 5, 8, 12)] + [SKIPPABLE[:n] for n in (1, 4, 7, 15)])
def test_the_start_of_a_frame_is_ignored_in_a_batch_alone(tail: bytes) -> None:
    [read] = kpress.read_batches(batch(tail))
    assert [record.value for record in read] == RECORDS
    assert kpress.read_columns(batch(tail), ["value"])["value"].to_pylist() == RECORDS
    if len(tail) > 1:
        with pytest.raises(kpress.DecompressionError):
            kpress.decompress(kpress.compress(b"x", "zstd") + tail, "zstd")


@pytest.mark.parametrize("tail", [b"\0", b"\x28\xb6", b"\x28\xb5\x2f\xfe", b"\x50\x2a\x4d\x19", FRAME[:-3]])
def test_other_bytes_are_an_error(tail: bytes) -> None:
    with pytest.raises(kpress.KpressError):
        kpress.read_columns(batch(tail))
