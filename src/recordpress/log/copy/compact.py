"""Merge of small neighbouring segments in their log dir: offsets and records do not change.

::

    driver      partitions ──► groups of small segments ──► tasks            commit_merged: names, then the old files go
    elsewhere                                        MergeTask: one file, verified, with its indexes ──┘

A group is read as one segment and copied as `transcode` copies it. The tasks' files lie in a staging directory, like
files of the Spark sink, and the same lock, journal and commit give them their names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import NamedTuple

from recordpress._arguments import INT32_MAX, INT64_MAX, check_flags, integer
from recordpress._file_names import INDEX_FILE_SUFFIX, PRODUCER_SNAPSHOT_FILE_SUFFIX, TXN_INDEX_FILE_SUFFIX
from recordpress.errors import CorruptRecordError, RecordpressError
from recordpress.files import JoinedFiles, LocalFileSystem, named, resolve
from recordpress.log._end_offset import end_offset
from recordpress.log._open import found_at, open_selected
from recordpress.log._segment import Partition, Segment
from recordpress.log._transactions import is_abort
from recordpress.log.copy._copy_log import CopyState, CopyTask, copy_to_target, segment_name
from recordpress.log.copy._producers import Expiry, ProducerScan, marks_of
from recordpress.log.copy._settle_marks import NO_MARKS, Marks
from recordpress.log.copy.manifest import CopiedSegment
from recordpress.log.copy.transcode import TranscodeJob
from recordpress.log.publish.commit_staged import commit_merged, settle, withdraw
from recordpress.log.publish.staging import MergedSegment, Stage
from recordpress.log.sidecars.transaction_index import AbortedTxn, read_transaction_index, transaction_index_bytes
from recordpress.typing import Integer

_FULL = 2  # segments of at least segment_bytes / _FULL are not merged: each call would copy one to add a little
_ALL_KNOWN = Expiry(INT64_MAX, None)  # only a part of the log is read, so no producer counts as expired


@dataclass(frozen=True)
class CompactedPartition:
    """Partition whose small segments were merged.

    Attributes
    ----------
    topic : str
    partition : int
    segments_before, segments_after : int
        Number of segments that were replaced, and of segments that replaced them. Others are not counted.
    records, batches_before, batches_after, bytes_before, bytes_after : int
        In these segments.

    Examples
    --------
    >>> from recordpress.log import CompactedPartition
    >>> CompactedPartition("orders", 0, 60, 1, 9000, 60, 1, 81920, 70100).segments_before
    60
    """

    topic: str
    partition: int
    segments_before: int
    segments_after: int
    records: int
    batches_before: int
    batches_after: int
    bytes_before: int
    bytes_after: int


@dataclass(frozen=True, slots=True)
class _GroupedSegment(Segment):
    """Segments of a partition that are read as one."""

    members: tuple[Segment, ...] = ()

    @classmethod
    def of(cls, members: Sequence[Segment]) -> _GroupedSegment:
        first, last = members[0], members[-1]
        size = sum(one.size or 0 for one in members)
        return cls(
            first.filesystem, first.directory, first.name, first.base_offset, size, last.is_last,
            codecs=first.codecs, members=tuple(members),
        )  # fmt: skip

    def open(self) -> JoinedFiles:
        files = [(one.open, one.size or 0) for one in self.members]
        return JoinedFiles(self.url, files, not isinstance(self.filesystem, LocalFileSystem))


class MergeTask(NamedTuple):
    """Neighbouring segments of a partition that one process merges."""

    job: TranscodeJob
    stage: Stage
    directory: str
    members: tuple[Segment, ...]

    def run(self, step: Callable[[int], None] = lambda size: None) -> tuple[MergedSegment, CopiedSegment]:
        """Write the segment and the files next to it to a directory of this attempt."""
        files, group = self.stage.files, _GroupedSegment.of(self.members)
        attempt = self.stage.attempt()
        place = files.join(self.stage.path, attempt)
        try:
            marks, aborted = self._producers(group)
            info = self.members[0].filesystem.info(self.members[0].path)
            task = CopyTask(0, group, place, info.size, info.modified, marks)
            copied = copy_to_target(self.job, task, files, files.join(place, segment_name(group)), 1, step)
            if copied.source.trailing_bytes:
                message = f"the last {copied.source.trailing_bytes} bytes are not an entry: repair the log first"
                raise CorruptRecordError(message, file=self.members[-1].url, rule="record set framing")
        except RecordpressError as error:
            self._locate(error, group)
            raise
        if aborted:
            name = f"{group.base_offset:020}{TXN_INDEX_FILE_SUFFIX}"
            files.create_file(files.join(place, name), transaction_index_bytes(aborted))
        made = {info.name: info.size or 0 for info in files.list(place)}
        if f"{group.base_offset:020}{INDEX_FILE_SUFFIX}" not in made:
            message = "offsets go back, or are outside the segment's range: no index can hold them"
            raise CorruptRecordError(message, file=group.url, rule="offset order")
        replaced = {one.name: (one.size, one.modified) for one in self.members}
        return MergedSegment(self.directory, attempt, made, replaced, self._sidecars(made)), copied

    def _producers(self, group: _GroupedSegment) -> tuple[Marks, list[AbortedTxn]]:
        """Return marks of the batches that are not joined, because a broker compares them with retries, and the aborted
        transactions that end in the group."""
        [scanned] = ProducerScan(((group, ()),), False).run()
        if not scanned.producers:
            return NO_MARKS, []
        [marks] = marks_of([group], [scanned], (), _ALL_KNOWN)
        aborted: list[AbortedTxn] = []
        for one in self.members:
            if TXN_INDEX_FILE_SUFFIX in one.suffixes:
                with one.open_sibling(TXN_INDEX_FILE_SUFFIX) as file:
                    aborted += read_transaction_index(file, one.base_offset)
                continue
            with one.records() as records:
                if any(header.is_control and is_abort(header, records) for header in records.walk(transactional=True)):
                    raise CorruptRecordError(
                        "a transaction was aborted in this segment, but .txnindex is missing: run recordpress reindex",
                        file=one.url,
                        rule="transaction index",
                    )
        return marks, aborted

    def _sidecars(self, made: dict[str, int]) -> list[str]:
        """Return the names of files next to the old segments that the new segment does not have; a producer snapshot
        at its base offset remains valid."""
        own = f"{self.members[0].base_offset:020}{PRODUCER_SNAPSHOT_FILE_SUFFIX}"
        names = [one.stem + suffix for one in self.members for suffix in one.suffixes]
        return [name for name in names if name != own and name not in made]

    def _locate(self, error: RecordpressError, group: _GroupedSegment) -> None:
        """Change an error about the group into an error about the member that has its position."""
        if error.file == group.url and error.position is not None:
            with group.open() as file:
                number, position = file.place_of(error.position)
            if error.field_position is not None:
                error.field_position += position - error.position
            error.file, error.position = self.members[number].url, position


def merge(task: MergeTask) -> tuple[MergedSegment, CopiedSegment]:
    """Run a task in this process; the result is for `compact_by`."""
    return task.run()


def compact_by(
    send: Callable[[Sequence[MergeTask]], Sequence[tuple[MergedSegment, CopiedSegment]]],
    job: TranscodeJob,
    path: str | os.PathLike[str],
    segment_bytes: Integer,
    include_active_segment: bool,
    topics: str | Iterable[str] | None = None,
    partitions: Integer | Iterable[Integer] | None = None,
) -> list[CompactedPartition]:
    """Merge the small segments of a log dir by tasks that other processes run; `send` calls `merge` for each task and
    returns the results in order."""
    check_flags(include_active_segment=include_active_segment)
    most = integer(segment_bytes, "segment_bytes", 1, INT32_MAX)
    with named("path"):
        files, target = resolve(path)
    stage = Stage.new(files, files.canonical(target), os.getpid())
    files.info(stage.target)  # raises an error if it is missing
    settle(stage)
    if topics is None and partitions is None:
        log = found_at(path, None, job.codec.codecs).log
    else:
        log = open_selected(path, None, job.codec.codecs, topics, partitions)
    wanted = [one for one in log.partitions if _is_in(stage, one)]
    tasks = [
        MergeTask(job, stage, str(partition), group)
        for partition in wanted
        for group in _groups(partition, most, include_active_segment)
    ]
    if not tasks:
        return []
    try:
        done = send(tasks)
        commit_merged(stage, [merged for merged, _ in done])
    except BaseException:
        withdraw(stage)
        raise
    return [
        _summary(partition, [(task, copied) for task, (_, copied) in pairs])
        for partition in wanted
        if (pairs := [pair for pair in zip(tasks, done, strict=True) if pair[0].directory == str(partition)])
    ]


def compact_here(
    job: TranscodeJob,
    path: str | os.PathLike[str],
    segment_bytes: Integer,
    include_active_segment: bool,
    topics: str | Iterable[str] | None,
    partitions: Integer | Iterable[Integer] | None,
) -> list[CompactedPartition]:
    """Merge the small segments of a log dir by threads of this process."""

    def send(tasks: Sequence[MergeTask]) -> list[tuple[MergedSegment, CopiedSegment]]:
        state = CopyState(0, len(tasks), None)
        pool = ThreadPoolExecutor(int(job.threads), thread_name_prefix="recordpress-compact")
        try:
            running = [pool.submit(state.run, task.run, state.step) for task in tasks]
            ended, _ = wait(running, return_when=FIRST_EXCEPTION)
            for one in ended:
                one.result()
            return [one.result() for one in running]
        finally:
            state.cancel()
            pool.shutdown(wait=True, cancel_futures=True)

    return compact_by(send, job, path, segment_bytes, include_active_segment, topics, partitions)


def _is_in(stage: Stage, partition: Partition) -> bool:
    """Return whether the partition is a directory in the log dir; other directories and links are left alone."""
    files, path = stage.files, stage.files.join(stage.target, str(partition))
    return {files.canonical(one.directory) for one in partition.segments} == {path}


def _groups(partition: Partition, segment_bytes: int, with_active: bool) -> Iterator[tuple[Segment, ...]]:
    """Yield groups of small neighbouring segments that fit into one segment."""
    segments = partition.segments
    ends = [one.base_offset for one in segments[1:]]
    if with_active:
        ends.append(end_offset(partition))
    group: list[Segment] = []
    size = 0
    for segment, end in zip(segments, ends, strict=False):
        own = segment.size or 0
        is_full = _FULL * own >= segment_bytes
        if group and (is_full or size + own > segment_bytes or end - 1 - group[0].base_offset > INT32_MAX):
            yield from (tuple(group),) if len(group) > 1 else ()
            group, size = [], 0
        if not is_full:
            group.append(segment)
            size += own
    if len(group) > 1:
        yield tuple(group)


def _summary(partition: Partition, done: Sequence[tuple[MergeTask, CopiedSegment]]) -> CompactedPartition:
    copied = [one for _, one in done]
    return CompactedPartition(
        partition.topic or "",
        partition.partition or 0,
        sum(len(task.members) for task, _ in done),
        len(done),
        sum(one.records for one in copied),
        sum(one.source.batches for one in copied),
        sum(one.batches for one in copied),
        sum(one.source.bytes for one in copied),
        sum(one.bytes for one in copied),
    )
