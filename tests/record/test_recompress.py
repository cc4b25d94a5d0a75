"""recompress: what it keeps, read back with our reader and with aiokafka, over everything Kafka wrote."""

import functools
import json
import struct
import zlib

import pytest
from aiokafka.record import MemoryRecords

import facts
import oracle
import recordpress
from together import together

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
# what a v2 header may lose to another codec: its size, where it lies, and what follows from the new payload
CHANGED = {"position", "size", "attributes", "crc"}


@functools.cache
def is_readable(expected_file: str) -> bool:
    """Whole entries that Kafka read without an error."""
    expected = json.loads(oracle.read(expected_file))
    return (
        not expected.get("trailing_bytes")
        and not expected.get("scan_error")
        and "decoder_error" not in expected
        and all(batch["valid"] and not batch.get("records_error") for batch in expected["batches"])
    )


@functools.lru_cache(maxsize=2)  # of the original, next to that of a copy under each codec
def records(data: bytes) -> list[tuple[object, ...]]:
    """Every record, with its batch's magic; sizes and inner checksums are those of the encoding."""
    return [
        (
            batch.magic,
            record.offset,
            record.timestamp,
            record.timestamp_type,
            record.sequence if batch.magic == 2 else None,
            record.key,
            record.value,
            record.headers,
        )
        for batch in recordpress.read_batches(data)
        for record in batch
    ]


def unchanged_header(batch: recordpress.Batch) -> facts.Facts:
    kept = {name: value for name, value in facts.batch_facts(batch).items() if name not in CHANGED}
    return kept | {"flags": batch.attributes & ~7}


@together("codec", CODECS)
@oracle.each("vector", [vector for vector in oracle.EVERYTHING if vector.entry.get("size", 1)])
def test_every_record_and_header_field_is_kept(vector: oracle.Vector, codec: str) -> None:
    if not is_readable(vector.expected_file):
        return
    data = vector.data
    before = list(recordpress.read_batches(data))
    if codec == "zstd" and any(batch.magic < 2 for batch in before):
        with pytest.raises(recordpress.UnsupportedCompressionTypeError, match="needs magic 2"):
            recordpress.recompress(data, codec)
        return
    copy = recordpress.recompress(data, codec)
    after = list(recordpress.read_batches(copy))
    assert records(copy) == records(data)
    assert all(batch.is_valid() for batch in after)
    if all(batch.magic == 2 for batch in before):
        assert [unchanged_header(batch) for batch in after] == [unchanged_header(batch) for batch in before]
    for batch in after:
        plain = batch.is_control or batch.records_count == 0 or (batch.magic < 2 and not batch.is_compressed)
        assert plain or batch.compression_type == codec


def test_there_are_readable_vectors() -> None:
    assert is_readable(oracle.find("clients-4.3.1/v2_zstd").expected_file)
    assert not is_readable(oracle.find("crafted/lz4_block_too_big").expected_file)


def peer_rows(data: bytes) -> list[tuple[object, ...]]:
    rows = []
    peer = MemoryRecords(data)
    while (batch := peer.next_batch()) is not None:
        assert batch.validate_crc()
        for record in batch:
            rows.append((record.offset, record.timestamp, record.key, record.value, tuple(record.headers)))
    return rows


@together("codec", CODECS)
@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("source", CODECS)
def test_another_client_reads_the_copy(source: str, magic: int, codec: str) -> None:
    if magic < 2 and "zstd" in (source, codec):
        pytest.skip("zstd needs v2")
    if magic == 0 and "lz4" in (source, codec):
        pytest.skip("aiokafka does not read lz4 of v0")
    data = recordpress.write_records(
        [b"value %d" % i * 9 for i in range(60)], [b"key"] * 60, 1_700_000_000_000, compression_type=source, magic=magic
    )
    assert peer_rows(recordpress.recompress(data, codec)) == peer_rows(data)


def test_the_payload_of_another_codec_is_the_same_bytes() -> None:
    data = recordpress.write_records(
        [b"x" * 100] * 50, compression_type="lz4", producer_id=5, producer_epoch=1, base_sequence=9
    )
    [plain] = recordpress.read_batches(recordpress.recompress(data, "none"))
    [packed] = recordpress.read_batches(recordpress.recompress(data, "gzip", 9))
    assert zlib.decompress(bytes(packed.payload), 31) == bytes(plain.payload)
    assert packed.base_sequence == 9


def test_batches_of_the_codec_are_copied_unless_a_level_is_asked_for() -> None:
    data = recordpress.write_records([bytes(range(256)) * 20] * 9, compression_type="zstd", level=1)
    assert recordpress.recompress(data, "zstd") == data
    assert recordpress.recompress(data, "zstd", 19) != data


def test_unknown_attribute_bits_are_kept() -> None:
    data = bytearray(recordpress.write_records([b"a"], compression_type="gzip"))
    data[21] = 0x7F  # the high byte, of which nothing is assigned
    patched = fix_crc(bytes(data))
    [batch] = recordpress.read_batches(recordpress.recompress(patched, "snappy"))
    assert batch.attributes == 0x7F02
    assert batch.is_valid()


def fix_crc(entry: bytes) -> bytes:
    return entry[:17] + struct.pack(">I", recordpress.crc32c(entry[21:])) + entry[21:]


def test_magic_0_has_the_header_checksum_of_kafka_0_8() -> None:
    data = recordpress.write_records([b"abc" * 50] * 5, compression_type="gzip", magic=0)
    written = recordpress.write_records([b"abc" * 50] * 5, compression_type="lz4", magic=0)
    assert recordpress.recompress(data, "lz4") == written


def test_append_time_goes_from_the_wrapper_into_its_messages() -> None:
    data = recordpress.write_records(
        [b"a", b"b"],
        compression_type="gzip",
        magic=1,
        timestamp_type=1,
        log_append_time=1_700_000_000_123,
        base_offset=40,
    )
    first, second = recordpress.read_batches(recordpress.recompress(data, "none"))
    assert (first.base_offset, second.base_offset) == (40, 41)
    assert first.timestamp_type == second.timestamp_type == 1
    assert first.max_timestamp == second.max_timestamp == 1_700_000_000_123
    assert first.is_valid()
    assert second.is_valid()


def two_batches() -> bytes:
    head = recordpress.write_records([b"a"] * 10, compression_type="gzip")
    return head + recordpress.write_records([b"b"] * 10, compression_type="gzip", base_offset=10)


@pytest.mark.parametrize("cut", [1, 12, 16, 17, 18, 60])
def test_a_cut_tail_is_refused(cut: int) -> None:
    data = two_batches()
    second = [batch.position for batch in recordpress.read_batches(data)][1]
    with pytest.raises(recordpress.CorruptRecordError, match="last entry is truncated") as caught:
        recordpress.recompress(data[: second + cut], "zstd")
    assert caught.value.position == second


@pytest.mark.parametrize("codec", CODECS)
def test_a_wrong_checksum_is_refused_even_where_the_batch_would_be_copied(codec: str) -> None:
    data = bytearray(two_batches())
    data[-1] ^= 1
    second = [batch.position for batch in recordpress.read_batches(bytes(data))][1]
    with pytest.raises(recordpress.CorruptRecordError, match="checksum") as caught:
        recordpress.recompress(data, codec)
    assert (caught.value.position, caught.value.offset) == (second, 10)


def test_a_damaged_payload_is_named() -> None:
    data = bytearray(two_batches())
    second = [batch.position for batch in recordpress.read_batches(bytes(data))][1]
    entry = bytearray(data[second:])
    entry[61:] = b"\0" * (len(entry) - 61)
    with pytest.raises(recordpress.DecompressionError) as caught:
        recordpress.recompress(bytes(data[:second]) + fix_crc(bytes(entry)), "zstd")
    assert (caught.value.position, caught.value.field_position) == (second, second + 61)


def test_the_cap_holds() -> None:
    data = recordpress.write_records([bytes(1 << 20)], compression_type="zstd")
    with pytest.raises(recordpress.OutputTooLargeError):
        recordpress.recompress(data, "lz4", max_decompressed_bytes=1 << 19)


def test_memory_goes_back_to_the_pool() -> None:
    data = recordpress.write_records([bytes(1 << 20)], compression_type="zstd")
    recordpress.recompress(data, "none")  # contexts keep some scratch
    in_use = recordpress.pool_bytes()[0]
    for _ in range(3):
        assert len(recordpress.recompress(data, "none")) > 1 << 20
        with pytest.raises(recordpress.CorruptRecordError):
            recordpress.recompress(data + data[:-1], "none")
    assert recordpress.pool_bytes()[0] < in_use + (1 << 20)


def test_empty_input() -> None:
    assert recordpress.recompress(b"", "zstd") == b""


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        (("text", "zstd"), {}, recordpress.ArgumentTypeError),
        ((b"", "brotli"), {}, recordpress.InvalidArgumentError),
        ((b"", None), {}, recordpress.ArgumentTypeError),
        ((b"", "zstd", 99), {}, recordpress.InvalidArgumentError),
        ((b"", "snappy", 1), {}, recordpress.InvalidArgumentError),
        ((b"", "zstd"), {"max_decompressed_bytes": 0}, recordpress.InvalidArgumentError),
        ((b"", "zstd"), {"max_decompressed_bytes": "1"}, recordpress.ArgumentTypeError),
    ],
)
def test_arguments(arguments: tuple[object, ...], options: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        recordpress.recompress(*arguments, **options)


@pytest.mark.parametrize("codec", ["none", "lz4"])
@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("append_time", [False, True])
def test_a_wrong_checksum_inside_a_wrapper_is_found(magic: int, codec: str, append_time: bool) -> None:
    """A message with LogAppendTime is given a new checksum, which would hide that the old one was wrong."""
    stamp = {"timestamp_type": 1, "log_append_time": 7} if append_time and magic else {}
    wrapper = recordpress.write_records([b"first", b"second"], magic=magic, compression_type="gzip", **stamp)
    header = wrapper.index(b"\x1f\x8b")
    messages = recordpress.decompress(wrapper[header:], "gzip").replace(b"second", b"secret")
    payload = recordpress.compress(messages, "gzip")
    wrapper = bytearray(wrapper[:header] + payload)
    struct.pack_into(">i", wrapper, 8, len(wrapper) - 12)
    struct.pack_into(">i", wrapper, header - 4, len(payload))
    struct.pack_into(">I", wrapper, 12, recordpress.crc32(wrapper[16:]))
    with pytest.raises(recordpress.CorruptRecordError, match="stored checksum"):
        recordpress.recompress(wrapper, codec)


@pytest.mark.parametrize(("at", "byte", "field_at"), [(16, 9, 16), (11, 1, 8)], ids=["magic", "size"])
def test_an_impossible_second_entry_is_told_by_its_position(at: int, byte: int, field_at: int) -> None:
    data = bytearray(two_batches())
    second = [batch.position for batch in recordpress.read_batches(bytes(data))][1]
    data[second + 8 : second + 12] = (0 if field_at == 8 else len(data) - second - 12).to_bytes(4, "big")
    data[second + at] = byte
    with pytest.raises(recordpress.CorruptRecordError) as caught:
        recordpress.recompress(data, "zstd")
    assert (caught.value.position, caught.value.field_position) == (second, second + field_at)


def test_a_cut_tail_has_no_offset() -> None:
    """That of the batch before is not its own."""
    with pytest.raises(recordpress.CorruptRecordError, match="last entry is truncated") as caught:
        recordpress.recompress(two_batches()[:-1], "zstd")
    assert caught.value.offset is None


def wrapper_of(messages: bytes, attributes: int, timestamp: int) -> bytes:
    """A v1 wrapper at offset 41, written by hand."""
    payload = zlib.compress(messages, wbits=31)
    body = struct.pack(">bbqii", 1, attributes | 1, timestamp, -1, len(payload)) + payload
    return struct.pack(">qiI", 41, len(body) + 4, zlib.crc32(body)) + body


def test_an_append_time_inside_of_a_wrapper_of_create_time_does_not_count() -> None:
    """The wrapper's timestamp type does (DeepRecordsIterator), and each message keeps its own timestamp."""
    messages = recordpress.write_records([b"a", b"b"], magic=1, timestamp_type=1, log_append_time=7)
    data = wrapper_of(messages, 0, 7)
    copy = recordpress.recompress(data, "none")
    expected = recordpress.write_records([b"a", b"b"], timestamps=7, magic=1, base_offset=40)
    assert copy == expected
    assert peer_rows(copy) == peer_rows(expected)


def test_v0_messages_inside_of_a_v1_wrapper_get_no_timestamp() -> None:
    """Such logs exist (KAFKA-4298); only messages of v1 take the wrapper's time and type (DeepRecordsIterator)."""
    data = wrapper_of(recordpress.write_records([b"a", b"b"], magic=0), 8, 7)
    assert recordpress.recompress(data, "none") == recordpress.write_records([b"a", b"b"], magic=0, base_offset=40)


@pytest.mark.parametrize(
    "inner",
    [
        recordpress.write_records([b"a"], magic=1, compression_type="gzip"),
        recordpress.write_records([b"a"], magic=2),
    ],
    ids=["wrapper", "v2 batch"],
)
def test_what_no_wrapper_may_hold(inner: bytes) -> None:
    with pytest.raises((recordpress.InvalidRecordError, recordpress.CorruptRecordError)):
        recordpress.recompress(wrapper_of(inner, 0, 7), "none")


def test_a_position_in_decompressed_records_is_told_apart() -> None:
    """Positions are in the caller's data."""
    good = recordpress.write_records([b"first", b"second"], magic=1)
    data = two_batches() + wrapper_of(good.replace(b"second", b"secret"), 0, 7)
    *_, wrapper = recordpress.read_batches(data)
    second = [batch.position for batch in recordpress.read_batches(good)][1]
    with pytest.raises(recordpress.CorruptRecordError, match=f"at byte {second + 12} of the decompressed") as caught:
        recordpress.recompress(data, "none")
    assert (caught.value.position, caught.value.field_position) == (wrapper.position, None)


@pytest.mark.parametrize("codec", CODECS)
def test_control_and_empty_batches_are_kept_byte_for_byte(codec: str) -> None:
    """As brokers keep them (KIP-98, KIP-534)."""
    builder = recordpress.BatchBuilder(is_control=True)
    builder.append_control("SNAPSHOT_FOOTER", bytes(3))
    data = builder.build() + recordpress.empty_batch(1, 4)
    assert recordpress.recompress(data, codec) == data
    level = {"gzip": 9, "lz4": 9, "zstd": 3}.get(codec)
    assert recordpress.recompress(data, codec, level) == data
