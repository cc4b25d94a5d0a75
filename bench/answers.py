"""Check the answer of every contender before it is timed."""

import struct
import zlib
from collections.abc import Callable, Iterable

import pyarrow as pa

from bench.corpus import RecordSet

COLUMNS = ["offset", "timestamp", "key", "value"]


def equal(got: object, expected: object, what: str) -> None:
    if got != expected:
        raise ValueError(f"wrong answer: {what}")


def same_columns(columns: object, records: RecordSet, batches: int = 1) -> None:
    """Arrow columns (anything that pyarrow.table takes) hold the set `batches` times, with offsets that go on."""
    table = pa.table(columns)
    equal(table.column_names, COLUMNS, "column names")
    equal(table["offset"].to_pylist(), list(range(records.count * batches)), "offsets")
    equal(table["timestamp"].cast(pa.int64()).to_pylist(), records.timestamps * batches, "timestamps")
    equal(table["key"].to_pylist(), records.keys * batches, "keys")
    equal(table["value"].to_pylist(), records.values * batches, "values")


def same_records(read: Iterable, records: RecordSet) -> None:
    """Objects with the four attributes."""
    got = [(record.offset, record.timestamp, record.key, record.value) for record in read]
    equal(got, list(zip(records.offsets, records.timestamps, records.keys, records.values, strict=True)), "records")


def told(records: RecordSet, batches: int = 1) -> str:
    """What a program of peers/ has to say of the set `batches` times, with offsets that go on: how many records, the
    sums of offsets and timestamps, and the CRC-32 of the keys and values, each after its length (int32, -1: null)."""
    count = records.count * batches
    fields = (field for pair in zip(records.keys, records.values, strict=True) for field in pair)
    once = b"".join(struct.pack(">i", -1 if field is None else len(field)) + (field or b"") for field in fields)
    crc = 0
    for _ in range(batches):
        crc = zlib.crc32(once, crc)
    return f"{count} {count * (count - 1) // 2} {sum(records.timestamps) * batches} {crc}"


def same_batch(data: bytes, records: RecordSet, codec: str) -> None:
    """One batch of the codec that holds the set, read by the ceiling (which checks the CRC)."""
    ceiling, expected = records.ceiling(), records.ceiling()
    equal(data[22] & 7, ["none", "gzip", "snappy", "lz4", "zstd"].index(codec), "codec")
    equal(ceiling.decode(data), expected.decode(records.batch("none")), "record count")
    for name in ["offset", "timestamp", "key", "key_offsets", "value", "value_offsets"]:
        equal(ceiling.column(name), expected.column(name), name)


def as_large(data: bytes, codec_output: Callable[[], bytes], slack: float = 1.02) -> None:
    """No bigger than what the same codec at the same level gives: speed is not bought with size."""
    if len(data) > slack * len(codec_output()):
        raise ValueError(f"{len(data)} bytes, {len(codec_output())} expected")
