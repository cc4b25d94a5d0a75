"""Distribute the rows of a task to partitions, and pack them into batches once a partition has some MiB."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from recordpress.columns import write_columns
from recordpress.errors import InvalidArgumentError
from recordpress.log.publish.plan import JoinedSegment
from recordpress.log.publish.staging import SharedFile, Stage, StagedPartition, StagedSegment, check_topic, is_small
from recordpress.log.publish.task_group import TaskGroup
from recordpress.producer import RecordTooLargeError, pack, partitions_of
from recordpress.spark._write_options import WriteOptions

_OF_RECORDS = ("key", "value", "headers", "timestamp", "timestampType", "offset")
_WANTED_BYTES = 8 << 20  # of rows before they are packed, so that little is packed twice
_MOST_BYTES = 64 << 20  # of rows in memory, for all partitions; chosen, not measured
_MOST_FILES = 64  # open at a time: far below 1,024, the usual limit of a process
_NUMBERS = 1 << 31  # partitions that a topic can have


@dataclass
class _Waiting:
    """Rows of one partition that are not packed yet."""

    staged: StagedPartition
    batches: list[pa.RecordBatch] = field(default_factory=list)
    bytes: int = 0
    wanted: int = _WANTED_BYTES


class TaskRows:
    """Rows of one attempt of the task with this number in its job; rows without a timestamp get `now_ms`."""

    def __init__(self, stage: Stage, options: WriteOptions, now_ms: int, task: int) -> None:
        self._stage, self._options, self._now, self._task = stage, options, now_ms, task
        self._group = TaskGroup(stage, task)  # before the rows, which may take long to compute
        self._shared = SharedFile(stage, self._group.attempt)
        self._numbers = count()
        self._waiting: dict[tuple[str, int, bool], _Waiting] = {}
        self._rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Add rows of any partitions."""
        for part in _by_kind(batch):
            self._add(part)

    def _add(self, batch: pa.RecordBatch) -> None:
        """Add rows of which either all or none have offsets."""
        has_offsets = "offset" in batch.schema.names
        records = _records(batch, self._now)
        for (topic, partition), rows in self._by_partition(batch, records):
            waiting = self._waiting_for(topic, partition, has_offsets)
            waiting.batches.append(rows)
            waiting.bytes += rows.nbytes
            if waiting.bytes >= waiting.wanted:
                self._pack(waiting, is_end=False)
        self._rows += batch.num_rows
        if sum(one.bytes for one in self._waiting.values()) > _MOST_BYTES:
            self._relieve()

    def finish(self) -> tuple[list[StagedSegment], list[JoinedSegment]]:
        """Pack the remaining rows, and close the files; join small files with small files of other tasks."""
        for waiting in self._waiting.values():
            self._pack(waiting, is_end=True, shares=is_small(waiting.bytes))
            waiting.staged.close()
        self._shared.close()
        segments = [one for waiting in self._waiting.values() for one in waiting.staged.segments]
        options = self._options
        return segments, self._group.end(segments, self._numbers, options.segment_bytes, options.index_interval_bytes)

    def discard(self) -> None:
        """Remove the unfinished files of a task that failed."""
        for waiting in self._waiting.values():
            waiting.staged.discard()
        self._shared.discard()
        if not self._waiting:
            self._group.leave()

    # --- where rows go ------------------------------------------------------------------------------------------------

    def _by_partition(
        self, batch: pa.RecordBatch, records: pa.RecordBatch
    ) -> Iterator[tuple[tuple[str, int], pa.RecordBatch]]:
        (topics, of_rows), codes = self._topics(batch), self._partitions(batch)
        if of_rows is not None:
            codes = pc.add(pc.multiply(of_rows, _NUMBERS), codes)
        first, last = pc.min_max(codes).values()
        if first.as_py() == last.as_py():
            yield (topics[first.as_py() // _NUMBERS], first.as_py() % _NUMBERS), records
            return
        order = pc.array_sort_indices(codes)  # a stable sort: rows keep their order
        runs = pc.run_end_encode(codes.take(order))
        ordered, start = records.take(order), 0
        for code, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
            yield (topics[code // _NUMBERS], code % _NUMBERS), ordered.slice(start, end - start)
            start = end

    def _topics(self, batch: pa.RecordBatch) -> tuple[list[str], pa.Array | None]:
        """Return the topics, and each row's index into them as int64; None for the indexes if the column is missing."""
        topic = self._options.topic
        if topic is not None and "topic" not in batch.schema.names:
            return [topic], None
        column = batch.column("topic")  # it exists: the schema was checked
        if topic is not None:
            column = column.fill_null(topic)
        if column.null_count:
            raise InvalidArgumentError(
                f"row {self._rows + _first_null(column)} of its task has no topic: fill the column, or set topic",
                field="topic",
            )
        column = column.dictionary_encode()
        names: list[str] = column.dictionary.to_pylist()
        for name in names:
            check_topic(name)
        return names, column.indices.cast(pa.int64())

    def _partitions(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the partition of each row as int64."""
        most, given = self._options.partitions, None
        if "partition" in batch.schema.names:
            given = batch.column("partition").cast(pa.int64())
            self._check_partitions(given)
            if given.null_count == 0:
                return given
        if most is None:
            row = self._rows + _first_null(given)
            raise InvalidArgumentError(
                f"row {row} of its task has no partition: fill the column, or set the option partitions",
                field="partition",
            )
        names = [name for name in ("key", "value") if name in batch.schema.names]
        chosen = pa.py_buffer(partitions_of(batch.select(names), most, position=self._rows))
        found = pa.Array.from_buffers(pa.int32(), batch.num_rows, [None, chosen]).cast(pa.int64())
        return found if given is None else pc.coalesce(given, found)

    def _check_partitions(self, given: pa.Array) -> None:
        most = self._options.partitions or _NUMBERS
        bounds = pc.min_max(given).as_py()
        for number in bounds.values():
            if number is not None and not 0 <= number < most:
                raise InvalidArgumentError(f"partition {number} is not from 0 to {most - 1}", field="partition")

    # --- packing ------------------------------------------------------------------------------------------------------

    def _waiting_for(self, topic: str, partition: int, has_offsets: bool) -> _Waiting:
        found = self._waiting.get((topic, partition, has_offsets))
        if found is None:
            if not self._waiting:
                self._group.make_directory()
            staged = StagedPartition(
                self._stage,
                self._group.attempt,
                self._numbers,
                topic,
                partition,
                None if has_offsets else self._stage.first_offset(topic, partition, self._task),
                segment_bytes=self._options.segment_bytes,
                index_interval_bytes=self._options.index_interval_bytes,
            )
            found = self._waiting[topic, partition, has_offsets] = _Waiting(staged)
        return found

    def _relieve(self) -> None:
        """Flush the largest partitions early, even though their last batch is not full."""
        left = _MOST_BYTES // 2
        for waiting in sorted(self._waiting.values(), key=lambda one: one.bytes):
            left -= waiting.bytes
            if left < 0:
                self._pack(waiting, is_end=True, shares=len(self._waiting) > _MOST_FILES)

    def _pack(self, waiting: _Waiting, is_end: bool, shares: bool = False) -> None:
        """Write batches, to the shared file if the partition `shares` it and has no file yet; before the end, keep the
        rows of the last batch, which is not full."""
        if not waiting.batches:
            return
        shared = self._shared if shares and not waiting.staged.is_open else None
        if shared is None and not waiting.staged.is_open:
            self._close_files()
        rows = pa.Table.from_batches(waiting.batches).combine_chunks()
        if "offset" in rows.column_names:
            rows = _in_order(rows, str(waiting.staged))
        last, done = b"", 0
        for batch, first in packed(rows, self._options):
            if last:
                waiting.staged.write(last, shared)
            last, done = batch, first
        waiting.batches, waiting.bytes, waiting.wanted = [], 0, _WANTED_BYTES
        if is_end:
            waiting.staged.write(last, shared)
            if shared is not None:
                waiting.staged.close()
            return
        waiting.batches = rows.slice(done).to_batches()
        waiting.bytes = sum(one.nbytes for one in waiting.batches)
        waiting.wanted = max(_WANTED_BYTES, 4 * waiting.bytes)

    def _close_files(self) -> None:
        """Close all files before the limit on open files is reached."""
        opened = [one.staged for one in self._waiting.values() if one.staged.is_open]
        if len(opened) >= _MOST_FILES:
            for staged in opened:
                staged.close()


def packed(rows: pa.Table, options: WriteOptions) -> Iterator[tuple[bytes, int]]:
    """Yield batches of at most ``max.message.bytes``, each with the number of its first row."""
    limit = min(options.batch_size, options.max_message_bytes)
    how = options.codec.options
    done = 0
    while done < rows.num_rows:
        batches = pack(rows.slice(done), limit=limit, coerce_timestamps=True, **how)
        first = done
        try:
            for batch in batches:
                yield batch, done
                done = first + batches.packed
        except RecordTooLargeError:
            yield _alone(rows.slice(done, 1), options, how), done
            done += 1


def _alone(row: pa.Table, options: WriteOptions, how: Any) -> bytes:
    """Pack one record that is larger than ``batch.size``."""
    batch: bytes = write_columns(row, coerce_timestamps=True, **how)
    if len(batch) > options.max_message_bytes:
        raise RecordTooLargeError(
            f"a batch of one record has {len(batch)} bytes, more than max.message.bytes={options.max_message_bytes}",
            field="max.message.bytes",
        )
    return batch


def _by_kind(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield the rows with offsets, then the rows that the log will number, without that column."""
    if "offset" not in batch.schema.names:
        yield from () if batch.num_rows == 0 else (batch,)
        return
    without = batch.drop_columns(["offset"])
    missing = batch.column("offset").is_null()
    for part in (batch.filter(pc.invert(missing)), without.filter(missing)):
        if part.num_rows:
            yield part


def _records(batch: pa.RecordBatch, now_ms: int) -> pa.RecordBatch:
    """Select the columns of a record, and fill in missing timestamps."""
    names = [name for name in _OF_RECORDS if name in batch.schema.names]
    columns = {name: batch.column(name) for name in names}
    now = pa.scalar(now_ms, pa.timestamp("ms")).cast(pa.timestamp("us", "UTC"))
    if "timestamp" not in columns:
        columns["timestamp"] = pa.repeat(now, batch.num_rows)
    elif columns["timestamp"].null_count:
        columns["timestamp"] = columns["timestamp"].fill_null(now.cast(columns["timestamp"].type))
    return pa.RecordBatch.from_pydict(columns)


def _in_order(rows: pa.Table, where: str) -> pa.Table:
    offsets = rows.column("offset").combine_chunks()
    if pc.all(pc.greater(offsets[1:], offsets[:-1])).as_py() is not False:
        return rows
    ordered = rows.take(pc.array_sort_indices(offsets))
    offsets = ordered.column("offset").combine_chunks()
    twice = pc.equal(offsets[1:], offsets[:-1])
    if pc.any(twice).as_py():
        offset = offsets[pc.index(twice, True).as_py()]
        raise InvalidArgumentError(f"{where} has two rows with offset {offset}", field="offset")
    return ordered


def _first_null(column: pa.Array | None) -> int:
    return 0 if column is None else int(pc.index(column.is_null(), True).as_py())
