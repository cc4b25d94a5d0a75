"""Files that get their names when they are finished; until then, they are hidden next to their targets.

Each attempt has its own name, ``.<name>.<32 hex digits>``, and holds a lock on its file while it runs. A killed
attempt's file has no lock: the next attempt at the same name removes it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from uuid import uuid4

from recordpress.files._locks import is_at, take

_STEM_BYTES = 200  # with the rest, less than the 255 bytes that a name may have
_ATTEMPT = re.compile(r"\.(.+)\.[0-9a-f]{32}", re.DOTALL)


@contextmanager
def unfinished_file(target: Path, *, sweeps: bool = True) -> Iterator[tuple[Path, FileIO]]:
    """Open a new file next to `target` for writing; remove it at the end unless it was renamed. With `sweeps`,
    list the directory first, and remove the files of dead attempts at the name."""
    if sweeps:
        _sweep(target)
    path, file = _locked_file(target)
    try:
        with file:
            yield path, file
    finally:
        path.unlink(missing_ok=True)


def _sweep(target: Path) -> None:
    """Remove the files of dead attempts at `target`, unless the file system has no locks that show which are dead."""
    for path in _hidden(target.parent, _stem(target)):
        _remove_if_dead(path)


def sweep_directory(directory: Path) -> None:
    """Remove the files of all attempts at any name in a directory whose work is done, dead or alive: an attempt that a
    scheduler gave up may still be running."""
    for path in _hidden(directory):
        path.unlink(missing_ok=True)


def _hidden(directory: Path, stem: str = "") -> list[Path]:
    """Return the files of attempts at the name with this stem, or at any name."""
    with os.scandir(directory) as entries:
        found = [(entry.path, _ATTEMPT.fullmatch(entry.name)) for entry in entries]
    return [Path(path) for path, match in found if match is not None and stem in ("", match[1])]


def _remove_if_dead(path: Path) -> None:
    """Remove a file if no process holds its lock."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return  # gone by now, or not ours: a link, a directory, a file of another user
    try:
        with suppress(BlockingIOError, FileNotFoundError):
            if take(descriptor):
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
