"""The committed plan of a job, as a JSON file next to its staged segments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from recordpress._file_names import TopicPartition
from recordpress.errors import CorruptRecordError
from recordpress.files import FileSystem
from recordpress.log.publish.staging import JOURNAL, StagedSegment

WRITES = "_recordpress-writes.json"  # brokers ignore unknown files
STREAMS = "_recordpress-streams.json"
_LARGEST = 1 << 28  # bytes: enough for several hundred thousand segments
_RULE = "journal of staged segments"


@dataclass(frozen=True)
class PlannedSegment:
    """Segment of the log, in a directory of the log dir, and its staged segments."""

    directory: str
    base_offset: int
    next_offset: int
    staged: tuple[StagedSegment, ...]


@dataclass(frozen=True)
class Journal:
    """Plan of a job: its segments in order of directories, the directories that existed (`grown`), and the files to
    replace (`remove`)."""

    has_offsets: bool
    index_interval_bytes: int
    segments: tuple[PlannedSegment, ...]
    grown: tuple[str, ...]
    remove: tuple[str, ...]
    write_id: str | None = None
    batch_id: int | None = None


def write_journal(files: FileSystem, path: str, journal: Journal) -> None:
    """Write the journal to a job's directory."""
    with files.create(files.join(path, JOURNAL)) as writer:
        writer.write(json.dumps(asdict(journal)).encode())
        writer.publish()


def read_journal(files: FileSystem, path: str) -> Journal | None:
    """Read the journal from a job's directory; None if the job was not committed."""
    try:
        with files.open(files.join(path, JOURNAL)) as file:
            data = file.read_exactly(0, min(file.size, _LARGEST))
            name = file.name
    except FileNotFoundError:
        return None
    try:
        journal = _journal_of(json.loads(data))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CorruptRecordError(f"not a journal of recordpress: {error}"[:300], file=name, rule=_RULE) from None
    if odd := [place for place in _places(journal) if not _is_inside(place)]:
        raise CorruptRecordError(f"{odd[0]!r} is outside the log directory"[:300], file=name, rule=_RULE)
    return journal


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


def _journal_of(read: dict[str, Any]) -> Journal:
    segments = tuple(
        PlannedSegment(
            str(one["directory"]),
            int(one["base_offset"]),
            int(one["next_offset"]),
            tuple(StagedSegment(**staged) for staged in one["staged"]),
        )
        for one in read["segments"]
    )
    return Journal(
        bool(read["has_offsets"]),
        int(read["index_interval_bytes"]),
        segments,
        tuple(read["grown"]),
        tuple(read["remove"]),
        None if read.get("write_id") is None else str(read["write_id"]),
        None if read.get("batch_id") is None else int(read["batch_id"]),
    )


def _places(journal: Journal) -> Iterator[str]:
    for segment in journal.segments:
        yield f"{segment.directory}/x"
    yield from journal.remove


def _is_inside(place: str) -> bool:
    directory, _, name = place.partition("/")
    return bool(name) and "/" not in name and TopicPartition.of_directory(directory) is not None
