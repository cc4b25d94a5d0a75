"""Errors that say where: positions in a file for a part of it, and the address for what a store answered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kpress._file_names import printable
from kpress.errors import KpressError, StorageError


class NotFoundError(StorageError, FileNotFoundError):
    """What stands for a local path is a FileNotFoundError, too."""


@contextmanager
def located(position: int, file: str | Path | None = None) -> Iterator[None]:
    """Make an error about a part of a file say where in the file it is."""
    try:
        yield
    except KpressError as error:
        if error.position is not None:
            error.position += position
        if file is not None:
            error.file = printable(file)
        raise


@contextmanager
def storage_errors(what: str, url: str) -> Iterator[None]:
    """Turn what a store's library raises into a StorageError. Every library has exceptions of its own, which have
    nothing in common but Exception.

    Raises
    ------
    StorageError
        Also a FileNotFoundError where that was raised.
    """
    try:
        yield
    except (KpressError, MemoryError):
        raise
    except FileNotFoundError as error:
        raise NotFoundError("there is no such file or directory", file=url) from error
    except Exception as error:
        raise StorageError(f"{what} failed: {type(error).__name__}: {error}", file=url) from error
