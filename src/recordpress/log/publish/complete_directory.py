"""Directories of files that appear complete, with ``_SUCCESS``, or not at all.

On a local disk, the files are written to a hidden directory. An object store cannot rename: there they get their final
names, and a marker makes readers ignore them until the end. The next call removes the files of a killed call.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from recordpress._file_names import SUCCESS
from recordpress.files import (
    LISTS_AT_ONCE,
    FileInfo,
    FileSystem,
    Listing,
    LocalFileSystem,
    for_each,
    is_unfinished,
    named,
    resolve,
)
from recordpress.log.publish.lease import is_lease
from recordpress.log.publish.work_directory import WorkDirectory, locked_work, refuse

UNFINISHED = "_recordpress-unfinished"  # Spark and Hive ignore names with an underscore


@contextmanager
def complete_directory(dst: str | os.PathLike[str], marker: str | None = SUCCESS) -> Iterator[WorkDirectory]:
    """Yield a directory to write to, which becomes `dst`, with the marker, when the block ends without an error."""
    files, target = refuse_taken(dst)
    with locked_work(files, target) as work:
        refuse_taken(dst)
        _clear(work)
        if work.path == target:
            work.directory("")
            _mark(work, UNFINISHED)
        try:
            yield work
            for_each(_directories(files, work.path), files.sweep, LISTS_AT_ONCE)  # of killed and duplicate attempts
            if marker:
                _mark(work, marker)
        except BaseException:
            _clear(work)
            raise
        if work.path == target:
            files.delete(files.join(target, UNFINISHED))
        work.finish()


def refuse_taken(dst: str | os.PathLike[str]) -> tuple[FileSystem, str]:
    """Return the file system and path of `dst`; raise an error if it exists."""
    with named("dst"):
        files, target = resolve(dst)
    target = files.canonical(target)
    try:
        is_taken = not files.info(target).is_directory or _is_taken(files, target)
    except FileNotFoundError:
        is_taken = False
    if is_taken:
        refuse(files, target)
    return files, target


def _is_taken(files: FileSystem, target: str) -> bool:
    if isinstance(files, LocalFileSystem):
        return bool(files.list(target))
    names = {info.name for info in files.list(target)}
    if UNFINISHED in names and SUCCESS not in names:
        return False
    return any(not is_unfinished(info.name) and not is_lease(info.name) for info in _files_in(files, target))


def succeed(work: WorkDirectory) -> None:
    """Mark the directory as complete."""
    _mark(work, SUCCESS)


def _mark(work: WorkDirectory, name: str) -> None:
    work.files.write_file(work.files.join(work.path, name), b"")


def _clear(work: WorkDirectory) -> None:
    """Remove everything, the marker last."""
    if work.path != work.target:
        work.clear()
        return
    try:
        found = list(_files_in(work.files, work.path))
    except FileNotFoundError:
        return

    def delete(path: str) -> None:
        with suppress(FileNotFoundError):
            work.files.delete(path)

    paths = [info.path for info in found if not is_lease(info.name)]
    for_each((path for path in paths if work.files.name(path) != UNFINISHED), delete, LISTS_AT_ONCE)
    delete(work.files.join(work.path, UNFINISHED))


def _files_in(files: FileSystem, path: str) -> Iterator[FileInfo]:
    for _, entries in _tree(files, path):
        yield from (info for info in entries if info.is_file)


def _directories(files: FileSystem, path: str) -> Iterator[str]:
    return (directory for directory, _ in _tree(files, path))


def _tree(files: FileSystem, path: str) -> Iterator[tuple[str, Listing]]:
    """Yield each directory with its entries, level by level."""
    level = [path]
    while level:
        below: list[str] = []
        for directory, entries in zip(level, files.list_each([level]), strict=True):
            yield directory, entries
            below += [info.path for info in entries if info.is_directory and not info.is_link]
        level = below
