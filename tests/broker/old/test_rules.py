"""The bits of `rules`: what each does to one set. That brokers do it is in test_answers."""

from __future__ import annotations

import zlib

import pytest
from sets import ROWS, TIME, batch, message, messages, record, wrapper

import recordpress
from recordpress.broker._validator import REASONS, RULES, Validation, validate_records

CODECS = {"none": 0, "gzip": 1, "zstd": 4}


def answer(data: bytes, *rules: str, codec: str = "none", **options: object) -> Validation:
    settings = {"source_codec": CODECS[codec], "target_codec": CODECS[codec], "now_ms": TIME + 10} | options
    return validate_records(data, rules=sum(RULES[name] for name in rules), **settings)  # type: ignore[arg-type]


def compressed(*records: bytes, **fields: object) -> bytes:
    return batch("gzip", payload=recordpress.compress(b"".join(records), "gzip"), **fields)


def row(n: int) -> bytes:
    return record(n, *ROWS[n], n, [])


def with_length_minus_2(n: int) -> bytes:
    return b"\x03" + row(n)[2:]


THREE = row(0) + row(1) + row(2)


def zstd_and(tail: bytes) -> bytes:
    return batch("zstd", payload=recordpress.compress(THREE, "zstd") + tail)


@pytest.mark.parametrize(
    ("rule", "data", "codec", "before", "after"),
    [
        ("ANY_ENTRIES", wrapper(1, "gzip") * 2, "gzip", 87, 0),
        ("ANY_ENTRIES", messages(1) + messages(0), "none", 87, 0),
        ("COUNTS_FREE", batch("gzip", last_offset_delta=1), "gzip", 87, 0),
        ("COUNTS_FREE", batch("gzip", last_offset_delta=-1, count=0), "gzip", 87, 87),
        ("OFFSETS_REFUSED", wrapper(1, "gzip", messages(1, offsets=[0, 0, 0])), "gzip", 0, 87),
        ("OFFSETS_REFUSED", batch("gzip", deltas=[0, 0, 0]), "gzip", -1, 87),
        ("WHOLE_RECORDS", batch("gzip", deltas=[0, 0, 0]), "gzip", -1, 0),
        ("STRICT_LENGTHS", compressed(row(0), with_length_minus_2(1), row(2)), "gzip", 0, 87),
        ("STRICT_LENGTHS", compressed(b"\x80" * 6 + b"\0"), "gzip", 87, -1),
        ("TYPE_OF_ALL", batch(attributes=8), "none", 0, 32),
        ("ZSTD_TAIL", zstd_and(b"ab"), "zstd", -1, 0),
        ("ZSTD_TAIL", zstd_and(b"abcde"), "zstd", -1, -1),
    ],
)
def test_a_rule(rule: str, data: bytes, codec: str, before: int, after: int) -> None:
    magic = {"target_magic": min(data[16], 2)}
    assert answer(data, codec=codec, **magic).error_code == before
    assert answer(data, rule, codec=codec, **magic).error_code == after


def test_the_first_error_decides_alone() -> None:
    data = b"".join(
        message(1, key, b"v", offset=n, timestamp=time)
        for n, (key, time) in enumerate([(b"k", TIME), (None, TIME), (b"k", 5), (None, TIME)])
    )
    data = wrapper(1, "gzip", data, offset=3)
    options = {"codec": "gzip", "target_magic": 1, "compacted": True, "before_max_ms": 1000}
    both, one = answer(data, **options), answer(data, "FIRST_ERROR", **options)  # type: ignore[arg-type]
    assert (both.error_code, [index for index, _ in both.record_errors]) == (32, [1, 2, 3])
    assert (one.error_code, [index for index, _ in one.record_errors]) == (87, [1])


def test_an_error_before_a_damaged_message_decides() -> None:
    inner = bytearray(messages(1, [(None, b"v"), (b"k", b"v")]))
    inner[-1] ^= 1
    data = wrapper(1, "gzip", bytes(inner), offset=1)
    options = {"codec": "gzip", "target_magic": 1, "compacted": True}
    assert answer(data, **options).error_code == 2  # type: ignore[arg-type]
    assert answer(data, "FIRST_ERROR", **options).error_code == 87  # type: ignore[arg-type]


def test_negative_lengths_where_records_are_read_whole() -> None:
    data = compressed(with_length_minus_2(0), row(1), row(2))
    assert answer(data, "STRICT_LENGTHS", codec="gzip").error_code == 87
    assert answer(data, "STRICT_LENGTHS", "WHOLE_RECORDS", codec="gzip").error_code == -1


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_several_wrappers_become_one(magic: int) -> None:
    data = wrapper(1, "gzip") + wrapper(0, "gzip", messages(0)) + messages(1)
    found = answer(data, "ANY_ENTRIES", codec="gzip", target_magic=magic, next_offset=50)
    assert (found.error_code, found.rebuilt, found.next_offset) == (0, True, 59)
    [kept] = recordpress.read_batches(found.records)
    assert [record.offset for record in kept] == list(range(50, 59))
    assert [(record.key, record.value) for record in kept] == ROWS * 3
    assert "MAGIC_CONVERSION" in [name for bit, name in enumerate(REASONS) if found.reasons >> bit & 1]


def test_several_wrappers_of_the_log_s_magic_become_one() -> None:
    """Only the second one shows that the offsets are wrong."""
    found = answer(wrapper(1, "gzip") * 3, "ANY_ENTRIES", codec="gzip", target_magic=1, next_offset=50)
    [kept] = recordpress.read_batches(found.records)
    assert [record.offset for record in kept] == list(range(50, 59))
    assert [(record.key, record.value, record.timestamp) for record in kept] == [
        (*pair, TIME + n) for _ in range(3) for n, pair in enumerate(ROWS)
    ]
    assert zlib.crc32(found.records[16:]) == int.from_bytes(found.records[12:16], "big")
