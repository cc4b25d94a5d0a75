"""Errors that say where: a position in the whole file for an error in a part of it, an address for a store's error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recordpress._file_names import printable
from recordpress.errors import ArgumentTypeError, InvalidArgumentError, RecordpressError, StorageError


class NotFoundError(StorageError, FileNotFoundError):
    """Also a FileNotFoundError, as for a local path."""


@contextmanager
def located(position: int, file: str | Path | None = None) -> Iterator[None]:
    """Give an error about a part of a file its position in the whole file.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.files import located
    >>> try:
    ...     with located(1000):
    ...         raise recordpress.CorruptRecordError("damaged", position=10)
    ... except recordpress.RecordpressError as error:
    ...     print(error.position)
    1010
    """
    try:
        yield
    except RecordpressError as error:
        if error.position is not None:
            error.position += position
        if file is not None:
            error.file = printable(file)
        raise


@contextmanager
def named(argument: str) -> Iterator[None]:
    """Errors about `path` name the argument that holds it.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.files import named, resolve
    >>> try:
    ...     with named("target"):
    ...         resolve("")
    ... except recordpress.InvalidArgumentError as error:
    ...     print(error.field)
    target
    """
    try:
        yield
    except (ArgumentTypeError, InvalidArgumentError) as error:
        if error.field == "path":
            error.field = argument
        raise


@contextmanager
def storage_errors(what: str, url: str) -> Iterator[None]:
    """Turn what a store's library raises into a StorageError. The libraries' exceptions have no base in common but
    Exception.

    Raises
    ------
    StorageError
        Also a FileNotFoundError where that was raised.
    """
    try:
        yield
    except (RecordpressError, MemoryError):
        raise
    except FileNotFoundError as error:
        raise NotFoundError("there is no such file or directory", file=url) from error
    except Exception as error:
        raise StorageError(f"{what} failed: {type(error).__name__}: {error}", file=url) from error
