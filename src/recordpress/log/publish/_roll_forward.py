"""Execution of a journal: staged segments get their offsets, sidecar files and names.

On a local disk this follows the journal: a few bytes are written into each file, which is then renamed. An object can
only be written as a whole: there all files of the log are written to the job's directory ``ready`` and read back before
the journal, and the store copies them to their names afterwards.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from recordpress._file_names import LEADER_EPOCH_CHECKPOINT, LOG_FILE_SUFFIX, PRODUCER_SNAPSHOT_FILE_SUFFIX
from recordpress.checksum import crc32c
from recordpress.errors import CorruptRecordError, RecordpressError, StorageError
from recordpress.files import FileInfo, FileSystem, LocalFileSystem, remove_if_empty, sync_directory
from recordpress.files.read_back import file_checksum, publish_checked
from recordpress.log._file_records import FileRecords
from recordpress.log.check.rebuild import SidecarBuilder
from recordpress.log.publish._journal import (
    STREAMS,
    WRITES,
    Journal,
    PlannedPartition,
    PlannedSegment,
    written_batches,
    written_ids,
)
from recordpress.log.publish._stamp import Stamp, headers_of
from recordpress.log.publish.complete_directory import SUCCESS
from recordpress.log.publish.staging import StagedSegment
from recordpress.log.sidecars.checkpoints import leader_epochs_bytes
from recordpress.log.sidecars.producer_snapshot import ProducerState, read_snapshot, snapshot_bytes

_REMOVED = "removed"  # marker: the replaced files are deleted
_MOST_IDS = 10_000  # latest writes and streams to keep: a job is repeated soon, or never
_READY = "ready"  # directory of files in a store until the commit
_Item = TypeVar("_Item")
_AT_ONCE = 8  # concurrent partitions: most time is spent waiting for disks or stores


def prepare(files: FileSystem, target: str, journal: Journal) -> None:
    """Write the files that a store cannot rename, before the commit: each staged segment is read once."""
    ready = files.join(journal.path, _READY)
    for_each(
        (one for one in journal.partitions() if one.segments),
        lambda one: _Partition(files, target, journal, one, ready).make(),
    )


def for_each(items: Iterable[_Item], work: Callable[[_Item], object]) -> None:
    """Work on several items at a time; few of them wait in memory."""
    running: deque[Future[object]] = deque()
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        for item in items:
            if len(running) >= 2 * _AT_ONCE:
                running.popleft().result()
            running.append(pool.submit(work, item))
        for one in running:
            one.result()
    finally:
        pool.shutdown(cancel_futures=True)


def roll_forward(files: FileSystem, target: str, journal: Journal) -> None:
    """Carry out the rest of a journal; the call can be repeated after an error."""
    if journal.merges:
        for_each(journal.partitions(), lambda one: _replace(files, target, journal.path, one))
        return
    with suppress(FileNotFoundError):
        files.delete(files.join(target, SUCCESS))
    _remove(files, target, journal)
    changed = (one for one in journal.partitions() if one.segments)
    if isinstance(files, LocalFileSystem):
        for_each(changed, lambda one: _Partition(files, target, journal, one, target).make())
    else:
        for_each(changed, lambda one: _move(files, target, journal.path, one))
    if journal.write_id is not None:
        _remember(files, target, journal.write_id, journal.batch_id)
    files.write_file(files.join(target, SUCCESS), b"")


def _replace(files: FileSystem, target: str, job: str, partition: PlannedPartition) -> None:
    """Give finished files their names in a partition, and then delete the files that they replace: a reader finds each
    record at any time, some of them twice."""
    place = files.join(target, partition.directory)
    for one in sorted(partition.files, key=lambda one: (one.name.endswith(LOG_FILE_SUFFIX), one.name)):
        source, path = files.join(job, one.attempt, one.name), files.join(place, one.name)
        try:
            files.move(source, path)
        except FileNotFoundError:
            if not _has_size(files, path, one.bytes):
                raise StorageError("a segment of a committed job is gone", file=files.url(source)) from None
    if isinstance(files, LocalFileSystem):
        sync_directory(Path(place))
    for name in partition.remove:
        with suppress(FileNotFoundError):
            files.delete(files.join(place, name))


def _remember(files: FileSystem, target: str, write_id: str, batch_id: int | None) -> None:
    """Record the write, so that it is not repeated. For a stream the latest batch is enough."""
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

    def remove(one: PlannedPartition) -> None:
        place = files.join(target, one.directory)
        for name in one.remove:
            if name != "partition.metadata" or not one.segments:  # it holds the topic id
                with suppress(FileNotFoundError):
                    files.delete(files.join(place, name))
        if not one.segments:
            remove_if_empty(files, place)

    for_each((one for one in journal.partitions() if one.remove), remove)
    files.write_file(mark, b"")


def _move(files: FileSystem, target: str, job: str, partition: PlannedPartition) -> None:
    """Copy the remaining files of one partition to their names in the store, each segment after its sidecar files."""
    name = partition.directory
    place = files.join(target, name)
    files.make_directory(place)
    files.sweep(place)
    found = [info for info in _listed(files, files.join(job, _READY, name)) if info.is_file]
    waiting = {info.name for info in found}
    for segment in partition.segments:
        file, size = f"{segment.base_offset:020}{LOG_FILE_SUFFIX}", sum(one.bytes for one in segment.staged)
        if file not in waiting and not _has_size(files, files.join(place, file), size):
            gone = files.url(files.join(job, _READY, name, file))
            raise StorageError("a segment of a committed job is gone", file=gone)
    there = {info.name for info in _listed(files, place)}
    for info in sorted(found, key=lambda info: (info.name.endswith(LOG_FILE_SUFFIX), info.name)):
        if info.name in there and info.name.endswith(LOG_FILE_SUFFIX):
            with files.open(info.path) as ready:  # the same bytes: the store was interrupted after it copied the file
                _refuse_other(files, files.join(place, info.name), file_checksum(ready))
        files.move(info.path, files.join(place, info.name))


def _listed(files: FileSystem, path: str) -> list[FileInfo]:
    try:
        return files.list(path)
    except FileNotFoundError:
        return []


def _refuse_other(files: FileSystem, path: str, checksum: int | None = None) -> None:
    """Raise an error if another program made a segment of this name; with a checksum, if it has other bytes."""
    with suppress(FileNotFoundError), files.open(path) as file:
        if checksum is None or file_checksum(file) != checksum:
            raise StorageError(
                "another program made this segment, whose name a committed job needs: move it away", file=file.name
            )


def _has_size(files: FileSystem, path: str, size: int) -> bool:
    try:
        return files.info(path).size == size
    except FileNotFoundError:
        return False


class _Partition:
    """Segments of one partition, written in order so that readers see a prefix; `ready` is the log dir or the staging
    directory."""

    def __init__(
        self, files: FileSystem, target: str, journal: Journal, partition: PlannedPartition, ready: str
    ) -> None:
        self._files = files
        self._job = journal.path
        self._journal = journal
        self._segments = partition.segments
        self._log = files.join(target, partition.directory)
        self._directory = files.join(ready, partition.directory)
        self._is_new = partition.is_new

    def make(self) -> None:
        files = self._files
        files.make_directory(self._directory)
        files.sweep(self._directory)
        producers = self._producers()
        for segment in self._segments:
            self._segment(segment, producers)
        if producers is not None:
            self._beside(self._segments[-1].next_offset, PRODUCER_SNAPSHOT_FILE_SUFFIX, snapshot_bytes(producers))
        if self._is_new:
            files.write_file(files.join(self._directory, LEADER_EPOCH_CHECKPOINT), leader_epochs_bytes([]))

    def _producers(self) -> list[ProducerState] | None:
        """Return the producer state at the end of the log, to which new batches add nothing; None if unknown."""
        if self._is_new:
            return []
        name = f"{self._segments[0].base_offset:020}{PRODUCER_SNAPSHOT_FILE_SUFFIX}"
        try:
            with self._files.open(self._files.join(self._log, name)) as file:
                return read_snapshot(file)
        except (FileNotFoundError, RecordpressError):
            return None

    def _beside(self, offset: int, suffix: str, data: bytes) -> None:
        self._files.write_file(self._files.join(self._directory, f"{offset:020}{suffix}"), data)

    def _segment(self, segment: PlannedSegment, producers: list[ProducerState] | None) -> None:
        builder = SidecarBuilder(index_interval_bytes=self._journal.index_interval_bytes)
        builder.begin(segment.base_offset)
        stamp = Stamp(builder, segment.base_offset, segment.staged[0].has_offsets)
        target = self._files.join(self._directory, f"{segment.base_offset:020}{LOG_FILE_SUFFIX}")
        if len(segment.staged) == 1 and isinstance(self._files, LocalFileSystem):
            self._rename(segment, stamp, builder, producers, target)
        else:
            self._join(segment, stamp, builder, producers, target)

    def _sidecars(
        self, segment: PlannedSegment, stamp: Stamp, builder: SidecarBuilder, producers: list[ProducerState] | None
    ) -> None:
        if stamp.next_offset != segment.next_offset:
            raise CorruptRecordError(
                f"the batches end at offset {stamp.next_offset}, but should end at {segment.next_offset}",
                file=self._files.url(self._files.join(self._job, segment.staged[-1].file)),
                rule="staged segment",
            )
        for suffix, data in builder.end().files(with_snapshot=False).items():
            self._beside(segment.base_offset, suffix, data)
        if producers is not None and segment.base_offset > 0:
            self._beside(segment.base_offset, PRODUCER_SNAPSHOT_FILE_SUFFIX, snapshot_bytes(producers))

    def _rename(
        self,
        segment: PlannedSegment,
        stamp: Stamp,
        builder: SidecarBuilder,
        producers: list[ProducerState] | None,
        target: str,
    ) -> None:
        [staged] = segment.staged
        path = self._files.join(self._job, staged.file)
        try:
            file = self._files.open(path)
        except FileNotFoundError:
            if not _has_size(self._files, target, staged.bytes):
                raise StorageError("a staged segment is gone", file=self._files.url(path)) from None
            return
        _refuse_other(self._files, target)
        with file:
            stamp.stamp_in_place(path, headers_of(file, staged.bytes))
        self._sidecars(segment, stamp, builder, producers)
        os.replace(path, target)
        sync_directory(Path(self._directory))

    def _join(
        self,
        segment: PlannedSegment,
        stamp: Stamp,
        builder: SidecarBuilder,
        producers: list[ProducerState] | None,
        target: str,
    ) -> None:
        checksum = 0
        with self._files.create(target) as writer:
            for staged in segment.staged:
                found = 0
                with FileRecords(self._files.open(self._files.join(self._job, staged.file))) as file:
                    for chunk, data in stamp.stamped(file):
                        found = crc32c(chunk, found)
                        checksum = crc32c(data, checksum)
                        writer.write(data)
                self._check(staged, found)
            self._sidecars(segment, stamp, builder, producers)
            publish_checked(writer, self._files, target, stamp.position, checksum)

    def _check(self, staged: StagedSegment, found: int) -> None:
        if found != staged.crc32c:
            raise CorruptRecordError(
                f"a task wrote bytes with the checksum {staged.crc32c:#010x}, but {found:#010x} is read back",
                file=self._files.url(self._files.join(self._job, staged.file)),
                rule="staged segment",
            )
