"""Segments that other processes write for a log.

::

    elsewhere   batches ──► StagedPartition ──► StagedSegments in <dst>/.recordpress-staging/<job>           staging
    driver      commit_staged: offsets ──► journal ──► offsets, indexes and names of all files        commit_staged

A task knows neither the segments of other tasks nor the end of the log. A staged segment is read back before it counts.
Only the segments that tasks report to the driver are committed; segments of failed and duplicate attempts are deleted
with the job's directory.

The journal is the commit. Before it exists, the next job deletes the staged segments; afterwards the next job finishes
the commit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple
from uuid import UUID, uuid4

from recordpress._arguments import INT32_MAX
from recordpress.checksum import crc32c
from recordpress.errors import InvalidArgumentError
from recordpress.files import FileSystem, LocalFileSystem, Writer, remove_if_empty
from recordpress.files.read_back import publish_checked
from recordpress.log.publish.lease import is_gone, owner_bytes, read_owner
from recordpress.record.header import read_header

STAGING = ".recordpress-staging"
_OWNER = ".owner.json"
JOURNAL = "journal.json"
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_SHOWN = 100  # characters of a topic: all 249 and the rest would be too long for a file name


def check_topic(name: str) -> None:
    """Raise an error for a name that is not valid for a topic (Kafka's Topic.validate): it becomes a directory name."""
    if not _TOPIC.fullmatch(name) or name in (".", ".."):
        raise InvalidArgumentError(
            f"{name[:300]!r} is not the name of a topic: 1 to 249 of the characters a-z A-Z 0-9 . _ -", field="topic"
        )


class StagedSegment(NamedTuple):
    """Consecutive batches of one partition in a file of the job, the attempt of a task and the number of the file in
    it; offsets start at 0 unless the records have offsets (`has_offsets`)."""

    topic: str
    partition: int
    attempt: str
    number: int
    bytes: int
    crc32c: int
    records: int
    first_offset: int
    next_offset: int
    has_offsets: bool

    @property
    def file(self) -> str:
        """Its path in the job's directory."""
        return f"{self.attempt}/{staged_name(self.topic, self.partition, self.number)}"


class MergedSegment(NamedTuple):
    """A segment that replaces neighbouring ones of a partition: the attempt of a task that wrote it, the sizes of its
    files, the sizes and times of the segments when they were listed, and the names of other files that go with them."""

    directory: str
    attempt: str
    files: dict[str, int]
    replaced: dict[str, tuple[int | None, float | None]]
    others: list[str]


def staged_name(topic: str, partition: int, number: int) -> str:
    return f"{number}.{topic[:_SHOWN]}-{partition}.log"


@dataclass(frozen=True)
class Stage:
    """The staging directory of a job in a log dir, and the process that ends with the job."""

    files: FileSystem
    target: str
    job: str
    owner: bytes

    @classmethod
    def new(cls, files: FileSystem, target: str, process: int | None = None) -> Stage:
        """Return a stage for a job of a process, by default the one that runs Spark's driver, the parent of this
        one."""
        return cls(files, target, uuid4().hex, owner_bytes(process or _driver()))

    def of_stream(self, stream: str) -> Stage:
        """Return a stage for a batch of a stream, which is named by a UUID; a stream writes one batch at a time."""
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

    def attempt(self) -> str:
        """Create a directory for one attempt of a task; return its name."""
        name = uuid4().hex
        self._name_owner(name)
        self.files.make_directory(self.files.join(self.path, name))
        return name

    def touch(self) -> None:
        """Show that the job lives, to jobs on other hosts: they delete the directory of a job that is idle for long."""
        self._name_owner("waiting")

    def _name_owner(self, name: str) -> None:
        """Write a file that names the process: each attempt its own, as some stores limit how often one changes."""
        self.files.make_directory(self.path)
        self.files.write_file(self.files.join(self.path, name + _OWNER), self.owner)

    def clear(self) -> None:
        """Delete the job's directory, and the parent directory if it is empty."""
        self.files.delete_directory(self.path)
        remove_if_empty(self.files, self.root)


def is_dead(files: FileSystem, path: str) -> bool | None:
    """Return whether the process of another job has ended; None if unknown."""
    with suppress(FileNotFoundError):
        for info in files.list(path):
            if info.name.endswith(_OWNER):
                return is_gone(read_owner(files, info.path))
    return None


def _driver() -> int:
    """Return the id of the nearest Java ancestor of this process, or of its parent."""
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


class StagedPartition:
    """Segments of one attempt of a task for one partition; a segment ends before it exceeds `segment_bytes`."""

    def __init__(
        self,
        stage: Stage,
        attempt: str,
        numbers: Iterator[int],
        topic: str,
        partition: int,
        segment_bytes: int,
        has_offsets: bool,
    ) -> None:
        check_topic(topic)
        self.segments: list[StagedSegment] = []
        self._stage, self._attempt, self._numbers = stage, attempt, numbers
        self._topic, self._partition = topic, partition
        self._most = segment_bytes
        self._has_offsets = has_offsets
        self._writer: Writer | None = None
        self._path = ""
        self._number = self._bytes = self._crc = self._records = self._first = self._next = 0

    def __str__(self) -> str:
        return f"{self._topic}-{self._partition}"

    @property
    def is_open(self) -> bool:
        """Whether a file is being written."""
        return self._writer is not None

    def write(self, batch: bytes) -> None:
        """Append one batch of magic 2."""
        header = read_header(batch)
        first = header.base_offset if self._has_offsets else self._next
        last = first + header.last_offset - header.base_offset
        if self._writer is not None and self._ends_before(len(batch), first, last):
            self.close()
            first, last = (first, last) if self._has_offsets else (0, last - first)
        writer = self._open(first) if self._writer is None else self._writer
        writer.write(batch)
        self._crc = crc32c(batch, self._crc)
        self._bytes += len(batch)
        self._records += header.records_count
        self._next = last + 1

    def _ends_before(self, size: int, first: int, last: int) -> bool:
        """Return whether a new segment must begin, by LogSegment.shouldRoll or because offsets go back."""
        return self._bytes + size > self._most or first < self._next or last - self._first > INT32_MAX

    def _open(self, first: int) -> Writer:
        files = self._stage.files
        self._number = next(self._numbers)
        name = staged_name(self._topic, self._partition, self._number)
        self._path = files.join(self._stage.path, self._attempt, name)
        self._writer = writer = files.upload(self._path)
        self._bytes = self._crc = self._records = 0
        self._first = self._next = first
        return writer

    def close(self) -> None:
        """End the file, read it back and compare its checksum, unless the commit reads it in a store anyway."""
        writer, self._writer = self._writer, None
        if writer is None:
            return
        with writer:
            files = self._stage.files
            if isinstance(files, LocalFileSystem):
                publish_checked(writer, files, self._path, self._bytes, self._crc)
            else:
                writer.publish()
        self.segments.append(
            StagedSegment(
                self._topic,
                self._partition,
                self._attempt,
                self._number,
                self._bytes,
                self._crc,
                self._records,
                self._first,
                self._next,
                self._has_offsets,
            )
        )
        if not self._has_offsets:
            self._next = 0

    def discard(self) -> None:
        """Discard the file that is being written."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.discard()


def staged_jobs(files: FileSystem, root: str) -> Iterator[str]:
    """Return the directories of all jobs."""
    try:
        found = files.list(root)
    except FileNotFoundError:
        return
    for info in found:
        if info.is_directory and not info.is_link:
            yield info.path
