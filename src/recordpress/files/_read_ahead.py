"""A part of a file, read from start to end, for a caller that needs a file object: `recordpress.iter_columns`.

From a remote store the next chunk is fetched while the last one is used. Each fetch has a separate thread that ends
with it: a reader that stops early, or is interrupted, leaves no thread waiting for work.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Self

from recordpress.files._background import Background
from recordpress.files._interface import RandomAccessFile

if TYPE_CHECKING:
    from typing_extensions import Buffer

READ_AHEAD_BYTES = 8 << 20  # of one request: its latency is then a small part of the time that it takes
"""The bytes of one request to a store: its latency is then a small part of the time that it takes.

Examples
--------
>>> from recordpress.files import READ_AHEAD_BYTES
>>> READ_AHEAD_BYTES
8388608
"""


class SequentialFile:
    """The bytes of a file from `start` to `end`, by `readinto`.

    Attributes
    ----------
    name : str
        Of the file.
    bytes_left : int
        From where it is to its end.

    Examples
    --------
    >>> from recordpress.files import read_ahead, resolve
    >>> files, path = resolve("demo/logs/sessions-0/partition.metadata")
    >>> buffer = bytearray(7)
    >>> with files.open(path) as file, read_ahead(file) as reader:
    ...     print(reader.readinto(buffer), bytes(buffer))
    7 b'version'
    """

    def __init__(self, file: RandomAccessFile, start: int, end: int) -> None:
        self.name = file.name
        self._file = file
        self._position = start
        self._end = end

    @property
    def bytes_left(self) -> int:
        return self._end - self.tell()

    def tell(self) -> int:
        """Return the position in the file, in bytes."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Continue at a position of the file (whence 0), or relative to the current one (1)."""
        self._position = offset + (self.tell() if whence == io.SEEK_CUR else 0)
        return self._position

    def readinto(self, buffer: Buffer) -> int:
        """Read the next bytes; return their number, 0 at the end.

        Raises
        ------
        CorruptRecordError
            The file was truncated while it was read.
        StorageError, OSError
        """
        view = memoryview(buffer).cast("B")[: self._end - self._position]
        if not len(view):
            return 0
        count = self._file.read_into(self._position, view)
        if not count:
            raise self._file.truncated(self._position)
        self._position += count
        return count

    def close(self) -> None:
        """End the fetches, but leave the caller's file open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class _ReadAhead(SequentialFile):
    """Sequential file of a remote store, with the next chunk on its way."""

    def __init__(self, file: RandomAccessFile, start: int, end: int, chunk: int) -> None:
        super().__init__(file, start, end)
        self._chunk = chunk
        self._current = io.BytesIO()
        self._current_size = 0
        self._current_end = start  # of it, in the file
        self._next: Background[bytes] | None = None

    def tell(self) -> int:
        return self._current_end - self._current_size + self._current.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._drop()
        self._current_end = super().seek(offset, whence)
        return self._current_end

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer).cast("B")
        count = self._current.readinto(view)
        if not count and len(view) and self._fetched():
            count = self._current.readinto(view)
        return count

    def _fetched(self) -> bool:
        """Move to the next chunk, if there is one, and start to fetch the one after it."""
        fetch = self._next or self._fetch()
        if fetch is None:
            return False
        self._next = fetch  # wait before anything else: an interrupt here must not lose the thread
        data = fetch.result()
        self._next = None
        self._current = io.BytesIO(data)
        self._current_size = len(data)
        self._current_end += len(data)
        self._next = self._fetch()
        return True

    def _fetch(self) -> Background[bytes] | None:
        length = min(self._chunk, self._end - self._position)
        if length <= 0:
            return None
        position = self._position
        self._position += length
        return Background(lambda: self._file.read_exactly(position, length), "recordpress read-ahead")

    def close(self) -> None:
        self._end = self._position
        self._drop()

    def _drop(self) -> None:
        self._current_end = self.tell()
        self._current, self._current_size = io.BytesIO(), 0
        fetch, self._next = self._next, None
        if fetch is not None:
            fetch.wait()


def read_ahead(
    file: RandomAccessFile, start: int = 0, end: int | None = None, chunk: int = READ_AHEAD_BYTES
) -> SequentialFile:
    """Return a file object over a part of a file, which fetches from a remote store ahead of its reader.

    Parameters
    ----------
    file : RandomAccessFile
        Stays open.
    start, end : int
        The bytes to read; by default the whole file.
    chunk : int
        Bytes of one request to a remote store. At most two chunks are in memory. Local files are read in the sizes that
        `readinto` is called with: the system reads ahead.

    Returns
    -------
    SequentialFile
        Must be closed; nothing is fetched before the first call of `readinto`.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.files import read_ahead, resolve
    >>> files, path = resolve("demo/logs/sessions-0/00000000000000000000.log")
    >>> with files.open(path) as file, read_ahead(file) as part:
    ...     print(sum(columns.num_rows for columns in recordpress.iter_columns(part)))
    175
    """
    end = file.size if end is None else min(end, file.size)
    return _ReadAhead(file, start, end, chunk) if file.is_remote else SequentialFile(file, start, end)
