"""The committed plan of a job, as a file of JSON lines next to its staged segments.

::

    {"journal": 3, ...}                          the job
    {"directory": "orders-0", "end": 300}        a partition, and its end before the job
    "00000000000000000000.log"                   a file of it to delete
    [300, 600]                                   a segment of the log, from one offset to another
    ["<attempt>", 0, -1, 81920, ...]             a staged segment in it
    ["<attempt>", "00000000000000000000.log", 81920]    a file that takes the place of the deleted ones
    {"lines": 5}                                 the end

It is written and read in chunks, partition by partition: a job may have millions of staged segments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from recordpress._file_names import TopicPartition
from recordpress.errors import CorruptRecordError
from recordpress.files import FileSystem, RandomAccessFile
from recordpress.log._interrupted import JOURNAL, JOURNAL_FORM, JOURNAL_RULE
from recordpress.log._json_lines import read_lines, write_lines
from recordpress.log.publish.staging import StagedSegment

WRITES = "_recordpress-writes.json"  # brokers ignore unknown files
STREAMS = "_recordpress-streams.json"
_LARGEST = 1 << 28  # bytes of the files above, which have at most 10,000 entries
_ATTEMPT = re.compile(r"(files-\d{1,10}/)?[0-9a-f]{32}")


class PlannedSegment(NamedTuple):
    """Segment of the log, and its staged segments."""

    base_offset: int
    next_offset: int
    staged: list[StagedSegment]

    @property
    def is_alone(self) -> bool:
        """Whether the segment keeps the file and indexes of one staged segment, perhaps with other offsets."""
        return len(self.staged) == 1 and self.staged[0].has_indexes

    @property
    def is_final(self) -> bool:
        """Whether the segment keeps the file and indexes of one staged segment unchanged."""
        return self.is_alone and self.staged[0].first_offset == self.base_offset

    @property
    def bytes(self) -> int:
        return sum(one.bytes for one in self.staged)


class PlannedFile(NamedTuple):
    """File that an attempt of a task wrote for the partition, with its name and size."""

    attempt: str
    name: str
    bytes: int


@dataclass(slots=True)
class PlannedPartition:
    """Partition that a job changes: its end before the job (None for a new partition), the names of the files to
    replace, and its segments in order; or finished files for it."""

    directory: str
    end: int | None = None
    remove: list[str] = field(default_factory=list)
    segments: list[PlannedSegment] = field(default_factory=list)
    files: list[PlannedFile] = field(default_factory=list)


@dataclass(frozen=True)
class Journal:
    """Plan of a job in its directory, without its partitions."""

    files: FileSystem
    path: str
    index_interval_bytes: int
    write_id: str | None = None
    batch_id: int | None = None
    replaces: bool = False  # some partitions have files to delete
    merges: bool = False  # finished files take the place of others with the same records
    name: str = JOURNAL

    def write(self, partitions: Iterable[PlannedPartition]) -> None:
        """Write the journal; if the store allows it, read it back before it gets its name, which makes it final."""
        create = self.files.create if self.name == JOURNAL else self.files.upload  # nobody reads a task's file early
        with create(self.files.join(self.path, self.name)) as writer:
            write_lines(writer, self._lines(partitions))
            if (written := writer.written()) is not None:
                with written:
                    for _ in _partitions(written):
                        pass
            writer.publish()

    def partitions(self) -> Iterator[PlannedPartition]:
        """Read the partitions one by one."""
        with self.files.open(self.files.join(self.path, self.name)) as file:
            yield from _partitions(file)

    def _lines(self, partitions: Iterable[PlannedPartition]) -> Iterator[Any]:
        yield {
            "journal": JOURNAL_FORM,
            "index_interval_bytes": self.index_interval_bytes,
            "write_id": self.write_id,
            "batch_id": self.batch_id,
            "replaces": self.replaces,
            "merges": self.merges,
        }
        count = 1
        for partition in partitions:
            yield {"directory": partition.directory, "end": partition.end}
            yield from partition.remove
            count += 1 + len(partition.remove)
            for base_offset, next_offset, staged in partition.segments:
                yield base_offset, next_offset
                for one in staged:
                    yield one[2:]
                count += 1 + len(staged)
            yield from partition.files
            count += len(partition.files)
        yield {"lines": count}


def read_journal(files: FileSystem, path: str) -> Journal | None:
    """Read the journal in a job's directory; None if the job wrote none."""
    try:
        with files.open(files.join(path, JOURNAL)) as file, _checked(file):
            first = next(read_lines(file, JOURNAL_RULE), None)
            if not isinstance(first, dict) or first["journal"] != JOURNAL_FORM:
                raise ValueError("another release, or another program, wrote it")
            write_id, batch_id = first["write_id"], first["batch_id"]
            return Journal(
                files,
                path,
                int(first["index_interval_bytes"]),
                None if write_id is None else str(write_id),
                None if batch_id is None else int(batch_id),
                bool(first["replaces"]),
                bool(first["merges"]),
            )
    except FileNotFoundError:
        return None


def written_ids(files: FileSystem, target: str) -> list[str]:
    """Return the ids of the jobs that wrote to a log dir."""
    found, name = _read(files, files.join(target, WRITES), [])
    if isinstance(found, list) and all(isinstance(one, str) for one in found):
        return found
    raise CorruptRecordError("not a list of ids", file=name, rule="ids of writes")


def written_batches(files: FileSystem, target: str) -> dict[str, int]:
    """Return the latest batch of each stream that wrote to a log dir."""
    found, name = _read(files, files.join(target, STREAMS), {})
    if isinstance(found, dict) and all(type(one) is int for one in found.values()):
        return found
    raise CorruptRecordError("not an object of batches by stream", file=name, rule="batches of streams")


def _read(files: FileSystem, path: str, missing: Any) -> tuple[Any, str]:
    """Read a JSON file; return its content, None if it is not JSON, and its name."""
    try:
        with files.open(path) as file:
            data, name = file.read_exactly(0, min(file.size, _LARGEST)), file.name
    except FileNotFoundError:
        return missing, path
    try:
        return json.loads(data), name
    except (ValueError, RecursionError):
        return None, name


def _partitions(file: RandomAccessFile) -> Iterator[PlannedPartition]:
    with _checked(file):
        lines = read_lines(file, JOURNAL_RULE)
        next(lines)
        count, partition, place, expected = 1, None, None, None
        for line in lines:
            count += 1
            if expected is not None:
                raise ValueError("lines after the end")
            if isinstance(line, dict):
                if "lines" in line:
                    expected = line["lines"] + 1
                    continue
                if partition is not None:
                    yield partition
                partition = PlannedPartition(line["directory"], None if line["end"] is None else int(line["end"]))
                place = TopicPartition.of_directory(partition.directory)
                if place is None or "/" in partition.directory:
                    raise ValueError(f"{partition.directory!r} is outside the log directory")
            elif partition is None or place is None:
                raise ValueError("no partition before a segment")
            elif isinstance(line, str):
                partition.remove.append(_checked_name(line))
            elif len(line) == 2:
                partition.segments.append(PlannedSegment(int(line[0]), int(line[1]), []))
            elif len(line) == 3:
                partition.files.append(PlannedFile(_checked_attempt(line[0]), _checked_name(line[1]), int(line[2])))
            else:
                _checked_attempt(line[0])
                if set(map(type, line[1:-2])) != {int}:
                    raise ValueError(f"not a staged segment: {line}")
                partition.segments[-1].staged.append(StagedSegment(place.topic, place.partition, *line))
        if partition is not None:
            yield partition
        if count != expected:
            raise ValueError("it is truncated")


def _checked_name(name: str) -> str:
    if "/" in name or name in ("", ".", ".."):
        raise ValueError(f"{name!r} is outside the log directory")
    return name


def _checked_attempt(name: str) -> str:
    if not _ATTEMPT.fullmatch(name):
        raise ValueError(f"{name!r} is not an attempt of a task")
    return name


@contextmanager
def _checked(file: RandomAccessFile) -> Iterator[None]:
    """Turn errors about the content of a journal into a CorruptRecordError."""
    try:
        yield
    except (ValueError, TypeError, LookupError) as error:
        raise CorruptRecordError(
            f"not a journal of recordpress: {error}"[:300], file=file.name, rule=JOURNAL_RULE
        ) from None
