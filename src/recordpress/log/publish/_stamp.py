"""Offsets for batches that were written without them.

All other offsets of a v2 batch count from its base offset, which the checksum does not cover. So a batch that begins at
0 becomes part of a log when the log's next offset is written into it, without decompression.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from recordpress.errors import CorruptRecordError
from recordpress.files import RandomAccessFile
from recordpress.log._file_records import FileRecords
from recordpress.log._header_walk import HeaderWalk
from recordpress.log.check.rebuild import SidecarBuilder
from recordpress.record.header import BatchHeader, moved_header, read_header

_BASE_BYTES = 8  # an entry begins with its base offset


class Stamp:
    """Assign offsets to consecutive batches (unless `keeps`), and pass their headers to the builder of indexes."""

    def __init__(self, builder: SidecarBuilder, next_offset: int, keeps: bool) -> None:
        self._builder = builder
        self._keeps = keeps
        self.next_offset = next_offset
        self.position = 0

    def base_of(self, header: BatchHeader) -> int:
        """Return the batch's offset in the log, and advance past the batch."""
        base = header.base_offset if self._keeps else self.next_offset
        moved = moved_header(header, self.position, base)
        self._builder.add(moved)
        self.position += header.size
        self.next_offset = moved.next_offset
        return base

    def stamped(self, file: FileRecords) -> Iterator[tuple[memoryview, bytearray]]:
        """Yield the chunks of the file, each unchanged and with its offsets."""
        for _, chunk in file.chunks():
            data = bytearray(chunk)
            at = 0
            while at < len(data):
                header = read_header(data, at)
                data[at : at + _BASE_BYTES] = self.base_of(header).to_bytes(_BASE_BYTES, "big")
                at += header.size
            yield chunk, data

    def stamp_in_place(self, path: str, headers: Iterable[BatchHeader]) -> None:
        """Write the offsets into a local file, and sync it."""
        descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW)
        try:
            for header in headers:
                base = self.base_of(header)
                if base != header.base_offset:
                    os.pwrite(descriptor, base.to_bytes(_BASE_BYTES, "big"), header.position)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def headers_of(file: RandomAccessFile, bytes_expected: int) -> Iterator[BatchHeader]:
    """Walk the headers of a file; raise an error if it does not have the expected size."""
    if file.size != bytes_expected:
        raise CorruptRecordError(
            f"wrote {bytes_expected} bytes, but the file has {file.size}", file=file.name, rule="staged segment"
        )
    yield from HeaderWalk(file)
