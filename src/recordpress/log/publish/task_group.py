"""Groups of tasks: the last task of a group joins the small segments of all.

::

    each task    <task>.<id>.owner.json ──► rows ──► <task>.<id>.<bytes>.done     with its segments
    the last     <task>.<number>.<digest>.turn ──► .joined ──► JoinedSegments ──► driver

No task knows how many others a job has. So tasks with consecutive numbers are a group. Each task writes its name before
it computes its rows, and its segments when it ends. If no other task is running then, it may join the segments so far,
except earlier joined segments with more bytes than the rest. It takes its turn by creating a file with the digest of
these segments. If two tasks end at the same time, one succeeds, and the other frees its place. Then it waits a little
for the next task to begin, and leaves the join to that one. While it has its turn, it counts as running, so that others
leave the join to it; therefore it looks again at the end. Where tasks run one after another, each would wait in vain
and join everything again: after some joins no task waits, and joined segments are joined again only with at least as
many new bytes. The driver uses a joined segment if tasks reported exactly the segments in it. It joins all others: in
groups with few bytes, up to `segment.bytes`; in groups in which a task died; and in groups that joined their segments
before one of their tasks was repeated.
"""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from uuid import uuid4

from recordpress.errors import InvalidArgumentError
from recordpress.files import FileInfo, LocalFileSystem, remove_if_empty, results
from recordpress.log.publish._join import join
from recordpress.log.publish._journal import Journal, PlannedPartition, PlannedSegment
from recordpress.log.publish._roll_forward import CALLS_AT_ONCE
from recordpress.log.publish.plan import JoinedSegment, in_order, segments_of
from recordpress.log.publish.staging import KEPT_BYTES, OWNER, Stage, StagedSegment, stem_of

_TASKS = 256  # of a group: small segments of all make one of Kafka's default segment.bytes
_LINGER = 0.2  # seconds in which the next task of a group begins; chosen, not measured
_LITTLE = 64 << 20  # bytes that a task may join before the last of its group ends; chosen, not measured
_JOINS = 8  # of a group, after which its tasks are assumed to run one after another; chosen, not measured
_LEAST = KEPT_BYTES  # of a group: the driver joins fewer
_AT_ONCE = 16  # partitions: most time is spent waiting for small files of a store


class TaskGroup:
    """The group of an attempt of a task; paths of the attempt's files in the job's directory begin with `attempt`.

    A group has one directory of small files that its tasks list, and one of segments: the driver then removes only two
    directories per group.
    """

    def __init__(self, stage: Stage, task: int) -> None:
        self._stage, self._files = stage, stage.files
        group, identity = task // _TASKS, uuid4().hex
        self._name, directory = f"{task}.{identity}", f"tasks-{group}"
        self._path = self._files.join(stage.path, directory)
        self.attempt = f"files-{group}/{identity}"
        self._waits = True
        stage.name_owner(self._name, directory)

    def make_directory(self) -> None:
        """Create the directory of the segments."""
        self._files.make_directory(self._files.join(self._stage.path, self._files.parent(self.attempt)))

    def leave(self) -> None:
        """Delete the name of a task that failed without a segment, and on a disk the directories that nothing else
        needs: the driver may have deleted the job before the task began."""
        with suppress(FileNotFoundError):
            self._files.delete(self._files.join(self._path, self._name + OWNER))
        if isinstance(self._files, LocalFileSystem):
            for path in (self._path, self._stage.path, self._stage.root):
                remove_if_empty(self._files, path)

    def end(
        self, segments: Sequence[StagedSegment], numbers: Iterator[int], segment_bytes: int, index_interval_bytes: int
    ) -> list[JoinedSegment]:
        """Report the segments of this task to its group, and join the segments of the group if no other task will.
        Joined files get the next `numbers`."""
        size = sum(one.bytes for one in segments if not one.has_indexes)
        name = f"{self._name}.{size}.done"
        Journal(self._files, self._path, index_interval_bytes, name=name).write(_by_partition(segments))
        joined: list[JoinedSegment] = []
        while done := self._turn():
            if self._waits and len(done) < _TASKS:
                time.sleep(_LINGER)
            is_last = self._left_to_join(done) == done
            if is_last:
                joined += self._join(done, numbers, segment_bytes, index_interval_bytes)
            self._create(done, "joined" if is_last else "left")
        return joined

    def _turn(self) -> list[str]:
        """Take the turn to join; return the names of the files with the segments to join, in the order of their tasks.
        In a store that cannot create files exclusively, two tasks may take it at once."""
        done = self._left_to_join()
        return done if done and self._create(done, "turn") else []

    def _create(self, done: Sequence[str], what: str) -> bool:
        """Record what becomes of these files; return False if another task did so before."""
        try:
            self._files.create_new(self._files.join(self._path, f"{_range(done)}.{what}"), b"")
        except FileExistsError:
            return False
        return True

    def _left_to_join(self, own: Sequence[str] = ()) -> list[str]:
        """Return the names of the files to join now, in the order of their tasks. Earlier joined segments with more
        bytes are left out, and everything while another task is running or has its turn."""
        begun, names, made = self._names()
        turns = made["turn"] - made["joined"] - made["left"] - ({_range(own)} if own else set())
        size = sum(map(_size, names))
        if size < max(_LEAST, 1) or begun - set(map(_task, names)) or _found(turns, names):
            return []
        joins, starts, at = _found(made["joined"], names), list[int](), 0
        joined, self._waits = dict(joins), len(joins) < _JOINS
        while at in joined:
            starts.append(at)
            at += joined[at]
        if at == len(names):
            return []
        if len(names) == _TASKS or (self._waits and size <= _LITTLE):
            return names
        while starts and sum(map(_size, names[starts[-1] : at])) <= sum(map(_size, names[at:])):
            at = starts.pop()
        return names[at:]

    def _names(self) -> tuple[set[str], list[str], dict[str, set[str]]]:
        """Return the numbers of the tasks that began, the names of the files with segments in the order of their tasks,
        and the names of ranges of these files by what became of them."""
        begun, done, made = set[str](), dict[str, str](), defaultdict[str, set[str]](set)
        for info in sorted(self._listed(), key=lambda info: info.modified or 0.0):  # a task's latest attempt counts
            stem, _, kind = info.name.rpartition(".")
            if info.name.endswith(OWNER):
                begun.add(_task(stem))
            elif kind == "done":
                done[_task(stem)] = info.name
            else:
                made[kind].add(stem)
        return begun, [done[task] for task in sorted(done, key=int)], made

    def _listed(self) -> list[FileInfo]:
        with suppress(FileNotFoundError):  # another job mistook this job for a dead one
            return self._files.list(self._path)
        return []

    def _read(self, name: str) -> list[PlannedPartition]:
        return list(Journal(self._files, self._path, 0, name=name).partitions())

    def _join(
        self, done: Sequence[str], numbers: Iterator[int], segment_bytes: int, index_interval_bytes: int
    ) -> list[JoinedSegment]:
        """Join the segments in these files."""
        task, found = int(_task(done[0])), dict[str, list[StagedSegment]]()
        for _, partitions in results(done, self._read, CALLS_AT_ONCE):
            for one in partitions:
                found.setdefault(one.directory, []).extend(of for segment in one.segments for of in segment.staged)

        def work(partition: tuple[str, list[StagedSegment]]) -> list[JoinedSegment]:
            return list(self._joined(task, *partition, numbers, segment_bytes, index_interval_bytes))

        joined = [one for _, several in results(found.items(), work, _AT_ONCE) for one in several]
        if isinstance(self._files, LocalFileSystem):
            for path in {one.file for several in found.values() for one in several if one.is_shared}:
                with self._files.open(self._files.join(self._stage.path, path)) as file:
                    file.forget()
        return joined

    def _joined(
        self,
        task: int,
        directory: str,
        staged: list[StagedSegment],
        numbers: Iterator[int],
        segment_bytes: int,
        interval: int,
    ) -> Iterator[JoinedSegment]:
        """Join consecutive small segments of a partition; `task` is the first task that wrote some of them."""
        topic, partition = staged[0][:2]
        first = self._stage.first_offset(topic, partition, task)
        with suppress(InvalidArgumentError):  # which the commit raises
            for planned in segments_of(in_order(directory, staged), first, segment_bytes, is_local=True):
                if planned.is_alone:
                    continue
                number = next(numbers)
                stem = self._files.join(self._stage.path, stem_of(self.attempt, topic, partition, number))
                checksum = join(self._files, self._stage.path, planned, stem, interval)
                segment = planned.staged[0]._replace(
                    attempt=self.attempt,
                    number=number,
                    position=-1,
                    bytes=planned.bytes,
                    crc32c=checksum,
                    records=sum(one.records for one in planned.staged),
                    first_offset=planned.base_offset,
                    next_offset=planned.next_offset,
                    has_indexes=True,
                )
                yield JoinedSegment.of(segment, planned.staged)


def _range(names: Sequence[str]) -> str:
    """Return the name of a range of consecutive files: the first task, their number, and a hexadecimal digest."""
    digest = hashlib.sha256("\n".join(names).encode()).hexdigest()
    return f"{_task(names[0])}.{len(names)}.{digest}"


def _found(ranges: Iterable[str], names: Sequence[str]) -> list[tuple[int, int]]:
    """Return where each range begins in the names, and how many names it has, in order."""
    at = {_task(name): number for number, name in enumerate(names)}
    found = list[tuple[int, int]]()
    for one in ranges:
        task, count, _ = one.split(".")
        first = at.get(task, len(names))
        if first < len(names) and _range(names[first : first + int(count)]) == one:
            found.append((first, int(count)))
    return sorted(found)


def _task(name: str) -> str:
    """Return the number of the task in the name of a file."""
    return name.partition(".")[0]


def _size(name: str) -> int:
    """Return the number of bytes in the name of a file."""
    return int(name.split(".")[-2])


def _by_partition(segments: Iterable[StagedSegment]) -> Iterator[PlannedPartition]:
    for (topic, partition), group in groupby(segments, key=itemgetter(0, 1)):
        planned = [PlannedSegment(one.first_offset, one.next_offset, [one]) for one in group]
        yield PlannedPartition(f"{topic}-{partition}", segments=planned)
