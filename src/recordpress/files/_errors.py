"""Errors with their place: a position in the whole file for an error in a part of it, an address for a store's
error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from recordpress._file_names import printable, without_secrets
from recordpress.errors import ArgumentTypeError, InvalidArgumentError, RecordpressError, StorageError


class NotFoundError(StorageError, FileNotFoundError):
    """A StorageError that is also a FileNotFoundError, as for a local path."""


class ExistsError(StorageError, FileExistsError):
    """A StorageError that is also a FileExistsError, as for a local path."""


@contextmanager
def located(position: int, file: str | Path | None = None) -> Iterator[None]:
    """Change positions in an error about a part of a file to positions in the whole file."""
    try:
        yield
    except RecordpressError as error:
        move_positions(error, position)
        if file is not None:
            error.file = printable(file)
        raise


def move_positions(error: RecordpressError, position: int) -> None:
    """Change positions in an error about data that begins at `position` of a file to positions in the file."""
    if error.position is not None:
        error.position += position
    if error.field_position is not None:
        error.field_position += position


@contextmanager
def named(argument: str, instead_of: str = "path") -> Iterator[None]:
    """Name the caller's argument in errors about the argument of a called function."""
    try:
        yield
    except (ArgumentTypeError, InvalidArgumentError) as error:
        if error.field == instead_of:
            error.field = argument
        raise


@contextmanager
def storage_errors(what: str, url: str, secrets: Iterable[str] = ()) -> Iterator[None]:
    """Turn exceptions of a store's library into a StorageError without cause or context, because they may quote the URL
    with its secrets."""
    try:
        yield
        return
    except (RecordpressError, MemoryError):
        raise
    except FileExistsError:
        failure: StorageError = ExistsError("the file exists", file=url)
    except FileNotFoundError:
        failure = NotFoundError("no such file or directory", file=url)
    except Exception as error:
        text = without_secrets(f"{what} failed: {type(error).__name__}: {error}", secrets)
        failure = StorageError(text, file=url)
    try:
        raise failure
    except StorageError:
        failure.__context__ = None
        raise
