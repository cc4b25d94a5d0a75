"""Producers that a broker still knows: which of their batches a copy does not join, and their states in its snapshots.

::

    headers of each segment ──► SegmentProducers ──┐
    .snapshot of the source ───────────────────────┴──► Marks: batches that are not joined, or are omitted

A broker answers a retry of one of a producer's last five batches as a duplicate if producer, epoch and sequences are
equal (ProducerStateEntry.NUM_BATCHES_TO_RETAIN). It forgets a producer that was idle for producer.id.expiration.ms and
has no open transaction (ProducerStateManager.isProducerExpired).
"""

from __future__ import annotations

import time
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from recordpress._arguments import INT64_MAX
from recordpress._file_names import PRODUCER_SNAPSHOT_FILE_SUFFIX, TXN_INDEX_FILE_SUFFIX
from recordpress.errors import CorruptRecordError
from recordpress.files import FileSystem
from recordpress.log._file_records import FileRecords
from recordpress.log._progress import Meter
from recordpress.log._segment import Partition, Segment
from recordpress.log._transactions import is_abort
from recordpress.log.check.build_sidecars import producers_before, sidecar_files
from recordpress.log.check.rebuild import SidecarBuilder
from recordpress.log.copy._settle_marks import Marks
from recordpress.log.sidecars.producer_snapshot import ProducerState, read_snapshot, snapshot_bytes
from recordpress.record.header import BatchHeader

_REMEMBERED = 5  # ProducerStateEntry.NUM_BATCHES_TO_RETAIN
_ALONE, _ABORTED, _DROPPED, _EMPTIED = 1, 2, 3, 4  # as in _settle.pxd

SmallFiles = dict[str, tuple[FileSystem, str]]  # by name


class Expiry(NamedTuple):
    """When a producer expires (without `now_ms`, by the last append to its partition, but at most now), and whether
    batches that no broker compares with retries lose their producer."""

    expiration_ms: int
    now_ms: int | None
    settles: bool = False


class EndOfTransaction(NamedTuple):
    """A marker, and the batches of its transaction in its own segment."""

    producer_id: int
    offset: int
    is_abort: bool
    batches: array[int]


@dataclass
class LastBatches:
    """A producer in one segment: epoch and base offset of its last batches, its epoch and timestamp at the end, whether
    a transaction is open then, and the base offsets of that transaction's batches."""

    batches: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    epoch: int = -1
    timestamp: int = -1
    is_open: bool = False
    open: array[int] = field(default_factory=lambda: array("q"))


@dataclass
class SegmentProducers:
    """The producers of a segment, and the largest timestamp in it."""

    producers: dict[int, LastBatches]
    borders: list[int]  # base offsets of the first batch with a producer after each snapshot
    ends: list[EndOfTransaction]
    last: int | None  # base offset of the last batch, if it has a producer
    extent: tuple[int, int] | None
    latest: int


class ProducerScan(NamedTuple):
    """Segments whose headers one process reads, and the offsets of the snapshots of their partitions."""

    segments: tuple[tuple[Segment, tuple[int, ...]], ...]
    settles: bool

    def run(self) -> list[SegmentProducers]:
        """Read the headers; leave damage for the copy to report, unless producers are settled."""
        return [_scan(*one, self.settles) for one in self.segments]


def _scan(segment: Segment, snapshots: tuple[int, ...], settles: bool) -> SegmentProducers:
    found = SegmentProducers({}, [], [], None, None, -1)
    ahead = [offset for offset in reversed(snapshots) if offset > segment.base_offset]
    header = None
    with segment.records() as file:
        walk = file.headers()
        for header in file.walk(walk, idempotent=True, on_corrupt="raise" if settles else "skip"):
            one = found.producers.get(header.producer_id)
            if one is None:
                one = found.producers[header.producer_id] = LastBatches()
            one.epoch, one.timestamp = header.producer_epoch, header.max_timestamp
            one.is_open = header.is_transactional and not header.is_control
            if header.is_control:
                if settles:
                    found.ends.append(_end(header, one, file))
                continue
            one.batches.append((header.producer_epoch, header.base_offset))
            if settles and one.is_open:
                one.open.append(header.base_offset)
            if ahead and header.base_offset >= ahead[-1]:
                found.borders.append(header.base_offset)
                ahead = [offset for offset in ahead if offset > header.base_offset]
        found.latest, found.extent = walk.latest, walk.extent
        if settles:
            _refuse_disorder(walk.descends, segment)
        if header is not None and header.next_offset == walk.next_offset:
            found.last = header.base_offset
    return found


def _end(header: BatchHeader, one: LastBatches, file: FileRecords) -> EndOfTransaction:
    batches, one.open = one.open, array("q")
    is_aborted = is_abort(header, file)
    return EndOfTransaction(header.producer_id, header.base_offset, is_aborted, batches)


def _refuse_disorder(goes_back: bool, segment: Segment) -> None:
    if goes_back:
        message = "offsets go back: producers can be settled only in a log whose offsets ascend"
        raise CorruptRecordError(message, file=segment.url, rule="offset order")


class _Partition:
    """The producers of all segments together."""

    def __init__(self, scanned: Sequence[SegmentProducers], states: Iterable[ProducerState], expiry: Expiry) -> None:
        self.scanned = scanned
        self.settles = expiry.settles
        self.last: dict[int, LastBatches] = {}
        timestamps = {state.producer_id: state.timestamp for state in states}
        latest = max([one.latest for one in scanned] + list(timestamps.values()), default=-1)
        for segment in scanned:
            for producer_id, one in segment.producers.items():
                last = self.last.setdefault(producer_id, LastBatches())
                last.batches.extend(one.batches)
                last.epoch, last.timestamp, last.is_open = one.epoch, one.timestamp, one.is_open
        now_ms = min(latest, time.time_ns() // 1_000_000) if expiry.now_ms is None else expiry.now_ms
        self.known = {
            producer_id
            for producer_id, one in self.last.items()
            if one.is_open or now_ms - max(one.timestamp, timestamps.get(producer_id, -1)) < expiry.expiration_ms
        }

    def remembered(self) -> set[int]:
        """Return the base offsets of the last batches of producers that are not expired."""
        return {
            offset
            for producer_id in self.known
            for epoch, offset in self.last[producer_id].batches
            if not self.settles or epoch == self.last[producer_id].epoch
        }

    def marks(self) -> list[Marks]:
        kept = self.remembered()
        kinds = dict.fromkeys(kept, _ALONE)
        kinds.update((offset, _ALONE) for one in self.scanned for offset in one.borders if not self.settles)
        below = self._settle(kept, kinds) if self.settles else None
        if self.settles:
            for one in self.scanned:
                if one.last is not None and kinds.get(one.last) == _DROPPED:
                    kinds[one.last] = _EMPTIED
        ordered = sorted(kinds)
        return [self._of_segment(one, ordered, kinds, below) for one in self.scanned]

    def _of_segment(self, one: SegmentProducers, ordered: list[int], kinds: dict[int, int], below: int | None) -> Marks:
        first, end = one.extent or (0, 0)
        offsets = array("q", ordered[bisect_left(ordered, first) : bisect_left(ordered, end)])
        return Marks(offsets.tobytes(), bytes(kinds[offset] for offset in offsets), below)

    def _settle(self, kept: set[int], kinds: dict[int, int]) -> int:
        """Mark batches that are omitted or remain aborted; return the last stable offset."""
        pending: dict[int, array[int]] = {}
        ends: list[EndOfTransaction] = []
        for one in self.scanned:
            for end in one.ends:
                whole = pending.pop(end.producer_id, array("q")) + end.batches
                ends.append(end._replace(batches=whole))
            for producer_id, producer in one.producers.items():
                if producer.open:
                    pending.setdefault(producer_id, array("q")).extend(producer.open)
        stable = min((batches[0] for batches in pending.values()), default=INT64_MAX)
        last_markers = {end.producer_id: end.offset for end in ends if end.producer_id in self.known}
        for end in ends:
            if end.is_abort:
                for offset in end.batches:
                    kinds[offset] = _ABORTED if offset in kept or offset >= stable else _DROPPED
            is_last = last_markers.get(end.producer_id) == end.offset
            if end.offset < stable and not is_last and kept.isdisjoint(end.batches):
                kinds[end.offset] = _DROPPED
        return stable


def marks_of(
    segments: Sequence[Segment], scanned: Sequence[SegmentProducers], states: Iterable[ProducerState], expiry: Expiry
) -> list[Marks]:
    """Return the marks of each segment of a partition; `states` are from the source's last snapshot."""
    end = 0
    for segment, one in zip(segments, scanned, strict=True):
        if expiry.settles and one.extent is not None:
            _refuse_disorder(one.extent[0] < end, segment)
            end = one.extent[1]
    return _Partition(scanned, states, expiry).marks()


def last_snapshot(snapshots: SmallFiles) -> list[ProducerState]:
    """Return the states in the last snapshot; [] if it is missing or damaged."""
    if not snapshots:
        return []
    files, path = snapshots[max(snapshots)]
    try:
        with files.open(path) as file:
            return read_snapshot(file)
    except (CorruptRecordError, FileNotFoundError):
        return []


def snapshot_offsets(names: Iterable[str]) -> tuple[int, ...]:
    """Return the offsets in the names of snapshots, ascending."""
    stems = (name.removesuffix(PRODUCER_SNAPSHOT_FILE_SUFFIX) for name in names)
    return tuple(sorted(int(stem) for stem in stems if stem.isdecimal()))


# ---- files next to the segments


class _End(NamedTuple):
    """The last batch of a producer, and whether no marker followed it."""

    header: BatchHeader
    is_last: bool


class _Ends:
    """The last batch of each producer at ascending offsets, from the headers of segments."""

    def __init__(self, segments: Iterable[Segment]) -> None:
        self.ends: dict[int, _End] = {}
        self._headers = (header for segment in segments for header in _headers(segment))
        self._next = next(self._headers, None)

    def at(self, offset: int) -> dict[int, _End]:
        """Return the last batches before an offset; offsets of calls must not descend."""
        while (header := self._next) is not None and header.base_offset < offset:
            if not header.is_control:
                self.ends[header.producer_id] = _End(header, True)
            elif (end := self.ends.get(header.producer_id)) is not None:
                self.ends[header.producer_id] = end._replace(is_last=False)
            self._next = next(self._headers, None)
        return self.ends


def _headers(segment: Segment) -> Iterable[BatchHeader]:
    with segment.records() as file:
        yield from file.walk(idempotent=True, on_corrupt="skip")


def fit_small_files(
    partition: Partition, copied: Sequence[Segment], small_files: SmallFiles, settles: bool
) -> dict[str, bytes | None]:
    """Return the snapshots and transaction indexes that change in a copy; None for a file that the copy omits."""
    # If a producer's last batch was joined, its state comes from the joined batch. If that batch lost its producer, the
    # last batch that kept it takes its place; if no batch kept it, the state is omitted.
    changed: dict[str, bytes | None] = {}
    snapshots = {name: files for name, files in small_files.items() if name.endswith(PRODUCER_SNAPSHOT_FILE_SUFFIX)}
    mine, theirs = _Ends(copied), _Ends(partition.segments if settles else ())
    for name in sorted(snapshots):
        [offset] = snapshot_offsets([name]) or [0]
        ends, before = mine.at(offset), theirs.at(offset)
        states = last_snapshot({name: snapshots[name]})
        fitted = [_fitted(state, ends.get(state.producer_id), before.get(state.producer_id)) for state in states]
        if fitted != states:
            changed[name] = snapshot_bytes(state for state in fitted if state is not None)
    if settles:
        changed |= {name: None for name in small_files if name.endswith(TXN_INDEX_FILE_SUFFIX)}
        for name, data in sidecar_files(copied, SidecarBuilder(producers_before(partition)), Meter(None, ())):
            if name.endswith(TXN_INDEX_FILE_SUFFIX):
                changed[name] = data
    return changed


def _fitted(state: ProducerState, end: _End | None, before: _End | None) -> ProducerState | None:
    """Return the state after the last batch in the copy, if that is the source's last batch or replaces it."""
    is_same = end is not None and end.header.last_offset == state.last_offset
    was_settled = before is not None and before.header.last_offset == state.last_offset and not is_same
    if was_settled and end is None:
        return None
    if end is None or not (is_same or was_settled):
        return state
    header = end.header
    if is_same and header.last_offset_delta == state.offset_delta:
        return state
    return state._replace(
        producer_epoch=header.producer_epoch if was_settled else state.producer_epoch,
        last_sequence=header.last_sequence,
        last_offset=header.last_offset,
        offset_delta=header.last_offset_delta,
        timestamp=header.max_timestamp if end.is_last else state.timestamp,
    )
