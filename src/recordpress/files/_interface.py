"""Interface of a file system, wherever its bytes are.

Paths are text in the file system's own form: ``/var/kafka-logs/orders-0``, ``bucket/backup/orders-0``.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass
from math import inf
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from recordpress._file_names import printable
from recordpress.errors import CorruptRecordError, StorageError
from recordpress.files._background import results
from recordpress.files._errors import storage_errors

if TYPE_CHECKING:
    from typing_extensions import Buffer

LISTS_AT_ONCE = 16  # concurrent calls of a store; chosen, not measured
READ_BYTES = 8 << 20  # of one read: large enough to hide its fixed costs
_UNFINISHED = re.compile(r"\..+\.[0-9a-f]{32}", re.DOTALL)


def is_unfinished(name: str) -> bool:
    """Return whether a name is of the form that a `Writer` gives to a file until it is published."""
    return _UNFINISHED.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class FileInfo:
    """Entry of a listing.

    Attributes
    ----------
    path : str
    name : str
        The last part of the path.
    kind : {'file', 'directory', 'missing', 'other'}
        For a link, the kind of its target; 'missing' for a dangling link. 'other' is a named pipe, a socket or a
        device.
    size : int | None
        Size of a file in bytes, if known.
    modified : float | None
        Seconds since 1970.
    is_link : bool
        Whether it is a symbolic link.

    Examples
    --------
    >>> from recordpress.files import FileInfo
    >>> FileInfo("logs/orders-0", "orders-0", "directory").is_file
    False
    """

    path: str
    name: str
    kind: Literal["file", "directory", "missing", "other"]
    size: int | None = None
    modified: float | None = None
    is_link: bool = False

    def __repr__(self) -> str:
        return f"FileInfo({printable(self.path)!r}, kind={self.kind!r}, size={self.size!r})"

    @property
    def is_file(self) -> bool:
        """Whether the entry is a file."""
        return self.kind == "file"

    @property
    def is_directory(self) -> bool:
        """Whether the entry is a directory."""
        return self.kind == "directory"


Listing: TypeAlias = list[FileInfo]


class RandomAccessFile(ABC):
    """A file open to be read at any position, by one thread or by several.

    Attributes
    ----------
    name : str
        Path or URL, for messages.
    size : int
        Size in bytes when the file was opened; bytes appended later are not read.
    is_remote : bool
        Whether each read is a request, so that reading ahead and larger chunks pay off.
    start : int
        Where reading begins: 0 except for a part of a file.

    Examples
    --------
    >>> from recordpress.files import resolve
    >>> files, path = resolve("demo/logs/sessions-0/partition.metadata")
    >>> with files.open(path) as file:
    ...     file.read_at(0, 7)
    b'version'
    """

    name: str
    size: int
    is_remote: bool = True
    start: int = 0

    @abstractmethod
    def read_at(self, position: int, length: int) -> bytes:
        """Return `length` bytes from `position`; fewer only at the end of the file."""

    def read_into(self, position: int, buffer: Buffer) -> int:
        """Fill the buffer; return the number of bytes, which is below its size only at the end of the file."""
        view = memoryview(buffer).cast("B")
        data = self.read_at(position, len(view))
        view[: len(data)] = data
        return len(data)

    @abstractmethod
    def close(self) -> None:
        """Close the file; a second call does nothing."""
        ...

    def forget(self) -> None:  # noqa: B027
        """Let the system drop the bytes from memory: nobody reads them again, and deleting the file is then cheap."""

    def read_exactly(self, position: int, length: int) -> bytes:
        """Return exactly `length` bytes, which must lie before `size`.

        Raises
        ------
        CorruptRecordError
            The file has become shorter than it was.
        """
        data = self.read_at(position, length)
        if len(data) < length:
            raise self.truncated(position + len(data))
        return data

    def truncated(self, end: int) -> CorruptRecordError:
        """Return the error for a file that ends before its size."""
        return CorruptRecordError(
            f"the file was truncated while it was read: it had {self.size} bytes and now ends at {end}",
            file=self.name,
            position=end,
            rule="file size",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Writer(ABC):
    """A new file, which gets its name from `publish` when it is complete; otherwise nothing is left.

    A context manager: at the end the file is discarded unless it was published.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from recordpress.files import resolve
    >>> files, path = resolve(pathlib.Path(tempfile.mkdtemp()) / "file")
    >>> with files.create(path) as writer:
    ...     writer.write(b"data")
    ...     writer.publish()
    >>> pathlib.Path(path).read_bytes()
    b'data'
    """

    @abstractmethod
    def write(self, data: Buffer) -> None:
        """Write all of the data."""

    def written(self) -> RandomAccessFile | None:
        """Return the file so far, to be read back; None if the store shows a file only under its final name."""
        return None

    @abstractmethod
    def publish(self) -> None:
        """Make the bytes durable and give the file its name, replacing a file of that name."""

    @abstractmethod
    def discard(self) -> None:
        """Remove the file. A second call, or one after `publish`, does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.discard()


class Fence:
    """File that exists while a job may write to a store, and ends with the job."""

    def __init__(self, path: str, counts_for: float = 0.0) -> None:
        self.path = path
        self.counts_for = counts_for  # seconds after a check in which writes need no other check
        self._is_over = False
        self._checked = -inf
        self._one = Lock() if counts_for else nullcontext()  # one thread checks, the others wait for the answer

    def __getstate__(self) -> tuple[str, float, bool]:
        return self.path, self.counts_for, self._is_over  # the clock and the lock belong to this process

    def __setstate__(self, state: tuple[str, float, bool]) -> None:
        made = Fence(*state[:2])
        self.__dict__ = made.__dict__ | {"_is_over": state[2]}

    def end(self) -> None:
        """End the job's permission in this process, even if the file cannot be deleted."""
        self._is_over = True

    def check(self, files: FileSystem) -> None:
        """Check that the file exists, unless this was just checked; raise a StorageError if it is gone."""
        try:
            with self._one:
                if not self._is_over:
                    if (now := monotonic()) - self._checked >= self.counts_for:
                        files.info(self.path)
                        self._checked = now
                    return
        except FileNotFoundError:
            self._is_over = True
        raise StorageError(
            "it is gone: the job that wrote this file has ended, or another job has taken its place",
            file=files.url(self.path),
        )


class FileSystem(ABC):
    """A tree of directories and files.

    All calls raise FileNotFoundError if there is nothing at the path, and OSError (StorageError if it is not local) if
    the store fails.

    Examples
    --------
    >>> from recordpress.files import resolve
    >>> files, path = resolve("demo/logs/sessions-0")
    >>> sorted(info.name for info in files.list(path))[:2]
    ['00000000000000000000.index', '00000000000000000000.log']
    """

    _fence: Fence | None = None
    _secrets: tuple[str, ...] = ()  # of the URL, which messages do not quote

    @abstractmethod
    def info(self, path: str) -> FileInfo:
        """Return the entry at a path; raise FileNotFoundError if it is missing."""
        ...

    def find(self, path: str) -> FileInfo | None:
        """Return the entry at a path; None if it is missing."""
        try:
            return self.info(path)
        except FileNotFoundError:
            return None

    @abstractmethod
    def list(self, path: str) -> list[FileInfo]:
        """Return the entries of a directory, sorted by name."""

    def list_each(self, groups: Sequence[Sequence[str]]) -> Iterator[Listing]:
        """Yield the entries of directories in order, by several calls at a time. The directories of a group follow one
        another in their parent, so a store that lists by key needs fewer calls than there are directories."""
        paths = (path for group in groups for path in group)
        return (found for _, found in results(paths, self.list, LISTS_AT_ONCE))

    @abstractmethod
    def open(self, path: str) -> RandomAccessFile:
        """Open a file for reading."""
        ...

    @abstractmethod
    def create(self, path: str) -> Writer:
        """Create a file that gets this name when it is published. Its directory must exist."""

    def create_file(self, path: str, data: bytes) -> None:
        """Create a file with these bytes, as `create` does."""
        with self.create(path) as writer:
            writer.write(data)
            writer.publish()

    def upload(self, path: str) -> Writer:
        """Create a file as `create` does, but perhaps under its name before it is published, and without removing files
        of other attempts: for files that one call writes, or that nobody looks for, in a directory that is swept."""
        return self.create(path)

    def write_file(self, path: str, data: bytes) -> None:
        """Write a small file."""
        with self.upload(path) as writer:
            writer.write(data)
            writer.publish()

    @abstractmethod
    def delete(self, path: str) -> None:
        """Delete a file."""

    @abstractmethod
    def move(self, source: str, target: str) -> None:
        """Give a file another name, replacing a file of that name. A store copies the file, and deletes the source: an
        interrupted call can be repeated."""

    def copy(self, source: str, target: str) -> bool:
        """Copy a file inside the store; return False if the store cannot do that."""
        return False

    def sweep(self, path: str) -> None:
        """Remove from a directory what unfinished writers left there, dead or alive: an attempt that a scheduler gave
        up may still be running. Its `publish` fails then."""
        with suppress(FileNotFoundError):
            for info in self.list(path):
                if info.is_file and is_unfinished(info.name):
                    with suppress(FileNotFoundError):
                        self.delete(info.path)

    def delete_directory(self, path: str) -> None:
        """Delete a directory and its contents; a missing directory is not an error."""
        try:
            entries = self.list(path)
        except FileNotFoundError:
            return
        for info in entries:
            if info.is_directory and not info.is_link:
                self.delete_directory(info.path)
            else:
                with suppress(FileNotFoundError):
                    self.delete(info.path)

    @abstractmethod
    def make_directory(self, path: str) -> None:
        """Create a directory and its parents, unless the store has no directories; the directory may already exist."""

    def create_new(self, path: str, data: bytes) -> None:
        """Create a small file; raise FileExistsError if it exists. Concurrent calls cannot both succeed on a
        local disk, in S3 with boto3, and in some stores of fsspec."""
        self.check_fence()
        if self.find(path) is not None:
            raise FileExistsError(self.url(path))
        self.write_file(path, data)

    def fenced(self, fence: Fence | None) -> Self:
        """Return the same store for a job and its tasks, which may outlive it: they publish and delete only while the
        fence exists. With None, nothing is checked. (On a local disk, a renamed directory does more.)"""
        made = copy(self)
        made._fence = fence
        return made

    def check_fence(self) -> None:
        """Raise an error if the job has ended.

        Raises
        ------
        StorageError
        """
        if self._fence is not None:
            self._fence.check(self)

    def check_link(self, info: FileInfo, root: str) -> None:  # noqa: B027
        """Refuse a link that leads out of `root`, or to nothing. Most stores have no links.

        Raises
        ------
        InvalidArgumentError
        """

    def url(self, path: str) -> str:
        """Return the path as messages show it."""
        return path

    def errors(self, what: str, path: str) -> AbstractContextManager[None]:
        """Turn the exceptions of the store's library into a StorageError about this path."""
        return storage_errors(what, self.url(path), self._secrets)

    def canonical(self, path: str) -> str:
        """Return the path without links and without a separator at its end."""
        return path.rstrip("/") or path

    def join(self, path: str, *names: str) -> str:
        """Join a path and names in it."""
        return "/".join([path.rstrip("/"), *names]) if path else "/".join(names)

    def name(self, path: str) -> str:
        """Return the last part of a path."""
        return path.rstrip("/").rpartition("/")[2]

    def parent(self, path: str) -> str:
        """Return the directory of a path; at the top ``/``, or "" if paths do not begin with that."""
        directory, slash, _ = path.rstrip("/").rpartition("/")
        return directory or slash
