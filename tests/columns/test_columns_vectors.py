"""Every vector as columns: the records that Kafka read, or the error where Kafka's code erred."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest

import oracle
import recordpress
from arrow_facts import BATCH_COLUMNS, RECORD_COLUMNS, column_facts, expected_columns
from facts import Facts, bytes_fact, error_class
from oracle import Partition, Vector
from together import together

ALL_COLUMNS = RECORD_COLUMNS + BATCH_COLUMNS


def _read(data: bytes, **options: object) -> pa.Table:
    options.setdefault("columns", ALL_COLUMNS)
    return pa.table(recordpress.read_columns(data, **options))  # type: ignore[arg-type]


def _first_error(expected: Facts, check_crcs: bool) -> type[recordpress.RecordpressError] | None:
    """The error that stands first in the bytes; a v0/v1 record has both its checksums read."""
    if "decoder_error" in expected:
        return recordpress.CorruptRecordError
    for batch in expected["batches"]:
        damaged = not batch["valid"] or any(not record.get("valid", True) for record in batch["records"])
        if check_crcs and damaged:
            return recordpress.CorruptRecordError
        if "records_error" in batch:
            return error_class(batch["records_error"])
    return error_class(expected["scan_error"]) if "scan_error" in expected else None


# Kafka reads this damaged deflate stream record by record and meets a record that makes no sense before it gets
# to the wrong checksum of the whole; columns are decoded a payload at a time.
CHECKSUM_FIRST = "crafted/gzip_flip_mid"


@oracle.each("vector", oracle.EVERYTHING)
def test_records(vector: Vector) -> None:
    expected = vector.expected
    data = vector.data
    for check_crcs in (True, False):
        error = _first_error(expected, check_crcs)
        if error:
            with pytest.raises(recordpress.RecordpressError) as caught:
                _read(data, check_crcs=check_crcs, control=True)
            assert caught.type is (recordpress.DecompressionError if str(vector) == CHECKSUM_FIRST else error)
        else:
            columns = column_facts(_read(data, check_crcs=check_crcs, control=True))
            for name, values in expected_columns(expected["batches"]).items():
                assert columns[name] == values, name


TOLD_BY_HEADERS = [
    name for name in ALL_COLUMNS if name not in ("key", "value", "headers", "sequence", "baseOffset", "timestamp")
]
READABLE = [vector for vector in oracle.RECORD_SETS if not vector.entry.get("has_error")]

# One set of each producer, magic and codec, one that ships if there is one: enough where the way in does not depend on
# the content.
_SHIPPED_LAST = sorted(READABLE, key=lambda vector: vector.file in oracle.SHIPS)
KINDS = list({(v.entry["producer"], v.entry.get("magic"), v.entry.get("codec")): v for v in _SHIPPED_LAST}.values())


@oracle.each("vector", READABLE)
def test_columns_that_headers_tell(vector: Vector) -> None:
    """Only records that were crafted so have other offsets than their header says; nobody looks at them then."""
    expected = expected_columns(vector.expected["batches"])
    if _first_error(vector.expected, check_crcs=True):
        return
    told = TOLD_BY_HEADERS[1:] if "/deltas_" in str(vector) else TOLD_BY_HEADERS
    for names in (told, ["timestamp", *TOLD_BY_HEADERS]):
        columns = column_facts(_read(vector.data, columns=names, control=True))
        assert columns == {name: expected[name] for name in names}


@together("binary_type", ["large_binary", "binary_view"])
@oracle.each("vector", READABLE)
def test_binary_types_hold_the_same(vector: Vector, binary_type: str) -> None:
    data = vector.data
    options = {"columns": ["key", "value"], "check_crcs": False}
    table = _read(data, binary_type=binary_type, **options)
    assert [str(field.type) for field in table.schema] == [binary_type] * 2
    assert column_facts(table) == column_facts(_read(data, **options))


@oracle.each("vector", KINDS)
def test_threads_hold_the_same_in_the_same_order(vector: Vector) -> None:
    data = vector.data[: vector.expected["valid_bytes"]] * 5
    assert _read(data, threads=2, control=True).equals(_read(data, control=True))


@oracle.each("vector", KINDS)
def test_control_batches_are_left_out_unless_asked_for(vector: Vector) -> None:
    table = _read(vector.data, columns=["offset"], check_crcs=False)
    batches = [batch for batch in vector.expected["batches"] if not batch.get("is_control")]
    assert table.column("offset").to_pylist() == expected_columns(batches)["offset"]


def test_entries_in_any_order_hold_the_same() -> None:
    """Entries with and without timestamps, keys, headers: later ones may have what the first ones lack."""
    data = oracle.find("clients-4.3.1/multi_all").data
    entries = [data[batch.position : batch.position + batch.size] for batch in recordpress.read_batches(data)]
    for first in range(len(entries)):
        turned = b"".join(entries[first:] * 40 + entries[:first])
        columns = column_facts(_read(turned))
        records = [record for batch in recordpress.read_batches(turned) for record in batch]
        assert columns["timestamp"] == [record.timestamp for record in records]
        assert columns["key"] == [bytes_fact(record.key) for record in records]
        assert columns["value"] == [bytes_fact(record.value) for record in records]


# ---- what a consumer sees of a partition


TXN_INDEX_ENTRY = struct.Struct(">hqqqq")  # version, producer id, first offset, last offset, last stable offset


def _aborted_transactions(partition: Partition) -> list[tuple[int, int]]:
    entries = [entry for index in partition.files(".txnindex") for entry in TXN_INDEX_ENTRY.iter_unpack(index)]
    return sorted({(producer_id, first_offset) for _, producer_id, first_offset, _, _ in entries}, key=lambda e: e[1])


def _consumed(rows: list[Facts]) -> list[tuple[object, ...]]:
    return [
        (
            row["offset"],
            row["timestamp"],
            row["timestamp_type"],
            -1 if row["leader_epoch"] is None else row["leader_epoch"],
            row["key"],
            row["value"],
            row["headers"],
        )
        for row in rows
    ]


CONSUMED_COLUMNS = ("offset", "timestamp", "timestampType", "partitionLeaderEpoch", "key", "value", "headers")
CONSUMED = [
    pytest.param(partition, isolation, id=f"{partition}-{isolation}")
    for partition in oracle.PARTITIONS
    for isolation in ("read_uncommitted", "read_committed")
    if isolation in partition.entry
]


@pytest.mark.parametrize(("partition", "isolation"), CONSUMED)
def test_partition_reads_as_the_consumer_read_it(partition: Partition, isolation: str) -> None:
    aborted = _aborted_transactions(partition) if isolation == "read_committed" else None
    data = b"".join(log.data for log in partition.logs)
    columns = column_facts(_read(data, columns=CONSUMED_COLUMNS, aborted_transactions=aborted))
    rows = list(zip(*(columns[name] for name in CONSUMED_COLUMNS), strict=True))
    assert rows == _consumed(partition.consumed(isolation))


# ---- ranges


@pytest.mark.parametrize(
    "bounds", [(None, None), (3, None), (None, 3), (2, 9), (4, 4), (9, 2), (0, 1), (100, 200)], ids=str
)
@pytest.mark.parametrize("name", ["v0_none", "v0_gzip", "v1_lz4", "v2_none", "v2_zstd"])
def test_ranges(name: str, bounds: tuple[int | None, int | None]) -> None:
    """Offsets from start to before end; the same with timestamps."""
    vector = oracle.find(f"clients-4.3.1/{name}")
    rows = [record for batch in vector.expected["batches"] for record in batch["records"]]
    start, end = bounds
    found = _read(vector.data, columns=["offset"], start_offset=start, end_offset=end)
    assert found.column("offset").to_pylist() == [
        row["offset"]
        for row in rows
        if (start is None or start <= row["offset"]) and (end is None or row["offset"] < end)
    ]
    base = 1_700_000_000_000
    start, end = (None if bound is None else base + 5 * bound for bound in bounds)
    found = _read(vector.data, columns=["offset"], start_timestamp=start, end_timestamp=end)
    assert found.column("offset").to_pylist() == [
        row["offset"]
        for row in rows
        if (start is None or start <= row["timestamp"]) and (end is None or row["timestamp"] < end)
    ]
