"""The batches of a log as an Arrow table: columns straight from the headers, no object per batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from recordpress.errors import RecordpressError
from recordpress.log._batches import BATCH_COLUMNS, CODEC_BITS, CODECS, DELETE_HORIZON
from recordpress.log._segment import Partition, Segment

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_AT_ONCE = 1 << 16
_LOG_APPEND_TIME, _TRANSACTIONAL, _CONTROL = 0x08, 0x10, 0x20


def table_of(partitions: Iterable[Partition], check_crcs: bool) -> pa.Table:
    """One row per batch of every segment; needs pyarrow.

    Raises
    ------
    CorruptRecordError
        An impossible entry, or an end that a file may not have.
    """
    import pyarrow as pa

    schema = _schema()
    tables = [schema.empty_table()]
    for partition in partitions:
        for segment in partition.segments:
            for columns in _columns_in(segment, check_crcs):
                arrays = _arrays(columns, check_crcs, (partition.topic, partition.partition, segment.url))
                tables.append(pa.table([arrays[name] for name in BATCH_COLUMNS], schema=schema))
    return pa.concat_tables(tables)


def _schema() -> pa.Schema:
    import pyarrow as pa

    types = {
        **_types(),
        "topic": pa.string(),
        "partition": pa.int32(),
        "file": pa.string(),
        "compressionType": pa.string(),
        "timestampType": pa.int8(),
        "isTransactional": pa.bool_(),
        "isControl": pa.bool_(),
        "deleteHorizonMs": pa.timestamp("ms", "UTC"),
        "isValid": pa.bool_(),
    }
    return pa.schema([(name, types[name]) for name in BATCH_COLUMNS])


def _types() -> dict[str, pa.DataType]:
    """Of the columns that come from `HeaderWalk.columns`."""
    import pyarrow as pa

    time = pa.timestamp("ms", "UTC")
    return {
        "position": pa.int64(),
        "size": pa.int64(),
        "magic": pa.int8(),
        "attributes": pa.int16(),
        "baseOffset": pa.int64(),
        "lastOffset": pa.int64(),
        "recordsCount": pa.int32(),
        "baseTimestamp": time,
        "maxTimestamp": time,
        "partitionLeaderEpoch": pa.int32(),
        "producerId": pa.int64(),
        "producerEpoch": pa.int16(),
        "baseSequence": pa.int32(),
        "lastSequence": pa.int32(),
        "crc": pa.uint32(),
        "isValid": pa.int8(),
    }


def _columns_in(segment: Segment, check_crcs: bool) -> Iterator[dict[str, bytearray]]:
    with segment.records() as file:
        hop = file.headers()
        try:
            while (columns := hop.columns(_ROWS_AT_ONCE, check_crcs))["magic"]:
                yield columns
        except RecordpressError as error:
            file.check_end(hop, error)
        else:
            file.check_end(hop)


def _arrays(columns: dict[str, bytearray], check_crcs: bool, place: tuple[Any, ...]) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = len(columns["magic"])
    arrays: dict[str, Any] = {
        name: pa.Array.from_buffers(type, rows, [None, pa.py_buffer(columns[name])]) for name, type in _types().items()
    }

    def has(bits: int, magic: int) -> Any:
        """Whether one of these bits is set, from this magic on."""
        is_set = pc.not_equal(pc.bit_wise_and(arrays["attributes"], pa.scalar(bits, pa.int16())), 0)
        return pc.and_(is_set, pc.greater_equal(arrays["magic"], magic))

    def unless(is_null: Any, array: Any) -> Any:
        return pc.if_else(is_null, pa.scalar(None, array.type), array)

    for name, value in zip(("topic", "partition", "file"), place, strict=True):
        arrays[name] = pa.repeat(pa.scalar(value, pa.int32() if name == "partition" else pa.string()), rows)
    names = pa.array([*CODECS, *map(str, range(len(CODECS), CODEC_BITS + 1))])
    arrays["compressionType"] = names.take(pc.bit_wise_and(arrays["attributes"], pa.scalar(CODEC_BITS, pa.int16())))
    arrays["recordsCount"] = unless(pc.less(arrays["recordsCount"], 0), arrays["recordsCount"])
    missing = pa.scalar(-1, pa.int64()).cast(arrays["maxTimestamp"].type)
    arrays["maxTimestamp"] = unless(pc.equal(arrays["maxTimestamp"], missing), arrays["maxTimestamp"])
    kind = pc.cast(has(_LOG_APPEND_TIME, 1), pa.int8())
    arrays["timestampType"] = pc.if_else(pc.equal(arrays["magic"], 0), pa.scalar(-1, pa.int8()), kind)
    arrays["isTransactional"], arrays["isControl"] = has(_TRANSACTIONAL, 2), has(_CONTROL, 2)
    arrays["deleteHorizonMs"] = unless(pc.invert(has(DELETE_HORIZON, 2)), arrays["baseTimestamp"])
    arrays["isValid"] = pc.cast(arrays["isValid"], pa.bool_()) if check_crcs else pa.nulls(rows, pa.bool_())
    return arrays
