"""Producers that a broker still knows: which of their batches a copy does not join, and their states in its snapshots.

::

    headers of each segment ──► SegmentProducers ──┐
    .snapshot of the source ───────────────────────┴──► positions of batches that stay as they are

A broker answers a retry of one of a producer's last five batches as a duplicate if producer, epoch and sequences are
equal (ProducerStateEntry.NUM_BATCHES_TO_RETAIN). It forgets a producer that was idle for producer.id.expiration.ms and
has no open transaction (ProducerStateManager.isProducerExpired).
"""

from __future__ import annotations

import time
from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from recordpress._file_names import PRODUCER_SNAPSHOT_FILE_SUFFIX
from recordpress.errors import CorruptRecordError
from recordpress.files import FileInfo, FileSystem
from recordpress.log._segment import Segment
from recordpress.log.sidecars.producer_snapshot import ProducerState, read_snapshot, snapshot_bytes

_REMEMBERED = 5


class Expiry(NamedTuple):
    """When a producer is forgotten; `as_of` in ms, None: the last append to its partition, at most now."""

    expiration_ms: int
    as_of: int | None


@dataclass
class LastBatches:
    """A producer in one segment: positions of its last batches, the timestamp of its last batch or marker, and whether
    a transaction is open at the end."""

    positions: deque[int] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    timestamp: int = -1
    is_open: bool = False


@dataclass
class SegmentProducers:
    """The producers of a segment, and the largest timestamp in it."""

    producers: dict[int, LastBatches]
    borders: list[int]  # positions of the first batch of a producer after each snapshot
    latest: int


class ProducerScan(NamedTuple):
    """Segments whose headers one process reads, and the offsets of the snapshots of their partitions."""

    segments: tuple[tuple[Segment, tuple[int, ...]], ...]

    def run(self) -> list[SegmentProducers]:
        """Read the headers; damage is left to the copy to report."""
        return [_scan(*one) for one in self.segments]


def _scan(segment: Segment, snapshots: tuple[int, ...]) -> SegmentProducers:
    found = SegmentProducers({}, [], -1)
    ahead = [offset for offset in reversed(snapshots) if offset > segment.base_offset]
    with segment.records() as file:
        walk = file.headers()
        for header in file.walk(walk, idempotent=True, on_corrupt="skip"):
            one = found.producers.setdefault(header.producer_id, LastBatches())
            one.timestamp = header.max_timestamp
            one.is_open = header.is_transactional and not header.is_control
            if header.is_control:
                continue
            one.positions.append(header.position)
            if ahead and header.base_offset >= ahead[-1]:
                found.borders.append(header.position)
                ahead = [offset for offset in ahead if offset > header.base_offset]
        found.latest = walk.latest
    return found


def batches_to_leave(
    scanned: Sequence[SegmentProducers], states: Iterable[ProducerState], expiry: Expiry
) -> list[bytes]:
    """Return the positions of a partition's batches that are not joined, for each segment as an array of int64.

    `states` is the source's last snapshot.
    """
    batches: dict[int, deque[tuple[int, int]]] = {}
    timestamps = {state.producer_id: state.timestamp for state in states}
    latest = max([one.latest for one in scanned] + list(timestamps.values()), default=-1)
    is_open: dict[int, bool] = {}
    for number, segment in enumerate(scanned):
        for producer_id, one in segment.producers.items():
            last = batches.setdefault(producer_id, deque(maxlen=_REMEMBERED))
            last.extend((number, position) for position in one.positions)
            is_open[producer_id] = one.is_open
    for producer_id in batches:
        own = next(one.producers[producer_id].timestamp for one in reversed(scanned) if producer_id in one.producers)
        timestamps[producer_id] = max(own, timestamps.get(producer_id, -1))
    as_of = min(latest, time.time_ns() // 1_000_000) if expiry.as_of is None else expiry.as_of
    left = [set(segment.borders) for segment in scanned]
    for producer_id, last in batches.items():
        if is_open[producer_id] or as_of - timestamps[producer_id] < expiry.expiration_ms:
            for number, position in last:
                left[number].add(position)
    return [array("q", sorted(positions)).tobytes() for positions in left]


def last_snapshot(snapshots: dict[str, tuple[FileSystem, FileInfo]]) -> list[ProducerState]:
    """Return the states in the last snapshot; none if it is missing or damaged."""
    if not snapshots:
        return []
    files, info = snapshots[max(snapshots)]
    try:
        with files.open(info.path) as file:
            return read_snapshot(file)
    except (CorruptRecordError, FileNotFoundError):
        return []


def snapshot_offsets(names: Iterable[str]) -> tuple[int, ...]:
    """Return the offsets in the names of snapshots, ascending."""
    stems = (name.removesuffix(PRODUCER_SNAPSHOT_FILE_SUFFIX) for name in names)
    return tuple(sorted(int(stem) for stem in stems if stem.isdecimal()))


def fit_snapshots(copied: Iterable[Segment], snapshots: dict[str, tuple[FileSystem, FileInfo]]) -> dict[str, bytes]:
    """Return the snapshots that change because the last batch of a producer was joined with earlier ones: the entry
    gets `offset_delta` and the timestamp of the joined batch."""
    changed = {}
    ahead = sorted(snapshots, reverse=True)
    ends: dict[int, tuple[int, int, int, bool]] = {}  # last offset, delta, timestamp, whether no marker followed

    def fit(name: str) -> None:
        states = last_snapshot({name: snapshots[name]})
        fitted = [_fitted(state, ends.get(state.producer_id)) for state in states]
        if fitted != states:
            changed[name] = snapshot_bytes(fitted)

    for segment in copied if ahead else ():
        with segment.records() as file:
            for header in file.walk(idempotent=True):
                while ahead and header.base_offset >= snapshot_offsets(ahead[-1:])[0]:
                    fit(ahead.pop())
                last_offset, delta, timestamp, _ = ends.get(header.producer_id, (-1, 0, -1, False))
                if not header.is_control:
                    last_offset, delta, timestamp = header.last_offset, header.last_offset_delta, header.max_timestamp
                ends[header.producer_id] = last_offset, delta, timestamp, not header.is_control
    while ahead:
        fit(ahead.pop())
    return changed


def _fitted(state: ProducerState, end: tuple[int, int, int, bool] | None) -> ProducerState:
    if end is None or end[0] != state.last_offset or end[1] == state.offset_delta:
        return state
    return state._replace(offset_delta=end[1], timestamp=end[2] if end[3] else state.timestamp)
