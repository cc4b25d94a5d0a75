"""Execution of a journal: staged segments get their offsets, sidecar files and names.

Large staged segments keep their files. On a local disk, a few bytes are written into each of them, and it is renamed.
In a store, a task has written the final bytes, which the store copies. Small segments that no task joined are joined:
on a local disk after the commit, in a store before it, in the job's directory ``ready``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from recordpress._file_names import (
    LEADER_EPOCH_CHECKPOINT,
    LOG_FILE_SUFFIX,
    PRODUCER_SNAPSHOT_FILE_SUFFIX,
    SUCCESS,
)
from recordpress.errors import RecordpressError, StorageError
from recordpress.files import FileSystem, LocalFileSystem, for_each, remove_if_empty, results, sync_directory
from recordpress.log.publish._join import check_end, join
from recordpress.log.publish._journal import (
    STREAMS,
    WRITES,
    Journal,
    PlannedPartition,
    PlannedSegment,
    written_batches,
    written_ids,
)
from recordpress.log.publish._stamp import headers_of, stamp_in_place
from recordpress.log.publish.staging import INDEX_SUFFIXES
from recordpress.log.sidecars.checkpoints import leader_epochs_bytes
from recordpress.log.sidecars.producer_snapshot import ProducerState, read_snapshot, snapshot_bytes

_REMOVED = "removed"  # marker: the replaced files are deleted
_MOST_IDS = 10_000  # latest writes and streams to keep: a job is repeated soon, or never
_READY = "ready"  # directory of files in a store until the commit
_PRODUCERS = "producers"  # file in it: the snapshot of a partition's producers
_COMPARED = 4096  # bytes to compare of a segment that already has the name: its first header is in them
_SNAPSHOT_EVERY = 1 << 30  # bytes, as between Kafka's snapshots: readers of committed records begin at one
_AT_ONCE = 8  # concurrent partitions: most time is spent waiting for disks or stores
CALLS_AT_ONCE = 64  # concurrent calls of a store that send no data; chosen, not measured


def prepare(files: FileSystem, target: str, journal: Journal) -> None:
    """Write the files of a store that tasks could not finish, before the commit."""
    ready = files.join(journal.path, _READY)
    for_each(
        (one for one in journal.partitions() if one.segments),
        lambda one: _Partition(files, target, journal, one, ready).prepare(),
        _AT_ONCE,
    )


def roll_forward(files: FileSystem, target: str, journal: Journal) -> None:
    """Carry out the rest of a journal; the call can be repeated after an error."""
    if journal.merges:
        for_each(journal.partitions(), lambda one: _replace(files, target, journal.path, one), _AT_ONCE)
        return
    with suppress(FileNotFoundError):
        files.delete(files.join(target, SUCCESS))
    _remove(files, target, journal)
    changed = (one for one in journal.partitions() if one.segments)
    if isinstance(files, LocalFileSystem):
        for_each(changed, lambda one: _Partition(files, target, journal, one, target).publish(), _AT_ONCE)
    else:
        for_each(_moves(files, target, journal.path, changed), lambda move: move.run(files), CALLS_AT_ONCE)
    if journal.write_id is not None:
        _remember(files, target, journal.write_id, journal.batch_id)
    files.write_file(files.join(target, SUCCESS), b"")


def _replace(files: FileSystem, target: str, job: str, partition: PlannedPartition) -> None:
    """Give finished files their names in a partition, and then delete the files that they replace: a reader finds each
    record at any time, some of them twice."""
    place = files.join(target, partition.directory)
    for one in sorted(partition.files, key=lambda one: (one.name.endswith(LOG_FILE_SUFFIX), one.name)):
        source, path = files.join(job, one.attempt, one.name), files.join(place, one.name)
        _Move(source, path, bytes=one.bytes).run(files)
    if isinstance(files, LocalFileSystem):
        sync_directory(Path(place))
    for name in partition.remove:
        with suppress(FileNotFoundError):
            files.delete(files.join(place, name))


def _remember(files: FileSystem, target: str, write_id: str, batch_id: int | None) -> None:
    """Record the write, so that it is not repeated. For a stream, the latest batch is enough."""
    if batch_id is None:
        ids = [one for one in written_ids(files, target) if one != write_id]
        files.write_file(files.join(target, WRITES), json.dumps([*ids, write_id][-_MOST_IDS:]).encode())
        return
    batches = written_batches(files, target)
    latest = max(batch_id, batches.pop(write_id, batch_id))
    kept = [*batches.items(), (write_id, latest)][-_MOST_IDS:]
    files.write_file(files.join(target, STREAMS), json.dumps(dict(kept)).encode())


def _remove(files: FileSystem, target: str, journal: Journal) -> None:
    """Delete the replaced files once: a later file with such a name is new."""
    if not journal.replaces:
        return
    mark = files.join(journal.path, _REMOVED)
    with suppress(FileNotFoundError):
        files.info(mark)
        return

    def delete(path: str) -> None:
        with suppress(FileNotFoundError):
            files.delete(path)

    paths = (
        files.join(target, one.directory, name)
        for one in journal.partitions()
        for name in one.remove
        if name != "partition.metadata" or not one.segments  # it holds the topic id
    )
    for_each(paths, delete, CALLS_AT_ONCE)
    for one in journal.partitions():
        if one.remove and not one.segments:
            remove_if_empty(files, files.join(target, one.directory))
    files.write_file(mark, b"")


# --- a store ----------------------------------------------------------------------------------------------------------


class _Move(NamedTuple):
    """Files that get their names by calls that send no bytes; `source` and `target` are paths without the suffixes."""

    source: str
    target: str
    suffixes: tuple[str, ...] = ("",)
    bytes: int | None = None  # of the segment
    is_there: bool = False  # another program made it, or an interrupted call

    def run(self, files: FileSystem) -> None:
        """Copy or rename the files, the segment after its sidecar files; the call can be repeated."""
        if self.is_there:
            self._refuse_other(files)
        for suffix in self.suffixes:
            source, target = self.source + suffix, self.target + suffix
            try:
                if not files.copy(source, target):
                    files.move(source, target)
            except FileNotFoundError:  # it was renamed before
                if target.endswith(LOG_FILE_SUFFIX) and not _has_size(files, target, self.bytes):
                    raise StorageError("a segment of a committed job is gone", file=files.url(source)) from None

    def _refuse_other(self, files: FileSystem) -> None:
        """Raise an error for a segment of this name that is not a copy of ours."""
        with files.open(self.target + LOG_FILE_SUFFIX) as there:
            is_ours = there.size == self.bytes
            with suppress(FileNotFoundError), files.open(self.source + LOG_FILE_SUFFIX) as ours:
                is_ours &= there.read_at(0, _COMPARED) == ours.read_at(0, _COMPARED)
            if not is_ours:
                raise StorageError(
                    "another program made this segment, whose name a committed job needs: move it away",
                    file=there.name,
                )


def _move_of(files: FileSystem, source: str, place: str, segment: PlannedSegment, there: set[str]) -> _Move:
    """Return the move of a segment and its indexes to a partition's directory; `there` has the names of its files."""
    name = f"{segment.base_offset:020}"
    suffixes = (*INDEX_SUFFIXES, LOG_FILE_SUFFIX)
    return _Move(source, files.join(place, name), suffixes, segment.bytes, name + LOG_FILE_SUFFIX in there)


def _moves(files: FileSystem, target: str, job: str, partitions: Iterable[PlannedPartition]) -> Iterator[_Move]:
    """Yield the moves of all partitions."""
    ready = files.join(job, _READY)

    def look(one: PlannedPartition) -> tuple[set[str], set[str]]:
        return _names(files, files.join(target, one.directory)), _names(files, files.join(ready, one.directory))

    for partition, (there, made) in results(partitions, look, _AT_ONCE):
        place, own = files.join(target, partition.directory), files.join(ready, partition.directory)
        names = _snapshot_names(partition) if _PRODUCERS in made else []
        yield from (_Move(files.join(own, _PRODUCERS), files.join(place, name)) for name in names)
        for segment in partition.segments:
            source = files.join(own, f"{segment.base_offset:020}")
            if segment.is_final:
                source = files.join(job, segment.staged[0].stem)
            yield _move_of(files, source, place, segment, there)
        if LEADER_EPOCH_CHECKPOINT in made:
            path = files.join(own, LEADER_EPOCH_CHECKPOINT)
            yield _Move(path, files.join(place, LEADER_EPOCH_CHECKPOINT))


def _names(files: FileSystem, path: str) -> set[str]:
    try:
        return {info.name for info in files.list(path)}
    except FileNotFoundError:
        return set()


def _snapshot_names(partition: PlannedPartition) -> list[str]:
    """Return the names of the snapshots of a partition: at its end, and in places where tasks may begin to read."""
    offsets: list[int] = []
    size = 0
    for segment in partition.segments:
        if (not offsets or size >= _SNAPSHOT_EVERY) and segment.base_offset > 0:
            offsets.append(segment.base_offset)
            size = 0
        size += segment.bytes
    return [f"{offset:020}{PRODUCER_SNAPSHOT_FILE_SUFFIX}" for offset in (*offsets, partition.segments[-1].next_offset)]


def _has_size(files: FileSystem, path: str, size: int | None) -> bool:
    try:
        return files.info(path).size == size
    except FileNotFoundError:
        return False


# --- a partition ------------------------------------------------------------------------------------------------------


class _Partition:
    """Segments of one partition, written in order so that readers see a prefix; `ready` is the log dir or the staging
    directory."""

    def __init__(
        self, files: FileSystem, target: str, journal: Journal, partition: PlannedPartition, ready: str
    ) -> None:
        self._files = files
        self._journal = journal
        self._partition = partition
        self._log = files.join(target, partition.directory)
        self._directory = files.join(ready, partition.directory)

    def prepare(self) -> None:
        """Write the files of a store that tasks could not write: joined segments, and files next to segments."""
        self._files.make_directory(self._directory)
        for segment in self._partition.segments:
            if not segment.is_final:
                self._join(segment)
        self._end([_PRODUCERS])

    def publish(self) -> None:
        """Write all files to the log dir, on a local disk."""
        self._files.make_directory(self._directory)
        self._files.sweep(self._directory)
        there = _names(self._files, self._directory)
        for segment in self._partition.segments:
            if segment.is_alone:
                self._rename(segment, there)
            else:
                self._join(segment)
        sync_directory(Path(self._directory))
        self._end(_snapshot_names(self._partition))

    def _end(self, snapshots: list[str]) -> None:
        """Write the producers' states at the log's end, which new batches do not change, and a new log's epochs."""
        if (producers := self._producers()) is not None:
            for name in snapshots:
                self._write(name, snapshot_bytes(producers))
        if self._partition.end is None:
            self._write(LEADER_EPOCH_CHECKPOINT, leader_epochs_bytes([]))

    def _producers(self) -> list[ProducerState] | None:
        """Return the producer state at the end of the log; None if unknown."""
        if self._partition.end is None:
            return []
        name = f"{self._partition.end:020}{PRODUCER_SNAPSHOT_FILE_SUFFIX}"
        try:
            with self._files.open(self._files.join(self._log, name)) as file:
                return read_snapshot(file)
        except (FileNotFoundError, RecordpressError):
            return None

    def _write(self, name: str, data: bytes) -> None:
        self._files.write_file(self._files.join(self._directory, name), data)

    def _rename(self, segment: PlannedSegment, there: set[str]) -> None:
        """Write offsets into a staged segment, and rename it and its indexes, whose offsets are relative to its first
        offset."""
        [staged] = segment.staged
        source = self._files.join(self._journal.path, staged.stem)
        if not segment.is_final:
            with suppress(FileNotFoundError), self._files.open(source + LOG_FILE_SUFFIX) as file:
                headers = headers_of(file, staged.bytes)
                end = stamp_in_place(source + LOG_FILE_SUFFIX, headers, segment.base_offset)
                check_end(self._files, self._journal.path, segment, end)
        _move_of(self._files, source, self._directory, segment, there).run(self._files)

    def _join(self, segment: PlannedSegment) -> None:
        stem = self._files.join(self._directory, f"{segment.base_offset:020}")
        join(self._files, self._journal.path, segment, stem, self._journal.index_interval_bytes)
