"""Rows of batches, from their headers or with their bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from recordpress.log import Finding
from recordpress.log.splits import LogSplit, batches_in
from recordpress.spark.schema import arrow_schema

_CODECS = pa.array(["none", "gzip", "snappy", "lz4", "zstd", "pluggable", "6", "7"])  # as `batch_table`
_ROWS_AT_ONCE = 1 << 13
_NO_TIMESTAMP = -1

Headers = dict[str, tuple[Any, ...]]


def header_rows(
    split: LogSplit, names: Sequence[str], findings: list[Finding], on_corrupt: Any
) -> Iterator[pa.RecordBatch]:
    """Yield rows from headers alone."""
    schema = arrow_schema(names)
    batches = batches_in(split, findings=findings, on_corrupt=on_corrupt)
    while rows := list(islice(batches, _ROWS_AT_ONCE)):
        headers = [header for _, header in rows]
        of_field: Headers = dict(zip(headers[0]._fields, zip(*headers, strict=True), strict=True))
        files = [file.path for file, _ in rows] if "file" in names else []
        yield _made(schema, split, of_field, files)


def byte_rows(
    split: LogSplit, names: Sequence[str], findings: list[Finding], on_corrupt: Any, fetch_bytes: int
) -> Iterator[pa.RecordBatch]:
    """Yield rows with the bytes of batches, after checking their checksums, about `fetch_bytes` at a time."""
    schema = arrow_schema(names)
    headers, data, files, size = [], [], [], 0
    for file, header in batches_in(split, findings=findings, on_corrupt=on_corrupt, check_crcs=True):
        headers.append(header)
        files.append(file.path)
        data.append(file.read(header.position, header.size) if "batch" in names else b"")
        size += header.size
        if size >= fetch_bytes:
            yield _made(schema, split, dict(zip(header._fields, zip(*headers, strict=True), strict=True)), files, data)
            headers, data, files, size = [], [], [], 0
    if headers:
        fields = headers[0]._fields
        yield _made(schema, split, dict(zip(fields, zip(*headers, strict=True), strict=True)), files, data)


def _made(
    schema: pa.Schema, split: LogSplit, headers: Headers, files: Sequence[str], data: Sequence[bytes] = ()
) -> pa.RecordBatch:
    count = len(headers["position"])
    given = {"file": files, "batch": data}
    constants = {"topic": split.topic, "partition": split.partition}
    arrays = []
    for field in schema:
        if field.name in constants:
            arrays.append(pa.repeat(pa.scalar(constants[field.name], field.type), count))
        elif field.name in given:
            arrays.append(pa.array(given[field.name], field.type))
        else:
            arrays.append(_COLUMNS[field.name](headers).cast(field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _plain(name: str) -> Callable[[Headers], pa.Array]:
    return lambda headers: pa.array(headers[name], pa.int64())


def _bit(mask: int) -> Callable[[Headers], pa.Array]:
    """Return a getter for a flag of v2 batches."""

    def column(headers: Headers) -> pa.Array:
        attributes = pa.array(headers["attributes"], pa.int32())
        is_v2 = pc.equal(pa.array(headers["magic"], pa.int32()), 2)
        return pc.and_(is_v2, pc.not_equal(pc.bit_wise_and(attributes, mask), 0))

    return column


def _codec(headers: Headers) -> pa.Array:
    return _CODECS.take(pc.bit_wise_and(pa.array(headers["attributes"], pa.int32()), 7))


def _count(headers: Headers) -> pa.Array:
    counts = pa.array(headers["records_count"], pa.int64())
    return pc.if_else(pc.less(counts, 0), pa.scalar(None, pa.int64()), counts)


def _time(headers: Headers) -> pa.Array:
    times = pa.array(headers["max_timestamp"], pa.int64())
    known = pc.if_else(pc.equal(times, _NO_TIMESTAMP), pa.scalar(None, pa.int64()), times)
    return pc.multiply_checked(known, 1000)


def _timestamp_type(headers: Headers) -> pa.Array:
    """0 create time, 1 log append time, -1 none."""
    attributes = pa.array(headers["attributes"], pa.int32())
    of_v1 = pc.shift_right(pc.bit_wise_and(attributes, 8), 3)
    return pc.if_else(pc.equal(pa.array(headers["magic"], pa.int32()), 0), pa.scalar(-1, pa.int32()), of_v1)


_COLUMNS: dict[str, Callable[[Headers], pa.Array]] = {
    "position": _plain("position"),
    "size": _plain("size"),
    "magic": _plain("magic"),
    "compressionType": _codec,
    "attributes": _plain("attributes"),
    "baseOffset": _plain("base_offset"),
    "lastOffset": _plain("last_offset"),
    "recordsCount": _count,
    "maxTimestamp": _time,
    "timestampType": _timestamp_type,
    "partitionLeaderEpoch": _plain("partition_leader_epoch"),
    "producerId": _plain("producer_id"),
    "producerEpoch": _plain("producer_epoch"),
    "baseSequence": _plain("base_sequence"),
    "isTransactional": _bit(0x10),
    "isControl": _bit(0x20),
    "crc": _plain("crc"),
}
