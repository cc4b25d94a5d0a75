"""Remote files that are read forward: the next chunk is fetched while the last one is used.

::

    kept      │ chunk │ chunk │ fetched ahead │
    walk          ──────►──────►

Each fetch has a separate thread that ends with it: a reader that stops early, or is interrupted, leaves no thread
waiting for work.
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from recordpress.files._background import Background
from recordpress.files._interface import RandomAccessFile
from recordpress.files._part import FilePart

if TYPE_CHECKING:
    from typing_extensions import Buffer

READ_AHEAD_BYTES = 8 << 20  # of one request: its latency is then a small part of the time that it takes
WALK_BYTES = 1 << 20  # less than a chunk, so that a walk in one chunk does not wait for the next


class Walked(RandomAccessFile):
    """A remote file in chunks, for one thread; the caller closes the file itself.

    Chunks of a walk in small steps are fetched ahead from the second chunk, and the chunk before its position is kept.
    With `is_stream`, they are fetched ahead from the start, and no earlier chunk is kept.
    """

    is_remote = False  # what is read here is mostly in memory: nobody needs to read it ahead once more

    def __init__(self, file: RandomAccessFile, chunk: int = READ_AHEAD_BYTES, is_stream: bool = False) -> None:
        self.name = file.name
        self.size = file.size
        self.start = file.start
        self._file = file
        self._chunk = chunk
        self._is_stream = is_stream
        self._chunks: deque[tuple[int, bytes]] = deque()  # each begins where the one before it ends
        self._end = 0  # of the last chunk
        self._next: Background[bytes] | None = None  # the chunk that begins there

    def read_at(self, position: int, length: int) -> bytes:
        data = bytearray(max(min(length, self.size - position), 0))
        return bytes(data[: self.read_into(position, data)])

    def read_into(self, position: int, buffer: Buffer) -> int:
        """Fill the buffer up to the end of the file; return the number of bytes."""
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
        """Move to a position, and keep the chunk before it; start again if neither a kept chunk nor the next has it."""
        kept = 0 if self._is_stream else 1
        while len(self._chunks) > kept and self._end_of(kept) <= position:
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
        """Add the next chunk, and fetch the one after it in the background if the walk continues."""
        goes_on = self._is_stream or bool(self._chunks)
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
        """End the fetch; the caller closes the file."""
        self._chunks.clear()
        self._drop_next()


@contextmanager
def walked(file: RandomAccessFile, chunk: int = READ_AHEAD_BYTES) -> Iterator[RandomAccessFile]:
    """Yield the file as a forward walk should read it: a remote file through `Walked`, others unchanged."""
    if not file.is_remote:
        yield file
        return
    with Walked(file, chunk) as ahead:
        yield ahead


class SequentialFile:
    """File object over the bytes from `start` to `end`; `readinto` stops where a `chunk` ends."""

    def __init__(self, file: RandomAccessFile, start: int, end: int, chunk: int) -> None:
        self.name = file.name
        self._file = file
        self._start = self._position = start
        self._end = end
        self._chunk = chunk

    @property
    def bytes_left(self) -> int:
        return self._end - self._position

    def tell(self) -> int:
        """Return the position in the file, in bytes."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Continue at a position of the file (whence 0), or relative to the current one (1)."""
        self._position = offset + (self._position if whence == io.SEEK_CUR else 0)
        return self._position

    def readinto(self, buffer: Buffer) -> int:
        """Read the next bytes; return their number, which is 0 at the end."""
        most = self._chunk - (self._position - self._start) % self._chunk
        view = memoryview(buffer).cast("B")[: max(min(most, self._end - self._position), 0)]
        if not len(view):
            return 0
        count = self._file.read_into(self._position, view)
        if not count:
            raise self._file.truncated(self._position)
        self._position += count
        return count

    def close(self) -> None:
        """End the reading, and any fetch ahead."""
        self._end = self._position
        if isinstance(self._file, Walked):
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def read_ahead(
    file: RandomAccessFile, start: int = 0, end: int | None = None, chunk: int = READ_AHEAD_BYTES
) -> SequentialFile:
    """Return a file object over a part of a file. A remote file is fetched ahead; the file stays open."""
    end = file.size if end is None else min(end, file.size)
    if not file.is_remote:
        return SequentialFile(file, start, end, max(end, 1))
    return SequentialFile(Walked(FilePart(file, start, end), chunk, is_stream=True), start, end, chunk)
