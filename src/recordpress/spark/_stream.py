"""spark.readStream.format("recordpress"): a growing log directory as an unbounded table.

Offsets have the form of Spark's Kafka source: the next offset of each partition, as {"orders": {"0": 4500}}. The
records between two offsets never change, so a restarted query reads the same records.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import pyarrow as pa
import pyspark
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from recordpress.errors import CorruptRecordError, InvalidArgumentError
from recordpress.log import Partition, end_offset
from recordpress.log.growing import (
    Key,
    after_gap,
    ends_by_offsets,
    ends_by_segments,
    partitions_at,
    readable_end,
    segment_ranges,
)
from recordpress.log.splits import with_checks
from recordpress.spark._offsets import Range
from recordpress.spark._stores import located
from recordpress.spark._without_recordpress import PickledForWorkers
from recordpress.spark.options import ReadOptions

try:
    from pyspark.sql.streaming import datasource as limits
except ImportError:  # before 4.2
    limits = None  # type: ignore[assignment]

_LOGGER = logging.getLogger("recordpress.spark")

Offsets: TypeAlias = dict[str, dict[str, int]]


class Reader(Protocol):
    """The reader of a batch query."""

    options: ReadOptions

    def tasks(self, partitions: Sequence[Partition], ranges: dict[str, Range], total: int) -> Sequence[InputPartition]:
        """Return the tasks that read the offsets in `ranges`, about `total` bytes."""

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a task."""


def stream_reader(reader: Reader) -> DataSourceStreamReader:
    """Return a reader for this version of Spark; raise an error for a limit that the version does not support."""
    if limits is not None:
        return _LimitedReader(reader)
    for name in reader.options.limits:
        raise InvalidArgumentError(
            f"option {name} needs Spark 4.2 or newer, not {pyspark.__version__}; without it, each batch of the query "
            "reads all available offsets",
            field=name,
        )
    return _PlainReader(reader)


class GrowingLog:
    """The offsets of a log that can be read now, and the tasks that read them."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._options = reader.options
        self._target: dict[Key, int] | None = None  # ends of a query that stops at the end of the log
        self._kept: set[Key] = set()  # partitions of earlier runs that this run does not read
        self._snapshot: dict[Key, Partition] | None = None  # partitions at this trigger
        self._planned: Offsets | None = None  # where the trigger's batch ends

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_snapshot": None}  # only the driver uses it, and it is large

    def partitions(self, planned: frozenset[Key] = frozenset()) -> dict[Key, Partition]:
        """List the selected partitions and the partitions in `planned`, by topic and number."""
        options = self._options
        self._snapshot = None  # so that two snapshots are never in memory

        topics = {topic for topic, _ in planned}

        def is_wanted(topic: str | None, number: int | None) -> bool:
            is_planned = topic in topics and (number is None or (topic, number) in planned)
            return is_planned or options.topics.has(topic, number)

        paths, filesystem = located(options.store, options.paths)
        given = partitions_at(paths, filesystem, options.codecs, is_wanted)
        given = with_checks(given) if options.check_indexes else given
        found = [one for one in given if is_wanted(one.topic, one.partition)]
        if odd := [partition.url for partition in found if partition.topic is None]:
            raise InvalidArgumentError(
                f"{odd[0]} does not name its topic and partition, which a stream needs: pass directories "
                "<topic>-<partition>, or their parent directory",
                field="path",
            )
        self._snapshot = {(one.topic or "", one.partition or 0): one for one in found}
        return self._snapshot

    def end(self, partition: Partition) -> int:
        """Return the offset up to which a partition can be read."""
        options = self._options
        end: int = readable_end(
            partition,
            with_active=options.include_active_segment,
            committed=options.isolation_level == "read_committed" and options.rows == "records",
            skip=options.on_corrupt == "skip",
        )
        return end

    def initial(self) -> Offsets:
        """Return the offsets at which a new query begins."""
        found = self.partitions()
        bounds = self._options.bounds
        missing = [f"{topic}-{number}" for topic, number in bounds.start.by_partition if (topic, number) not in found]
        if missing:
            raise InvalidArgumentError(
                f"option {bounds.start.option} names {', '.join(missing)}, which does not exist"[:1000],
                field=bounds.start.option,
            )
        return _json({key: bounds.first_offset(one, self.end(one)) for key, one in found.items()})

    def ends(self) -> dict[Key, int]:
        """Return the offset up to which each partition can be read, in this trigger's snapshot if it has one."""
        found = self.partitions() if self._snapshot is None else self._snapshot
        return {key: self.end(one) for key, one in found.items()}

    def remember(self) -> None:
        """Make the current ends the ends of this query."""
        self._snapshot = None
        self._target = self.ends()
        topics = {topic for topic, _ in self._target}
        for name in (*self._options.topics.names, *(self._options.topics.assigned or ())):
            if name not in topics:
                where = ", ".join(self._options.paths)
                _LOGGER.warning("%s has no topic %s now, so this query reads nothing of it", where, name)

    def limit(self) -> Any:
        """Return the limit of a batch as Spark expects it."""
        for kind, most in (
            (limits.ReadMaxRows, self._options.max_offsets),
            (limits.ReadMaxFiles, self._options.max_files),
            (limits.ReadMaxBytes, self._options.max_bytes),
        ):
            if most is not None:
                return kind(most)
        return limits.ReadAllAvailable()

    def readable(self, start: dict[Key, int]) -> dict[Key, tuple[Partition, int, int]]:
        """Return the range of unread offsets of each partition; with failOnDataLoss, fail if some are gone."""
        found = {}
        there = self.partitions()
        for key, partition in there.items():
            if self._target is not None and key not in self._target:
                continue
            end = self.end(partition) if self._target is None else self._target[key]
            first = self._first(key, partition, start.get(key), end)
            found[key] = (partition, first, max(first, end))
        for key in sorted(start.keys() - there.keys()):
            if self._options.topics.has(*key):
                self._lost(f"{key[0]}-{key[1]} was deleted; the next offset to read was {start[key]}")
        return found

    def _first(self, key: Key, partition: Partition, wanted: int | None, end: int) -> int:
        """Return the next offset to read, or the first remaining one. A partition that appeared later begins at 0."""
        first: int = partition.segments[0].base_offset
        wanted = wanted or 0
        if first > wanted:
            self._lost(f"{partition}: offsets {wanted} to {first - 1} were deleted before they were read")
            return first
        if wanted > end:  # a part of the log may only be unreadable now, as without includeActiveSegment
            last = end_offset(partition)
            if wanted > last:
                self._lost(f"{partition} ends at offset {last}; the next offset to read was {wanted}")
                return end
        return wanted

    def _lost(self, message: str) -> None:
        if self._options.fail_on_data_loss:
            raise CorruptRecordError(
                f"{message}; with failOnDataLoss=false the query continues with the rest", rule="failOnDataLoss"
            )
        _LOGGER.warning("%s", message)

    def latest_of_all(self) -> Offsets:
        """Return the offsets at which the next batch ends if it reads everything."""
        self._snapshot = None
        self._planned = _json(self.ends())
        return self._planned

    def latest(self, start: Offsets, limit: Any) -> Offsets:
        """Return the offsets at which the next batch ends. Partitions that are no longer selected keep their offsets: a
        later run that selects them again continues there."""
        since = _keys(start)
        self._snapshot = self._planned = None
        readable = self.readable(since)
        kept = {key: offset for key, offset in since.items() if not self._options.topics.has(*key)}
        for key in kept.keys() - self._kept:
            _LOGGER.warning("%s-%d is no longer selected: the query keeps its offset %d", *key, kept[key])
            self._kept.add(key)
        self._planned = _json(kept | self._ends(readable, limit))
        return self._planned

    def _ends(self, readable: dict[Key, tuple[Partition, int, int]], limit: Any) -> dict[Key, int]:
        if isinstance(limit, limits.ReadMaxRows):
            ends = ends_by_offsets({key: (first, end) for key, (_, first, end) in readable.items()}, limit.max_rows)
            return {key: min(after_gap(readable[key][0], end), readable[key][2]) for key, end in ends.items()}
        if isinstance(limit, limits.ReadMaxFiles):
            return ends_by_segments(readable, most_files=limit.max_files)
        if isinstance(limit, limits.ReadMaxBytes):
            return ends_by_segments(readable, most_bytes=limit.max_bytes)
        return {key: end for key, (_, _, end) in readable.items()}

    def tasks(self, start: Offsets, end: Offsets) -> list[InputPartition]:
        """Return the tasks of a batch. A batch that an earlier run planned may hold partitions that are no longer
        selected; afterwards, its offsets count as read."""
        since, until = _keys(start), _keys(end)
        found = self._snapshot
        if found is None or end != self._planned:
            found = self.partitions(frozenset(until))
        ranges: dict[str, Range] = {}
        wanted, total = [], 0
        for key, last in sorted(until.items()):
            if last <= since.get(key, 0):
                continue
            if key not in found:
                self._lost(f"{key[0]}-{key[1]} was deleted before offsets {since.get(key, 0)} to {last - 1} were read")
                continue
            partition = found[key]
            first = self._first(key, partition, since.get(key), last)
            if partition.segments[-1].base_offset < last and (there := end_offset(partition)) < last:
                self._lost(f"{partition} ends at offset {there}; offsets {there} to {last - 1} were not read yet")
            parts = segment_ranges(partition, first, last)
            if parts:
                wanted.append(partition)
                ranges[str(partition)] = (first, last)
                total += sum(part.segment.size or 0 for part in parts)
        return list(self._reader.tasks(wanted, ranges, total))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._reader.read(partition)


# --- what Spark calls -------------------------------------------------------------------------------------------------


class _PlainReader(PickledForWorkers, DataSourceStreamReader):
    """Stream reader for Spark 4.1, which does not limit batches."""

    def __init__(self, reader: Reader) -> None:
        self._log = GrowingLog(reader)

    def initialOffset(self) -> Any:
        return self._log.initial()

    def latestOffset(self) -> Any:  # type: ignore[override]
        return self._log.latest_of_all()

    def partitions(self, start: Any, end: Any) -> Sequence[InputPartition]:
        return self._log.tasks(start, end)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._log.read(partition)


if limits is not None:

    class _LimitedReader(_PlainReader, limits.SupportsTriggerAvailableNow):
        """Stream reader for Spark 4.2 and later, which limit batches."""

        def getDefaultReadLimit(self) -> Any:
            return self._log.limit()

        def latestOffset(self, start: Any, limit: Any) -> Any:  # type: ignore[override]
            return self._log.latest(start, limit)

        def reportLatestOffset(self) -> Any:
            return _json(self._log.ends())

        def prepareForTriggerAvailableNow(self) -> None:
            self._log.remember()


def _json(offsets: dict[Key, int]) -> Offsets:
    """Return offsets in the form of Spark's Kafka source (JsonUtils.partitionOffsets)."""
    found: Offsets = {}
    for (topic, number), offset in sorted(offsets.items()):
        found.setdefault(topic, {})[str(number)] = offset
    return found


def _keys(offsets: Offsets) -> dict[Key, int]:
    return {(topic, int(number)): offset for topic, by in offsets.items() for number, offset in by.items()}
