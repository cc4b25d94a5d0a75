"""Batches of columns for a client's producer, for the senders of both clients.

::

    table ──► streams_of(): one per partition ──► pack ──► PackedBatch ──► the client's own sender, which numbers it
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from recordpress.columns.catalogue import NAMES
from recordpress.columns.place import PLACE_COLUMNS
from recordpress.errors import InvalidArgumentError
from recordpress.producer import pack, partitions_of
from recordpress.record.header import read_header, with_producer
from recordpress.typing import CompressionType

if TYPE_CHECKING:
    import pyarrow as pa

    from recordpress.typing import Level

_WRITTEN = ("timestamp", "key", "value", "headers")
_CODECS: tuple[CompressionType, ...] = get_args(CompressionType)  # by id


class PackedBatch:
    """A finished v2 batch; the client's sender sets its producer fields before it first sends the batch."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.count: int = read_header(data).records_count

    def set_producer(self, producer_id: int, producer_epoch: int, base_sequence: int, is_transactional: bool) -> None:
        """Write the producer's fields and the checksum."""
        self.data = with_producer(self.data, producer_id, producer_epoch, base_sequence, is_transactional)


class RowStream(NamedTuple):
    """Rows of a table for one partition, or without a key."""

    partition: int | None  # None: the client's partitioner chooses a partition for each batch
    table: pa.Table
    rows: pa.Array | None  # numbers of the table's rows; None: all of them


class SentBatch(NamedTuple):
    """A batch that the broker has written.

    Attributes
    ----------
    topic : str
    partition : int
    offset : int
        Offset of its first record; -1 if the broker does not report it (acks=0).
    num_rows : int
        Number of its records, whose offsets are consecutive unless the client split the batch.

    Examples
    --------
    >>> from recordpress.adapters import aiokafka as fast
    >>> fast.SentBatch("orders", 0, 42, 1000).offset
    42
    """

    topic: str
    partition: int
    offset: int
    num_rows: int


class QueuedBatch(NamedTuple):
    """A batch that was passed to a client's sender, and the first of its rows in the stream."""

    batch: PackedBatch
    stream: RowStream
    first: int
    partition: int
    future: Any


def offsets_of_rows(num_rows: int, written: Iterable[tuple[QueuedBatch, Iterable[int]]]) -> array[int]:
    """Return the offset of each row of the table; -1 where it is unknown."""
    result = array("q", [-1]) * num_rows
    for queued, offsets in written:
        start, end = queued.first, queued.first + queued.batch.count
        if queued.stream.rows is None:
            result[start:end] = array("q", offsets)
        else:
            for row, offset in zip(queued.stream.rows[start:end].to_pylist(), offsets, strict=True):
                result[row] = offset
    return result


def producer_table(data: Any) -> pa.Table:
    """Return the columns that a producer writes: key, value, headers, and timestamp, which is now by default."""
    import pyarrow as pa

    table = pa.table(data)
    unknown = [name for name in table.column_names if name not in (*NAMES, *PLACE_COLUMNS)]
    if unknown:
        raise InvalidArgumentError(
            f"unknown column {unknown[0]!r}; a producer writes {', '.join(_WRITTEN)}", field="table"
        )
    table = table.select([name for name in _WRITTEN if name in table.column_names])
    kind = pa.timestamp("ms", "UTC")
    now = pa.scalar(time.time_ns() // 1_000_000, kind)
    if "timestamp" not in table.column_names:
        return table.append_column("timestamp", pa.repeat(now, table.num_rows))
    at = table.column_names.index("timestamp")
    if table.column(at).null_count:
        import pyarrow.compute as pc

        filled = pc.fill_null(table.column(at), now.cast(table.schema.field(at).type))
        table = table.set_column(at, "timestamp", filled)
    return table


def streams_of(
    table: pa.Table, partition: int | None, partitions: Sequence[int], of_key: Callable[[bytes], int] | None
) -> list[RowStream]:
    """Return the rows of each partition, in order; `of_key`, or else murmur2, applies if `partition` is None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if partition is not None:
        return [RowStream(partition, table, None)]
    if "key" not in table.column_names or table["key"].null_count == table.num_rows:
        return [RowStream(None, table, None)]
    keys = table["key"]
    if of_key is not None:
        found = pa.array([None if key is None else of_key(key) for key in keys.to_pylist()], pa.int32())
    else:
        numbers = pa.py_buffer(partitions_of(table.select(["key"]), len(partitions)))
        found = pc.take(pa.array(partitions, pa.int32()), pa.Array.from_buffers(pa.int32(), len(keys), [None, numbers]))
        found = pc.if_else(pc.is_valid(keys).combine_chunks(), found, pa.scalar(None, pa.int32()))
    streams = []
    for number in pc.unique(found).to_pylist():
        chosen = pc.is_null(found) if number is None else pc.fill_null(pc.equal(found, number), False)
        rows = pc.indices_nonzero(chosen)
        streams.append(RowStream(number, table.take(rows), rows))
    return streams


def packed_batches(table: pa.Table, codec: int, level: Level, limit: int) -> Iterator[PackedBatch]:
    """Yield the table's records in batches of at most `limit` bytes."""
    for data in pack(table, limit=limit, compression_type=_CODECS[codec], level=level):
        yield PackedBatch(data)
