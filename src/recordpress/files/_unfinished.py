"""Files and directories that get their name when they are finished; until then they are hidden next to it.

Each attempt has its own name, ``.<name>.<32 hex digits>``, and holds a lock while it runs: on its file, or on one
next to its directory, ``.<name>.<32 hex digits>.lock``. A killed attempt's files have no lock: the next attempt at the
same name removes it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from uuid import uuid4

from recordpress.files._locks import is_at, only_one, take

_STEM_BYTES = 200  # with the rest, less than the 255 bytes that a name may have
_LOCK = ".lock"
_PATIENCE = 60.0  # seconds in which a sweep that tried the lock of a new attempt lets go of it


@contextmanager
def unfinished_file(target: Path) -> Iterator[tuple[Path, FileIO]]:
    """A new file next to `target`, open for writing; unless it was renamed, it is removed at the end.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from recordpress.files import unfinished_file
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
    """Create a new directory next to `target`; unless it was renamed, it is removed at the end.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from recordpress.log import unfinished_directory
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "copy"
    >>> with unfinished_directory(target) as directory:
    ...     _ = (directory / "file").write_bytes(b"data")
    ...     _ = directory.rename(target)
    >>> (target / "file").read_bytes()
    b'data'
    """
    sweep(target)
    path = _attempt(target)
    with only_one(f"{path}{_LOCK}", _PATIENCE):
        path.mkdir()
        try:
            yield path
        finally:
            _remove_directory(path)


def _remove_directory(path: Path) -> None:
    import shutil  # here, because it imports every compressor that Python has

    shutil.rmtree(path, ignore_errors=True)


def sweep(target: Path) -> None:
    """Remove what dead attempts at `target` left. If it is unknown whether an attempt is dead, as on a file system
    without locks, nothing is removed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from recordpress.files import sweep
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "file"
    >>> target.with_name(f".file.{'0' * 32}").touch()
    >>> sweep(target)
    >>> list(target.parent.iterdir())
    []
    """
    attempt = re.escape(f".{_stem(target)}.")
    for path in _hidden(target.parent, attempt):
        _remove_if_dead(path)
    for lock in _hidden(target.parent, attempt, _LOCK):
        _remove_if_dead(lock, lock.with_name(lock.name.removesuffix(_LOCK)))


def sweep_directory(directory: Path) -> None:
    """Remove the files of all attempts at any name in a directory whose work is done, dead or alive: an attempt that a
    scheduler gave up may still be running.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from recordpress.log import sweep_directory
    >>> sweep_directory(pathlib.Path(tempfile.mkdtemp()))
    """
    for path in _hidden(directory, r"\..+\."):
        path.unlink(missing_ok=True)


def _hidden(directory: Path, beginning: str, suffix: str = "") -> list[Path]:
    pattern = re.compile(f"{beginning}[0-9a-f]{{32}}{re.escape(suffix)}", re.DOTALL)
    with os.scandir(directory) as entries:
        return [Path(entry.path) for entry in entries if pattern.fullmatch(entry.name)]


def _remove_if_dead(path: Path, directory: Path | None = None) -> None:
    """Remove a file that nobody holds the lock on, and before it the directory that it is the lock of."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return  # gone by now, or not ours: a link, a directory, a file of another user
    try:
        with suppress(BlockingIOError, FileNotFoundError):
            if take(descriptor):
                if directory is not None:
                    _remove_directory(directory)
                path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _locked_file(target: Path) -> tuple[Path, FileIO]:
    while True:
        path = _attempt(target)
        file = FileIO(os.fspath(path), "x")
        with suppress(BlockingIOError, FileNotFoundError):
            take(file.fileno())
            if is_at(path, file.fileno()):
                return path, file
        file.close()  # another attempt swept the name away before it was locked


def _attempt(target: Path) -> Path:
    return target.with_name(f".{_stem(target)}.{uuid4().hex}")


def _stem(target: Path) -> str:
    return os.fsdecode(os.fsencode(target.name)[:_STEM_BYTES])
