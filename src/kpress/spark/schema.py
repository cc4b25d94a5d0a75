"""The columns of Spark's Kafka source, as Spark's types and as Arrow's.

Spark compares the Arrow schema of a reader's batches with its own, nested names and nullability included.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

_HEADERS = pa.list_(pa.field("element", pa.struct([("key", pa.string()), ("value", pa.binary())])))
_HEADERS_FIELD = StructField(
    "headers", ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())]))
)
_FIELDS = [
    (StructField("key", BinaryType()), pa.binary()),
    (StructField("value", BinaryType()), pa.binary()),
    (StructField("topic", StringType()), pa.string()),
    (StructField("partition", IntegerType()), pa.int32()),
    (StructField("offset", LongType()), pa.int64()),
    (StructField("timestamp", TimestampType()), pa.timestamp("us", "UTC")),
    (StructField("timestampType", IntegerType()), pa.int32()),
    (_HEADERS_FIELD, _HEADERS),
]


def spark_schema(include_headers: bool) -> StructType:
    """StructType of key, value, topic, partition, offset, timestamp, timestampType, and headers if asked for."""
    return StructType([field for field, _ in _fields(include_headers)])


def arrow_schema(include_headers: bool) -> pa.Schema:
    """The schema of the pyarrow record batches that hold these columns."""
    return pa.schema([(field.name, arrow) for field, arrow in _fields(include_headers)])


def _fields(include_headers: bool) -> list[tuple[StructField, pa.DataType]]:
    return _FIELDS if include_headers else _FIELDS[:-1]
