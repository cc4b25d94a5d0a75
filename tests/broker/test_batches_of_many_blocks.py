"""Payloads of many small blocks are checked block by block: the answer is that for a payload in one piece."""

from __future__ import annotations

import functools
import random
import struct
from collections.abc import Callable
from typing import Any

import pytest

import recordpress
from recordpress.broker._validator import Validation, validate_records
from together import together

T = 1_700_000_000_000
IDS = {"gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
WHOLE, IN_BLOCKS = "gzip", ["snappy", "lz4"]
COUNT = 700
VALUES = [random.Random(number).randbytes(150) + bytes(100) for number in range(COUNT)]
PLACES = [0, 1, COUNT // 2, COUNT - 1]


def varint(number: int) -> bytes:
    number, out = (number << 1) ^ (number >> 63), bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def record(
    index: int, *, offset: int | None = None, timestamp: int = 0, key: bytes | None = b"k", more: int = 0
) -> bytes:
    """A record whose length field lies by `more`."""
    head = b"\0" + varint(timestamp) + varint(index if offset is None else offset)
    body = head + (b"\1" if key is None else varint(len(key)) + key)
    body += varint(len(VALUES[index])) + VALUES[index] + b"\0"
    return varint(len(body) + more) + body


ROWS = [record(index) for index in range(COUNT)]


def batch(records: list[bytes], codec: str, *, count: int | None = None, after: bytes = b"") -> bytes:
    header = bytearray(recordpress.write_records([b""], timestamps=T, compression_type=codec)[:61])
    data = header + recordpress.compress(b"".join(records), codec) + after
    struct.pack_into(">i", data, 8, len(data) - 12)
    struct.pack_into(">i", data, 23, (count or COUNT) - 1)
    struct.pack_into(">q", data, 35, T + 5)
    struct.pack_into(">i", data, 57, count or COUNT)
    return with_crc(data)


def with_crc(data: bytearray) -> bytes:
    struct.pack_into(">I", data, 17, recordpress.crc32c(data[21:]))
    return bytes(data)


def validated(data: bytes, codec: str, **options: Any) -> Validation:
    settings: dict[str, Any] = {"next_offset": 100, "now_ms": T + 50, "before_max_ms": 1000, "after_max_ms": 1000}
    return validate_records(data, source_codec=IDS[codec], target_codec=IDS[codec], **(settings | options))


def answer(found: Validation) -> tuple[Any, ...]:
    """All but the bytes, which have the codec in them."""
    return (
        found.error_code, found.refusal, found.error_message, found.record_errors, found.rebuilt, found.reasons,
        found.findings, found.max_timestamp, found.shallow_offset_of_max_timestamp, found.next_offset,
    )  # fmt: skip


# What one record becomes, and what a broker of today says of its batch.
CHANGES: dict[str, tuple[Callable[[int], bytes], int, str | None]] = {
    "as it should be": (record, 0, None),
    "too early": (lambda index: record(index, timestamp=-2000), 32, "TIMESTAMP_RANGE"),
    "too late": (lambda index: record(index, timestamp=2000), 32, "TIMESTAMP_RANGE"),
    "the latest": (lambda index: record(index, timestamp=900), 0, None),
    "no timestamp": (lambda index: record(index, timestamp=-T - 1), 0, None),
    "negative": (lambda index: record(index, timestamp=-T - 7), 32, "TIMESTAMP_RANGE"),
    "no key": (lambda index: record(index, key=None), 0, None),
    "another offset": (lambda index: record(index, offset=index + 3), -1, "OFFSETS_NOT_REPAIRED"),
    "a length that lies": (lambda index: record(index, more=5), 0, None),
    "no record": (lambda index: b"\x02\0", 87, "RECORD_STRUCTURE"),
}


@functools.cache
def changed_at(place: int, change: str, codec: str) -> bytes:
    changed, _, _ = CHANGES[change]
    return batch([*ROWS[:place], changed(place), *ROWS[place + 1 :]], codec)


@pytest.mark.parametrize("options", [{}, {"compacted": True}, {"log_append_time": True}, {"rules": 4}], ids=str)
@together("change", CHANGES)
@pytest.mark.parametrize("codec", IN_BLOCKS)
def test_one_record_that_differs(codec: str, change: str, options: dict[str, Any]) -> None:
    _, error_code, refusal = CHANGES[change]
    for place in PLACES:
        wanted = validated(changed_at(place, change, WHOLE), WHOLE, **options)
        found = validated(changed_at(place, change, codec), codec, **options)
        assert answer(found) == answer(wanted), place
        if not options:
            assert (found.error_code, found.refusal) == (error_code, refusal), place
            assert [index for index, _ in found.record_errors] == ([place] if error_code == 32 else [])
        if options == {"compacted": True} and change == "no key":
            assert (found.refusal, [index for index, _ in found.record_errors]) == ("NULL_KEY", [place])
        if found.error_code == 0 and not found.rebuilt and not options:
            assert found.records[61:] == changed_at(place, change, codec)[61:]


@pytest.mark.parametrize("count", [1, COUNT - 1, COUNT + 1, 2**31 - 1])
@pytest.mark.parametrize("codec", IN_BLOCKS)
def test_a_count_that_is_wrong(codec: str, count: int) -> None:
    wanted = answer(validated(batch(ROWS, WHOLE, count=count), WHOLE))
    assert wanted[1] == "RECORDS_AND_COUNT"
    assert answer(validated(batch(ROWS, codec, count=count), codec)) == wanted


@pytest.mark.parametrize("codec", IN_BLOCKS)
def test_a_stream_that_is_damaged_near_its_end(codec: str) -> None:
    """A record that is refused before the damage is told only if all can be read."""
    for first in (ROWS[0], record(0, timestamp=2000)):
        sound = bytearray(batch([first, *ROWS[1:]], codec))
        for cut in (1, 5, 700, 40_000):
            data = sound[:-cut]
            struct.pack_into(">i", data, 8, len(data) - 12)
            found = validated(with_crc(data), codec)
            assert (found.error_code, found.refusal, found.record_errors) == (-1, "DECOMPRESSION", []), cut
            assert found.stored is None


@pytest.mark.parametrize("codec", IN_BLOCKS)
def test_more_bytes_than_may_be(codec: str) -> None:
    data = batch(ROWS, codec)
    size = sum(map(len, ROWS))
    assert validated(data, codec, max_decompressed_bytes=size + 65536).error_code == 0
    with pytest.raises(recordpress.errors.OutputTooLargeError):
        validated(data, codec, max_decompressed_bytes=size - 1)
    assert validated(data, codec, max_decompressed_bytes=size - 1, helpful=True).error_code == 10


def test_what_follows_the_end_is_told() -> None:
    for after in (b"", b"?", bytes(30_000)):
        found = validated(batch(ROWS, "lz4", after=after), "lz4")
        assert (found.error_code, found.findings & 8) == (0, 8 if after else 0)


def test_a_raw_block_is_one_piece() -> None:
    """librdkafka's snappy has no framing."""
    data = bytearray(batch(ROWS, "snappy")[:61]) + recordpress.compress(b"".join(ROWS), "snappy", raw=True)
    struct.pack_into(">i", data, 8, len(data) - 12)
    found = validated(with_crc(data), "snappy")
    assert (found.error_code, found.next_offset) == (0, 100 + COUNT)
