"""The commits of a log dir in a store: a numbered series of files, of which only the last is kept.

A job reads the last commit under its lease, and its own commit has the next number. The store creates a file of that
name for one job only, so a job that lost its lease without noticing cannot commit: that number or a higher one exists.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from recordpress._file_names import COMMIT_PREFIX
from recordpress.errors import StorageError
from recordpress.files import FileSystem

_LARGEST = 4096  # bytes to read from a commit; ours are far smaller


class Commit(NamedTuple):
    """Number of a commit, starting at 1, and the name of its job; 0 and "" before the first commit."""

    number: int
    job: str


def last_commit(files: FileSystem, target: str) -> Commit:
    """Return the last commit to a log dir."""
    number = max(_numbers(files, target), default=0)
    return Commit(number, _job(files, target, number) if number else "")


def add_commit(files: FileSystem, target: str, last: Commit, job: str) -> None:
    """Create the commit after `last`; raise an error if another job committed since then."""
    number = last.number + 1
    with suppress(FileExistsError):
        files.create_new(_path(files, target, number), job.encode())
    # the file may be ours even if creating it failed: the response was lost and the library retried
    if _job(files, target, number) != job or max(_numbers(files, target)) > number:
        if _job(files, target, number) == job:
            files.fenced(None).delete(_path(files, target, number))
        raise StorageError(
            "another job committed since this job read the log and lost its lease: write the rows again",
            file=files.url(_path(files, target, number)),
        )
    for one in _numbers(files, target):
        if one < number:
            files.delete(_path(files, target, one))


def _numbers(files: FileSystem, target: str) -> list[int]:
    try:
        names = [info.name for info in files.list(target) if info.name.startswith(COMMIT_PREFIX)]
    except FileNotFoundError:
        return []
    return [int(number) for name in names if (number := name.removeprefix(COMMIT_PREFIX)).isdecimal()]


def _path(files: FileSystem, target: str, number: int) -> str:
    return files.join(target, f"{COMMIT_PREFIX}{number:020}")


def _job(files: FileSystem, target: str, number: int) -> str:
    try:
        with files.open(_path(files, target, number)) as file:
            return file.read_at(0, min(file.size, _LARGEST)).decode(errors="replace")
    except FileNotFoundError:
        return ""
