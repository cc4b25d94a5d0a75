"""Record sets that were changed at random, before the rules of a broker: an answer, and one that holds together."""

from __future__ import annotations

import random
import struct
from typing import Any

import pytest
from hostile_sets import T, exact, with_right_crc

import recordpress
from recordpress.broker._analyze import analyze, headers
from recordpress.broker._validator import FINDINGS, Validation, validate_records
from strategies import FORMATS
from together import draws

CAP = 1 << 16


def produced(magic: int, codec: str) -> bytes:
    return recordpress.write_records(
        [b"value", b"", None],
        [b"k", None, b""],
        [T, T + 7, -1] if magic else None,
        [[("h", b"x"), ("n", None)], [], []] if magic == 2 else None,
        magic=magic,
        compression_type=codec,
    )


SETS = {f"v{magic}-{codec}": produced(magic, codec) for magic, codec in FORMATS}


def changed(data: bytes, chance: random.Random) -> bytes:
    """One to three fields, bytes or bits of it, and mostly a checksum that fits again."""
    broken = bytearray(data)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(broken))
        kind = chance.randrange(4)
        if kind == 0:
            broken[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            broken[at] = chance.choice([0, 1, 2, 0x7F, 0x80, 0xFF])
        elif kind == 2:
            broken[at : at + 4] = struct.pack(">i", chance.choice([-(2**31), -1, 0, 1, 2**31 - 1]))
        elif len(broken) > 30:
            del broken[at:]
            broken += bytes(max(0, 30 - len(broken)))
    if len(broken) >= 12 and chance.random() < 0.5:
        struct.pack_into(">i", broken, 8, len(broken) - 12)
    return with_right_crc(bytes(broken)) if len(broken) > 21 and chance.random() < 0.9 else bytes(broken)


def settings_of(chance: random.Random) -> dict[str, Any]:
    return {
        "target_codec": chance.randrange(5),
        "target_magic": chance.choice([0, 1, 2, 2, 2]),
        "log_append_time": chance.random() < 0.3,
        "before_max_ms": chance.choice([0, 10, 2**63 - 1]),
        "after_max_ms": chance.choice([0, 10, 2**63 - 1]),
        "compacted": chance.random() < 0.2,
        "next_offset": chance.choice([0, 100, 2**31, 2**63 - 2]),
        "origin_client": chance.random() < 0.8,
        "now_ms": chance.choice([0, T, T + 5, 2**63 - 1]),
        "helpful": chance.random() < 0.5,
    }


def check(answer: Validation, settings: dict[str, Any]) -> None:
    """What is stored can be read, and has the offsets that it was given."""
    if answer.error_code:
        assert answer.records == b"" and answer.refusal
        return
    assert analyze(answer.records, max_message_bytes=2**31 - 1, is_client=False).error_code == 0
    unsound = answer.findings & sum(1 << FINDINGS.index(name) for name in ("poisoned", "unseen_offsets"))
    if unsound or settings["next_offset"] > 2**62 or not settings["origin_client"]:
        return  # of others than clients the last offset delta is believed
    offsets = [r.offset for batch in recordpress.read_batches(answer.records) for r in batch]
    assert offsets == list(range(settings["next_offset"], answer.next_offset))


@pytest.mark.parametrize("name", SETS)
def test_changed_sets(name: str) -> None:
    chance = random.Random(name)
    codes = set()
    for _ in range(draws(600)):
        data = exact(changed(SETS[name], chance))
        headers(data)
        settings = settings_of(chance)
        found = analyze(data, max_message_bytes=CAP, is_client=settings["origin_client"])
        if found.error_code:
            codes.add(found.error_code)
            continue
        try:
            answer = validate_records(data, source_codec=found.source_codec, max_decompressed_bytes=CAP, **settings)
        except recordpress.OutputTooLargeError:
            continue
        codes.add(answer.error_code)
        check(answer, settings)
    assert {0, 2, 87} <= codes


def test_a_million_of_empty_records_is_no_answer_of_many() -> None:
    data = bytearray(produced(2, "zstd"))
    struct.pack_into(">i", data, 23, 2**31 - 2)
    struct.pack_into(">i", data, 57, 2**31 - 1)
    answer = validate_records(with_right_crc(bytes(data)), source_codec=4, target_codec=4, now_ms=T)
    assert (answer.error_code, answer.refusal) == (87, "RECORDS_AND_COUNT")
