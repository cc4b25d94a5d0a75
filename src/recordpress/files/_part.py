"""A part of a file that is read as if nothing came before and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recordpress.files._interface import RandomAccessFile

if TYPE_CHECKING:
    from typing_extensions import Buffer


class FilePart(RandomAccessFile):
    """The bytes of a file from `start` to `end`, at the positions that they have in it.

    Parameters
    ----------
    file : RandomAccessFile
        Closed with this.
    start, end : int

    Examples
    --------
    >>> from recordpress.files import FilePart, resolve
    >>> files, path = resolve("demo/logs/sessions-0/partition.metadata")
    >>> with files.open(path) as file:
    ...     FilePart(file, 0, 7).read_at(0, 7)
    b'version'
    """

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
