"""Small batches joined into larger ones: codecs see more of the data at once, and there are fewer headers.

Only where nothing is lost: runs of adjacent batches without a producer id (a broker finds duplicates by producer, epoch
and sequence, which belong to the batch), with the same attributes and leader epoch, with CreateTime, and without a gap
left by compaction. All other batches are recompressed one to one. Needs pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kpress.columns import read_columns, write_columns
from kpress.files import located
from kpress.record import Batch, read_batches, recompress
from kpress.typing import CompressionType, Level

if TYPE_CHECKING:
    import pyarrow as pa

# Compressed bytes that are decoded at a time; the last batch of each such group may be smaller.
_GROUP_BYTES = 4 << 20
_COLUMNS = ("offset", "timestamp", "key", "value", "headers")
_CODEC_BITS = 7
_NOT_UTF8 = "\N{REPLACEMENT CHARACTER}"


def pack(data: bytes | memoryview, compression_type: CompressionType, level: Level, batch_bytes: int) -> bytes:
    """The record set with its small batches joined into batches of up to `batch_bytes` before compression.

    Offsets, timestamps, keys, values and headers are kept.

    Raises
    ------
    KpressError
        As `recompress` does.
    """
    view = memoryview(data)
    return b"".join(_pack_run(view, run, compression_type, level, batch_bytes) for run in _runs(view, batch_bytes))


def _runs(data: memoryview, batch_bytes: int) -> Iterator[list[Batch]]:
    """Adjacent batches that may become one, and each other batch alone."""
    run: list[Batch] = []
    size = 0
    for batch in read_batches(data):
        if run and (size >= max(_GROUP_BYTES, batch_bytes) or not _may_join(run[-1], batch, batch_bytes)):
            yield run
            run, size = [], 0
        run.append(batch)
        size += batch.size
    if run:
        yield run


def _may_join(before: Batch, batch: Batch, batch_bytes: int) -> bool:
    return (
        _is_shallow(before, batch_bytes)
        and _is_shallow(batch, batch_bytes)
        and batch.base_offset == before.next_offset
        and batch.attributes & ~_CODEC_BITS == before.attributes & ~_CODEC_BITS
        and batch.partition_leader_epoch == before.partition_leader_epoch
    )


def _is_shallow(batch: Batch, batch_bytes: int) -> bool:
    return (
        batch.magic == 2
        and batch.attributes & ~_CODEC_BITS == 0  # CreateTime, no transaction, no control, no delete horizon
        and not batch.has_producer_id
        and batch.base_sequence == -1
        and batch.size < batch_bytes
        and batch.records_count == batch.next_offset - batch.base_offset  # no gap
    )


def _pack_run(
    data: memoryview, run: list[Batch], compression_type: CompressionType, level: Level, batch_bytes: int
) -> bytes:
    start = run[0].position
    part = data[start : run[-1].position + run[-1].size]
    with located(start):
        if len(run) == 1 or not _can_be_written(table := _table(part)):
            return recompress(part, compression_type, level)
    return write_columns(
        table,
        compression_type=compression_type,
        level=level,
        batch_bytes=batch_bytes,
        partition_leader_epoch=run[0].partition_leader_epoch,
    )


def _table(part: memoryview) -> pa.Table:
    import pyarrow as pa

    return pa.table(read_columns(part, _COLUMNS))


def _can_be_written(table: pa.Table) -> bool:
    """Whether columns hold all that the records do. Logs may have header keys that are not UTF-8, and negative
    timestamps, which Kafka's builders refuse."""
    import pyarrow as pa
    import pyarrow.compute as pc

    oldest = pc.min(table["timestamp"].cast(pa.int64())).as_py()
    keys = pc.struct_field(pc.list_flatten(table["headers"]), "key")
    return (oldest is None or oldest >= 0) and not pc.any(pc.match_substring(keys, _NOT_UTF8)).as_py()
