"""Transcoding copy whose segments other processes write. A door for `recordpress.spark`.

::

    driver      _copy_log: plan, lock, remaining segments ──► groups of tasks            manifest ──► final name
                                                               │                            ▲
    elsewhere                                         copy_group: each segment, its indexes ┘
                                                      then a proof, in case the driver is killed

A segment that is larger than the share of one process is copied in parts, which are joined at the end (_copy_parts). A
group may run twice, even at the same time: files are written under temporary names, and each attempt writes the same
bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias, TypeVar

from recordpress._threads import cores
from recordpress.errors import RecordpressError
from recordpress.files import LISTS_AT_ONCE, FileSystem, for_each, resolve, results
from recordpress.log._file_records import CHUNK_BYTES
from recordpress.log.copy._copy_log import (
    CopyJob,
    CopyState,
    CopyTask,
    FinishedSegment,
    Paths,
    SegmentExecutor,
    copy_log,
    copy_to_target,
    segment_name,
)
from recordpress.log.copy._copy_parts import CopiedPart, CopyPart, DamagedPart, cut_parts, join_parts
from recordpress.log.copy._producers import ProducerScan, SegmentProducers
from recordpress.log.copy._quarantine import damage_of_source, quarantine_segment
from recordpress.log.copy._segment_copy import discard
from recordpress.log.copy.manifest import (
    FORMAT,
    CopiedPartition,
    CopiedSegment,
    Manifest,
    QuarantinedSegment,
    read_manifest,
)
from recordpress.log.copy.transcode import OfProducers, OnDamage, TranscodeJob
from recordpress.log.publish.complete_directory import complete_directory, refuse_taken, succeed
from recordpress.log.publish.work_directory import WorkDirectory

__all__ = [
    "CopyGroup",
    "CopyWork",
    "OfProducers",
    "OnDamage",
    "TranscodeJob",
    "complete_directory",
    "copy_group",
    "grouped",
    "manifest_of",
    "refuse_taken",
    "transcode_by",
]

_Item = TypeVar("_Item")

_PROOF = re.compile(r"_done-[0-9]+-[0-9]+\.jsonl")


class CopyGroup(NamedTuple):
    """Segments that one process copies in order."""

    job: TranscodeJob
    files: FileSystem
    work: str
    tasks: tuple[CopyTask, ...]
    places: tuple[str, ...]

    def run(self) -> list[FinishedSegment]:
        """Copy the segments."""
        done = [(task.partition, self._copy(task)) for task in self.tasks]
        _prove(self, done)
        return done

    def _copy(self, task: CopyTask) -> CopiedSegment | QuarantinedSegment:
        path = self.files.join(task.directory, segment_name(task.segment))
        try:
            return copy_to_target(self.job, task, self.files, path, 1, discard)
        except RecordpressError as error:
            if self.job.on_corrupt == "raise":
                raise
            return quarantine_segment(task, self.files, damage_of_source(task, error))


class JoinGroup(NamedTuple):
    """Segment whose parts were all copied, or found damaged."""

    group: CopyGroup
    parts: tuple[CopiedPart | DamagedPart, ...]
    threads: int

    def run(self) -> list[FinishedSegment]:
        """Join the parts."""
        [task] = self.group.tasks
        done = [(task.partition, self._copy(task))]
        _prove(self.group, done)
        return done

    def _copy(self, task: CopyTask) -> CopiedSegment | QuarantinedSegment:
        files = self.group.files
        parts = [part for part in self.parts if isinstance(part, CopiedPart)]
        damaged = [part for part in self.parts if isinstance(part, DamagedPart)]
        if damaged:
            return quarantine_segment(task, files, damaged[0].finding)
        return join_parts(self.group.job, task, files, parts, min(self.threads, cores()))


CopyWork: TypeAlias = "CopyGroup | CopyPart | JoinGroup | ProducerScan"
SendWork: TypeAlias = "Callable[[Sequence[CopyWork]], Sequence[Any]]"


def transcode_by(
    send: SendWork,
    job: TranscodeJob,
    src: Paths,
    dst: str | os.PathLike[str],
    *,
    resume: bool = True,
    group_bytes: Callable[[int], int],
    side_by_side: Callable[[], int] = lambda: 1,
) -> Manifest:
    """Copy a log as `job` defines, in groups that other processes run.

    `send` calls `copy_group` for each group and returns the results in order. If batches are joined, an earlier call of
    `send` reads the headers of all segments; a last call joins the parts of segments. `group_bytes` maps the bytes of
    all segments to the size of a group and of a part, and `side_by_side` returns the number of groups that run at a
    time.
    """
    return copy_log(job, src, dst, resume, None, RemoteExecutor(job, send, group_bytes, side_by_side))


def copy_group(group: CopyWork) -> Any:
    """Run a group or a part in this process; the result is for `transcode_by`."""
    return group.run()


def _prove(group: CopyGroup, done: list[FinishedSegment]) -> None:
    """Write a manifest of the finished segments to the work directory, in case the driver is killed."""
    by_place: dict[str, tuple[CopiedSegment, ...]] = {}
    for place, (_, one) in zip(group.places, done, strict=True):
        if isinstance(one, CopiedSegment):
            by_place[place] = (*by_place.get(place, ()), one)
    partitions = tuple(CopiedPartition(None, None, place, (), segments) for place, segments in by_place.items())
    manifest = Manifest(group.job.operation, group.job.options(), "", False, partitions, versions={"manifest": FORMAT})
    first = group.tasks[0].segment
    name = f"_done-{group.tasks[0].partition}-{first.base_offset}.jsonl"
    manifest.write(group.files, group.work, name)


def manifest_of(src: Paths) -> Manifest | None:
    """Return the manifest in a directory; None if it is missing or unreadable."""
    if not isinstance(src, str | os.PathLike):
        return None
    files, path = resolve(src)
    try:
        return read_manifest(files, path)
    except (RecordpressError, OSError):  # a pattern, or the path of a file
        return None


class RemoteExecutor(SegmentExecutor):
    def __init__(
        self, job: TranscodeJob, send: SendWork, group_bytes: Callable[[int], int], side_by_side: Callable[[], int]
    ) -> None:
        self._job = job
        self._send = send
        self._group_bytes = group_bytes
        self._side_by_side = side_by_side

    def run(
        self, job: CopyJob, tasks: list[CopyTask], work: WorkDirectory, state: CopyState
    ) -> Iterator[FinishedSegment]:
        total = sum(task.size or 0 for task in tasks)
        most = self._group_bytes(total)
        cores = self._side_by_side()
        share = max(-(-total // cores), CHUNK_BYTES) if cores > 1 else total
        small = [task for task in tasks if (task.size or 0) <= share]
        large = [task for task in tasks if (task.size or 0) > share]
        quarantines = self._job.on_corrupt == "quarantine"
        parts = [
            CopyPart(self._job, work.files, task, *cut, quarantines)
            for task in large
            for cut in cut_parts(task.size or 0, most)
        ]
        groups = [self._group(work, group) for group in grouped(small, lambda task: task.size or 0, most)]
        try:
            if parts or groups:
                found = self._send([*parts, *groups])
                for done in found[len(parts) :]:
                    yield from done
                joins = [self._group(work, (task,)) for task in large]
                yield from self._join(joins, found[: len(parts)], parts, cores)
        finally:
            # removes parts, and files of attempts that were killed or overtaken
            for_each({work.path, *(task.directory for task in tasks)}, work.files.sweep, LISTS_AT_ONCE)

    def scan(self, scan: ProducerScan) -> list[SegmentProducers]:
        share = -(-len(scan.segments) // self._side_by_side()) or 1
        starts = range(0, len(scan.segments), share)
        scans = [scan._replace(segments=scan.segments[start : start + share]) for start in starts]
        found = self._send(scans) if scans else ()
        return [segment for part in found for segment in part]

    def _join(
        self,
        groups: Sequence[CopyGroup],
        made: Sequence[CopiedPart | DamagedPart],
        parts: Sequence[CopyPart],
        cores: int,
    ) -> Iterator[FinishedSegment]:
        threads = max(1, cores // max(len(groups), 1))
        joins = [
            JoinGroup(group, tuple(one for one, part in zip(made, parts, strict=True) if part.task is task), threads)
            for group in groups
            for task in group.tasks
        ]
        for done in self._send(joins) if joins else ():
            yield from done

    def _group(self, work: WorkDirectory, tasks: tuple[CopyTask, ...]) -> CopyGroup:
        return CopyGroup(self._job, work.files, work.path, tasks, _places(tasks, work))

    def load_proofs(self, work: WorkDirectory) -> Iterator[Manifest]:
        def load(path: str) -> Manifest | None:
            with suppress(RecordpressError):
                return read_manifest(work.files, work.path, work.files.name(path))
            return None

        return (proof for _, proof in results(_proofs(work), load, LISTS_AT_ONCE) if proof is not None)

    def finish(self, work: WorkDirectory, manifest: Manifest) -> None:
        for_each(_proofs(work), work.files.delete, LISTS_AT_ONCE)
        succeed(work)


def grouped(items: Iterable[_Item], size_of: Callable[[_Item], int], most: int) -> Iterator[tuple[_Item, ...]]:
    """Yield neighbouring items in groups of at most this size; a larger item is alone in its group."""
    group: list[_Item] = []
    size = 0
    for item in items:
        own = size_of(item)
        if group and size + own > most:
            yield tuple(group)
            group, size = [], 0
        group.append(item)
        size += own
    if group:
        yield tuple(group)


def _places(group: Sequence[CopyTask], work: WorkDirectory) -> tuple[str, ...]:
    return tuple(task.directory.removeprefix(work.path).strip("/") for task in group)


def _proofs(work: WorkDirectory) -> list[str]:
    try:
        found = work.files.list(work.path)
    except FileNotFoundError:
        return []
    return [info.path for info in found if info.is_file and _PROOF.fullmatch(info.name)]
