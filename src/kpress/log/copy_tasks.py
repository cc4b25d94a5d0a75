"""A transcoding copy whose segments are made by others: processes on other machines, say. A door for `kpress.spark`.

::

    driver      _copy_log: places, lock, what is left ──► groups of tasks                manifest ──► its name
                                                               │                            ▲
    elsewhere                                         copy_group: each segment, its indexes ┘
                                                      then a proof, for the case that the driver is killed

A segment that is larger than the share of one process is made in parts, which are joined when all are there
(_copy_parts). A group may be made twice, and at once: files are written under names of their own, and each attempt
gives the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from kpress.errors import KpressError
from kpress.files import FileSystem, resolve
from kpress.log._copy_log import (
    CopyJob,
    CopyState,
    CopyTask,
    Paths,
    Runner,
    copied_segments,
    copy_log,
    copy_one,
    copy_small_files,
    segment_name,
)
from kpress.log._copy_parts import CopiedPart, CopyPart, cuts, joined
from kpress.log._file_records import PIECE_BYTES
from kpress.log._manifest import FORMAT, CopiedPartition, CopiedSegment, Manifest
from kpress.log._segment import Partition
from kpress.log._sidecar_files import write_indexes
from kpress.log._target import Work, exists, locked_work
from kpress.log._transcode import Job
from kpress.typing import Integer, Level

__all__ = ["CopyGroup", "copy_group", "published", "transcode_by"]

SUCCESS = "_SUCCESS"  # as Hadoop's FileOutputCommitter calls it
_PROOF = re.compile(r"_done-[0-9]+-[0-9]+\.json")
_LARGEST_PROOF = 1 << 28  # bytes, as of a manifest


@dataclass(frozen=True)
class _RemoteJob(Job):
    """Indexes are made where the segments are made."""

    def files_beside(self, partition: Partition, files: FileSystem, directory: str) -> list[str]:
        return copy_small_files(partition, files, directory)


class CopyGroup(NamedTuple):
    """Segments that one process makes, one after another."""

    job: CopyJob
    files: FileSystem
    work: str
    tasks: tuple[CopyTask, ...]
    places: tuple[str, ...]

    def made(self) -> Copied:
        """Copy them."""
        done = []
        for task in self.tasks:
            path = self.files.join(task.directory, segment_name(task.segment))
            done.append((task.partition, copy_one(self.job, task, self.files, path, 1, _ignored)))
            _write_indexes(task, self.files)
        _prove(self, done)
        return done


class JoinGroup(NamedTuple):
    """A segment whose parts are there, and are now joined."""

    group: CopyGroup
    parts: tuple[CopiedPart, ...]
    threads: int

    def made(self) -> Copied:
        """Join them."""
        [task] = self.group.tasks
        done = [(task.partition, joined(task, self.group.files, self.parts, min(self.threads, _cores())))]
        _write_indexes(task, self.group.files)
        _prove(self.group, done)
        return done


Copied: TypeAlias = "list[tuple[int, CopiedSegment]]"
Group: TypeAlias = "CopyGroup | CopyPart | JoinGroup"
Send: TypeAlias = "Callable[[Sequence[Group]], Sequence[Any]]"


def transcode_by(
    send: Send,
    src: Paths,
    dst: str | os.PathLike[str],
    compression_type: str,
    *,
    level: Level = None,
    batch_bytes: Integer | None = None,
    min_gain: float | None = 0.0,
    resume: bool = True,
    group_bytes: Callable[[int], int],
    side_by_side: int = 1,
) -> Manifest:
    """`kpress.transcode`, by others.

    Parameters
    ----------
    send : callable
        Has `copy_group` called for each group, and returns the results in their order. It is called twice if there are
        parts to join.
    src, dst, compression_type, level, batch_bytes, min_gain, resume
        As for `kpress.transcode`.
    group_bytes : callable
        From the bytes of all segments to the size up to which small ones are done together, and of parts of large ones.
    side_by_side : int
        How many groups are made at a time: a segment that is larger than its share is made in parts.

    Returns
    -------
    Manifest

    Raises
    ------
    KpressError
        As `kpress.transcode`.
    """
    job = _RemoteJob(compression_type, level, batch_bytes, min_gain, 1)
    job.recoder()  # invalid arguments are refused before any work
    return copy_log(job, src, dst, resume, None, _Sender(send, group_bytes, side_by_side))


def copy_group(group: Group) -> Any:
    """Make the segments of a group, or a part of one; what is returned is for `transcode_by`."""
    return group.made()


def _write_indexes(task: CopyTask, files: FileSystem) -> None:
    write_indexes(copied_segments(Partition(None, None, "", (task.segment,)), files, task.directory))


def _cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _ignored(size: int) -> None:
    pass


def _prove(group: CopyGroup, done: Copied) -> None:
    """What is done, as a manifest of its own. There is no place for it if the copy was finished meanwhile."""
    by_place: dict[str, tuple[CopiedSegment, ...]] = {}
    for place, (_, one) in zip(group.places, done, strict=True):
        by_place[place] = (*by_place.get(place, ()), one)
    partitions = tuple(CopiedPartition(None, None, place, (), segments) for place, segments in by_place.items())
    manifest = Manifest(group.job.operation, group.job.options(), "", False, partitions, versions={"manifest": FORMAT})
    first = group.tasks[0].segment
    name = f"_done-{group.tasks[0].partition}-{first.base_offset}.json"
    with group.files.create(group.files.join(group.work, name)) as writer:
        writer.write(manifest.to_json().encode())
        writer.publish()


@contextmanager
def published(dst: str | os.PathLike[str]) -> Iterator[Work]:
    """A place for files of any kind, which gets its name, and ``_SUCCESS`` in it, when the block ends without an error.

    Raises
    ------
    InvalidArgumentError
        There is something at the path, or another call is writing there.
    """
    files, target = resolve(dst)
    target = files.canonical(target)
    if _is_taken(files, target):
        raise exists(files.url(target))
    with locked_work(files, target) as work:
        if _is_taken(files, target):
            raise exists(files.url(target))
        work.clear()
        try:
            yield work
            _succeed(work)
        except BaseException:
            work.clear()
            raise
        work.finish()


def _is_taken(files: FileSystem, target: str) -> bool:
    try:
        return not files.info(target).is_directory or bool(files.list(target))
    except FileNotFoundError:
        return False


def _succeed(work: Work) -> None:
    with work.files.create(work.files.join(work.path, SUCCESS)) as writer:
        writer.publish()


class _Sender(Runner):
    def __init__(self, send: Send, group_bytes: Callable[[int], int], side_by_side: int) -> None:
        self._send = send
        self._group_bytes = group_bytes
        self._side_by_side = side_by_side

    def run(
        self, job: CopyJob, tasks: list[CopyTask], work: Work, state: CopyState
    ) -> Iterator[tuple[int, CopiedSegment]]:
        total = sum(task.info.size or 0 for task in tasks)
        most = self._group_bytes(total)
        share = max(-(-total // self._side_by_side), PIECE_BYTES) if self._side_by_side > 1 else total
        small = [task for task in tasks if (task.info.size or 0) <= share]
        large = [task for task in tasks if (task.info.size or 0) > share]
        parts = [
            CopyPart(job, work.files, task, *cut) for task in large for cut in cuts(task.info.size or 0, most)
        ]
        groups = [_group(job, work, group) for group in _grouped(small, most)]
        try:
            if parts or groups:
                found = self._send([*parts, *groups])
                for done in found[len(parts) :]:
                    yield from done
                yield from self._join([_group(job, work, (task,)) for task in large], found[: len(parts)], parts)
        finally:
            for directory in {work.path, *(task.directory for task in tasks)}:
                with suppress(FileNotFoundError):
                    work.files.sweep(directory)  # parts, and what attempts left that were killed, or overtaken

    def _join(
        self, groups: Sequence[CopyGroup], made: Sequence[CopiedPart], parts: Sequence[CopyPart]
    ) -> Iterator[tuple[int, CopiedSegment]]:
        threads = max(1, self._side_by_side // max(len(groups), 1))
        joins = [
            JoinGroup(group, tuple(one for one, part in zip(made, parts, strict=True) if part.task is task), threads)
            for group in groups
            for task in group.tasks
        ]
        for done in self._send(joins) if joins else ():
            yield from done

    def proven(self, work: Work) -> Iterator[Manifest]:
        for path in _proofs(work):
            with suppress(KpressError), work.files.open(path) as file:
                if file.size <= _LARGEST_PROOF:
                    yield Manifest.from_json(file.read_exactly(0, file.size), file.name)

    def finish(self, work: Work, manifest: Manifest) -> None:
        for path in _proofs(work):
            work.files.delete(path)
        _succeed(work)


def _group(job: CopyJob, work: Work, tasks: tuple[CopyTask, ...]) -> CopyGroup:
    return CopyGroup(job, work.files, work.path, tasks, _places(tasks, work))


def _grouped(tasks: Sequence[CopyTask], most: int) -> Iterator[tuple[CopyTask, ...]]:
    group: list[CopyTask] = []
    size = 0
    for task in tasks:
        if group and size + (task.info.size or 0) > most:
            yield tuple(group)
            group, size = [], 0
        group.append(task)
        size += task.info.size or 0
    if group:
        yield tuple(group)


def _places(group: Sequence[CopyTask], work: Work) -> tuple[str, ...]:
    return tuple(task.directory.removeprefix(work.path).strip("/") for task in group)


def _proofs(work: Work) -> list[str]:
    try:
        found = work.files.list(work.path)
    except FileNotFoundError:
        return []
    return [info.path for info in found if info.is_file and _PROOF.fullmatch(info.name)]

