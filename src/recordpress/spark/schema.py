"""The columns of the result, as Spark's types and as Arrow's: as in Spark's Kafka source, or of batches.

Spark compares the Arrow schema of a reader's batches with its own, nested names and nullability included.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

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
_BATCHES = {  # the names of `Log.batch_table`
    "topic": pa.string(),
    "partition": pa.int32(),
    "file": pa.string(),
    "position": pa.int64(),
    "size": pa.int64(),
    "magic": pa.int32(),
    "compressionType": pa.string(),
    "attributes": pa.int32(),
    "baseOffset": pa.int64(),
    "lastOffset": pa.int64(),
    "recordsCount": pa.int32(),
    "maxTimestamp": _TIME,
    "timestampType": pa.int32(),
    "partitionLeaderEpoch": pa.int32(),
    "producerId": pa.int64(),
    "producerEpoch": pa.int32(),
    "baseSequence": pa.int32(),
    "isTransactional": pa.bool_(),
    "isControl": pa.bool_(),
    "crc": pa.int64(),
}
_BYTES = {name: _BATCHES[name] for name in ("topic", "partition", "file", "position", "baseOffset", "lastOffset")} | {
    "batch": pa.binary()
}
_LEVELS = {"records": _RECORDS, "batches": _BATCHES, "bytes": _BYTES}
_EVERY = _BATCHES | _BYTES | _RECORDS | {CORRUPT: pa.string()}  # a name has one type everywhere
_SPARK: dict[pa.DataType, DataType] = {
    pa.binary(): BinaryType(),
    pa.string(): StringType(),
    pa.int32(): IntegerType(),
    pa.int64(): LongType(),
    pa.bool_(): BooleanType(),
    _TIME: TimestampType(),
    _HEADERS: ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())])),
}


def column_names(level: str, include_headers: bool, reports_in_rows: bool) -> tuple[str, ...]:
    """The columns of a level; headers of records if they are asked for."""
    names = [name for name in _LEVELS[level] if name != "headers" or include_headers]
    return (*names, CORRUPT) if reports_in_rows else tuple(names)


def spark_schema(names: Iterable[str]) -> StructType:
    """These columns as a schema of Spark's."""
    return StructType([StructField(name, _SPARK[_EVERY[name]]) for name in names])


def arrow_schema(names: Iterable[str]) -> pa.Schema:
    """The schema of the pyarrow record batches that hold these columns."""
    return pa.schema([(name, _EVERY[name]) for name in names])


def as_column(column: pa.Array, field: pa.Field) -> pa.Array:
    """A column of records as Spark's Kafka source has it.

    Nested fields have Spark's names, and a record without headers has null (KafkaRecordToRowConverter).
    """
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


def refuse_other_types(schema: StructType) -> None:
    """Raise for a column of `.schema(...)` whose type is not that of this source."""
    for field in schema.fields:
        own, given = _SPARK[_EVERY[field.name]].simpleString(), field.dataType.simpleString()
        if given != own:
            raise InvalidArgumentError(f"column {field.name} is {own}, not {given}: cast it in a query", field="schema")
