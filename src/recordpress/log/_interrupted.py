"""Jobs that are committed but not completely carried out: readers hide their files.

A job deletes ``_SUCCESS`` before its files appear one by one, and writes it after them. Therefore, a log dir with a
staging directory and without ``_SUCCESS`` may hold only part of a job's files; the job's journal lists all of them
(recordpress.log.publish._journal).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from recordpress._file_names import STAGING, SUCCESS
from recordpress.errors import CorruptRecordError
from recordpress.files import FileSystem, LocalFileSystem
from recordpress.log._commits import Commit, last_commit
from recordpress.log._json_lines import read_lines

JOURNAL = "journal.json"
JOURNAL_FORM = 3
JOURNAL_RULE = "journal of staged segments"


@dataclass(slots=True)
class Interrupted:
    """Change to a partition that may be only partly carried out: the first offset that it adds, and whether it
    replaces existing files."""

    first_offset: int | None = None
    replaces: bool = False


def interrupted_jobs(files: FileSystem, target: str) -> dict[str, Interrupted]:
    """Return the partitions that unfinished jobs change, by the names of their directories."""
    root, found = files.join(target, STAGING), dict[str, Interrupted]()
    if files.find(root) is None or files.find(files.join(target, SUCCESS)) is not None:
        return found
    last = last_commit(files, target)
    for path in staged_jobs(files, root):
        if is_committed(files, path, last):
            with suppress(FileNotFoundError):  # the job has ended
                found |= _changes(files, files.join(path, JOURNAL))
    return found


def _changes(files: FileSystem, path: str) -> dict[str, Interrupted]:
    """Return the partitions that a journal changes; for readers, a merge changes nothing."""
    found: dict[str, Interrupted] = {}
    with files.open(path) as file:
        try:
            lines = read_lines(file, JOURNAL_RULE)
            first = next(lines)
            if first["journal"] != JOURNAL_FORM:
                raise ValueError("another release, or another program, wrote it")
            if first["merges"]:
                return found
            change = Interrupted()
            for line in lines:
                if isinstance(line, dict) and "directory" in line:
                    change = found[line["directory"]] = Interrupted()
                elif isinstance(line, str):
                    change.replaces = True
                elif isinstance(line, list) and len(line) == 2 and change.first_offset is None:
                    change.first_offset = int(line[0])
        except (ValueError, TypeError, LookupError, StopIteration) as error:
            raise CorruptRecordError(
                f"not a journal of recordpress: {error}"[:300], file=file.name, rule=JOURNAL_RULE
            ) from None
    return found


def staged_jobs(files: FileSystem, root: str) -> Iterator[str]:
    """Yield the staging directories of all jobs."""
    with suppress(FileNotFoundError):
        for info in files.list(root):
            if info.is_directory and not info.is_link:
                yield info.path


def is_committed(files: FileSystem, path: str, last: Commit) -> bool:
    """Return whether the job in a staging directory was committed, given the last commit."""
    if not isinstance(files, LocalFileSystem):
        return files.name(path) == last.job
    return files.find(files.join(path, JOURNAL)) is not None
