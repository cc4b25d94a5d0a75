"""Writers fill their rows window by window (256 of them): every column goes on where the window before ended.

The batches are read back with aiokafka.
"""

from __future__ import annotations

from itertools import groupby

import pyarrow as pa
import pytest
from aiokafka.record import MemoryRecords

import recordpress

N = 700
T = 1_700_000_000_000
# No pattern has a period that divides 256.
TIMES = [None if i % 7 == 3 else T + i for i in range(N)]
HEADERS = [[("h", b"%d" % i), ("n", None)][: i % 3] for i in range(N)]
OFFSETS = [3 * i + i % 2 for i in range(N)]
KEYS = [None if i % 5 == 1 else b"key %d" % i for i in range(N)]
VALUES = [b"v" * (i % 40) for i in range(N)]
HEADER_TYPE = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))

EXPECTED = [
    (offset, -1 if time is None else time, key, value, tuple(headers))
    for offset, time, key, value, headers in zip(OFFSETS, TIMES, KEYS, VALUES, HEADERS, strict=True)
]


def peer_rows(data: bytes) -> list[tuple[object, ...]]:
    peer = MemoryRecords(data)
    rows = []
    while (batch := peer.next_batch()) is not None:
        assert batch.validate_crc()
        rows += [(r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in batch]
    return rows


def table(**others: object) -> pa.Table:
    return pa.table(
        {
            "offset": pa.array(OFFSETS, pa.int64()),
            "timestamp": pa.array(TIMES, pa.timestamp("ms", "UTC")),
            "key": pa.array(KEYS, pa.binary()),
            "value": pa.array(VALUES, pa.binary()),
            "headers": pa.array([[{"key": k, "value": v} for k, v in headers] for headers in HEADERS], HEADER_TYPE),
        }
        | others
    )


@pytest.mark.parametrize("codec", ["none", "gzip"])
@pytest.mark.parametrize("start", [0, 13, 255, 256])
def test_columns(codec: str, start: int) -> None:
    assert peer_rows(recordpress.write_columns(table().slice(start), compression_type=codec)) == EXPECTED[start:]


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_sequences(codec: str) -> None:
    times = [-1 if time is None else time for time in TIMES]
    data = recordpress.write_records(VALUES, KEYS, times, HEADERS, offsets=OFFSETS, compression_type=codec)
    assert peer_rows(data) == EXPECTED


def test_counted_offsets() -> None:
    for data in (
        recordpress.write_records(VALUES, base_offset=40),
        recordpress.write_columns(table().select(["value"]), base_offset=40),
    ):
        assert [row[0] for row in peer_rows(data)] == list(range(40, 40 + N))


def test_copies_of_what_is_not_bytes_are_held() -> None:
    """Each is the only one of its bytes."""
    data = recordpress.write_records([bytearray(value) * 50 for value in VALUES], map(memoryview, VALUES))
    assert [row[2:4] for row in peer_rows(data)] == [(value, value * 50) for value in VALUES]


@pytest.mark.parametrize("number", [pa.int8(), pa.int32()], ids=str)
def test_timestamp_types(number: pa.DataType) -> None:
    types = [int(i % 11 > 5) for i in range(N)]
    columns = table(timestampType=pa.array(types, number), timestamp=pa.array([T] * N, pa.timestamp("ms", "UTC")))
    batches = recordpress.read_batches(recordpress.write_columns(columns))
    runs = [(type_, len(list(run))) for type_, run in groupby(types)]
    assert [(int(batch.timestamp_type), batch.records_count) for batch in batches] == runs


WRONG = {
    "offset": (pa.int64(), None, "the offset is null"),
    "timestamp": (pa.timestamp("s", "UTC"), 2**62, "timestamp"),
    "headers": (HEADER_TYPE, [{"key": None, "value": b""}], "a header"),
}


@pytest.mark.parametrize("at", [0, 255, 256, 600, N - 1])
@pytest.mark.parametrize("column", WRONG)
def test_the_record_is_named(column: str, at: int) -> None:
    type_, wrong, sentence = WRONG[column]
    right = {"offset": list(range(N)), "timestamp": [0] * N, "headers": [[]] * N}[column]
    values = pa.array([*right[:at], wrong, *right[at + 1 :]], type_)
    with pytest.raises(recordpress.InvalidArgumentError, match=f"^record {at}: {sentence}") as caught:
        recordpress.write_columns(table(**{column: values}))
    assert caught.value.field == column


def test_the_first_record_that_is_wrong_is_named() -> None:
    """No matter which rule each breaks."""
    times = pa.array([-5 if i == 300 else 0 for i in range(N)], pa.int64())
    offsets = pa.array([None if i == 400 else i for i in range(N)], pa.int64())
    with pytest.raises(recordpress.InvalidArgumentError, match=r"^record 300: timestamp"):
        recordpress.write_columns(table(timestamp=times, offset=offsets))
