"""Columns of the result in Spark's and Arrow's types, as in Spark's Kafka source, and columns of batches.

Spark compares the Arrow schema of a reader's batches with its own, including nested names and nullability.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from recordpress.columns.header_table import headers_table
from recordpress.errors import InvalidArgumentError

CORRUPT = "_corrupt_record"  # as Spark's own file sources call it

_TIME = pa.timestamp("us", "UTC")
_HEADERS = pa.list_(pa.field("element", pa.struct([("key", pa.string()), ("value", pa.binary())])))
_RECORDS = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": _TIME,
    "timestampType": pa.int32(),
    "headers": _HEADERS,
}
_FRAMED = {"valueSchemaId": pa.int32(), "valuePayload": pa.binary()}  # of values in Confluent's framing
_WIDER = {  # types that Spark reads instead
    pa.int8(): pa.int32(),
    pa.int16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.timestamp("ms", "UTC"): _TIME,
}
_PLACE = {"topic": pa.string(), "partition": pa.int32(), "file": pa.string()}
_BATCHES = _PLACE | {
    field.name: _WIDER.get(field.type, field.type)
    for field in pa.schema(headers_table([]))
    if field.name not in ("baseTimestamp", "hasDeleteHorizon")
}
_BYTES = _PLACE | {"position": pa.int64(), "baseOffset": pa.int64(), "lastOffset": pa.int64(), "batch": pa.binary()}
_COLUMNS = {"records": _RECORDS, "batches": _BATCHES, "bytes": _BYTES}
_EVERY = _BATCHES | _BYTES | _RECORDS | _FRAMED | {CORRUPT: pa.string()}  # a name has one type everywhere


def column_names(rows: str, include_headers: bool, reports_in_rows: bool) -> tuple[str, ...]:
    """Return the columns of rows of this kind, with headers of records on request."""
    names = [name for name in _COLUMNS[rows] if name != "headers" or include_headers]
    return (*names, CORRUPT) if reports_in_rows else tuple(names)


def accepted_names(rows: str, reports_in_rows: bool) -> tuple[str, ...]:
    """Return the columns that rows of this kind can have."""
    return (*column_names(rows, True, reports_in_rows), *(_FRAMED if rows == "records" else ()))


def names_to_read(names: Iterable[str]) -> list[str]:
    """Return the columns from which `columns_for_spark` builds the columns in `names`."""
    return list(dict.fromkeys("value" if name in _FRAMED else name for name in names if name != CORRUPT))


def columns_for_spark(names: Iterable[str], batch: pa.RecordBatch, value_format: str) -> list[pa.Array]:
    """Return the columns that Spark expects: some are derived from values, and the column for findings is null."""
    return [_column(arrow_schema([name]).field(0), batch, value_format) for name in names]


def _column(field: pa.Field, batch: pa.RecordBatch, value_format: str) -> pa.Array:
    if field.name == CORRUPT:
        return pa.nulls(batch.num_rows, field.type)
    if field.name not in _FRAMED:
        return as_column(batch.column(field.name), field)
    from recordpress.columns.framing import payloads, schema_ids  # loads NumPy, which other columns do not need

    values = batch.column("value")
    return schema_ids(values) if field.name == "valueSchemaId" else payloads(values, value_format == "protobuf")


def spark_schema(names: Iterable[str]) -> StructType:
    """Return these columns as a Spark schema."""
    return from_arrow_schema(arrow_schema(names))


def arrow_schema(names: Iterable[str]) -> pa.Schema:
    """Return the schema of the pyarrow record batches with these columns."""
    return pa.schema([(name, _EVERY[name]) for name in names])


def as_column(column: pa.Array, field: pa.Field) -> pa.Array:
    """Return a column in the form of Spark's Kafka source, with its field names, and null if there are no headers
    (KafkaRecordToRowConverter)."""
    if field.type != _HEADERS:
        return column if column.type == field.type else column.cast(field.type)
    is_there = pc.greater(pc.list_value_length(column), 0)
    count = is_there.true_count
    if not count:
        return pa.nulls(len(column), _HEADERS)
    column = column.cast(_HEADERS)
    if count == len(column):
        return column
    ends = column.buffers()[1].slice(4 * column.offset)
    places = [is_there.buffers()[1], ends]
    return pa.Array.from_buffers(_HEADERS, len(column), places, len(column) - count, 0, [column.values])


def refuse_other_types(schema: StructType, names: Sequence[str]) -> None:
    """Raise an error for a column of `.schema(...)` whose type is not this source's; `names` are its own spellings."""
    for name, field, known in zip(names, schema.fields, spark_schema(names), strict=True):
        own, given = known.dataType.simpleString(), field.dataType.simpleString()
        if given != own:
            raise InvalidArgumentError(f"column {name} is {own}, not {given}: cast it in a query", field="schema")
        if not field.nullable:
            raise InvalidArgumentError(
                f"column {name} cannot be NOT NULL: Spark takes only nullable columns from a Python data source",
                field="schema",
            )
