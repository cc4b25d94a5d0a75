"""Offsets for batches that were written without them.

All other offsets of a v2 batch count from its base offset, which the checksum does not cover. So a batch that begins at
0 becomes part of a log when the log's next offset is written into it, without decompression.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator

from recordpress.errors import CorruptRecordError
from recordpress.files import RandomAccessFile
from recordpress.log._batch_header import BatchHeader
from recordpress.log._file_records import FileRecords
from recordpress.log._header_walk import HeaderWalk
from recordpress.log.check.rebuild import SidecarBuilder

# base offset, length, leader epoch, magic, CRC, attributes, last offset delta, base and largest timestamp,
# producer id and epoch, sequence, count
_HEADER = struct.Struct(">qiibIhiqqqhii")
_BASE = struct.Struct(">q")
_OVERHEAD = 12  # of an entry, not counted by its length


def header_of(data: bytes | bytearray | memoryview, at: int = 0, position: int = 0) -> BatchHeader:
    """Parse the header of the v2 batch at a byte of `data`."""
    base, length, epoch, magic, crc, attributes, delta, first, largest, producer, producer_epoch, sequence, count = (
        _HEADER.unpack_from(data, at)
    )
    return BatchHeader(
        position, length + _OVERHEAD, magic, attributes, base, base + delta, count, largest, crc, epoch, producer,
        producer_epoch, sequence, first,
    )  # fmt: skip


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
        last = base + header.last_offset - header.base_offset
        self._builder.add(header._replace(position=self.position, base_offset=base, last_offset=last))
        self.position += header.size
        self.next_offset = last + 1
        return base

    def stamped(self, file: FileRecords) -> Iterator[tuple[memoryview, bytearray]]:
        """Yield the file in pieces, each as it is and with its offsets."""
        for _, piece in file.pieces():
            data = bytearray(piece)
            at = 0
            while at < len(data):
                header = header_of(data, at)
                _BASE.pack_into(data, at, self.base_of(header))
                at += header.size
            yield piece, data

    def stamp_in_place(self, path: str, headers: Iterable[BatchHeader]) -> None:
        """Write the offsets into a local file, and sync it."""
        descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW)
        try:
            for header in headers:
                base = self.base_of(header)
                if base != header.base_offset:
                    os.pwrite(descriptor, _BASE.pack(base), header.position)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def headers_of(file: RandomAccessFile, bytes_expected: int) -> Iterator[BatchHeader]:
    """Walk the headers of a file; raise if it does not have the expected size."""
    if file.size != bytes_expected:
        raise CorruptRecordError(
            f"{bytes_expected} bytes were written, and {file.size} are there", file=file.name, rule="staged segment"
        )
    yield from HeaderWalk(file)
