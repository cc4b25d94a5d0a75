"""Read a written file back once, for its checksum and for callers that look at its bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from recordpress.checksum import crc32c
from recordpress.errors import CorruptRecordError
from recordpress.files._interface import READ_BYTES, FileSystem, RandomAccessFile, Writer

if TYPE_CHECKING:
    from typing_extensions import Buffer

Look: TypeAlias = Callable[[RandomAccessFile], None]

COPY_RULE = "verification of the copy"


class ReadBack(RandomAccessFile):
    """A file that is read from beginning to end in large chunks; no read may start before the previous read did."""

    is_remote = False  # there is nothing to read ahead

    def __init__(self, file: RandomAccessFile) -> None:
        self.name = file.name
        self.size = file.size
        self._file = file
        self._checksum = 0
        self._begin = self._end = 0  # positions of the bytes in memory
        self._block = bytearray(min(READ_BYTES, file.size))

    def read_at(self, position: int, length: int) -> bytes:
        data = bytearray(max(min(length, self.size - position), 0))
        return bytes(data[: self.read_into(position, data)])

    def read_into(self, position: int, buffer: Buffer) -> int:
        view = memoryview(buffer).cast("B")
        end = min(position + len(view), self.size)
        while self._end < end:
            self._read_on(position)
        if position >= end:
            return 0
        view[: end - position] = memoryview(self._block)[position - self._begin : end - self._begin]
        return end - position

    def checksum(self) -> int:
        """Return the CRC-32C of the whole file, after reading its rest."""
        while self._end < self.size:
            self._read_on(self._end)
        return self._checksum

    def _read_on(self, position: int) -> None:
        """Read the next chunk, and keep the bytes in memory that begin at `position`."""
        kept = self._block[max(position - self._begin, 0) : self._end - self._begin]
        wanted = min(READ_BYTES, self.size - self._end)
        if len(self._block) < len(kept) + wanted:
            self._block = bytearray(len(kept) + wanted)
        view = memoryview(self._block)
        view[: len(kept)] = kept
        self._begin = self._end - len(kept)
        got = self._file.read_into(self._end, view[len(kept) : len(kept) + wanted])
        if not got:
            raise self._file.truncated(self._end)
        self._checksum = crc32c(view[len(kept) : len(kept) + got], self._checksum)
        self._end += got

    def close(self) -> None:
        """Do nothing: the caller closes the file."""


def publish_checked(
    writer: Writer, files: FileSystem, target: str, size: int, checksum: int, look: Look | None = None
) -> None:
    """Read the file back and give it its name, in the order that the store permits; `look` may read the file before the
    comparison."""
    written = writer.written()
    if written is not None:
        with written:
            _check_file(written, size, checksum, look)
        writer.publish()
        return
    writer.publish()
    try:
        with files.open(target) as file:
            _check_file(file, size, checksum, look)
    except CorruptRecordError:
        files.delete(target)
        raise


def _check_file(file: RandomAccessFile, size: int, checksum: int, look: Look | None) -> None:
    read_back = ReadBack(file)
    if look is not None:
        look(read_back)
    found = read_back.checksum()
    if (file.size, found) != (size, checksum):
        raise CorruptRecordError(
            f"{size} bytes with the checksum {checksum:#010x} were written, "
            f"but {file.size} with {found:#010x} are read back",
            file=file.name,
            rule=COPY_RULE,
        )


def file_checksum(file: RandomAccessFile) -> int:
    """Return the CRC-32C of a whole file."""
    return ReadBack(file).checksum()
