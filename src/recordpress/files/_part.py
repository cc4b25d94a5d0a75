"""A part of a file that is read as if nothing came before and after it, and files that are read as one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from threading import Lock
from typing import TYPE_CHECKING

from recordpress.errors import CorruptRecordError
from recordpress.files._interface import RandomAccessFile

if TYPE_CHECKING:
    from typing_extensions import Buffer


class FilePart(RandomAccessFile):
    """The bytes of a file from `start` to `end`, at their positions in the file."""

    def __init__(self, file: RandomAccessFile, start: int, end: int) -> None:
        self.name = file.name
        self.is_remote = file.is_remote
        self.size = min(end, file.size)
        self.start = min(start, self.size)
        self._file = file

    def read_at(self, position: int, length: int) -> bytes:
        return self._file.read_at(position, max(min(length, self.size - position), 0))

    def read_into(self, position: int, buffer: Buffer) -> int:
        return self._file.read_into(position, memoryview(buffer).cast("B")[: max(self.size - position, 0)])

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class JoinedFiles(RandomAccessFile):
    """Files read as one, with one open at a time; each is given by a function that opens it, and its size."""

    def __init__(self, name: str, files: Sequence[tuple[Callable[[], RandomAccessFile], int]], is_remote: bool) -> None:
        self.name = name
        self.is_remote = is_remote
        self._openers = [opener for opener, _ in files]
        self._starts = [0, *accumulate(size for _, size in files)]
        self.size = self._starts[-1]
        self._number = -1
        self._file: RandomAccessFile | None = None
        self._lock = Lock()

    def place_of(self, position: int) -> tuple[int, int]:
        """Return the number of the file that has a byte, and the byte's position there."""
        number = bisect_right(self._starts, min(position, self.size - 1)) - 1
        return number, position - self._starts[number]

    def read_at(self, position: int, length: int) -> bytes:
        found = []
        end = min(position + length, self.size)
        while position < end:
            number, start = self.place_of(position)
            size = min(end, self._starts[number + 1]) - position
            with self._lock:
                found.append(self._opened(number).read_exactly(start, size))
            position += size
        return found[0] if len(found) == 1 else b"".join(found)

    def _opened(self, number: int) -> RandomAccessFile:
        if self._file is None or number != self._number:
            self.close()
            file = self._openers[number]()
            self._file, self._number = file, number
            if file.size != (size := self._starts[number + 1] - self._starts[number]):
                raise CorruptRecordError(
                    f"the file was replaced or written to: it had {size} bytes and now has {file.size}",
                    file=file.name,
                    rule="a closed segment stays",
                )
        return self._file

    def close(self) -> None:
        """Close the file that is open."""
        file, self._file = self._file, None
        if file is not None:
            file.close()
