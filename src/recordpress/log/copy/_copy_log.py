"""Copy of a log: segments are copied separately, several in parallel, and a manifest describes the result."""

from __future__ import annotations

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar

from recordpress._arguments import check_flags
from recordpress._file_names import (
    LEADER_EPOCH_CHECKPOINT,
    PARTITION_METADATA,
    PRODUCER_SNAPSHOT_FILE_SUFFIX,
    TXN_INDEX_FILE_SUFFIX,
    TopicPartition,
)
from recordpress._version import VERSION
from recordpress.codecs.choice import CodecChoice
from recordpress.errors import ArgumentTypeError, CorruptRecordError, InvalidArgumentError, RecordpressError
from recordpress.files import (
    LISTS_AT_ONCE,
    FileSystem,
    LocalFileSystem,
    for_each,
    is_unfinished,
    named,
    remove_if_empty,
    resolve,
    results,
)
from recordpress.files.read_back import COPY_RULE, file_checksum
from recordpress.log._log import Log
from recordpress.log._open import open_paths
from recordpress.log._progress import Progress, ProgressCallback
from recordpress.log._segment import Partition, Segment
from recordpress.log.check.build_sidecars import Indexes
from recordpress.log.copy._producers import (
    Expiry,
    ProducerScan,
    SegmentProducers,
    SmallFiles,
    last_snapshot,
    marks_of,
    snapshot_offsets,
)
from recordpress.log.copy._recompress_threads import RecompressThreads
from recordpress.log.copy._segment_copy import SegmentCopy, copy_segment
from recordpress.log.copy._settle_marks import NO_MARKS, Marks
from recordpress.log.copy.manifest import (
    FORMAT,
    MANIFEST,
    CopiedPartition,
    CopiedSegment,
    Manifest,
    QuarantinedSegment,
    SourceFile,
    read_manifest,
)
from recordpress.log.publish.lease import is_lease
from recordpress.log.publish.work_directory import WorkDirectory, exists, locked_work, refuse
from recordpress.log.sidecars.producer_snapshot import ProducerState
from recordpress.typing import Integer

Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Log

_Result = TypeVar("_Result")
FinishedSegment: TypeAlias = "tuple[int, CopiedSegment | QuarantinedSegment]"

_SIGNALS_SECONDS = 0.1  # longest delay of a signal, and interval of progress reports
_SAVED_SECONDS = 1.0  # interval between writes of the manifest; chosen, not measured
_SAVED_SHARE = 20  # and at least this many times the duration of the last write, which grows with the copy
# Files that refer to offsets stay valid for the copy.
SUFFIXES = (PRODUCER_SNAPSHOT_FILE_SUFFIX, TXN_INDEX_FILE_SUFFIX)
_NAMES = (LEADER_EPOCH_CHECKPOINT, PARTITION_METADATA)


class CopyJob(ABC):
    """Options of a copy, checked once, and the work for each segment."""

    operation: ClassVar[str]
    with_indexes: ClassVar[bool]  # whether each segment gets its indexes when it is copied
    codec: CodecChoice
    threads: Integer
    expiry: Expiry | None = None  # of producers; None: no batches are joined

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """Return the options that decide which bytes are written, for the manifest."""

    @abstractmethod
    def recompressor(self, threads: int = 1, file: str | None = None, marks: Marks = NO_MARKS) -> RecompressThreads:
        """Return the object that rewrites the entries of one segment."""

    @abstractmethod
    def preview(self, partitions: tuple[Partition, ...]) -> Any:
        """Return the result of a dry run."""

    def check_loss(self, partitions: tuple[Partition, ...]) -> dict[str, int]:
        """Count the losses of the copy by kind; raise an error if one is not allowed."""
        return {}

    def check_segment(self, recompressor: RecompressThreads, file: str) -> None:  # noqa: B027 - a copy loses nothing
        """Raise an error if a segment lost more than `check_loss` allowed."""

    def write_sidecars(self, partition: Partition, files: FileSystem, directory: str) -> list[str]:
        """Write the files next to the segments of the copy; return their names."""
        return copy_small_files(partition, files, directory)

    def run(
        self, src: Paths, dst: str | os.PathLike[str], resume: bool, dry_run: bool, progress: ProgressCallback | None
    ) -> Any:
        """Copy a log, or return the result of a dry run."""
        check_flags(dry_run=dry_run)
        if dry_run:
            _, opened, _, _ = open_source(src, dst, resume, progress)
            return self.preview(opened.partitions)
        return copy_log(self, src, dst, resume, progress)


def number_of(value: Integer | None) -> int | None:
    """Return a size for a manifest; None stands for the default."""
    return None if value is None else int(value)


class CopyTask(NamedTuple):
    """A segment to copy, its directory in the copy (empty for a single file), and the state of its file."""

    partition: int
    segment: Segment
    directory: str
    size: int | None
    modified: float | None
    marks: Marks = NO_MARKS


class ScannedPartition(NamedTuple):
    """Producers of each segment, and the states in the last snapshot."""

    segments: list[SegmentProducers]
    states: list[ProducerState]


class SegmentExecutor:
    """Executor that copies the segments with threads of this process."""

    def run(
        self, job: CopyJob, tasks: list[CopyTask], work: WorkDirectory, state: CopyState
    ) -> Iterator[FinishedSegment]:
        """Yield finished segments, each with the number of its partition."""
        side_by_side = max(1, min(int(job.threads), len(tasks)))
        inside = max(1, int(job.threads) // side_by_side)
        waiting = sorted(tasks, key=lambda task: task.size or 0)  # the largest first: threads end together
        running: dict[Future[CopiedSegment], int] = {}
        pool = ThreadPoolExecutor(side_by_side, thread_name_prefix="recordpress-copy")
        try:
            while waiting or running:
                while waiting and len(running) < side_by_side:
                    task = waiting.pop()
                    path = work.files.join(task.directory, segment_name(task.segment))
                    future = pool.submit(state.run, copy_to_target, job, task, work.files, path, inside, state.step)
                    running[future] = task.partition
                finished, _ = wait(running, timeout=_SIGNALS_SECONDS, return_when=FIRST_COMPLETED)
                for future in finished:
                    number = running.pop(future)
                    one = future.result()
                    state.segment_done()
                    yield number, one
                state.report()
        finally:
            state.cancel()
            pool.shutdown(wait=True, cancel_futures=True)

    def scan(self, scan: ProducerScan) -> list[SegmentProducers]:
        """Read the headers of segments."""
        return scan.run()

    def load_proofs(self, work: WorkDirectory) -> Iterator[Manifest]:
        """Yield manifests of finished segments that earlier calls left in addition to the main manifest."""
        return iter(())

    def finish(self, work: WorkDirectory, manifest: Manifest) -> None:
        """Clean up when all segments exist, before the copy gets its name."""


class _Cancelled(Exception):
    pass


def open_source(
    src: Paths, dst: str | os.PathLike[str], resume: bool, progress: ProgressCallback | None
) -> tuple[Paths, Log, FileSystem, str]:
    """Resolve the arguments of a call: paths (an iterable is read once), their logs, and the target."""
    check_flags(resume=resume)
    if progress is not None and not callable(progress):
        raise ArgumentTypeError(f"progress must be callable, not {type(progress).__name__}", field="progress")
    with named("src"):
        if not isinstance(src, str | os.PathLike) and isinstance(src, Iterator):
            src = list(src)
        opened = open_paths(src, None)
    with named("dst"):
        files, target = resolve(dst)
    return src, opened, files, target


def copy_log(
    job: CopyJob,
    src: Paths,
    dst: str | os.PathLike[str],
    resume: bool,
    progress: ProgressCallback | None,
    runner: SegmentExecutor | None = None,
) -> Manifest:
    """Run a copy job on a log; the target appears when the copy is complete."""
    src, opened, files, target = open_source(src, dst, resume, progress)
    target = target_of(files, target)
    single = _single_segment(src, opened.partitions)
    refuse_inside(src, [] if single else opened.partitions, files, target)
    places = [] if single else _places(opened.partitions, src, files, target)
    manifest = Manifest(
        job.operation,
        job.options(),
        _shown(src),
        False,
        tuple(
            CopiedPartition(partition.topic, partition.partition, place)
            for partition, place in zip(opened.partitions, places, strict=False)
        ),
        tuple(vars(finding) for finding in opened.skipped),
        {"manifest": FORMAT, "recordpress": VERSION},
    )
    if single:
        return _copy_single(job, single, opened.partitions[0], manifest, files, target, progress)
    return _copy_all(job, opened.partitions, manifest, files, target, resume, progress, runner or SegmentExecutor())


def _shown(src: Paths) -> str:
    return ", ".join(files.url(files.canonical(path)) for files, path in map(resolve, _several(src)))


# ---- places


def _single_segment(src: object, partitions: tuple[Partition, ...]) -> Segment | None:
    """Return the segment if `src` is one file."""
    if isinstance(src, Log):
        src = src.source
    if not isinstance(src, str | os.PathLike):
        return None
    files, path = resolve(src)
    info = files.find(path)  # None for a pattern
    return partitions[0].segments[0] if info and info.is_file else None


def _places(partitions: tuple[Partition, ...], src: object, files: FileSystem, target: str) -> list[str]:
    """Return the directory of each partition in the copy."""
    if isinstance(src, Log):
        src = src.source
    if len(partitions) == 1 and isinstance(src, str | os.PathLike):
        source, path = resolve(src)
        is_own = source.url(source.canonical(path)) == partitions[0].url
        if is_own and (partitions[0].topic is None or TopicPartition.of_directory(files.name(target))):
            return [""]
    places = [str(partition) if partition.topic is not None else "" for partition in partitions]
    if len(set(places)) < len(places):
        raise InvalidArgumentError("several sources would have the same directory in the copy", field="src")
    return places


def refuse_inside(
    src: Paths, partitions: Iterable[Partition], files: FileSystem, target: str, filesystem: object = None
) -> None:
    """Raise an error if the target is inside one of the sources: the copy would become part of its source."""
    places = {resolve(path, filesystem) for path in _several(src)} | {
        (segment.filesystem, segment.directory) for partition in partitions for segment in partition.segments
    }
    for source, path in places:
        shown = source.url(source.canonical(path))
        if type(source) is type(files) and f"{files.url(target)}/".startswith(f"{shown}/"):
            raise InvalidArgumentError(f"{files.url(target)} lies inside the source {shown}", field="dst")


def _several(src: Paths) -> list[str | os.PathLike[str]]:
    if isinstance(src, Log):
        return _several(src.source)
    return [src] if isinstance(src, str | os.PathLike) else list(src)


def target_of(files: FileSystem, dst: str) -> str:
    """Return the target's path with the links in its directories resolved; a target that is a link is refused later."""
    if files.name(dst) in ("", ".", ".."):
        return files.canonical(dst)
    return files.join(files.canonical(files.parent(dst)), files.name(dst))


# ---- one segment


def copy_to_target(
    job: CopyJob, task: CopyTask, files: FileSystem, target: str, threads: int, step: Callable[[int], None]
) -> CopiedSegment:
    segment, indexes = task.segment, Indexes(task.segment)
    look = indexes.look if job.with_indexes and task.directory else None
    with segment.records() as file:
        recompressor = job.recompressor(threads, file.path, task.marks)
        copy = copy_segment(file, recompressor, files, target, step, look)
    try:
        job.check_segment(recompressor, segment.url)
    except CorruptRecordError:
        files.delete(target)
        raise
    done = describe_copy(task, files, target, copy)
    indexes.write(files, task.directory)
    return done


def describe_copy(task: CopyTask, files: FileSystem, target: str, copy: SegmentCopy) -> CopiedSegment:
    """Return the manifest's entry for a written segment; delete the segment if its source changed."""
    segment = task.segment
    try:
        refuse_changed(task)
        refuse_another_end(task, copy)
    except CorruptRecordError:
        files.delete(target)
        raise
    before, after = copy.before, copy.after
    return CopiedSegment(
        files.name(target),
        segment.base_offset,
        after.next_offset,
        after.records,
        after.batches,
        after.bytes,
        after.compression_types,
        after.digest,
        f"{copy.crc32c:08x}",
        copy.already,
        copy.not_smaller,
        SourceFile(
            segment.url,
            before.bytes,
            before.batches,
            task.modified,
            before.compression_types,
            before.trailing_bytes,
        ),
        copy.settled,
        task.marks.checksum(),
    )


def refuse_another_end(task: CopyTask, copy: SegmentCopy) -> None:
    """Raise an error if a segment and its copy end at different offsets."""
    if copy.before.next_offset != copy.after.next_offset:
        message = f"the copy ends at offset {copy.after.next_offset} instead of {copy.before.next_offset}"
        raise CorruptRecordError(message, file=task.segment.url, rule=COPY_RULE)


def refuse_changed(task: CopyTask) -> None:
    """Raise an error if a closed segment was replaced or changed."""
    segment = task.segment
    now = segment.filesystem.info(segment.path)
    times = now.modified, task.modified
    if not isinstance(segment.filesystem, LocalFileSystem):  # listings of some stores are more precise than HEAD
        times = int(times[0] or 0), int(times[1] or 0)
    if not segment.is_last and (now.size != task.size or times[0] != times[1]):
        raise CorruptRecordError(
            "the file was replaced or written to while it was read", file=segment.url, rule="a closed segment stays"
        )


def _copy_single(
    job: CopyJob,
    segment: Segment,
    partition: Partition,
    manifest: Manifest,
    files: FileSystem,
    target: str,
    progress: ProgressCallback | None,
) -> Manifest:
    """Copy one file to one file."""
    with locked_work(files, target, is_file=True):
        if files.find(target):
            raise exists(files.url(target))
        if job.expiry and job.expiry.settles:
            message = "producers can be settled only in whole partitions: later segments may hold more of their batches"
            raise InvalidArgumentError(message, field="producers")
        manifest = replace(manifest, lost=job.check_loss((partition,)))
        info = segment.filesystem.info(segment.path)
        state = CopyState(info.size or 0, 1, progress)
        [task] = plan_joins(job, (partition,), [CopyTask(0, segment, "", info.size, info.modified)], SegmentExecutor())
        done = copy_to_target(job, task, files, target, int(job.threads), state.step)
        state.segment_done()
        state.report()
    copied = CopiedPartition(partition.topic, partition.partition, "", (), (done,))
    return replace(manifest, partitions=(copied,), complete=True)


# ---- all segments


class CopyState:
    """State shared by the workers and the calling thread."""

    def __init__(
        self, bytes_total: int, segments_total: int, progress: ProgressCallback | None, bytes_done: int = 0
    ) -> None:
        self._lock = threading.Condition()
        self._running = 0
        self._is_cancelled = False
        self.bytes_done, self.bytes_total = bytes_done, bytes_total
        self.segments_done, self.segments_total = 0, segments_total
        self.progress = progress
        self.next_save = float("-inf")

    def run(self, work: Callable[..., _Result], *arguments: object) -> _Result:
        """Call `work` in a worker thread, unless the workers were cancelled."""
        with self._lock:
            if self._is_cancelled:
                raise _Cancelled
            self._running += 1
        try:
            return work(*arguments)
        finally:
            with self._lock:
                self._running -= 1
                self._lock.notify_all()

    def step(self, size: int) -> None:
        with self._lock:
            if self._is_cancelled:
                raise _Cancelled
            self.bytes_done += size

    def cancel(self) -> None:
        """Stop the workers, and wait until they have cleaned up: a pool does not wait for a thread if the caller was
        interrupted while it started that thread."""
        with self._lock:
            self._is_cancelled = True
            self._lock.wait_for(lambda: not self._running)

    def segment_done(self) -> None:
        self.segments_done += 1

    def report(self) -> None:
        if self.progress:
            self.progress(Progress(self.bytes_done, self.bytes_total, self.segments_done, self.segments_total))


def _copy_all(
    job: CopyJob,
    partitions: tuple[Partition, ...],
    manifest: Manifest,
    files: FileSystem,
    target: str,
    resume: bool,
    progress: ProgressCallback | None,
    runner: SegmentExecutor,
) -> Manifest:
    if _is_taken(files, target):
        refuse(files, target)
    with locked_work(files, target) as work:
        if _is_taken(files, target):
            raise exists(files.url(target))
        there = files.find(target)
        finished = read_manifest(files, target) if there and there.is_directory else None
        if finished is not None and finished.complete:
            return _check_finished(finished, manifest, partitions, files, target)
        manifest = replace(manifest, lost=job.check_loss(partitions))
        if not resume:
            work.clear()
        tasks, done = _plan_work(job, partitions, manifest, work, resume, runner)
        kept = {(manifest.partitions[number].directory, f"{one.base_offset:020d}") for number, one in done}
        _remove_others(work, kept, {place.directory for place in manifest.partitions})
        state = CopyState(
            sum(task.size or 0 for task in tasks) + sum(one.source.bytes for _, one in done),
            len(tasks) + len(done),
            progress,
            sum(one.source.bytes for _, one in done),
        )
        state.segments_done = resumed = len(done)
        try:
            if work.path == target:  # the manifest comes first, and marks the owner of the directory
                _with_segments(manifest, done).write(files, target)
            for_each({"", *(place.directory for place in manifest.partitions)}, work.directory, LISTS_AT_ONCE)
            for number, one in runner.run(job, tasks, work, state):
                done.append((number, one))
                _save(manifest, done, work, state)
            pairs = zip(partitions, manifest.partitions, strict=True)
            at_once = 1 if isinstance(files, LocalFileSystem) else LISTS_AT_ONCE
            copied = tuple(one for _, one in results(pairs, partial(_with_sidecars, job, work), at_once))
        except BaseException:
            if done:
                _with_segments(manifest, done).write(files, work.path)
            elif not any(True for _ in runner.load_proofs(work)):
                work.clear()
            raise
        whole = replace(_with_segments(replace(manifest, partitions=copied), done), complete=True)
        runner.finish(work, whole)
        whole.write(files, work.path)
        work.finish()
    return replace(whole, resumed_segments=resumed)


def _with_sidecars(job: CopyJob, work: WorkDirectory, place: tuple[Partition, CopiedPartition]) -> CopiedPartition:
    partition, copied = place
    names = job.write_sidecars(partition, work.files, work.directory(copied.directory))
    return replace(copied, files=tuple(names))


def _is_taken(files: FileSystem, target: str) -> bool:
    """Return whether the target is anything but an empty directory or a copy with a manifest; unfinished files are
    ignored."""
    info = files.find(target)
    if info is None:
        return False
    if not info.is_directory or info.is_link:
        return True
    names = {one.name for one in files.list(target) if not is_unfinished(one.name) and not is_lease(one.name)}
    return bool(names) and MANIFEST not in names


def _remove_others(work: WorkDirectory, kept: Set[tuple[str, str]], wanted: Set[str]) -> None:
    """Remove the files of an earlier call whose segments are not part of this copy: `kept` has the directory and stem
    of each finished segment, `wanted` the directories of the copy."""

    def remove(directory: str) -> None:
        path = work.files.join(work.path, directory) if directory else work.path
        with suppress(FileNotFoundError):
            for info in work.files.list(path):
                stem = info.name.partition(".")[0]
                is_of_log = info.name in _NAMES or (len(stem) == 20 and stem.isdigit())
                if info.is_file and is_of_log and (directory, stem) not in kept:
                    work.files.delete(info.path)
            if directory and directory not in wanted:
                remove_if_empty(work.files, path)

    for_each({"", *wanted, *_earlier_directories(work)}, remove, LISTS_AT_ONCE)


def _earlier_directories(work: WorkDirectory) -> set[str]:
    """Return the directories of an earlier call; in a store, which may hold other objects, read its manifest."""
    if work.path != work.target:
        return {info.name for info in work.files.list(work.path) if info.is_directory}
    with suppress(RecordpressError):
        if (earlier := read_manifest(work.files, work.path)) is not None:
            return {place.directory for place in earlier.partitions}
    return set()


def _save(manifest: Manifest, done: list[FinishedSegment], work: WorkDirectory, state: CopyState) -> None:
    """Write the manifest at intervals; a resumed copy repeats the segments that it lacks."""
    begun = time.monotonic()
    if begun > state.next_save:
        _with_segments(manifest, done).write(work.files, work.path)
        now = time.monotonic()
        state.next_save = now + max(_SAVED_SECONDS, _SAVED_SHARE * (now - begun))


def _with_segments(manifest: Manifest, done: list[FinishedSegment]) -> Manifest:
    """Return the manifest with the finished segments of each partition, in order."""
    copied: dict[int, list[CopiedSegment]] = {}
    kept: dict[int, list[QuarantinedSegment]] = {}
    for number, one in sorted(done, key=lambda pair: pair[1].base_offset):
        if isinstance(one, CopiedSegment):
            copied.setdefault(number, []).append(one)
        else:
            kept.setdefault(number, []).append(one)
    partitions = (
        replace(one, segments=tuple(copied.get(number, ())), quarantined=tuple(kept.get(number, ())))
        for number, one in enumerate(manifest.partitions)
    )
    return replace(manifest, partitions=tuple(partitions))


def _check_finished(
    finished: Manifest, manifest: Manifest, partitions: tuple[Partition, ...], files: FileSystem, target: str
) -> Manifest:
    """Return the existing copy if its source and options are the same, after checking its files."""
    wanted = {
        (place.directory, segment.base_offset, *_state_of(segment))
        for partition, place in zip(partitions, manifest.partitions, strict=True)
        for segment in partition.segments
    }
    there = {
        (place.directory, one.base_offset, one.source.bytes, one.source.modified)
        for place in finished.partitions
        for one in _files_of(place)
    }
    if (finished.operation, finished.options) != (manifest.operation, manifest.options) or wanted != there:
        raise InvalidArgumentError(
            f"{files.url(target)} exists, and is a copy of another source or with other options: "
            "nothing is overwritten",
            field="dst",
        )
    for place in finished.partitions:
        for one in _files_of(place):
            path = files.join(target, *filter(None, [place.directory]), one.file)
            if not _is_as_written(files, path, one):
                raise CorruptRecordError("the file differs from the manifest", file=files.url(path), rule="manifest")
    return replace(finished, resumed_segments=len(there))


def _files_of(place: CopiedPartition) -> Iterator[CopiedSegment | QuarantinedSegment]:
    yield from place.segments
    yield from place.quarantined


def segment_name(segment: Segment) -> str:
    return f"{segment.base_offset:020d}.log"


def _plan_work(
    job: CopyJob,
    partitions: tuple[Partition, ...],
    manifest: Manifest,
    work: WorkDirectory,
    resume: bool,
    runner: SegmentExecutor,
) -> tuple[list[CopyTask], list[FinishedSegment]]:
    """Return the segments to copy, and the finished segments that the manifest proves."""
    proven = _finished_segments(manifest, work, runner) if resume else {}
    tasks: list[CopyTask] = []
    done: dict[str, tuple[int, CopiedSegment]] = {}  # by URL of the source
    for number, (partition, place) in enumerate(zip(partitions, manifest.partitions, strict=True)):
        directory = work.files.join(work.path, place.directory) if place.directory else work.path
        for segment in partition.segments:
            size, modified = _state_of(segment)
            one = proven.get((place.directory, segment_name(segment)))
            path = work.files.join(directory, segment_name(segment))
            source = one and (one.source.file, one.source.bytes, one.source.modified)
            tasks.append(CopyTask(number, segment, directory, size, modified))
            if one and source == (segment.url, size, modified) and _is_as_written(work.files, path, one):
                done[segment.url] = number, one
    open_ones = {task.partition for task in tasks if task.segment.url not in done}
    tasks = plan_joins(job, partitions, [task for task in tasks if task.partition in open_ones], runner)
    for task in tasks:
        _, found = done.get(task.segment.url, (0, None))
        if found and found.marks != task.marks.checksum():  # the rest of the partition has changed
            del done[task.segment.url]
    return [task for task in tasks if task.segment.url not in done], list(done.values())


def _state_of(segment: Segment) -> tuple[int | None, float | None]:
    """Return the size and time of a file from its listing; query the file if the listing lacks either."""
    if segment.size is not None and segment.modified is not None:
        return segment.size, segment.modified
    info = segment.filesystem.info(segment.path)
    return info.size, info.modified


def plan_joins(
    job: CopyJob, partitions: tuple[Partition, ...], tasks: list[CopyTask], runner: SegmentExecutor
) -> list[CopyTask]:
    """Return the tasks with the marks of their batches, which depend on all segments of the partition."""
    if job.expiry is None:
        return tasks
    chosen = [partitions[number] for number in sorted({task.partition for task in tasks})]
    marks = marks_by_segment(chosen, scan_partitions(chosen, job.expiry.settles, runner.scan), job.expiry)
    return [task._replace(marks=marks[task.segment.url]) for task in tasks]


def scan_partitions(
    partitions: Sequence[Partition],
    settles: bool,
    scan: Callable[[ProducerScan], list[SegmentProducers]] = ProducerScan.run,
) -> list[ScannedPartition]:
    """Read the headers of all segments, and the last snapshots."""
    snapshots = [small_files(partition) for partition in partitions]
    offsets = [snapshot_offsets(names) for names in snapshots]
    every = [(segment, found) for one, found in zip(partitions, offsets, strict=True) for segment in one.segments]
    scanned = iter(scan(ProducerScan(tuple(every), settles)))
    return [
        ScannedPartition(list(islice(scanned, len(partition.segments))), last_snapshot(names))
        for partition, names in zip(partitions, snapshots, strict=True)
    ]


def marks_by_segment(
    partitions: Sequence[Partition], scanned: Sequence[ScannedPartition], expiry: Expiry | None
) -> dict[str, Marks]:
    """Return the marks of each segment by URL; {} if no batches are joined."""
    if expiry is None:
        return {}
    return {
        segment.url: marks
        for partition, found in zip(partitions, scanned, strict=True)
        for segment, marks in zip(
            partition.segments, marks_of(partition.segments, found.segments, found.states, expiry), strict=True
        )
    }


def _finished_segments(
    manifest: Manifest, work: WorkDirectory, runner: SegmentExecutor
) -> dict[tuple[str, str], CopiedSegment]:
    found = list(runner.load_proofs(work))
    with suppress(RecordpressError):  # a damaged manifest proves nothing
        if (earlier := read_manifest(work.files, work.path)) is not None:
            found.append(earlier)
    return {
        (place.directory, one.file): one
        for earlier in found
        if (earlier.operation, earlier.options) == (manifest.operation, manifest.options)
        for place in earlier.partitions
        for one in place.segments
    }


def _is_as_written(files: FileSystem, path: str, segment: CopiedSegment | QuarantinedSegment) -> bool:
    try:
        with files.open(path) as file:
            return file.size == segment.bytes and f"{file_checksum(file):08x}" == segment.crc32c
    except FileNotFoundError:
        return False


def copy_small_files(
    partition: Partition,
    target: FileSystem,
    directory: str,
    names: tuple[str, ...] = _NAMES,
    suffixes: tuple[str, ...] = SUFFIXES,
    changed: Mapping[str, bytes | None] = MappingProxyType({}),
) -> list[str]:
    """Copy the files next to the segments that refer to offsets; `changed` has new bytes, or None to omit a file."""
    found = small_files(partition, names, suffixes)
    wanted = [name for name in sorted(found) if changed.get(name, b"") is not None]
    for name in wanted:
        files, path = found[name]
        with files.open(path) as file:
            target.create_file(target.join(directory, name), changed.get(name) or file.read_exactly(0, file.size))
    return wanted


def list_copied_segments(partition: Partition, files: FileSystem, directory: str) -> list[Segment]:
    """Return a partition's segments in the copy, without quarantined segments."""
    made = (Segment(files, directory, segment_name(one), one.base_offset) for one in partition.segments)
    return [one for one in made if files.find(one.path)]


def small_files(
    partition: Partition, names: tuple[str, ...] = (), suffixes: tuple[str, ...] = (PRODUCER_SNAPSHOT_FILE_SUFFIX,)
) -> SmallFiles:
    """Return the files with these names or suffixes, except a tier's snapshots, which belong to segment ends."""
    found: SmallFiles = {}
    if not partition.segments:
        return found
    files = partition.segments[0].filesystem
    for name, info in partition.others.items():
        if name in names or name.endswith(suffixes):
            found[name] = files, info.path
    for segment in partition.segments:
        for suffix in suffixes:
            if suffix in segment.suffixes and not (segment.is_tiered and suffix == PRODUCER_SNAPSHOT_FILE_SUFFIX):
                found[f"{segment.base_offset:020d}{suffix}"] = segment.filesystem, segment.path_of(suffix)
    return found
