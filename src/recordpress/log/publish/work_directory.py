"""Where a copy of a log is made: a hidden directory that gets its name when it is complete.

It lies in ``.<name>.unfinished`` beside the target, and keeps what is done if a call is killed: the next one with the
same target continues from there. A lock on ``.<name>.lock`` lets only one call work at a time. Tasks of a killed call
that still run, on other machines say, write to a place of another name: each call gives it a new one.

Object stores cannot rename: there files get their names one by one, and the manifest is written last; `_lease` is their
lock, and tasks publish a file only while it is held.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from uuid import uuid4

from recordpress._file_names import printable
from recordpress.errors import InvalidArgumentError
from recordpress.files import FileSystem, LocalFileSystem, only_one, sync_directory
from recordpress.log.publish.lease import lease


@dataclass(frozen=True)
class WorkDirectory:
    """A place to which only this call writes.

    Attributes
    ----------
    files : FileSystem
    path : str
    target : str
    """

    files: FileSystem
    path: str
    target: str

    def directory(self, name: str) -> str:
        """Make a directory of the copy, and remove what killed calls left in it."""
        path = self.files.join(self.path, name) if name else self.path
        self.files.make_directory(path)
        self.files.sweep(path)
        return path

    def finish(self) -> None:
        """Give the copy its name."""
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
        """Remove everything that was made; nothing if the work is done at the target itself."""
        if self.path == self.target:
            return
        for entry in list(os.scandir(self.path)):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)


def refuse(files: FileSystem, target: str) -> NoReturn:
    """Raise because there is something at the target. What a call left that was killed after it had given the copy its
    name is removed."""
    if isinstance(files, LocalFileSystem) and os.path.lexists(_beside(target, "lock")):
        with suppress(InvalidArgumentError, OSError), _locked(target):
            _remove_empty_places(_beside(target, "unfinished"))
    raise exists(files.url(target))


def exists(target: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{printable(target)} exists: nothing is overwritten", field="dst")


@contextmanager
def locked_work(files: FileSystem, target: str, *, is_file: bool = False) -> Iterator[WorkDirectory]:
    """The place where the copy is made.

    Parameters
    ----------
    files : FileSystem
    target : str
    is_file : bool
        The target is one file, not a directory.

    Raises
    ------
    InvalidArgumentError
        Another call is at work there.
    """
    if not isinstance(files, LocalFileSystem):
        with lease(files, files.parent(target) if is_file else target, target) as held:
            yield WorkDirectory(files.fenced(held), target, target)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with _locked(target):
        if is_file:
            yield WorkDirectory(files, target, target)
            return
        path = _beside(target, "unfinished")
        _make_directory(path)
        try:
            yield WorkDirectory(files, _taken_over(path), target)
        finally:
            _remove_empty_places(path)


def _beside(target: str, what: str) -> str:
    parent, name = os.path.split(target)
    return os.path.join(parent, f".{name}.{what}")


@contextmanager
def _locked(target: str) -> Iterator[None]:
    path = _beside(target, "lock")
    with ExitStack() as held:
        try:
            held.enter_context(only_one(path))
        except BlockingIOError:
            raise InvalidArgumentError(
                f"another call is writing to {printable(target)}: it holds the lock on {printable(path)}", field="dst"
            ) from None
        yield


def _make_directory(path: str) -> None:
    """Unless it is there. A link to one is not followed."""
    with suppress(FileExistsError):
        os.mkdir(path)
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)


def _taken_over(path: str) -> str:
    """A directory for this call: that of a killed one under another name, which its tasks do not know."""
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


def _remove_empty_places(path: str) -> None:
    """Remove the place of all calls, and in it those where nothing was done."""
    with suppress(OSError):
        for entry in list(os.scandir(path)):
            os.rmdir(entry.path)
        os.rmdir(path)
