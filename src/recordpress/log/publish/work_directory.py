"""Hidden directory for a copy, which becomes the target when the copy is complete.

It lies in ``.<name>.unfinished`` next to the target and survives a killed call, so that the next call with the same
target resumes. A lock on ``.<name>.lock`` admits one call at a time. Tasks of a killed call may still run, possibly on
other machines: each call renames the directory, so they cannot write into it.

Object stores cannot rename. There files get their names one by one, and the manifest is written last; `lease` is the
lock, and tasks publish files only while it is held.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from uuid import uuid4

from recordpress._file_names import printable
from recordpress.errors import InvalidArgumentError
from recordpress.files import FileSystem, LocalFileSystem, sync_directory
from recordpress.log.publish.lease import file_lock, lease


@dataclass(frozen=True)
class WorkDirectory:
    """Directory to which only this call writes, and its target."""

    files: FileSystem
    path: str
    target: str

    def directory(self, name: str) -> str:
        """Create a directory of the copy, and remove the files that killed calls left in it."""
        path = self.files.join(self.path, name) if name else self.path
        self.files.make_directory(path)
        self.files.sweep(path)
        return path

    def finish(self) -> None:
        """Rename the directory to the target."""
        if self.path == self.target:
            return
        for directory, _, _ in os.walk(self.path):
            sync_directory(Path(directory))
        try:
            os.rename(self.path, self.target)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise exists(self.target) from None
            raise
        sync_directory(Path(self.target).parent)

    def clear(self) -> None:
        """Remove all entries, except in a store, where the manifest lets the next call overwrite them."""
        if self.path == self.target:
            return
        for entry in list(os.scandir(self.path)):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)


def refuse(files: FileSystem, target: str) -> NoReturn:
    """Raise an error because the target exists, after removing the empty directories of a call that was killed or
    interrupted after its last rename."""
    left = (_hidden(target, "lock"), _hidden(target, "unfinished"))
    if isinstance(files, LocalFileSystem) and any(map(os.path.lexists, left)):
        with suppress(InvalidArgumentError, OSError), file_lock(left[0], target):
            _remove_empty_directories(_hidden(target, "unfinished"))
    raise exists(files.url(target))


def exists(target: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{printable(target)} exists: nothing is overwritten", field="dst")


@contextmanager
def locked_work(files: FileSystem, target: str, *, is_file: bool = False) -> Iterator[WorkDirectory]:
    """Lock the target, and yield the directory to write to."""
    if not isinstance(files, LocalFileSystem):
        with lease(files, files.parent(target) if is_file else target, target) as held:
            yield WorkDirectory(files.fenced(held), target, target)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with file_lock(_hidden(target, "lock"), target):
        if is_file:
            yield WorkDirectory(files, target, target)
            return
        path = _hidden(target, "unfinished")
        _make_directory(path)
        try:
            yield WorkDirectory(files, _take_over(path), target)
        finally:
            _remove_empty_directories(path)


def _hidden(target: str, suffix: str) -> str:
    parent, name = os.path.split(target)
    return os.path.join(parent, f".{name}.{suffix}")


def _make_directory(path: str) -> None:
    """Create a directory unless it exists; do not follow a link to one."""
    with suppress(FileExistsError):
        os.mkdir(path)
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)


def _take_over(path: str) -> str:
    """Rename the directory of a killed call, so that its tasks cannot find it, or create a new one."""
    own = os.path.join(path, uuid4().hex)
    for entry in sorted(os.scandir(path), key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns):
        if not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.path)
        elif os.path.exists(own):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.rename(entry.path, own)
    os.makedirs(own, exist_ok=True)
    return own


def _remove_empty_directories(path: str) -> None:
    """Remove the empty directories of all calls, and their parent."""
    with suppress(OSError):
        for entry in list(os.scandir(path)):
            os.rmdir(entry.path)
        os.rmdir(path)
