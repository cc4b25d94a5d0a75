"""Segments that other processes write for a log.

::

    elsewhere   batches ──► StagedPartition ──► StagedSegments in <dst>/.recordpress-staging/<job>           staging
    driver      commit_staged: offsets ──► journal ──► offsets and names of all files                 commit_staged

A task does not know how many records other tasks have. So the driver finds the ends of the partitions first, and each
task numbers its records from a separate offset after them. Its segments then lack only their names, and the log skips
offsets between tasks. The last task of a group joins the small segments of all, with consecutive offsets (task_group).
If another job used these offsets in the meantime, a file on a local disk gets other offsets, which the checksums of
batches do not cover; an object cannot be changed, so the driver joins it with others.

Small segments of a task share a file. A staged segment is read back before it counts. Only the segments that tasks
report to the driver are committed; segments of failed and duplicate attempts are deleted with the job's directory.

The journal is the commit, or in a store a file that follows it. Before the commit, the next job deletes the staged
segments; after it, the next job publishes them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID, uuid4

from recordpress._arguments import INT32_MAX
from recordpress._file_names import INDEX_FILE_SUFFIX, LOG_FILE_SUFFIX, STAGING, TIME_INDEX_FILE_SUFFIX
from recordpress.checksum import crc32c
from recordpress.errors import InvalidArgumentError
from recordpress.files import FilePart, FileSystem, LocalFileSystem, RandomAccessFile, Writer, remove_if_empty
from recordpress.files.read_back import publish_checked
from recordpress.log.check.rebuild import SidecarBuilder
from recordpress.log.publish.lease import is_gone, owner_bytes, read_owner
from recordpress.record.header import BatchHeader, moved_header, read_header

if TYPE_CHECKING:
    from typing_extensions import Buffer

INDEX_SUFFIXES = (INDEX_FILE_SUFFIX, TIME_INDEX_FILE_SUFFIX)
KEPT_BYTES = 4 << 20  # larger staged segments keep their file; smaller ones are joined to limit their number
_OFFSETS_OF_TASK = 1 << 26  # records of a task in a partition; the driver assigns offsets to more. Leaves 2^37 tasks
BASE_BYTES = 8  # an entry begins with its base offset
_TRIES = 3  # chosen, not measured: other jobs look into the directory once each
OWNER = ".owner.json"
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_SHOWN = 100  # characters of a topic: all 249 and the rest would be too long for a file name


def check_topic(name: str) -> None:
    """Raise an error for a name that is not valid for a topic (Kafka's Topic.validate): it becomes a directory name."""
    if not _TOPIC.fullmatch(name) or name in (".", ".."):
        raise InvalidArgumentError(
            f"{name[:300]!r} is not the name of a topic: 1 to 249 of the characters a-z A-Z 0-9 . _ -", field="topic"
        )


def is_small(size: int) -> bool:
    """Return whether a segment of this size is joined with others."""
    return size < KEPT_BYTES


class StagedSegment(NamedTuple):
    """Consecutive batches of one partition, named by the attempt of a task and a number: a file of the job, or a
    part of the attempt's `SharedFile` that begins at `position`. The task chose the offsets unless the records have
    offsets (`has_offsets`). Large segments have indexes."""

    topic: str
    partition: int
    attempt: str
    number: int
    position: int  # -1 if it shares no file
    bytes: int
    crc32c: int
    records: int
    first_offset: int
    next_offset: int
    has_offsets: bool
    has_indexes: bool

    @property
    def is_shared(self) -> bool:
        return self.position >= 0

    @property
    def end(self) -> int:
        """Position in the file at which the segment's bytes end."""
        return max(self.position, 0) + self.bytes

    @property
    def stem(self) -> str:
        """Path of the segment and its indexes in the job's directory, without a suffix."""
        if self.is_shared:
            return _shared_stem(self.attempt)
        return stem_of(self.attempt, self.topic, self.partition, self.number)

    @property
    def file(self) -> str:
        """Path of the segment's file in the job's directory."""
        return self.stem + LOG_FILE_SUFFIX

    def opened(self, files: FileSystem, job: str) -> RandomAccessFile:
        """Open the segment's bytes in the directory of its job."""
        file = files.open(files.join(job, self.file))
        return FilePart(file, self.position, self.end) if self.is_shared else file


class MergedSegment(NamedTuple):
    """A segment that replaces neighbouring segments of a partition: the attempt that wrote it, the sizes of its files,
    the sizes and times of the old segments when they were listed, and the names of other files to delete with them."""

    directory: str
    attempt: str
    files: dict[str, int]
    replaced: dict[str, tuple[int | None, float | None]]
    others: list[str]


def _shared_stem(attempt: str) -> str:
    return f"{attempt}.shared"


def stem_of(attempt: str, topic: str, partition: int, number: int) -> str:
    """Return the path of a staged file in the job's directory, without a suffix."""
    return f"{attempt}.{number}.{topic[:_SHOWN]}-{partition}"


@dataclass(frozen=True)
class Stage:
    """The staging directory of a job in a log dir, and the process with which the job ends."""

    files: FileSystem
    target: str
    job: str
    owner: bytes
    ends: Mapping[str, int] = field(default_factory=dict)  # of partitions by directory

    @classmethod
    def new(cls, files: FileSystem, target: str, process: int | None = None) -> Stage:
        """Return a stage for a job of a process, by default the process of Spark's driver, an ancestor of this
        process."""
        return cls(files, target, uuid4().hex, owner_bytes(process or _driver()))

    def of_stream(self, stream: str) -> Stage:
        """Return a stage for a batch of a stream, whose name is a UUID; a stream writes one batch at a time."""
        return replace(self, job=f"{UUID(stream)}.{self.job}")

    def replaces(self, job: str) -> bool:
        """Return whether `job` is an earlier, uncommitted job of the same stream."""
        stream, point, _ = self.job.partition(".")
        return bool(point) and job != self.job and job.startswith(f"{stream}.")

    @cached_property
    def root(self) -> str:
        return self.files.join(self.target, STAGING)

    @cached_property
    def path(self) -> str:
        return self.files.join(self.root, self.job)

    def first_offset(self, topic: str, partition: int, task: int) -> int:
        """Return the first offset of the records of a task."""
        return self.ends.get(f"{topic}-{partition}", 0) + task * _OFFSETS_OF_TASK

    def attempt(self) -> str:
        """Create a directory for one attempt of a task; return its name."""
        name = uuid4().hex
        self.name_owner(name)
        self.files.make_directory(self.files.join(self.path, name))
        return name

    def touch(self) -> None:
        """Show jobs on other hosts that this job is alive: they delete the directory of a job that is idle for long."""
        self.name_owner("waiting")

    def name_owner(self, name: str, *directory: str) -> None:
        """Write a file that names the process; a new file for each attempt, as some stores limit changes to a file."""
        path = self.files.join(self.path, *directory)
        for left in reversed(range(_TRIES)):
            self.files.make_directory(path)
            try:
                self.files.write_file(self.files.join(path, name + OWNER), self.owner)
                return
            except FileNotFoundError:  # another job deleted the directory, which had no file
                if not left:
                    raise

    def clear(self) -> None:
        """Delete the job's directory, and the parent directory if it is empty."""
        self.files.delete_directory(self.path)
        remove_if_empty(self.files, self.root)


def is_dead(files: FileSystem, path: str) -> bool | None:
    """Return whether the process of another job has ended; None if unknown."""
    with suppress(FileNotFoundError):
        entries = files.list(path)
        inside = (info for one in entries if one.is_directory and not one.is_link for info in files.list(one.path))
        for info in chain(entries, inside):
            if info.name.endswith(OWNER):
                return is_gone(read_owner(files, info.path))
    return None


def _driver() -> int:
    """Return the process id of the nearest Java ancestor, or of the parent if no ancestor is Java."""
    process = parent = os.getppid()
    while process > 1:
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
                _, _, rest = file.read().partition("(")
        except OSError:
            break
        name, _, fields = rest.rpartition(")")
        if name == "java":
            return process
        process = int(fields.split()[1])
    return parent


class SharedFile:
    """File of an attempt's small segments, one after the other: separate files would cost more than their bytes."""

    def __init__(self, stage: Stage, attempt: str) -> None:
        self._files = stage.files
        self._path = stage.files.join(stage.path, _shared_stem(attempt) + LOG_FILE_SUFFIX)
        self._writer: Writer | None = None
        self._crc = 0
        self.size = 0

    def write(self, data: Buffer) -> None:
        """Append bytes of a segment."""
        self._writer = self._writer or self._files.upload(self._path)
        self._writer.write(data)
        self._crc = crc32c(data, self._crc)
        self.size += len(memoryview(data))

    def close(self) -> None:
        """End the file, if there is one."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with writer:
                _publish(writer, self._files, self._path, self.size, self._crc, is_joined=True)

    def discard(self) -> None:
        """Discard the file that is being written."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.discard()


def _publish(writer: Writer, files: FileSystem, path: str, size: int, checksum: int, *, is_joined: bool) -> None:
    """Publish a file, and compare it with its checksum, unless it is in a store and the commit reads it anyway."""
    if is_joined and not isinstance(files, LocalFileSystem):
        writer.publish()
    else:
        publish_checked(writer, files, path, size, checksum)


class StagedPartition:
    """Segments of one attempt of a task for one partition; a segment ends before it exceeds `segment_bytes`. Batches
    get offsets from `next_offset`; if it is None, the records have offsets."""

    def __init__(
        self,
        stage: Stage,
        attempt: str,
        numbers: Iterator[int],
        topic: str,
        partition: int,
        next_offset: int | None,
        *,
        segment_bytes: int,
        index_interval_bytes: int,
    ) -> None:
        check_topic(topic)
        self.segments: list[StagedSegment] = []
        self._stage, self._attempt, self._numbers = stage, attempt, numbers
        self._topic, self._partition = topic, partition
        self._most = segment_bytes
        self._has_offsets = next_offset is None
        self._indexes = SidecarBuilder(index_interval_bytes=index_interval_bytes)
        self._writer: Writer | SharedFile | None = None
        self._path = ""
        self._position = -1
        self._number = self._bytes = self._crc = self._records = self._first = 0
        self._next = next_offset or 0

    def __str__(self) -> str:
        return f"{self._topic}-{self._partition}"

    @property
    def is_open(self) -> bool:
        """Whether a file is being written."""
        return self._writer is not None

    def write(self, batch: bytes, shared: SharedFile | None = None) -> None:
        """Append one batch of magic 2; if a segment begins with it, the segment is written to `shared`, if given, until
        `close`."""
        header = read_header(batch)
        base = header.base_offset if self._has_offsets else self._next
        data: Buffer = batch
        if base != header.base_offset:
            data = bytearray(batch)
            data[:BASE_BYTES] = base.to_bytes(BASE_BYTES, "big")
        moved = moved_header(header, self._bytes, base)
        if self._writer is not None and self._ends_before(moved):
            self.close()
        if self._writer is None:
            self._writer = self._open(base, shared)
            moved = moved_header(header, 0, base)
        self._writer.write(data)
        self._indexes.add(moved)
        self._crc = crc32c(data, self._crc)
        self._bytes += header.size
        self._records += header.records_count
        self._next = moved.next_offset

    def _ends_before(self, batch: BatchHeader) -> bool:
        """Return whether a new segment must begin, by LogSegment.shouldRoll or because offsets go back."""
        return (
            self._bytes + batch.size > self._most
            or batch.base_offset < self._next
            or batch.last_offset - self._first > INT32_MAX
        )

    def _open(self, first: int, shared: SharedFile | None) -> Writer | SharedFile:
        self._number = next(self._numbers)
        self._position = -1 if shared is None else shared.size
        self._bytes = self._crc = self._records = 0
        self._first = self._next = first
        self._indexes.begin(first)
        if shared is not None:
            return shared
        files = self._stage.files
        stem = stem_of(self._attempt, self._topic, self._partition, self._number)
        self._path = files.join(self._stage.path, stem)
        return files.upload(self._path + LOG_FILE_SUFFIX)

    def close(self) -> None:
        """End the segment, and its file unless it is shared; write the indexes if the segment is not joined later."""
        writer, self._writer = self._writer, None
        if writer is None:
            return
        files, has_indexes = self._stage.files, self._position < 0 and not is_small(self._bytes)
        if not isinstance(writer, SharedFile):
            with writer:
                path = self._path + LOG_FILE_SUFFIX
                _publish(writer, files, path, self._bytes, self._crc, is_joined=not has_indexes)
        if has_indexes:
            indexes = self._indexes.end().files(with_snapshot=False)
            for suffix in INDEX_SUFFIXES:
                files.write_file(self._path + suffix, indexes[suffix])
        self.segments.append(
            StagedSegment(
                self._topic,
                self._partition,
                self._attempt,
                self._number,
                self._position,
                self._bytes,
                self._crc,
                self._records,
                self._first,
                self._next,
                self._has_offsets,
                has_indexes,
            )
        )

    def discard(self) -> None:
        """Discard the file that is being written."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.discard()
