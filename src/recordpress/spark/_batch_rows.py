"""Rows of batches, from their headers or with their bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from recordpress.columns.header_table import headers_table
from recordpress.log import Finding
from recordpress.log.splits import LogSplit, batches_in
from recordpress.record.header import BatchHeader
from recordpress.spark.schema import arrow_schema

_ROWS_AT_ONCE = 1 << 13  # in one Arrow batch; chosen, not measured, near Spark's 10,000 (arrow.maxRecordsPerBatch)


def header_rows(
    split: LogSplit, names: Sequence[str], findings: list[Finding], on_corrupt: Any
) -> Iterator[pa.RecordBatch]:
    """Yield rows from headers."""
    schema = arrow_schema(names)
    batches = batches_in(split, findings=findings, on_corrupt=on_corrupt)
    while rows := list(islice(batches, _ROWS_AT_ONCE)):
        files, headers = zip(*rows, strict=True)
        yield _rows(schema, split, headers, [file.path for file in files])


def byte_rows(
    split: LogSplit, names: Sequence[str], findings: list[Finding], on_corrupt: Any, fetch_bytes: int
) -> Iterator[pa.RecordBatch]:
    """Yield rows with the bytes of batches, after checking their checksums, about `fetch_bytes` at a time."""
    schema = arrow_schema(names)
    rows: list[tuple[BatchHeader, str, bytes]] = []
    size = 0
    for file, header in batches_in(split, findings=findings, on_corrupt=on_corrupt, check_crcs=True):
        rows.append((header, file.path, file.read(header.position, header.size) if "batch" in names else b""))
        size += header.size
        if size >= fetch_bytes:
            yield _rows(schema, split, *zip(*rows, strict=True))
            rows, size = [], 0
    if rows:
        yield _rows(schema, split, *zip(*rows, strict=True))


def _rows(
    schema: pa.Schema, split: LogSplit, headers: Sequence[BatchHeader], files: Sequence[str], data: Sequence[bytes] = ()
) -> pa.RecordBatch:
    columns = pa.record_batch(headers_table(headers))
    given = {"file": files, "batch": data}
    constants = {"topic": split.topic, "partition": split.partition}
    arrays = []
    for field in schema:
        if field.name in constants:
            arrays.append(pa.repeat(pa.scalar(constants[field.name], field.type), len(headers)))
        elif field.name in given:
            arrays.append(pa.array(given[field.name], field.type))
        else:
            arrays.append(columns.column(field.name).cast(field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
