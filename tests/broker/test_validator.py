"""LogValidator record set by record set: what is kept, rewritten and rebuilt, and why it is refused.

What real brokers answer is in test_acceptance.py; here are the cases that need no broker to be known.
"""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

import recordpress
from recordpress.broker import Reason, validate
from recordpress.broker._validator import FINDINGS, REASONS, Validation, validate_records
from recordpress.broker._versions import MessageSets

T = 1_700_000_000_000
IDS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
HEADERS = [("h", b"1"), ("n", None), ("h", b"")]
ROWS: list[dict[str, Any]] = [
    {"offset": 0, "timestamp": T, "key": b"k", "value": b"v" * 300, "headers": HEADERS},
    {"offset": 1, "timestamp": T + 9, "key": None, "value": b"", "headers": []},
    {"offset": 2, "timestamp": T - 5, "key": b"", "value": None, "headers": []},
]
PRODUCER = {"producer_id": 7, "producer_epoch": 2, "base_sequence": 5}


def written(compression_type: str = "none", magic: int = 2, rows: Any = None, **options: Any) -> bytes:
    """The rows, without what the magic cannot say."""
    rows = rows or ROWS
    return recordpress.write_records(
        [row["value"] for row in rows],
        [row.get("key") for row in rows],
        [row.get("timestamp", -1) for row in rows] if magic else None,
        [row.get("headers", []) for row in rows] if magic == 2 else None,
        offsets=[row["offset"] for row in rows],
        magic=magic,
        compression_type=compression_type,
        **options,
    )


def validated(data: bytes, source: str, target: str | None = None, **options: Any) -> Validation:
    settings = {"next_offset": 100, "now_ms": T + 50, "leader_epoch": 3} | options
    target = source if target is None else target
    return validate_records(data, source_codec=IDS[source], target_codec=IDS[target], **settings)


def content(data: bytes) -> list[tuple[Any, ...]]:
    return [(r.offset, r.timestamp, r.key, r.value, r.headers) for b in recordpress.read_batches(data) for r in b]


def names(bits: int, table: tuple[str, ...]) -> list[str]:
    return [name for bit, name in enumerate(table) if bits >> bit & 1]


def changed(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def with_crc(batch: bytes) -> bytes:
    return changed(batch, 17, struct.pack(">I", recordpress.crc32c(batch[21:])))


def v2_of(records: bytes, compression_type: str, count: int, **header: int) -> bytes:
    """A batch around record bytes of any kind."""
    batch = bytearray(written(compression_type, rows=[{"offset": 0, "timestamp": T, "value": b""}])[:61])
    batch += recordpress.compress(records, compression_type) if compression_type != "none" else records
    struct.pack_into(">i", batch, 8, len(batch) - 12)
    struct.pack_into(">i", batch, 23, header.get("last_offset_delta", count - 1))
    struct.pack_into(">i", batch, 57, count)
    return with_crc(bytes(batch))


def record(offset_delta: int, value: bytes = b"v", length: int | None = None) -> bytes:
    body = bytes([0, 0, offset_delta << 1, 1, len(value) << 1]) + value + b"\0"
    length = len(body) if length is None else length
    return bytes([length * 2 if length >= 0 else -length * 2 - 1]) + body


def long_record(offset_delta: int, value: bytes, length: int | None = None) -> bytes:
    """A record whose lengths take two bytes or more."""
    body = bytes([0, 0, offset_delta << 1, 1]) + varint(len(value)) + value + b"\0"
    return varint(len(body) if length is None else length) + body


def varint(value: int) -> bytes:
    left = (value << 1 ^ value >> 31) & 0xFFFFFFFF
    encoded = bytearray()
    while left >= 0x80:
        encoded.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*encoded, left])


# ---- kept


@pytest.mark.parametrize("compression_type", CODECS)
def test_kept_but_for_the_place_in_the_log(compression_type: str) -> None:
    data = written(compression_type, **PRODUCER)
    answer = validated(data, compression_type)
    assert (answer.error_code, answer.rebuilt, answer.reasons, answer.findings) == (0, False, 0, 0)
    expected = bytearray(data)
    [batch] = recordpress.read_batches(expected)
    batch.set_last_offset(102)
    batch.set_partition_leader_epoch(3)
    assert answer.records == expected
    assert (answer.next_offset, answer.largest_batch, answer.path) == (
        103,
        len(data),
        "A" if compression_type == "none" else "C",
    )
    assert (answer.max_timestamp, answer.shallow_offset_of_max_timestamp, answer.log_append_time) == (T + 9, 102, -1)


@pytest.mark.parametrize("compression_type", CODECS)
@pytest.mark.parametrize("magic", [1, 2])
def test_log_append_time_changes_headers_alone(magic: int, compression_type: str) -> None:
    if magic == 1 and compression_type == "zstd":
        return
    data = written(compression_type, magic)
    answer = validated(data, compression_type, target_magic=magic, log_append_time=True)
    assert (answer.error_code, answer.rebuilt, answer.log_append_time) == (0, False, T + 50)
    assert [row[1] for row in content(answer.records)] == [T + 50] * 3
    assert all(batch.is_valid() for batch in recordpress.read_batches(answer.records))
    assert len(answer.records) == len(data)


def test_a_wrong_max_timestamp_is_corrected() -> None:
    data = with_crc(changed(written("lz4"), 35, struct.pack(">q", 5)))
    answer = validated(data, "lz4")
    [batch] = recordpress.read_batches(answer.records)
    assert (batch.max_timestamp, batch.is_valid(), answer.rebuilt) == (T + 9, True, False)


def test_what_follows_the_last_whole_entry_is_cut() -> None:
    data = written("lz4")
    assert len(validated(data + data[:30], "lz4").records) == len(data)


def test_what_is_kept_is_freed_with_its_answer() -> None:
    data = written("lz4")
    kept, rebuilt = validated(data, "lz4"), validated(data, "lz4", "none")
    assert sys.getrefcount(kept.records) == sys.getrefcount(rebuilt.records)


# ---- rebuilt


@pytest.mark.parametrize("target", CODECS)
@pytest.mark.parametrize("source", CODECS)
def test_rebuilt_under_another_codec(source: str, target: str) -> None:
    if source == target:
        return
    answer = validated(written(source, **PRODUCER), source, target)
    assert (answer.error_code, answer.rebuilt, answer.path) == (0, True, "C")
    assert names(answer.reasons, REASONS) == ["CODEC_DIFFERS"]
    rows = [row | {"offset": 100 + row["offset"]} for row in ROWS]
    assert answer.records == written(target, rows=rows, partition_leader_epoch=3, **PRODUCER)
    assert (answer.next_offset, answer.largest_batch) == (103, len(answer.records))


@pytest.mark.parametrize("compression_type", ["none", "lz4"])
@pytest.mark.parametrize(("magic", "target_magic"), [(0, 1), (0, 2), (1, 0), (1, 2), (0, 0)])
def test_rebuilt_in_another_magic(magic: int, target_magic: int, compression_type: str) -> None:
    data = written(compression_type, magic)
    answer = validated(data, compression_type, target_magic=target_magic)
    assert answer.error_code == 0
    assert answer.rebuilt == (magic != target_magic or compression_type != "none")
    assert {batch.magic for batch in recordpress.read_batches(answer.records)} == {target_magic}
    times = [T, T + 9, T - 5] if magic and target_magic else [-1] * 3
    expected = [(100 + i, times[i], row["key"], row["value"], []) for i, row in enumerate(ROWS)]
    assert content(answer.records) == expected


def test_wrong_inner_offsets_of_a_wrapper_are_written_again() -> None:
    rows = [{"offset": offset, "timestamp": T, "value": b"v"} for offset in (0, 4, 5)]
    answer = validated(written("gzip", 1, rows), "gzip", target_magic=1)
    assert (names(answer.reasons, REASONS), answer.rebuilt) == (["NON_SEQUENTIAL_INNER_OFFSETS"], True)
    assert [row[0] for row in content(answer.records)] == [100, 101, 102]


def test_wrong_inner_offsets_of_a_compressed_batch() -> None:
    data = v2_of(record(0) + record(0) + record(0), "zstd", 3)
    answer = validated(data, "zstd")
    assert (answer.error_code, answer.refusal, answer.records) == (-1, "OFFSETS_NOT_REPAIRED", b"")
    answer = validated(data, "zstd", helpful=True)
    assert names(answer.reasons, REASONS) == ["NON_SEQUENTIAL_INNER_OFFSETS"]
    assert [row[0] for row in content(answer.records)] == [100, 101, 102]
    assert validated(data, "zstd", "lz4").error_code == 0


def test_header_keys_become_utf_8_where_the_record_is_written() -> None:
    row = record(0)[:-1] + b"\2\4\xff\xc3\3"  # one header: a key that is not UTF-8, a null value written as -2
    data = v2_of(bytes([row[0] + 8]) + row[1:], "lz4", 1)
    assert validated(data, "lz4").records[61:] == data[61:]
    rebuilt = validated(data, "lz4", "none").records
    assert rebuilt[61:].endswith(b"\2\x0c\xef\xbf\xbd\xef\xbf\xbd\1")
    assert content(rebuilt)[0][4] == [("\ufffd\ufffd", None)]


# ---- records whose lengths lie


@pytest.mark.parametrize("length", [-1, 0, 5, 9])
def test_a_length_that_lies_is_seen_where_it_is_used(length: int) -> None:
    records = record(0, length=length) + record(1)
    kept = validated(v2_of(records, "lz4", 2), "lz4")
    assert (kept.error_code, names(kept.findings, FINDINGS)) == (0, ["poisoned"])
    assert validated(v2_of(records, "lz4", 2), "lz4", "zstd").error_code == 87
    assert validated(v2_of(records, "none", 2), "none").error_code == 87


# A batch of one record in zstd whose length is negative, as a fuzzer made it: 4.3.1 keeps it, 4.4.0 refuses it.
NEGATIVE_LENGTH = bytes.fromhex(
    "00000000000000000000004dffffffff02f539c4c20004000000000000018bcfe568000000018bcfe56800ffffffffffffffffffffffffffff"
    "0000000128b52ffd00588000001f00000012cfb52d027cbcc7d0630100010000"
)


@pytest.mark.parametrize("target", ["lz4", "zstd"])
@pytest.mark.parametrize(
    ("most", "length", "detail"),
    [
        (0, None, ""),
        (206, None, "Invalid record size: 207 exceeds the configured maximum record size of 206."),
        (207, None, ""),
        (206, -1, "Invalid record size: -1 is negative."),
        (2**31 - 9, -1, "Invalid record size: -1 is negative."),
        (
            2**31 - 9,
            2**31 - 1,
            f"Invalid record size: {2**31 - 1} exceeds the configured maximum record size of {2**31 - 9}.",
        ),
        (5000, 5001, "Invalid record size: 5001 exceeds the configured maximum record size of 5000."),
    ],
)
def test_the_largest_record_of_a_compressed_batch(target: str, most: int, length: int | None, detail: str) -> None:
    """Kafka 4.4: DefaultRecord.readFrom and readPartiallyFrom."""
    records = record(0) + long_record(1, bytes(200), length) + record(2)
    answer = validated(v2_of(records, "lz4", 3), "lz4", target, max_record_bytes=most)
    expected = (87, "RECORD_SIZE", detail) if detail else (0, None, None)
    assert (answer.error_code, answer.refusal, answer.detail) == expected
    assert validated(v2_of(record(0), "none", 1), "none", max_record_bytes=1).error_code == 0


def test_a_negative_length_of_a_compressed_record() -> None:
    for version, code in (("4.3", 0), ("4.4", 87)):
        verdict = validate(NEGATIVE_LENGTH, broker_version=version, produce_version=11, now_ms=T)
        assert verdict.error_code == code
        assert (verdict.reasons == [Reason.RECORD_SIZE]) is (code == 87)


def test_records_before_one_that_is_too_large_are_checked_first() -> None:
    records = record(0) + long_record(1, bytes(200))
    answer = validated(v2_of(records, "lz4", 2), "lz4", max_record_bytes=100, compacted=True)
    assert (answer.refusal, answer.record_errors) == ("RECORD_SIZE", [])


@pytest.mark.parametrize("target", ["lz4", "zstd"])
def test_the_text_on_a_record_of_log_append_time_shows_its_sizes(target: str) -> None:
    body = bytes([0, 0, 0, 3, 7]) + b"\0"  # key -2, value -4
    data = bytearray(v2_of(bytes([12]) + body, "lz4", 1))
    data[22] |= 8
    answer = validated(with_crc(bytes(data)), "lz4", target, log_append_time=True)
    [(_, text)] = answer.record_errors
    sizes = "key=-2 bytes, value=-4 bytes" if target == "lz4" else "key=0 bytes, value=0 bytes"
    assert sizes in text


def test_a_length_of_six_bytes() -> None:
    records = b"\xff" * 5 + b"\1" + record(0)[1:]
    assert validated(v2_of(records, "none", 1), "none").error_code == -1  # not caught by DefaultRecordBatch
    assert validated(v2_of(records, "none", 1), "none", helpful=True).error_code == 87
    assert validated(v2_of(records, "gzip", 1), "gzip").error_code == 87
    assert validated(v2_of(records, "gzip", 1), "gzip", "none").error_code == 87


def test_wrong_offsets_of_an_uncompressed_batch_go_unseen() -> None:
    answer = validated(v2_of(record(0) + record(0), "none", 2), "none")
    assert (answer.error_code, names(answer.findings, FINDINGS)) == (0, ["unseen_offsets"])


# ---- a damaged stream


@pytest.mark.parametrize("target", ["gzip", "none"])
def test_a_damaged_stream_counts_where_the_reader_comes_to_it(target: str) -> None:
    good = written("gzip", rows=[{"offset": i, "timestamp": T, "value": bytes(5000)} for i in range(40)])
    cut = changed(good[:-5], 8, struct.pack(">i", len(good) - 5 - 12))
    assert validated(with_crc(cut), "gzip", target).error_code == -1
    assert validated(with_crc(cut), "gzip", target, helpful=True).error_code == 2
    fewer = changed(changed(cut, 23, struct.pack(">i", 1)), 57, struct.pack(">i", 2))
    answer = validated(with_crc(fewer), "gzip", target)
    assert (answer.error_code, answer.refusal) == (87, "RECORDS_AND_COUNT")


def test_a_frame_that_is_cut_in_the_buffer_of_another_is_the_end_to_java() -> None:
    records = record(0) + record(1, bytes(50))
    payload = recordpress.compress(records[:8], "zstd") + recordpress.compress(records[8:], "zstd")
    for size, codes in ((len(payload) - 3, (0, 0)), (len(payload) - 8, (87, 87))):
        batch = bytearray(v2_of(records, "zstd", 2)[:61] + payload[:size])
        struct.pack_into(">i", batch, 8, len(batch) - 12)
        data = with_crc(bytes(batch))
        assert (validated(data, "zstd").error_code, validated(data, "zstd", "none").error_code) == codes


def test_trailing_bytes_after_the_stream() -> None:
    data = written("lz4") + b"??"
    answer = validated(with_crc(changed(data, 8, struct.pack(">i", len(data) - 12))), "lz4")
    assert (answer.error_code, names(answer.findings, FINDINGS)) == (0, ["trailing_bytes"])


def test_the_cap_is_an_error_of_ours() -> None:
    data = written("zstd", rows=[{"offset": 0, "timestamp": T, "value": bytes(100_000)}])
    with pytest.raises(recordpress.OutputTooLargeError):
        validated(data, "zstd", max_decompressed_bytes=1000)
    answer = validated(data, "zstd", max_decompressed_bytes=1000, helpful=True)
    assert (answer.error_code, answer.refusal) == (10, "DECOMPRESSED_TOO_LARGE")


# ---- rules for batches


@pytest.mark.parametrize(
    ("at", "value", "refusal"),
    [
        (23, struct.pack(">i", -1), "OFFSET_RANGE"),
        (57, struct.pack(">i", 0), "RECORD_COUNT"),
        (57, struct.pack(">i", -3), "RECORD_COUNT"),
        (57, struct.pack(">i", 2), "COUNT_AND_OFFSETS"),
        (21, b"\0\x20", "CONTROL_BATCH"),
        (43, struct.pack(">qhi", 5, 0, -1), "NO_SEQUENCE"),
    ],
)
def test_header_of_a_client(at: int, value: bytes, refusal: str) -> None:
    answer = validated(with_crc(changed(written(), at, value)), "none")
    assert (answer.error_code, answer.refusal, answer.error_message) == (87, refusal, None)


def test_producers_need_magic_2() -> None:
    data = written("lz4", **PRODUCER)
    assert validated(data, "lz4", target_magic=1).refusal == "IDEMPOTENT_MAGIC"
    data = written("lz4", is_transactional=True, **PRODUCER)
    answer = validated(data, "lz4", target_magic=1)
    assert (answer.error_code, answer.refusal) == (43, "TRANSACTIONAL_MAGIC")
    # the builder comes first where nothing is compressed, and refuses in its own way
    data = written(is_transactional=True, **PRODUCER)
    assert validated(data, "none", target_magic=1).error_code == -1
    assert validated(data, "none", target_magic=1, helpful=True).error_code == 43


def test_more_than_one_batch() -> None:
    assert validated(written() * 2, "none").refusal == "MORE_THAN_ONE_BATCH"
    assert validated(written("lz4", 1) * 2, "lz4", target_magic=1).refusal == "MORE_THAN_ONE_BATCH"
    assert validated(written("none", 1) * 2, "none", target_magic=1).next_offset == 106
    assert validated(b"", "none").refusal == "NO_BATCH"


def test_headers_need_magic_2() -> None:
    answer = validated(written("lz4"), "lz4", target_magic=1)
    assert (answer.error_code, answer.refusal) == (-1, "HEADERS_MAGIC")
    assert validated(written("lz4"), "lz4", target_magic=1, helpful=True).error_code == 43


def test_offsets_end_where_java_wraps() -> None:
    data = written("lz4")
    assert validated(data, "lz4", next_offset=2**63 - 2).next_offset == -(2**63) + 1
    assert validated(data, "lz4", "none", next_offset=2**63 - 2).refusal == "REBUILD_REFUSED"


def test_a_producer_without_an_epoch_is_refused_where_the_batch_is_rebuilt() -> None:
    """MemoryRecordsBuilder.validateProducerState: Invalid negative producer epoch."""
    data = bytearray(recordpress.write_records([b"a"] * 3, timestamps=1000, compression_type="gzip"))
    struct.pack_into(">qhi", data, 43, 5, -1, 0)
    struct.pack_into(">I", data, 17, recordpress.crc32c(data[21:]))
    assert validate(data, now_ms=1000).error_code == 0
    found = validate(data, topic_config={"compression.type": "zstd"}, now_ms=1000)
    assert (found.error_code, found.reasons) == (-1, [Reason.REBUILD_REFUSED])


# ---- rules for records


@pytest.mark.parametrize(("source", "target"), [("none", "none"), ("lz4", "lz4"), ("lz4", "zstd")])
def test_all_rejected_records_are_told(source: str, target: str) -> None:
    answer = validated(written(source), source, target, compacted=True, before_max_ms=52)
    assert (answer.error_code, answer.refusal) == (32, "TIMESTAMP_RANGE")
    [null_key, old] = answer.record_errors
    assert null_key == (1, "Compacted topic cannot accept message without key")
    assert old == (
        2,
        f"Timestamp {T - 5} of message with offset 2 is out of range. "
        f"The timestamp should be within [{T - 2}, {(T + 50 + 2**63 - 1) - 2**64}]",
    )
    answer = validated(written(source), source, target, compacted=True)
    assert (answer.error_code, answer.refusal, answer.record_errors) == (87, "NULL_KEY", [null_key])
    assert answer.error_message == (
        "One or more records have been rejected due to 1 record errors in total, and only showing the first three "
        "errors at most: [RecordError(batchIndex=1, message='Compacted topic cannot accept message without key')]"
    )


def test_bounds_are_in_range() -> None:
    data = written("lz4")
    assert validated(data, "lz4", before_max_ms=55, after_max_ms=0, now_ms=T + 50).error_code == 0
    assert validated(data, "lz4", before_max_ms=54, now_ms=T + 50).error_code == 32
    assert validated(data, "lz4", after_max_ms=9, now_ms=T).error_code == 0
    assert validated(data, "lz4", after_max_ms=8, now_ms=T).error_code == 32


def test_java_s_difference_of_timestamps_wraps() -> None:
    data = bytearray(v2_of(record(0), "lz4", 1))
    struct.pack_into(">q", data, 27, -(2**63))
    data = bytearray(with_crc(bytes(data)))
    answer = validated(bytes(data), "lz4")
    assert (answer.error_code, names(answer.findings, FINDINGS)) == (0, ["negative_timestamps"])
    assert validated(bytes(data), "lz4", helpful=True).error_code == 32


def wrapper(inner: bytes, magic: int, offset: int, compression_type: str = "gzip") -> bytes:
    """A compressed message around bytes of any kind."""
    payload = recordpress.compress(inner, compression_type, magic=magic)
    time = struct.pack(">q", T) if magic else b""
    body = bytes([magic, IDS[compression_type]]) + time + struct.pack(">ii", -1, len(payload)) + payload
    return struct.pack(">qiI", offset, len(body) + 4, recordpress.crc32(body)) + body


def messages(magic: int, count: int = 3) -> bytes:
    return written("none", magic, [{"offset": i, "value": b"abc"} for i in range(count)])


@pytest.mark.parametrize("magic", [0, 1])
def test_messages_in_a_wrapper(magic: int) -> None:
    inner = messages(magic)
    assert validated(wrapper(inner, magic, 2), "gzip", target_magic=1).error_code == 0
    damaged = inner[:-1] + b"!"
    answer = validated(wrapper(damaged, magic, 2), "gzip", target_magic=1)
    assert (answer.error_code, answer.refusal, answer.record_errors) == (2, "INNER_CHECKSUM", [])
    answer = validated(wrapper(messages(1 - magic), magic, 2), "gzip", target_magic=magic)
    assert (answer.error_code, answer.refusal) == (87, "RECORD_MAGIC")
    assert [index for index, _ in answer.record_errors] == [0, 1, 2]
    assert f"'s magic does not match outer magic {magic}" in answer.record_errors[0][1]
    nested = wrapper(wrapper(inner, magic, 2), magic, 2)
    assert validated(nested, "gzip", target_magic=magic).refusal == "NESTED_COMPRESSION"
    # the third record is nested: what was wrong with the first two is not told
    answer = validated(wrapper(messages(magic, 2) + wrapper(inner, magic, 2), magic, 2), "gzip", compacted=True)
    assert (answer.error_code, answer.refusal, answer.record_errors) == (87, "NESTED_COMPRESSION", [])
    answer = validated(wrapper(inner + bytes(11) + b"\5", magic, 2), "gzip", target_magic=magic)
    assert (answer.error_code, answer.refusal) == (2, "ENTRY_SIZE")
    assert validated(wrapper(b"", magic, 2), "gzip", target_magic=magic).refusal == "WRAPPER"


def test_an_entry_that_is_too_small_counts_before_a_stream_that_is_cut() -> None:
    inner = bytes(11) + b"\5" + bytes(100_000)
    cut = bytearray(wrapper(inner, 1, 2))[:-20]
    struct.pack_into(">i", cut, 8, len(cut) - 12)
    struct.pack_into(">i", cut, 30, len(cut) - 34)
    assert validated(bytes(cut), "gzip", target_magic=1).error_code == 2


def test_lengths_inside_of_messages_are_read_for_a_rebuild_alone() -> None:
    inner = bytearray(messages(1, 1))
    struct.pack_into(">i", inner, 30, 4)  # the value's length: there are three bytes
    struct.pack_into(">I", inner, 12, recordpress.crc32(bytes(inner[16:])))
    data = wrapper(bytes(inner), 1, 0)
    answer = validated(data, "gzip", target_magic=1)
    assert (answer.error_code, names(answer.findings, FINDINGS)) == (0, ["poisoned"])
    assert validated(data, "gzip", "lz4", target_magic=1).error_code == -1
    assert validated(bytes(inner), "none", target_magic=1).error_code == 0
    assert validated(bytes(inner), "none", target_magic=2).error_code == -1


def test_the_broken_lz4_header_of_magic_0_is_told() -> None:
    answer = validated(wrapper(messages(0), 0, 2, "lz4"), "lz4", target_magic=1)
    assert names(answer.findings, FINDINGS) == ["bad_lz4_header_checksum"]
    assert validated(wrapper(messages(1), 1, 2, "lz4"), "lz4", target_magic=1).findings == 0


def test_cython_numbers_the_releases_of_message_sets_as_python_does() -> None:
    source = Path(__file__).parents[2] / "src/recordpress/broker/_message_validator.pyx"
    numbers = re.findall(r"^ +(V\d+_\d+\w*) = (\d+)$", source.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name: int(number) for name, number in numbers} == {one.name: one.value for one in MessageSets}
