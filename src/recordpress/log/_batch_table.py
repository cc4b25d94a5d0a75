"""Batches of a log as an Arrow table, with columns straight from the headers and no object per batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from recordpress.columns import BatchTable
from recordpress.columns.header_table import headers_table
from recordpress.errors import RecordpressError
from recordpress.log._batches import BATCH_COLUMNS
from recordpress.log._segment import Partition, Segment
from recordpress.record.header import SEQUENCES

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_AT_ONCE = 1 << 16  # rows in one Arrow batch; chosen, not measured


def table_of(partitions: Iterable[Partition], check_crcs: bool) -> pa.Table:
    """Return a table with one row per batch of every segment; needs pyarrow."""
    import pyarrow as pa

    schema = _schema()
    tables = [schema.empty_table()]
    for partition in partitions:
        for segment in partition.segments:
            place = {"topic": partition.topic, "partition": partition.partition, "file": segment.url}
            for headers, is_valid in _headers_in(segment, check_crcs):
                columns = _columns(headers, is_valid)
                columns |= {name: pa.repeat(pa.scalar(value), len(headers)) for name, value in place.items()}
                arrays = [columns[name].cast(schema.field(name).type) for name in BATCH_COLUMNS]
                tables.append(pa.table(arrays, schema=schema))
    return pa.concat_tables(tables)


def _schema() -> pa.Schema:
    import pyarrow as pa

    types = {
        **{field.name: field.type for field in pa.schema(headers_table([]))},
        "topic": pa.string(),
        "partition": pa.int32(),
        "file": pa.string(),
        "lastSequence": pa.int32(),
        "deleteHorizonMs": pa.timestamp("ms", "UTC"),
        "isValid": pa.bool_(),
    }
    return pa.schema([(name, types[name]) for name in BATCH_COLUMNS])


def _headers_in(segment: Segment, check_crcs: bool) -> Iterator[tuple[BatchTable, bytearray | None]]:
    with segment.records() as file:
        walk = file.headers()
        try:
            while (found := walk.table(_ROWS_AT_ONCE, check_crcs))[0]:
                yield found
        except RecordpressError as error:
            file.check_end(walk, error)
        else:
            file.check_end(walk)


def _columns(headers: BatchTable, is_valid: bytearray | None) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    batch = pa.record_batch(headers)
    columns: dict[str, Any] = dict(zip(batch.schema.names, batch.columns, strict=True))
    base, delta = columns["baseSequence"], pc.subtract(columns["lastOffset"], columns["baseOffset"])
    last = pc.add(base.cast(pa.int64()), delta)
    last = pc.if_else(pc.greater_equal(last, SEQUENCES), pc.subtract(last, SEQUENCES), last)
    columns["lastSequence"] = pc.if_else(pc.equal(base, -1), -1, last)
    missing = pa.scalar(-1, pa.int64()).cast(columns["baseTimestamp"].type)
    times = pc.fill_null(columns["baseTimestamp"], missing)
    columns["deleteHorizonMs"] = pc.if_else(columns["hasDeleteHorizon"], times, pa.scalar(None, times.type))
    checks = pa.nulls(len(headers), pa.int8()) if is_valid is None else pa.array(memoryview(is_valid), pa.int8())
    columns["isValid"] = checks.cast(pa.bool_())
    return columns
