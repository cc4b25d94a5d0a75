"""Random access to a remote file, in chunks large enough to keep requests few."""

from __future__ import annotations

from recordpress.files._interface import RandomAccessFile

_SMALLEST = 256 << 10  # takes little longer than the request itself
_LARGEST = 8 << 20  # the latency of a request is then a small part of its time


class Buffered(RandomAccessFile):
    """File that keeps the last chunk in memory; chunks grow while each read continues where the last one ended."""

    def __init__(self, file: RandomAccessFile) -> None:
        self.name = file.name
        self.size = file.size
        self.start = file.start
        self._file = file
        self._start = 0
        self._data = b""
        self._chunk = _SMALLEST

    def read_at(self, position: int, length: int) -> bytes:
        end = min(position + length, self.size)
        if not self._start <= position <= end <= self._start + len(self._data):
            self._read(position, end)
        return self._data[position - self._start : end - self._start]

    def _read(self, position: int, end: int) -> None:
        goes_on = bool(self._data) and self._start < position <= self._start + len(self._data)
        self._chunk = min(2 * self._chunk, _LARGEST) if goes_on else _SMALLEST
        self._start = position
        self._data = self._file.read_at(position, min(max(end - position, self._chunk), self.size - position))

    def close(self) -> None:
        """Close the file."""
        self._data = b""
        self._file.close()


def buffered(file: RandomAccessFile) -> RandomAccessFile:
    """Return a remote file as `Buffered`, and a local file unchanged."""
    return Buffered(file) if file.is_remote else file
