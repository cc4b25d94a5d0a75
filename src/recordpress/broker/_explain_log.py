"""Explain a log: what a broker with these settings would do if producers sent its batches again.

::

    headers, one after the other ──► the kind of batch: magic, codec, producer or not ... ──► is it opened? ─ yes ─┐
                                                                                                │ no              │
                                       counted: like opened batches of its kind ◄───────┘                 │
                                                                                                                  ▼
                                                         as its producer sent it ──► explained ──► group of its kind

A log may be large: the first batches of each kind are opened, then one batch in OPENED_THEN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from recordpress.broker._depth import DepthAdvice, TopicDepth
from recordpress.broker._explain_set import Place, explained
from recordpress.broker._explanation import BatchGroup, ExplainedBatch, grouped
from recordpress.broker._judge import Judge
from recordpress.codecs import CodecRegistry
from recordpress.columns import read_columns
from recordpress.files import buffered, located
from recordpress.log import FileRecords, Finding as LogFinding, Log, Partition, Progress, Segment
from recordpress.log.findings import DAMAGE
from recordpress.record import Batch, read_batches
from recordpress.record.header import CODEC_BITS, LOG_APPEND_TIME, TRANSACTIONAL

OPENED_BYTES = 64 << 20  # of each kind of batch: one or two seconds of work
OPENED_BATCHES = 10_000  # small batches cost by number, not by size
OPENED_THEN = 64  # one of this many later batches is opened; chosen, not measured
_OF_A_KIND = CODEC_BITS | LOG_APPEND_TIME | TRANSACTIONAL
_PROGRESS_BYTES = 1 << 20  # between two reports; chosen, not measured

ProgressCallback = Callable[[Progress], object]


@dataclass(slots=True)
class _Kind:
    """Batches whose headers have the same magic, codec, timestamp type and kind of producer."""

    batches: int = 0
    bytes: int = 0
    opened: int = 0
    opened_bytes: int = 0
    groups: dict[tuple[object, ...], BatchGroup] = field(default_factory=dict)

    def wants(self) -> bool:
        """Return whether the next batch is opened."""
        few = self.opened < OPENED_BATCHES and self.opened_bytes < OPENED_BYTES
        return few or self.batches % OPENED_THEN == 0

    def add(self, batch: ExplainedBatch) -> None:
        self.opened += 1
        self.opened_bytes += batch.size
        for likeness, group in grouped([batch]).items():
            if likeness in self.groups:
                self.groups[likeness].join(group)
            else:
                self.groups[likeness] = group

    def spread(self) -> None:
        """Distribute the unopened batches over the groups, in proportion to their bytes."""
        batches, size = self.batches - self.opened, self.bytes - self.opened_bytes
        for group in self.groups.values():
            share = group.bytes / self.opened_bytes
            group.add_unopened(round(batches * share), round(size * share), group.bytes)


@dataclass(slots=True)
class ExplainedLog:
    """Facts found in a log."""

    groups: list[BatchGroup]
    control_batches: int
    compacted_batches: int
    opened: int
    batches: int
    depths: list[DepthAdvice]
    findings: list[LogFinding]
    cut: list[str]


class LogExplainer:
    """Single pass over a log."""

    def __init__(self, judge: Judge, full: bool, progress: ProgressCallback | None) -> None:
        self._judge = judge
        self._full = full
        self._progress = progress
        self._kinds: dict[tuple[object, ...], _Kind] = {}
        self._control = self._compacted = 0
        self._depths: dict[str | None, TopicDepth] = {}
        self._findings: list[LogFinding] = []
        self._cut: list[str] = []
        self._done = self._segments_done = 0

    def explain(self, log: Log) -> ExplainedLog:
        """Return the results for all batches of the log."""
        segments = [(partition, segment) for partition in log.partitions for segment in partition.segments]
        total = sum(segment.size or 0 for _, segment in segments)
        for partition, segment in segments:
            for size in self._segment(partition, segment):
                self._tell(size, total, len(segments))
            self._segments_done += 1
        if self._progress:
            self._progress(Progress(total, total, len(segments), len(segments)))
        groups: dict[tuple[object, ...], BatchGroup] = {}
        for kind in self._kinds.values():
            kind.spread()
            for likeness, group in kind.groups.items():
                if likeness in groups:
                    groups[likeness].join(group)
                else:
                    groups[likeness] = group
        return ExplainedLog(
            groups=list(groups.values()),
            control_batches=self._control,
            compacted_batches=self._compacted,
            opened=sum(kind.opened for kind in self._kinds.values()),
            batches=sum(kind.batches for kind in self._kinds.values()),
            depths=[advice for depth in self._depths.values() if (advice := depth.advice()) is not None],
            findings=self._findings,
            cut=self._cut,
        )

    def _tell(self, size: int, total: int, segments: int) -> None:
        before, self._done = self._done // _PROGRESS_BYTES, self._done + size
        if self._progress and self._done // _PROGRESS_BYTES > before:
            self._progress(Progress(self._done, max(total, self._done), self._segments_done, segments))

    def _segment(self, partition: Partition, segment: Segment) -> Iterator[int]:
        """Count the batches of a segment, and open some; yield the size of each."""
        file = FileRecords(buffered(segment.open()), complete=not segment.is_last)  # headers and batches share a chunk
        with file:
            try:
                for header in file.walk():
                    place = Place(header.position, segment.url, partition.topic, partition.partition, in_log=True)
                    self._batch(file, header, place)
                    yield header.size
            except DAMAGE as error:
                self._findings.append(LogFinding.of_error(error, file=segment.url))
            if file.trailing_bytes:
                self._cut.append(f"{segment.url}: {file.trailing_bytes} bytes follow the last complete entry")

    def _batch(self, file: FileRecords, header: Any, place: Place) -> None:
        """Count a batch by its header, and open it if it is due."""
        if header.is_control:
            self._control += 1
        elif _is_compacted(header):
            self._compacted += 1
        else:
            kind = self._kind_of(header)
            if header.magic == 2:
                self._depth_of(place).add(place.partition, header)
            if self._full or kind.wants():
                self._open(kind, file, header.size, place)
            else:
                kind.batches += 1
                kind.bytes += header.size

    def _kind_of(self, header: Any) -> _Kind:
        key = (header.magic, header.attributes & _OF_A_KIND, header.producer_id >= 0)
        if key not in self._kinds:
            self._kinds[key] = _Kind()
        return self._kinds[key]

    def _depth_of(self, place: Place) -> TopicDepth:
        if place.topic not in self._depths:
            self._depths[place.topic] = TopicDepth(place.topic)
        return self._depths[place.topic]

    def _open(self, kind: _Kind, file: FileRecords, size: int, place: Place) -> None:
        try:
            data = bytearray(file.entry(place.position, size))
            with located(place.position, place.file):
                batch = as_produced(data, self._judge.codecs)
        except DAMAGE as error:
            self._findings.append(LogFinding.of_error(error))
            return
        if batch is None:
            self._compacted += 1
            return
        for one in explained(data, place, self._judge.of_log(batch), self._judge.levels, self._judge.codecs):
            kind.batches += 1
            kind.bytes += one.size
            kind.add(one)
            if one.magic == 2 and one.records and one.cost.records_size:
                self._depth_of(place).add_opened(one.records, one.cost.records_size)


def _is_compacted(header: Any) -> bool:
    """Return whether the log cleaner has changed a batch of magic 2: it removes records, or sets the time to delete the
    rest."""
    if header.magic < 2:
        return False
    expected = header.last_offset - header.base_offset + 1
    return header.delete_horizon_ms is not None or header.records_count != expected


def as_produced(data: bytearray, codecs: CodecRegistry | None = None) -> Batch | None:
    """Restore what was sent: offsets from 0, no leader epoch, CreateTime; return None for a compacted wrapper."""
    [batch] = read_batches(data, check_crcs=False, codecs=codecs)
    if batch.magic == 2:
        batch.set_last_offset(batch.last_offset_delta or 0)
        batch.set_partition_leader_epoch(-1)
    if not batch.is_valid():
        return batch  # the verdict reports the damage
    if batch.magic < 2 and not batch.is_compressed:
        batch.set_last_offset(0)
    elif batch.magic < 2 and not _number_wrapper(batch):
        return None
    if batch.magic > 0 and batch.timestamp_type == 1:
        _take_log_append_time(batch)
    return batch


def _number_wrapper(batch: Batch) -> bool:
    """Set the offset of a wrapper to that of its last message, counted from 0; return False if there are gaps."""
    offsets = read_columns(batch.data, ["offset"], check_crcs=False)["offset"].to_pylist()
    if offsets != list(range(offsets[0], offsets[0] + len(offsets))):
        return False
    batch.set_last_offset(len(offsets) - 1)
    return True


def _take_log_append_time(batch: Batch) -> None:
    """Restore the producers' timestamps from the records; a message of magic 1 without a codec has lost its own."""
    batch.set_max_timestamp(0, max(batch.max_timestamp, -1))
    if batch.magic == 2 or batch.is_compressed:
        batch.set_max_timestamp(0, max((-1, *(record.timestamp for record in batch))))
