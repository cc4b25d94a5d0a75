"""Headers, sizes and checksums before any record is read: the checks of Kafka's UnifiedLog, in its order."""

import struct

import pytest

import recordpress
from recordpress.broker._analyze import analyze, headers
from recordpress.record.header import CODEC_BITS

BATCH = recordpress.write_records([b"a", b"b"], compression_type="lz4")


def changed(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def with_crc(batch: bytes) -> bytes:
    return changed(batch, 17, struct.pack(">I", recordpress.crc32c(batch[21:])))


@pytest.mark.parametrize(
    ("data", "code", "refusal"),
    [
        (BATCH, 0, None),
        (b"", 0, None),
        (changed(BATCH, 7, b"\1"), 87, "BASE_OFFSET"),
        (changed(BATCH, 7, b"\1") + bytes(9), 87, "BASE_OFFSET"),
        (changed(BATCH, len(BATCH) - 1, b"!"), 2, "CHECKSUM"),
        (with_crc(changed(BATCH, 22, b"\5")), -1, "UNKNOWN_CODEC"),
        (changed(BATCH, 8, struct.pack(">i", 13)), 2, "ENTRY_SIZE"),
        (changed(BATCH, 8, struct.pack(">i", 14)), -1, "ENTRY_SIZE"),  # Java reads outside of the header
        (changed(BATCH, 8, struct.pack(">i", 15)), 2, "ENTRY_SIZE"),
        (changed(BATCH, 8, struct.pack(">i", 2**31 - 1)), -1, "ENTRY_SIZE"),  # Java's sum of it wraps
        (changed(BATCH, 8, struct.pack(">i", 2**31 - 13)), 0, None),
        (changed(BATCH, 16, b"\3"), 2, "UNKNOWN_MAGIC"),
        (changed(BATCH, 16, b"\xff"), 2, "UNKNOWN_MAGIC"),
    ],
)
def test_the_first_error(data: bytes, code: int, refusal: str | None) -> None:
    found = analyze(data, max_message_bytes=1000)
    assert (found.error_code, found.refusal) == (code, refusal)


def test_helpful_codes() -> None:
    long = changed(BATCH, 8, struct.pack(">i", 2**31 - 1))
    assert (headers(long).error_code, analyze(long, max_message_bytes=1000, helpful=True).error_code) == (-1, 2)
    found = analyze(with_crc(changed(BATCH, 22, b"\5")), max_message_bytes=1000, helpful=True)
    assert (found.error_code, found.refusal) == (76, "UNKNOWN_CODEC")
    assert analyze(changed(BATCH, 8, struct.pack(">i", 14)), max_message_bytes=1000, helpful=True).error_code == 2


def test_a_broker_knows_the_codecs_of_its_version() -> None:
    zstd = recordpress.write_records([b"a"], compression_type="zstd")
    assert analyze(zstd, max_message_bytes=1000).error_code == 0
    assert analyze(zstd, max_message_bytes=1000, known_codecs=3).error_code == -1


def test_the_size_comes_before_the_checksum_and_after_the_base_offset() -> None:
    bad = changed(BATCH, len(BATCH) - 1, b"!")
    assert analyze(bad, max_message_bytes=len(bad) - 1).refusal == "BATCH_TOO_LARGE"
    assert analyze(bad, max_message_bytes=len(bad)).refusal == "CHECKSUM"
    assert analyze(bad, max_message_bytes=len(bad) - 1, ignore_record_size=True).refusal == "CHECKSUM"
    assert analyze(changed(bad, 7, b"\1"), max_message_bytes=10).refusal == "BASE_OFFSET"
    assert analyze(changed(BATCH, 7, b"\1"), max_message_bytes=1000, is_client=False).error_code == 0


def test_what_whole_entries_say() -> None:
    messages = recordpress.write_records([b"a", b"b", b"c"], magic=1, timestamps=[3, 9, 5], base_offset=4)
    found = analyze(messages + BATCH[:40], max_message_bytes=1000)
    assert (found.error_code, found.valid_bytes, found.entries, found.source_codec) == (0, len(messages), 3, 0)
    assert (found.max_timestamp, found.last_offset, found.error_position, found.scan_error_after) == (9, 6, -1, -1)
    assert found.first and found.second
    assert (found.first.base_offset, found.second.position) == (4, len(messages) // 3)
    assert analyze(BATCH, max_message_bytes=1000).source_codec == 3


def test_an_error_after_a_good_entry() -> None:
    found = analyze(BATCH + bytes(17), max_message_bytes=1000)
    assert (found.error_code, found.error_position, found.valid_bytes) == (2, len(BATCH), len(BATCH))
    assert found.scan_error_after == 1


def test_headers_of_a_producer() -> None:
    data = recordpress.write_records(
        [b"a", b"b"],
        producer_id=7,
        producer_epoch=2,
        base_sequence=2**31 - 1,
        is_transactional=True,
        partition_leader_epoch=3,
    )
    first = headers(data).first
    assert first
    assert (first.producer_id, first.producer_epoch, first.base_sequence, first.last_sequence) == (7, 2, 2**31 - 1, 0)
    assert (first.is_transactional, first.is_control, first.partition_leader_epoch) == (True, False, 3)
    assert (first.records_count, first.last_offset_delta, first.last_offset, first.size) == (2, 1, 1, len(data))


def test_headers_look_at_all_entries_and_at_no_checksum() -> None:
    bad = changed(BATCH, len(BATCH) - 1, b"!")
    found = headers(bad + bad + bytes(17))
    assert (found.error_code, found.entries, found.scan_error_after) == (2, 2, 2)
    found = headers(bad + bytes(17))
    assert (found.error_code, found.entries, found.scan_error_after) == (2, 1, 1)
    short = headers(changed(BATCH, 8, struct.pack(">i", 14)))
    assert short.first
    assert (short.first.size, short.first.attributes & CODEC_BITS, short.hides_producer) == (26, 3, True)
    assert not headers(changed(BATCH, 8, struct.pack(">i", 39))).hides_producer
