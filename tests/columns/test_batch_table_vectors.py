"""Every vector with one row per batch: batch_table says what Kafka read from the headers."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import oracle
import recordpress
from facts import TIMESTAMP_TYPES, Facts
from oracle import Vector

# column -> expected field, and what the column says where a v0/v1 entry has no such field
COLUMNS: dict[str, tuple[str, Any]] = {
    "position": ("position", None),
    "size": ("size", None),
    "magic": ("magic", None),
    "attributes": ("attributes", None),
    "lastOffset": ("last_offset", None),
    "maxTimestamp": ("max_timestamp", None),
    "partitionLeaderEpoch": ("leader_epoch", -1),
    "producerId": ("producer_id", -1),
    "producerEpoch": ("producer_epoch", -1),
    "baseSequence": ("base_sequence", -1),
    "isTransactional": ("is_transactional", False),
    "isControl": ("is_control", False),
    "crc": ("crc", None),
}


def _rows(batches: list[Facts]) -> list[Facts]:
    return [
        {column: batch.get(field, otherwise) for column, (field, otherwise) in COLUMNS.items()} for batch in batches
    ]


READABLE = [vector for vector in oracle.EVERYTHING if "has_error" not in vector.entry]


@oracle.each("vector", READABLE)
def test_rows(vector: Vector) -> None:
    expected = vector.expected["batches"]
    table = recordpress.batch_table(vector.data).to_numpy()
    rows = [{column: row[column].item() for column in COLUMNS} for row in table]
    assert rows == _rows(expected)
    assert [TIMESTAMP_TYPES[number] for number in table["timestampType"]] == [b["timestamp_type"] for b in expected]
    assert [name.decode() for name in table["compressionType"]] == [b["codec"] for b in expected]
    counts = [b.get("count", 1 if b["codec"] == "none" else -1) for b in expected]
    assert table["recordsCount"].tolist() == counts
    horizons = [b.get("delete_horizon_ms") is not None for b in expected]
    assert table["hasDeleteHorizon"].tolist() == horizons


@oracle.each("vector", READABLE[::10])
def test_arrow_says_the_same(vector: Vector) -> None:
    """If a batch lacks a field, NumPy has -1 and Arrow a null."""
    table = recordpress.batch_table(vector.data)
    arrow = pa.table(table)
    rows = table.to_numpy()
    for name in rows.dtype.names:
        column = arrow.column(name)
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.int64())
        found = column.to_pylist()
        expected = [value.decode() for value in rows[name]] if name == "compressionType" else rows[name].tolist()
        if name in ("recordsCount", "baseTimestamp", "maxTimestamp"):
            expected = [None if value == -1 else value for value in expected]
        assert found == expected, name
        assert arrow.column(name).null_count == found.count(None), name


def test_more_batches_than_memory_is_first_taken_for() -> None:
    one = recordpress.write_records([b"v"])
    data = b"".join(number.to_bytes(8, "big") + one[8:] for number in range(5000))
    rows = recordpress.batch_table(data).to_numpy()
    assert rows["baseOffset"].tolist() == list(range(5000))
    assert rows["position"].tolist() == [number * len(one) for number in range(5000)]
    assert pa.table(recordpress.batch_table(data))["baseOffset"].to_pylist() == list(range(5000))


@pytest.mark.parametrize("magic", [0, 1])
def test_the_bits_of_v2_mean_nothing_in_older_entries(magic: int) -> None:
    """AbstractLegacyRecordBatch knows neither transactions nor control batches."""
    entry = bytearray(recordpress.write_records([b"v"], magic=magic))
    entry[17] = 0x70
    [row] = recordpress.batch_table(entry).to_numpy()
    assert row["attributes"] == 0x70
    assert not (row["isTransactional"] or row["isControl"] or row["hasDeleteHorizon"])
