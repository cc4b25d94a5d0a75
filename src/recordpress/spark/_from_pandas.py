"""Series of Spark 4.0, which has no functions of Arrow arrays, as Arrow arrays."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from recordpress.spark.schema import arrow_schema

_TYPES = {field.name: field.type for field in arrow_schema(("offset", "timestampType", "headers"))}


def array_of(series: Any) -> pa.Array:
    """A series of values, or of arrays of records, whose numbers have lost their width."""
    rows = [None if row is None else list(row) if hasattr(row, "tolist") else row for row in series.tolist()]
    records = [record for row in rows if isinstance(row, list) for record in row]
    if not records or not all(isinstance(record, dict) for record in records):
        return pa.array(rows)
    fields = [(name, _TYPES.get(name) or pa.infer_type([record[name] for record in records])) for name in records[0]]
    return pa.array(rows, pa.list_(pa.struct(fields)))
