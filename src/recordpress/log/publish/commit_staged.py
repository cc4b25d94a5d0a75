"""The commit of staged segments to their log; see `recordpress.log.publish.staging`.

::

    lock ──► finish or delete other jobs ──► plan ──► journal ──► roll forward ──► _SUCCESS
                                                              └─► in a store, first: remaining files, then a commit

Rolling a journal forward is idempotent: it is repeated until it succeeds.

On a local disk, the lock ends with its process, and the journal is the commit. In a store, the lock is a lease, which
a job can lose without notice while it waits. So all its writes are fenced, and its commit is the next of a numbered
series of files: only one job can create it (_commits).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Literal, TypeAlias, TypeVar

from recordpress._file_names import LOG_FILE_SUFFIX, TopicPartition
from recordpress.errors import InvalidArgumentError, RecordpressError, StorageError
from recordpress.files import FileInfo, FileSystem, LocalFileSystem, for_each, is_unfinished, remove_if_empty, results
from recordpress.log._commits import Commit, add_commit, last_commit
from recordpress.log._end_offset import end_offset
from recordpress.log._interrupted import JOURNAL, is_committed, staged_jobs
from recordpress.log._layout import SEGMENT_FILE, partition_in
from recordpress.log.check.broker_lock import refuse_running_broker
from recordpress.log.publish._journal import (
    Journal,
    PlannedFile,
    PlannedPartition,
    read_journal,
    written_batches,
    written_ids,
)
from recordpress.log.publish._roll_forward import CALLS_AT_ONCE, prepare, roll_forward
from recordpress.log.publish.lease import HeldError, file_lock, lease, wait_for_others
from recordpress.log.publish.plan import JoinedSegment, in_order, segments_of, with_joined
from recordpress.log.publish.staging import (
    INDEX_SUFFIXES,
    MergedSegment,
    Stage,
    StagedSegment,
    is_dead,
)

Scope: TypeAlias = Literal["topics", "path"]

_Held = TypeVar("_Held")
_LOGGER = logging.getLogger("recordpress.log")

_CHECKS_COUNT_FOR = 1.0  # seconds: far less than between the end of a lease and its expiry for others
_LOOK_EVERY = 0.1  # seconds between attempts to lock a local file; chosen, not measured
_LISTED_AT_ONCE = 8  # directories, whose files are held in memory; chosen, not measured
_ENDS_AT_ONCE = 16  # partitions whose last segments are read; chosen, not measured
_REPORTED_EVERY = 600.0  # seconds between warnings of a job that waits; chosen, not measured
# Seconds without a new file after which a job of another host counts as ended; chosen, not measured. If it still runs,
# its commit fails: its files are gone.
_FORGOTTEN = 24 * 3600.0


@dataclass(frozen=True)
class PublishedPartition:
    """Records that a job added to one partition."""

    topic: str
    partition: int
    first_offset: int
    next_offset: int
    records: int
    bytes: int
    segments: int


def commit_staged(
    stage: Stage,
    staged: Sequence[StagedSegment],
    joined: Sequence[JoinedSegment] = (),
    *,
    segment_bytes: int,
    index_interval_bytes: int,
    overwrite: Scope | None = None,
    write_id: str | None = None,
    batch_id: int | None = None,
) -> list[PublishedPartition]:
    """Add the segments of a job to the log: all of them, or none; return the changes, or [] if the job was committed
    before.

    Segments of a partition are in the order of their records, unless they have offsets; segments without offsets
    follow the others. Small segments that no task `joined` are joined here up to `segment_bytes`. With `overwrite`, a
    job replaces all partitions of its topics or of the log, but nothing if it has no segments. `write_id` names the
    job, or with `batch_id` the stream: nothing is written if that job, that batch or a later one was committed.
    """
    check_target(stage.files, stage.target)
    with _locked(stage) as stage:
        last = last_commit(stage.files, stage.target)
        _settle(stage, last)
        if write_id is not None and _was_written(stage, write_id, batch_id):
            stage.clear()
            return []
        places = _places(staged, joined)
        _check_staged(stage, [one for ordered in places.values() for one in ordered])
        old = _replaced(stage, staged, overwrite)
        published: list[PublishedPartition] = []
        if places:
            journal = Journal(stage.files, stage.path, index_interval_bytes, write_id, batch_id, bool(old))
            changed = sorted({*places, *old})
            before = _contents(stage, changed)
            ends = {} if overwrite else _ends(stage, places, complete=True)
            is_local = isinstance(stage.files, LocalFileSystem)
            stage.files.make_directory(stage.path)
            journal.write(_plan(places, ends, old, segment_bytes, is_local, published))
            if not is_local:
                prepare(stage.files, stage.target, journal)
                if before != _contents(stage, changed):
                    raise StorageError(
                        "another program changed a partition while this job prepared its files: write the rows again",
                        file=stage.files.url(stage.target),
                    )
                add_commit(stage.files, stage.target, last, stage.job)
            _finish(stage.files, stage.target, stage.path)
        else:
            stage.clear()
    return published


def settle(stage: Stage) -> None:
    """Finish committed jobs that were killed, and delete what other jobs left, before a job lists the log dir."""
    check_target(stage.files, stage.target)
    with _locked(stage) as stage:
        _settle(stage, last_commit(stage.files, stage.target))


def commit_merged(stage: Stage, merged: Sequence[MergedSegment]) -> None:
    """Replace segments by merged ones: all of them, or none."""
    with _locked(stage) as stage:
        last = last_commit(stage.files, stage.target)
        _settle(stage, last)
        _check_merged(stage, merged)
        Journal(stage.files, stage.path, 0, merges=True).write(_plan_merged(merged))
        if not isinstance(stage.files, LocalFileSystem):
            _check_merged(stage, merged)
            add_commit(stage.files, stage.target, last, stage.job)
        _finish(stage.files, stage.target, stage.path)


def _check_merged(stage: Stage, merged: Sequence[MergedSegment]) -> None:
    """Raise an error if a file of a task is gone, or a segment changed since it was read."""

    files = stage.files

    def listed(*place: str) -> dict[str, FileInfo]:
        with suppress(FileNotFoundError):
            return {info.name: info for info in files.list(files.join(*place))}
        return {}

    def check(partition: tuple[str, list[MergedSegment]]) -> None:
        directory, segments = partition
        there = listed(stage.target, directory)
        for one in segments:
            made = listed(stage.path, one.attempt)
            for name, size in one.files.items():
                if name not in made or made[name].size != size:
                    gone = files.url(files.join(stage.path, one.attempt, name))
                    raise StorageError("this file, written by a task, is missing or its size has changed", file=gone)
            for name, state in one.replaced.items():
                if name not in there or (there[name].size, there[name].modified) != state:
                    raise StorageError(
                        "another program replaced or changed this segment while it was merged: run the job again",
                        file=files.url(files.join(stage.target, directory, name)),
                    )

    by_directory = groupby(merged, key=lambda one: one.directory)
    for_each(((name, list(group)) for name, group in by_directory), check, CALLS_AT_ONCE)


def _plan_merged(merged: Sequence[MergedSegment]) -> Iterator[PlannedPartition]:
    for directory, segments in groupby(merged, key=lambda one: one.directory):
        planned = PlannedPartition(directory)
        for one in segments:
            planned.files += [PlannedFile(one.attempt, name, size) for name, size in one.files.items()]
            old = [*one.replaced, *one.others]
            planned.remove += [name for name in old if name not in one.files]
        yield planned


def _contents(stage: Stage, directories: Iterable[str]) -> dict[str, list[tuple[str, int | None]]]:
    """Return names and sizes of the segments in directories of a store, where no lock keeps other programs from
    changing them."""
    found: dict[str, list[tuple[str, int | None]]] = {}

    def look(name: str) -> None:
        with suppress(FileNotFoundError):
            listed = stage.files.list(stage.files.join(stage.target, name))
            found[name] = [(one.name, one.size) for one in listed if one.name.endswith(LOG_FILE_SUFFIX)]

    for_each(() if isinstance(stage.files, LocalFileSystem) else directories, look, CALLS_AT_ONCE)
    return found


def _was_written(stage: Stage, write_id: str, batch_id: int | None) -> bool:
    if batch_id is None:
        return write_id in written_ids(stage.files, stage.target)
    return written_batches(stage.files, stage.target).get(write_id, -1) >= batch_id


def withdraw(stage: Stage) -> None:
    """Delete a job's directory, unless the job was committed: then the next job finishes it."""
    if not is_committed(stage.files, stage.path, last_commit(stage.files, stage.target)):
        stage.clear()


def check_target(files: FileSystem, target: str) -> None:
    """Raise an error if the target cannot be a log dir."""
    try:
        info = files.info(target)
    except FileNotFoundError:
        return
    url = files.url(target)
    if not info.is_directory:
        raise InvalidArgumentError(f"{url} is not a directory", field="path")
    if any(SEGMENT_FILE.fullmatch(one.name) for one in files.list(target)):
        raise InvalidArgumentError(
            f"{url} contains segments itself: pass the log dir, which contains partitions", field="path"
        )
    if isinstance(files, LocalFileSystem):
        refuse_running_broker(target)


# --- one at a time ----------------------------------------------------------------------------------------------------


@contextmanager
def _locked(stage: Stage) -> Iterator[Stage]:
    """Lock the log dir against other jobs, which wait; yield the stage for the job that holds the lock."""
    files, root = stage.files, stage.root
    with ExitStack() as held:
        if isinstance(files, LocalFileSystem):
            files.make_directory(stage.target)
            _enter(held, stage, lambda: file_lock(f"{root}.lock", stage.target), lambda: time.sleep(_LOOK_EVERY))
            held.callback(remove_if_empty, files, root)  # under its lock
            yield stage
        else:
            held.callback(remove_if_empty, files, root)
            fence = _enter(
                held,
                stage,
                lambda: lease(files, root, stage.target, _CHECKS_COUNT_FOR),
                lambda: wait_for_others(files, root),
            )
            yield replace(stage, files=files.fenced(fence))


def _enter(
    held: ExitStack, stage: Stage, lock: Callable[[], AbstractContextManager[_Held]], wait: Callable[[], None]
) -> _Held:
    """Enter a lock, after waiting for other jobs as long as they live."""
    reported = -_REPORTED_EVERY
    while True:
        try:
            return held.enter_context(lock())
        except HeldError as error:
            if time.monotonic() - reported >= _REPORTED_EVERY:
                reported = time.monotonic()
                _LOGGER.warning("waiting to publish: %s", error.message)
                stage.touch()
        wait()


def _settle(stage: Stage, last: Commit) -> None:
    """Finish committed jobs, and delete jobs that ended without a commit."""
    for path in staged_jobs(stage.files, stage.root):
        if path == stage.path:
            continue
        if is_committed(stage.files, path, last):
            _finish(stage.files, stage.target, path)
        elif stage.replaces(stage.files.name(path)) or _is_over(stage.files, path):
            stage.files.delete_directory(path)


def _is_over(files: FileSystem, path: str) -> bool:
    dead = is_dead(files, path)
    if dead is not None:
        return dead
    found = list(_tree(files, path))
    if all(is_unfinished(info.name) for info in found if info.is_file):  # a job names its process first
        return True
    times = [info.modified for info in found]
    newest = max((one for one in times if one is not None), default=None)
    return newest is not None and time.time() - newest > _FORGOTTEN


def _tree(files: FileSystem, path: str) -> Iterator[FileInfo]:
    yield files.info(path)
    for info in files.list(path):
        if info.is_directory and not info.is_link:
            yield from _tree(files, info.path)
        else:
            yield info


def _finish(files: FileSystem, target: str, path: str) -> None:
    """Roll the journal of a committed job forward, and delete the job's directory."""
    try:
        journal = read_journal(files, path)
        if journal is not None:  # otherwise the directory was being deleted
            roll_forward(files, target, journal)
            files.delete(files.join(path, JOURNAL))  # first: without its other files, the journal would be repeated
        files.delete_directory(path)
    except (RecordpressError, OSError) as error:
        error.add_note(
            f"the rows are committed: the next job that writes to {files.url(target)}, even one without rows, "
            "publishes what is left of them; do not write them again"
        )
        raise


# --- the plan ---------------------------------------------------------------------------------------------------------


def _check_staged(stage: Stage, staged: Sequence[StagedSegment]) -> None:
    """Raise an error if a reported file is missing or its size has changed."""

    def check(group: tuple[str, list[StagedSegment]]) -> None:
        directory, reported = group
        there: dict[str, int | None] = {}
        with suppress(FileNotFoundError):
            there = {info.name: info.size for info in stage.files.list(stage.files.join(stage.path, directory))}
        for one in reported:
            stem = stage.files.name(one.stem)
            for suffix in INDEX_SUFFIXES if one.has_indexes else ():
                if stem + suffix not in there:
                    raise StorageError(
                        "a task wrote this file, but it is gone",
                        file=stage.files.url(stage.files.join(stage.path, one.stem + suffix)),
                    )
            size = there.get(stem + LOG_FILE_SUFFIX, -1)
            if size != one.end and not (one.is_shared and size is not None and size > one.end):
                raise StorageError(
                    f"a task wrote {one.end} bytes here, but "
                    + ("the file is gone" if size == -1 else f"the file has {size}"),
                    file=stage.files.url(stage.files.join(stage.path, one.file)),
                )

    groups: dict[str, list[StagedSegment]] = {}
    for one in staged:
        groups.setdefault(one.attempt.rpartition("/")[0], []).append(one)
    for_each(groups.items(), check, _LISTED_AT_ONCE)


def _places(staged: Sequence[StagedSegment], joined: Sequence[JoinedSegment]) -> dict[str, list[StagedSegment]]:
    """Return the segments to commit, in order, by the directory of their partition."""
    found: dict[str, list[StagedSegment]] = {}
    for place, group in groupby(staged, key=itemgetter(0, 1)):
        found.setdefault("{}-{}".format(*place), []).extend(group)
    made: dict[str, list[JoinedSegment]] = {}
    for one in joined:
        made.setdefault(f"{one.segment.topic}-{one.segment.partition}", []).append(one)
    for name, segments in found.items():
        found[name] = with_joined(in_order(name, segments), made.get(name, ()))
    return found


def with_ends(stage: Stage, topic: str | None) -> Stage:
    """Return a stage with the end offsets of the partitions of a topic, or of all topics: its tasks choose offsets
    from there. A partition that cannot be read is left to the commit."""
    names = [one for one in _partitions_of(stage.files, stage.target) if topic in (None, one.rpartition("-")[0])]
    return replace(stage, ends=_ends(stage, names, complete=False))


def _ends(stage: Stage, directories: Iterable[str], *, complete: bool) -> dict[str, int]:
    """Return the end offsets of existing partitions by directory; with `complete`, raise an error for a damaged or
    truncated end, otherwise leave out partitions that cannot be read."""
    files = stage.files

    def look(name: str) -> int | None:
        try:
            return _end_of(files, files.join(stage.target, name), complete)
        except RecordpressError:
            if complete:
                raise
            return None

    return {name: end for name, end in results(directories, look, _ENDS_AT_ONCE) if end is not None}


def _end_of(files: FileSystem, directory: str, complete: bool) -> int | None:
    try:
        partition = partition_in(files, directory)
    except FileNotFoundError:
        return None
    return None if partition is None else end_offset(partition, complete=complete)


def _replaced(stage: Stage, staged: Sequence[StagedSegment], overwrite: Scope | None) -> dict[str, list[str]]:
    """Return the names of the files that a job replaces, by partition directory."""
    if overwrite is None or not staged:
        return {}
    files, topics = stage.files, {one.topic for one in staged}
    names = (
        name for name in _partitions_of(files, stage.target) if overwrite == "path" or name.rpartition("-")[0] in topics
    )
    found = results(names, lambda name: _files_of(files, files.join(stage.target, name)), CALLS_AT_ONCE)
    return {name: replaced for name, replaced in found if replaced}


def _partitions_of(files: FileSystem, target: str) -> list[str]:
    """Return the names of the directories in a log dir that may be partitions."""
    try:
        return [
            one.name
            for one in files.list(target)
            if one.is_directory and not one.is_link and TopicPartition.of_directory(one.name)
        ]
    except FileNotFoundError:
        return []


def _files_of(files: FileSystem, directory: str) -> list[str]:
    """Return the names of Kafka's files in a partition's directory; [] for another directory."""
    names = [info.name for info in files.list(directory) if info.is_file and not info.is_link]
    return [name for name in names if _is_kafkas(name)] if any(map(SEGMENT_FILE.fullmatch, names)) else []


def _is_kafkas(name: str) -> bool:
    stem, _, suffix = name.partition(".")
    if name in ("leader-epoch-checkpoint", "partition.metadata"):
        return True
    return len(stem) == 20 and stem.isdigit() and suffix in ("log", "index", "timeindex", "txnindex", "snapshot")


def _plan(
    places: dict[str, list[StagedSegment]],
    ends: dict[str, int],
    old: dict[str, list[str]],
    segment_bytes: int,
    is_local: bool,
    published: list[PublishedPartition],
) -> Iterator[PlannedPartition]:
    """Yield the partitions of a journal, and record the changes that it makes."""
    for name in sorted({*places, *old}):
        ordered, end = places.get(name, []), ends.get(name, 0)
        if ordered and ordered[0].has_offsets and ordered[0].first_offset < end:
            raise InvalidArgumentError(
                f"{name} ends at offset {end}, but the rows begin at offset {ordered[0].first_offset}", field="offset"
            )
        planned = PlannedPartition(name, ends.get(name), old.get(name, []))
        planned.segments += segments_of(ordered, end, segment_bytes, is_local)
        if ordered:
            published.append(
                PublishedPartition(
                    ordered[0].topic,
                    ordered[0].partition,
                    planned.segments[0].base_offset,
                    planned.segments[-1].next_offset,
                    sum(one.records for one in ordered),
                    sum(one.bytes for one in ordered),
                    len(planned.segments),
                )
            )
        yield planned
