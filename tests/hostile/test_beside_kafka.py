"""Kafka 4.4.0's own classes and recordpress read the same sets, good and damaged: the same batches, the same records,
and an error in the same place. What is different on purpose is in docs/differences.md.

`make -f labs.mk differential` brings Kafka's jars and runs this; without them it is skipped.
"""

from __future__ import annotations

import random
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_sets import SMALL_SETS, with_right_crc
from test_good_rows_first import AFTER, FRAMING, GOOD, WRONG

import recordpress
from messages import V1_BODY, message, wrapper
from patience import HANG

ROOT = Path(__file__).parents[2]
JARS = ROOT / "build/bench/peers/java"
DRIVER = Path(__file__).parent / "java/ReadSets.java"
EMPTY = recordpress.empty_batch(3, 7)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.build,
    pytest.mark.skipif(
        not any(JARS.glob("kafka-clients-*.jar")), reason="no jars of Kafka: make -f labs.mk differential"
    ),
]


def ask_kafka(sets: list[bytes], path: Path) -> list[list[str]]:
    """Kafka's lines for every set."""
    path.write_bytes(b"".join(struct.pack(">i", len(data)) + data for data in sets))
    command = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{JARS}/*", DRIVER, path]
    text = subprocess.run(command, check=True, capture_output=True, text=True, timeout=HANG).stdout
    return [part.splitlines() for part in text.split("set\n")[1:]]


def ask_recordpress(data: bytes) -> list[str]:
    """The same lines from recordpress."""
    return list(_set_lines(data))


def _set_lines(data: bytes) -> Iterator[str]:
    try:
        for batch in recordpress.read_batches(data, check_crcs=False, max_decompressed_bytes=1 << 30):
            yield _batch_line(batch)
            yield from _record_lines(batch)
    except recordpress.RecordpressError:
        yield "error"


def _batch_line(batch: recordpress.Batch) -> str:
    fields = (
        batch.magic,
        _or_error(batch, "base_offset"),
        batch.last_offset,
        _or_error(batch, "compression_type"),
        batch.is_valid(),
        batch.max_timestamp,
        batch.base_sequence,
        batch.last_sequence,
        _count(batch),
        -1 if batch.delete_horizon_ms is None else batch.delete_horizon_ms,
        batch.is_transactional,
        batch.is_control,
        batch.producer_id,
        batch.producer_epoch,
        batch.partition_leader_epoch,
    )
    return "batch " + " ".join(_text(value) for value in fields)


def _record_lines(batch: recordpress.Batch) -> Iterator[str]:
    try:
        for record in batch:
            yield _record_line(record)
    except recordpress.RecordpressError:
        yield "record error"


def _record_line(record: recordpress.Record) -> str:
    fields = (record.offset, record.timestamp, record.timestamp_type == 1, record.sequence)
    headers = [f" {_hex(key.encode())}={_hex(value)}" for key, value in record.headers]
    return f"record {' '.join(map(_text, fields))} {_hex(record.key)} {_hex(record.value)}{''.join(headers)}"


def _count(batch: recordpress.Batch) -> int | None:
    """As Kafka has it: unknown also for a message that is no wrapper."""
    return batch.records_count if batch.magic == 2 else None


def _or_error(batch: recordpress.Batch, name: str) -> object:
    try:
        return getattr(batch, name)
    except recordpress.RecordpressError:
        return "error"


def _text(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    is_unknown_codec = str(value).startswith(("unknown(", "pluggable"))  # to Kafka
    return "error" if is_unknown_codec else str(value)


def _hex(value: bytes | None) -> str:
    return "null" if value is None else f"'{bytes(value).hex()}'"


def compare(sets: dict[str, bytes], path: Path) -> None:
    """Sets with whose damaged sizes Java runs out of memory have no answer to compare."""
    different = []
    for (name, data), kafka in zip(sets.items(), ask_kafka(list(sets.values()), path), strict=True):
        ours = ask_recordpress(data)
        if ours != kafka and "no memory" not in kafka:
            at = next(
                (i for i, (a, b) in enumerate(zip(ours, kafka, strict=False)) if a != b), min(len(ours), len(kafka))
            )
            different.append(f"{name}: {ours[at : at + 1]}, in Kafka {kafka[at : at + 1]}: {data.hex()[:400]}")
    if different:
        pytest.fail(f"{len(different)} of {len(sets)} sets\n" + "\n".join(different[:20]), pytrace=False)


def test_sets_of_every_format(tmp_path: Path) -> None:
    compare({**SMALL_SETS, "nothing": b"", "no records": EMPTY}, tmp_path / "sets")


def test_sets_that_are_cut(tmp_path: Path) -> None:
    sets = {f"{name} cut at {end}": data[:end] for name, data in SMALL_SETS.items() for end in range(0, len(data), 3)}
    compare(sets, tmp_path / "sets")


def test_lying_fields(tmp_path: Path) -> None:
    compare({name: GOOD + data + AFTER for name, data in (WRONG | FRAMING).items()}, tmp_path / "sets")


def test_changed_bytes(tmp_path: Path) -> None:
    sets = {}
    draw = random.Random(7)
    for name, data in SMALL_SETS.items():
        for at in range(len(data) - 3 * (name == "v2-zstd")):  # Kafka does not read the header of the last, empty block
            for byte in {draw.randrange(256), data[at] ^ 1 << draw.randrange(8), 0, 255}:
                sets[f"{name}[{at}] = {byte}"] = data[:at] + bytes([byte]) + data[at + 1 :]
    compare(sets, tmp_path / "sets")


def test_damage_to_the_end_of_a_zstd_frame(tmp_path: Path) -> None:
    """Different on purpose: Kafka stops at the last record, and does not see that the frame is damaged after it."""
    data = SMALL_SETS["v2-zstd"]
    data = with_right_crc(data[:-3] + b"\5" + data[-2:])  # a compressed block of 0 bytes
    [kafka] = ask_kafka([data], tmp_path / "sets")
    assert [line.split()[0] for line in kafka] == ["batch", "record", "record", "record"]
    with pytest.raises(recordpress.DecompressionError):
        recordpress.read_columns(data)


def _batch(name: str, at: int, field: bytes, codec: str = "none") -> bytes:
    data = recordpress.write_records([b"a", b"b"], compression_type=codec, headers=[[("name", b"1")], []])
    at = data.index(name.encode()) if name else at
    return with_right_crc(data[:at] + field + data[at + len(field) :])


def _tail(codec: str, tail: bytes) -> bytes:
    data = recordpress.write_records([b"one", b"two"], compression_type=codec) + tail
    return with_right_crc(data[:8] + struct.pack(">i", len(data) - 12) + data[12:])


# What a comparison with Kafka once found, and what is near it.
FRAME = recordpress.compress(b"more" * 100, "zstd")
XERIAL = bytes.fromhex("82534e41505059000000000100000001")
FOUND = {
    **{
        f"header key {key.hex()}": _batch("name", 0, key)
        for key in (
            b"\xed\xa0\x80x",
            b"a\xed\xbf\xbf",
            b"\xed\xa0xx",
            b"xx\xed\xa0",
            b"\xe0\x80\x80x",
            b"\xf0\x90\x80x",
            b"\xff\xc0\x80x",
            b"\xf4\x90\x80\x80",
            b"\xc3x\xe2\x82",
            b"\xed\x9f\xbfx",
        )
    },
    **{f"base sequence {base}": _batch("", 53, struct.pack(">i", base)) for base in (-1, 0, 2**31 - 1, -(2**31))},
    **{
        f"last offset delta {delta}": _batch("", 23, struct.pack(">i", delta))
        for delta in (-1, -5, 2**31 - 1, -(2**31))
    },
    **{
        f"zstd + {tail.hex()}": _tail("zstd", tail)
        for tail in (
            b"\0",
            b"\x28",
            b"\x28\xb5",
            b"\x28\xb6",
            FRAME[:3],
            FRAME[:4],
            FRAME[:5],
            FRAME[:8],
            FRAME[:-3],
            FRAME,
            b"\x28\xb5\x2f\xfe",
            b"\x50\x2a\x4d\x18",
            b"\x50\x2a\x4d\x18\x08\0\0\0",
            b"\x50\x2a\x4d\x19\1",
        )
    },
    **{
        f"{codec} + {tail.hex()}": _tail(codec, tail)
        for codec in ("gzip", "snappy", "lz4")
        for tail in (
            b"\0",
            b"\0\0",
            b"\0" * 9,
            b"\xff" * 5,
            recordpress.compress(b"more", codec),
            recordpress.compress(b"more", codec)[:6],
        )
    },
    **{
        f"snappy + header changed at {at}": _tail("snappy", XERIAL[:at] + bytes([XERIAL[at] ^ 0x80]) + XERIAL[at + 1 :])
        for at in range(16)
    },
    "compressed inside, first": wrapper(message(1, 1, V1_BODY) + message(1, 0, V1_BODY, 1), 1),
    "compressed inside, last": wrapper(message(1, 0, V1_BODY) + message(1, 1, V1_BODY, 1), 1),
    **{
        f"magic {magic} inside": wrapper(message(1, 0, V1_BODY) + message(magic, 8, V1_BODY, 1), 1)
        for magic in (0, 2, 5, 127, -1)
    },
    **{
        f"v1 message of {size} bytes": message(1, 0, V1_BODY)
        + message(1, 0, bytes(size - 6), 1)
        + message(1, 0, V1_BODY, 2)
        for size in range(14, 24)
    },
    "offset of a wrapper below its last": wrapper(message(1, 0, V1_BODY, 5), 3),
    "offset of a wrapper 0": wrapper(message(1, 0, V1_BODY, 5) + message(1, 0, V1_BODY, 6), 0),
    "a wrapper in v0 around v1": wrapper(message(1, 0, V1_BODY, 5), 9, magic=0),
    "an empty wrapper": wrapper(b""),
    "half a message inside": wrapper(message(1, 0, V1_BODY) + message(1, 0, V1_BODY, 1)[:-1], 1),
    "a message of 13 bytes inside": wrapper(message(1, 0, V1_BODY) + struct.pack(">qi", 1, 13) + bytes(13), 1),
}


def test_what_was_found_before(tmp_path: Path) -> None:
    compare(FOUND, tmp_path / "sets")
