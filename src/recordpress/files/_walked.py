"""A remote file for a walk that goes forward in small steps, such as one from header to header.

::

    kept      │ chunk │ chunk │ fetched ahead │
    walk          ──────►──────►
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recordpress.files._background import Background
from recordpress.files._interface import RandomAccessFile
from recordpress.files._read_ahead import READ_AHEAD_BYTES

if TYPE_CHECKING:
    from typing_extensions import Buffer

WALK_BYTES = 1 << 20  # less than a chunk, so that the next is not waited for while the walk is in the one before
"""Number of bytes that a walk over a remote file should read at a time.

Examples
--------
>>> from recordpress.files import READ_AHEAD_BYTES, WALK_BYTES
>>> READ_AHEAD_BYTES // WALK_BYTES
8
"""


class Walked(RandomAccessFile):
    """The bytes of a remote file, fetched in large chunks.

    From the second chunk on, the next chunk is fetched ahead. Nothing is fetched twice unless the walk goes back more
    than a chunk.

    Not for several threads.

    Parameters
    ----------
    file : RandomAccessFile
        Stays open.
    chunk : int
        Bytes of one request. At most four chunks are in memory.

    Examples
    --------
    >>> from recordpress.files import Walked, resolve
    >>> files, path = resolve("demo/logs/sessions-0/partition.metadata")
    >>> with files.open(path) as file, Walked(file) as walked:
    ...     walked.read_at(0, 7)
    b'version'
    """

    is_remote = False  # what is read here is mostly in memory: nobody needs to read it ahead once more

    def __init__(self, file: RandomAccessFile, chunk: int = READ_AHEAD_BYTES) -> None:
        self.name = file.name
        self.size = file.size
        self.start = file.start
        self._file = file
        self._chunk = chunk
        self._chunks: deque[tuple[int, bytes]] = deque()  # each begins where the one before it ends
        self._end = 0  # of the last
        self._next: Background[bytes] | None = None  # the chunk that begins there

    def read_at(self, position: int, length: int) -> bytes:
        data = bytearray(max(min(length, self.size - position), 0))
        return bytes(data[: self.read_into(position, data)])

    def read_into(self, position: int, buffer: Buffer) -> int:
        """Fill the buffer, except for the end of the file.

        Raises
        ------
        CorruptRecordError
            The file was truncated while it was read.
        StorageError, OSError
        """
        view = memoryview(buffer).cast("B")[: max(self.size - position, 0)]
        end = position + len(view)
        self._move_to(position)
        while self._end < end:
            self._fetch(end)
        for start, chunk in self._chunks:
            first, last = max(position, start), min(end, start + len(chunk))
            if first < last:
                view[first - position : last - position] = memoryview(chunk)[first - start : last - start]
        return len(view)

    def _move_to(self, position: int) -> None:
        """Keep the chunk before the one that is there; begin again if the walk went farther than to the next."""
        while len(self._chunks) > 1 and self._end_of(1) <= position:
            self._chunks.popleft()
        first = self._chunks[0][0] if self._chunks else self._end
        if first <= position <= self._end + (self._chunk if self._next else 0):
            return
        goes_on = bool(self._chunks) and self._end < position <= self._end + self._chunk  # past an entry's payload
        self._drop_next()
        self._chunks.clear()
        if goes_on:
            self._chunks.append((position, b""))
        self._end = position

    def _end_of(self, number: int) -> int:
        start, chunk = self._chunks[number]
        return start + len(chunk)

    def _fetch(self, end: int) -> None:
        """Return the next chunk, and the one after it in the background if the walk continues."""
        goes_on = bool(self._chunks)
        start = self._end
        if self._next is None:
            length = min(max(self._chunk, end - start), self.size - start)
            data = self._file.read_exactly(start, length)
        else:
            data = self._next.result()  # an interrupt here must not lose the thread
            self._next = None
        self._chunks.append((start, data))
        self._end = start + len(data)
        length = min(self._chunk, self.size - self._end)
        if goes_on and length:
            ahead = self._end
            self._next = Background(lambda: self._file.read_exactly(ahead, length), "recordpress read-ahead")

    def _drop_next(self) -> None:
        ahead, self._next = self._next, None
        if ahead is not None:
            ahead.wait()

    def close(self) -> None:
        """End the fetch. The file stays open: it is the caller's."""
        self._chunks.clear()
        self._drop_next()


@contextmanager
def walked(file: RandomAccessFile, chunk: int = READ_AHEAD_BYTES) -> Iterator[RandomAccessFile]:
    """Yield the file as a forward walk should read it: a remote one through `Walked`, others unchanged.

    Parameters
    ----------
    file : RandomAccessFile
        Stays open.
    chunk : int
        As for `Walked`.

    Yields
    ------
    RandomAccessFile

    Examples
    --------
    >>> from recordpress.files import resolve, walked
    >>> files, path = resolve("demo/logs/sessions-0/partition.metadata")
    >>> with files.open(path) as file, walked(file) as same:
    ...     same is file
    True
    """
    if not file.is_remote:
        yield file
        return
    with Walked(file, chunk) as ahead:
        yield ahead
