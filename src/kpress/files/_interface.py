"""What a file system promises, wherever its bytes lie.

Paths are text in the form that the file system itself has: ``/var/kafka-logs/orders-0``, ``bucket/backup/orders-0``.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from kpress.errors import CorruptRecordError

if TYPE_CHECKING:
    from typing_extensions import Buffer

_UNFINISHED = re.compile(r"\..+\.[0-9a-f]{32}", re.DOTALL)


def is_unfinished(name: str) -> bool:
    """Whether a file has such a name as a `Writer` gives it until it is published."""
    return _UNFINISHED.fullmatch(name) is not None


@dataclass(frozen=True)
class FileInfo:
    """What a listing says of a name.

    Attributes
    ----------
    path : str
    name : str
        The last part of the path.
    kind : {'file', 'directory', 'missing', 'other'}
        Of what a link leads to, 'missing' if it leads to nothing. 'other' is a named pipe, a socket or a device.
    size : int | None
        Bytes of a file, if the store tells.
    modified : float | None
        Seconds since 1970.
    is_link : bool
        A symbolic link.

    Examples
    --------
    >>> from kpress.files import FileInfo
    >>> FileInfo("logs/orders-0", "orders-0", "directory").is_file
    False
    """

    path: str
    name: str
    kind: Literal["file", "directory", "missing", "other"]
    size: int | None = None
    modified: float | None = None
    is_link: bool = False

    @property
    def is_file(self) -> bool:
        return self.kind == "file"

    @property
    def is_directory(self) -> bool:
        return self.kind == "directory"


class RandomAccessFile(ABC):
    """A file open to be read at any position, by one thread or by several.

    Attributes
    ----------
    name : str
        For messages: a path or an URL.
    size : int
        Bytes when it was opened; what is appended later is not read.
    is_remote : bool
        A read costs a request, so that reading ahead and larger pieces pay.
    """

    name: str
    size: int
    is_remote: bool = True

    @abstractmethod
    def read_at(self, position: int, length: int) -> bytes:
        """These bytes; fewer only where the file ends."""

    def read_into(self, position: int, buffer: Buffer) -> int:
        """Fill the buffer; the number of bytes is smaller than it only where the file ends."""
        view = memoryview(buffer).cast("B")
        data = self.read_at(position, len(view))
        view[: len(data)] = data
        return len(data)

    @abstractmethod
    def close(self) -> None: ...

    def read_exactly(self, position: int, length: int) -> bytes:
        """Exactly these bytes, which lie before `size`.

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
        """The error for a file that ends before its size."""
        return CorruptRecordError(
            f"the file was truncated while it was read: it had {self.size} bytes and now ends at {end}",
            file=self.name,
            position=end,
            rule="file size",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Writer(ABC):
    """A new file without a name: `publish` gives it one when it is whole, and everything else leaves nothing.

    As a context manager it is discarded at the end unless it was published.
    """

    @abstractmethod
    def write(self, data: Buffer) -> None:
        """All of the data."""

    def written(self) -> RandomAccessFile | None:
        """What was written so far, to be read back; None where a store shows a file only when it has its name."""
        return None

    @abstractmethod
    def publish(self) -> None:
        """Make the bytes durable and give the file its name, in place of a file that has it."""

    @abstractmethod
    def discard(self) -> None:
        """Leave nothing of it. A second call, and one after `publish`, does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()


class FileSystem(ABC):
    """A tree of directories and files.

    All calls raise FileNotFoundError for a path that leads to nothing, and OSError (StorageError for what is not local)
    where the store fails.
    """

    @abstractmethod
    def info(self, path: str) -> FileInfo: ...

    @abstractmethod
    def list(self, path: str) -> list[FileInfo]:
        """What lies in a directory, in order of its names."""

    @abstractmethod
    def open(self, path: str) -> RandomAccessFile: ...

    @abstractmethod
    def create(self, path: str) -> Writer:
        """A file that gets this name when it is published. Its directory exists."""

    @abstractmethod
    def delete(self, path: str) -> None:
        """Of a file."""

    def sweep(self, path: str) -> None:
        """Remove from a directory what unfinished writers left there, dead or alive: an attempt that a scheduler gave
        up may still be running. Its `publish` fails then."""
        for info in self.list(path):
            if info.is_file and is_unfinished(info.name):
                with suppress(FileNotFoundError):
                    self.delete(info.path)

    @abstractmethod
    def make_directory(self, path: str) -> None:
        """With those above it; one that exists is no error."""

    def check_link(self, info: FileInfo, root: str) -> None:  # noqa: B027
        """Refuse a link that leads out of `root`, or to nothing. Most stores have no links.

        Raises
        ------
        InvalidArgumentError
        """

    def url(self, path: str) -> str:
        """The path as messages show it."""
        return path

    def canonical(self, path: str) -> str:
        """The path without links and without a separator at its end."""
        return path.rstrip("/") or path

    def join(self, path: str, *names: str) -> str:
        return "/".join([path.rstrip("/"), *names]) if path else "/".join(names)

    def name(self, path: str) -> str:
        return path.rstrip("/").rpartition("/")[2]

    def parent(self, path: str) -> str:
        """The directory of a path; empty at the top."""
        return path.rstrip("/").rpartition("/")[0]
