"""Files and directories that get their name when they are finished; until then they are hidden beside it.

Each attempt has a name of its own, ``.<name>.<32 hex digits>``, and holds a lock (flock) on it while it runs. What
a killed attempt left has no lock: the next attempt at the same name removes it.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from uuid import uuid4

_STEM_BYTES = 200  # with the rest, less than the 255 bytes that a name may have


@contextmanager
def unfinished_file(target: Path) -> Iterator[tuple[Path, FileIO]]:
    """A new file beside `target`, open for writing; unless it was renamed, it is removed at the end.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from kpress.files import unfinished_file
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "file"
    >>> with unfinished_file(target) as (path, file):
    ...     _ = file.write(b"data")
    ...     _ = path.rename(target)
    >>> target.read_bytes()
    b'data'
    """
    sweep(target)
    path, file = _locked_file(target)
    try:
        with file:
            yield path, file
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def unfinished_directory(target: Path) -> Iterator[Path]:
    """Likewise a new directory.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from kpress.log import unfinished_directory
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "copy"
    >>> with unfinished_directory(target) as directory:
    ...     _ = (directory / "file").write_bytes(b"data")
    ...     _ = directory.rename(target)
    >>> (target / "file").read_bytes()
    b'data'
    """
    sweep(target)
    path, descriptor = _locked_directory(target)
    try:
        yield path
    finally:
        _remove_directory(path)
        os.close(descriptor)


def _remove_directory(path: Path) -> None:
    import shutil  # here, because it imports every compressor that Python has

    shutil.rmtree(path, ignore_errors=True)


def sweep(target: Path) -> None:
    """Remove what dead attempts at `target` left. If it is unknown whether an attempt is dead, as on a file system
    without locks, nothing is removed."""
    for path in _hidden(target.parent, re.escape(f".{_stem(target)}.")):
        _remove_if_dead(path)


def sweep_directory(directory: Path) -> None:
    """Remove the files of all attempts at any name in a directory whose work is done, dead or alive: an attempt that a
    scheduler gave up may still be running.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from kpress.log import sweep_directory
    >>> sweep_directory(pathlib.Path(tempfile.mkdtemp()))
    """
    for path in _hidden(directory, r"\..+\."):
        path.unlink(missing_ok=True)


def _hidden(directory: Path, beginning: str) -> list[Path]:
    pattern = re.compile(beginning + "[0-9a-f]{32}", re.DOTALL)
    with os.scandir(directory) as entries:
        return [Path(entry.path) for entry in entries if pattern.fullmatch(entry.name)]


def _remove_if_dead(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return  # gone meanwhile, or not ours: a link, a file of another user
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            _remove_directory(path)
        else:
            path.unlink(missing_ok=True)
    except OSError:
        pass  # it is running, or there are no locks here
    finally:
        os.close(descriptor)


def _locked_file(target: Path) -> tuple[Path, FileIO]:
    while True:
        path = _attempt(target)
        file = FileIO(os.fspath(path), "x")
        if _lock(file.fileno()):
            return path, file
        file.close()


def _locked_directory(target: Path) -> tuple[Path, int]:
    while True:
        path = _attempt(target)
        path.mkdir()
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        if _lock(descriptor):
            return path, descriptor
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """False if another attempt swept the name away before it was locked."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks
    return os.fstat(descriptor).st_nlink > 0


def _attempt(target: Path) -> Path:
    return target.with_name(f".{_stem(target)}.{uuid4().hex}")


def _stem(target: Path) -> str:
    return os.fsdecode(os.fsencode(target.name)[:_STEM_BYTES])
