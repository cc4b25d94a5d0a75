"""read_batches: options, cut tails, and entries that are read as Kafka 4.4.0 reads them."""

from __future__ import annotations

import struct

import pytest

import recordpress
from messages import V1_BODY, message, wrapper

TWO = recordpress.write_records([b"a", b"b"], compression_type="lz4")

# --- checksums ----------------------------------------------------------------------------------------------


def damaged() -> bytes:
    data = bytearray(recordpress.write_records([b"value"] * 3, base_offset=7))
    data[-2] ^= 1
    return bytes(data)


def test_a_bad_checksum_is_an_error_unless_told_otherwise() -> None:
    [batch] = recordpress.read_batches(damaged())
    with pytest.raises(recordpress.CorruptRecordError) as caught:
        iter(batch)
    assert (caught.value.position, caught.value.offset, caught.value.field_position) == (0, 7, 17)
    [unchecked] = recordpress.read_batches(damaged(), check_crcs=False)
    assert len(list(unchecked)) == 3


def test_the_stored_checksum_and_the_computed_one() -> None:
    data = damaged()
    stored, computed = int.from_bytes(data[17:21], "big"), recordpress.crc32c(data[21:])
    [batch] = recordpress.read_batches(data)
    with pytest.raises(
        recordpress.CorruptRecordError, match=f"stored checksum {stored:#010x}, computed {computed:#010x}"
    ):
        batch.ensure_valid()


def test_checksums_inside_a_wrapper_are_compared() -> None:
    inner = bytearray(message(1, 0, V1_BODY) + message(1, 0, V1_BODY, 1))
    inner[-1] ^= 1
    [batch] = recordpress.read_batches(wrapper(bytes(inner)))
    assert batch.is_valid()
    with pytest.raises(recordpress.CorruptRecordError, match=r"checksum.* of the decompressed records"):
        iter(batch)
    [unchecked] = recordpress.read_batches(wrapper(bytes(inner)), check_crcs=False)
    assert [record.is_valid() for record in unchecked] == [True, False]


@pytest.mark.parametrize("option", ["check_crcs", "complete"])
@pytest.mark.parametrize("value", [1, None, "no"])
def test_flags_are_bools(option: str, value: object) -> None:
    with pytest.raises(recordpress.ArgumentTypeError) as caught:
        recordpress.read_batches(TWO, **{option: value})  # type: ignore[arg-type]
    assert caught.value.field == option


# --- cut tails ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [0, 1, 11, 12, 16, 17, 60, len(TWO) - 1])
def test_a_cut_tail_is_told(cut: int) -> None:
    batches = recordpress.read_batches(TWO + TWO[:cut])
    assert batches.trailing_bytes is None
    next(batches)
    assert (batches.valid_bytes, batches.trailing_bytes) == (len(TWO), None)
    assert list(batches) == []
    assert (batches.valid_bytes, batches.trailing_bytes) == (len(TWO), cut)


@pytest.mark.parametrize("cut", [1, 11, 12, 16, 17, 60, len(TWO) - 1])
def test_a_cut_tail_is_an_error_where_all_must_be_there(cut: int) -> None:
    batches = recordpress.read_batches(TWO + TWO[:cut], complete=True)
    assert next(batches).last_offset == 1
    with pytest.raises(recordpress.CorruptRecordError, match=f"truncated after {cut} bytes") as caught:
        next(batches)
    assert (caught.value.field, caught.value.position) == ("size", len(TWO))
    assert len(list(recordpress.read_batches(TWO * 2, complete=True))) == 2


def test_max_message_bytes_is_the_size_field() -> None:
    size = len(TWO) - 12
    assert len(list(recordpress.read_batches(TWO, max_message_bytes=size))) == 1
    with pytest.raises(recordpress.CorruptRecordError, match=f"entry size {size} is larger than {size - 1},"):
        next(recordpress.read_batches(TWO, max_message_bytes=size - 1))


# --- len and records ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [-1, 2, 1 << 30, (1 << 31) - 1])
@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_a_count_that_lies_takes_no_memory(count: int, codec: str) -> None:
    data = bytearray(recordpress.write_records([b"v"], compression_type=codec))
    data[57:61] = struct.pack(">i", count)
    [batch] = recordpress.read_batches(data, check_crcs=False, max_decompressed_bytes=1 << 20)
    with pytest.raises(recordpress.InvalidRecordError) as caught:
        _ = batch.records
    assert (caught.value.field, caught.value.offset) == ("recordsCount", 0)
    if count < 0:
        with pytest.raises(recordpress.InvalidRecordError) as counted:
            len(batch)
        assert str(counted.value) == str(caught.value)
        assert (caught.value.position, caught.value.field_position) == (0, 57)


@pytest.mark.parametrize(("magic", "payload"), [(0, 26), (1, 34), (2, 61)])
def test_the_position_of_damage_in_what_is_compressed(magic: int, payload: int) -> None:
    data = bytearray(recordpress.write_records([b"v" * 100], magic=magic, compression_type="lz4"))
    data[payload] ^= 1  # the magic number of the frame
    *_, batch = recordpress.read_batches(TWO + data, check_crcs=False)
    with pytest.raises(recordpress.RecordpressError) as caught:
        list(batch)
    assert (caught.value.position, caught.value.field_position) == (len(TWO), len(TWO) + payload)


def test_a_wrapper_is_opened_to_be_counted() -> None:
    [batch] = recordpress.read_batches(recordpress.write_records([b"v"] * 5, magic=1, compression_type="snappy"))
    assert batch.records_count is None
    assert len(batch) == 5
    assert [record.offset for record in batch.records] == list(range(5))


# --- as Kafka reads -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "delta", "expected"),
    [
        (5, 3, 8),
        (2**31 - 1, 1, 0),
        (2**31 - 3, 5, 2),
        (-1, 5, -1),
        # what the int arithmetic of DefaultRecordBatch.incrementSequence gives
        (10, -5, -(2**31) + 5),
        (0, -1, 2**31 - 1),
    ],
)
def test_last_sequence(base: int, delta: int, expected: int) -> None:
    data = bytearray(TWO)
    data[23:27] = struct.pack(">i", delta)
    data[53:57] = struct.pack(">i", base)
    [batch] = recordpress.read_batches(data)
    assert batch.last_sequence == expected


def test_the_base_offset_of_a_wrapper_is_that_of_a_record_that_can_be_read() -> None:
    nested = message(1, 1, V1_BODY)
    [batch] = recordpress.read_batches(wrapper(nested + message(1, 0, V1_BODY, 1), 1))
    with pytest.raises(recordpress.InvalidRecordError, match="itself compressed"):
        _ = batch.base_offset
    [batch] = recordpress.read_batches(wrapper(message(1, 0, V1_BODY) + message(1, 1, V1_BODY, 1), 1))
    assert batch.base_offset == 0


@pytest.mark.parametrize("magic", [2, 5, 127, -1])
def test_an_inner_message_of_another_magic_is_read_as_v1(magic: int) -> None:
    data = wrapper(message(1, 0, V1_BODY) + message(magic, 8, V1_BODY, 1), 1)
    [batch] = recordpress.read_batches(data)
    first, other = batch
    assert (other.offset, other.timestamp, other.key, other.value) == (1, 1700000000000, b"k", b"v")
    assert (first.timestamp_type, other.timestamp_type) == (0, 1)  # its own, not the wrapper's
    assert recordpress.read_columns(data, ["offset", "key"])["key"].to_pylist() == [b"k", b"k"]
    with pytest.raises(recordpress.CorruptRecordError, match=f"magic {magic}"):
        recordpress.recompress(data, "none")  # as a separate entry it would be of another format


@pytest.mark.parametrize("size", range(14, 22))
def test_a_v1_message_too_short_for_its_fields_fails_alone(size: int) -> None:
    short = message(1, 0, bytes(size - 6), 1)
    assert len(short) == 12 + size
    data = bytearray(message(1, 0, V1_BODY) + short + message(1, 0, V1_BODY, 2))
    first, broken, last = recordpress.read_batches(data)
    assert (broken.base_offset, broken.is_valid(), first.records[0].value, last.records[0].offset) == (1, True, b"v", 2)
    assert broken.max_timestamp == 0
    with pytest.raises(recordpress.CorruptRecordError, match=f"message size {size}"):
        _ = broken.records
    with pytest.raises(recordpress.InvalidArgumentError, match="too short"):
        broken.set_max_timestamp(1, 5)


def test_an_inner_message_that_cannot_be_read_ends_its_wrapper_alone() -> None:
    inner = message(1, 0, V1_BODY) + message(1, 0, bytes(8), 1) + message(1, 0, V1_BODY, 2)
    broken, whole = recordpress.read_batches(wrapper(inner, 2) + message(1, 0, V1_BODY, 3), check_crcs=False)
    records = iter(broken)
    assert next(records).offset == 0
    with pytest.raises(recordpress.CorruptRecordError, match="message size 14"):
        next(records)
    assert list(records) == []
    assert whole.records[0].offset == 3


def test_the_checksum_of_a_wrapper_is_compared() -> None:
    data = bytearray(wrapper(message(1, 0, V1_BODY)))
    data[12] ^= 1
    [batch] = recordpress.read_batches(data)
    with pytest.raises(recordpress.CorruptRecordError, match="checksum"):
        iter(batch)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (b"\xed\xa0\x80", "\ufffd"),
        (b"a\xed\xbf\xbfb", "a\ufffdb"),
        (b"\xed\xa0", "\ufffd"),
        (b"\xed\xa0A", "\ufffdA"),
        (b"\xed\xa0\x80\xed\xb0\x80", "\ufffd\ufffd"),
        (b"\xed\x9f\xbf", "\ud7ff"),
        (b"\xe0\x80\x80", "\ufffd" * 3),
        (b"\xf0\x90\x80", "\ufffd"),
        (b"\xff\xc0\x80", "\ufffd" * 3),
    ],
)
def test_header_keys_are_decoded_as_java_does(key: bytes, expected: str) -> None:
    placed = bytearray(recordpress.write_records([b"v"], headers=[[("x" * len(key), b"1")]]))
    at = placed.index(b"x" * len(key))
    placed[at : at + len(key)] = key
    [[record]] = recordpress.read_batches(placed, check_crcs=False)
    assert record.headers == [(expected, b"1")]
    columns = recordpress.read_columns(placed, ["headers"], check_crcs=False)
    assert columns["headers"].to_pylist() == [[(expected, b"1")]]


@pytest.mark.parametrize("check_crcs", [True, False])
@pytest.mark.parametrize("size", [-1, 0, 13])
def test_an_inner_size_below_that_of_any_message_fails_the_wrapper(size: int, check_crcs: bool) -> None:
    """Before its first record: AbstractLegacyRecordBatch.DeepRecordsIterator reads all messages first."""
    data = wrapper(message(1, 0, V1_BODY) + struct.pack(">qi", 1, size) + bytes(30), 1)
    [batch] = recordpress.read_batches(data, check_crcs=check_crcs)
    with pytest.raises(recordpress.CorruptRecordError, match=f"entry size {size} is less than the minimum of 14"):
        next(iter(batch))


def test_a_wrapper_with_an_offset_below_that_of_its_last_message() -> None:
    """DeepRecordsIterator: such a wrapper is refused, but for the offset 0, which some versions of librdkafka write."""
    [batch] = recordpress.read_batches(wrapper(message(1, 0, V1_BODY, 5), 3))
    with pytest.raises(recordpress.InvalidRecordError, match="wrapper offset 3 is less than the last inner offset 5"):
        next(iter(batch))
    [batch] = recordpress.read_batches(wrapper(message(1, 0, V1_BODY, 5) + message(1, 0, V1_BODY, 6)))
    assert [record.offset for record in batch] == [5, 6]
