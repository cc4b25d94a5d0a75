"""Offsets for batches that were made without them: a checksum does not cover a batch's base offset.

All other offsets of a batch count from its base offset (message format v2), so a log's next offset makes a batch that
begins at 0 a part of that log, without decompressing it.
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
    """The header of the v2 batch at a byte of `data`."""
    base, length, epoch, magic, crc, attributes, delta, first, largest, producer, producer_epoch, sequence, count = (
        _HEADER.unpack_from(data, at)
    )
    return BatchHeader(
        position, length + _OVERHEAD, magic, attributes, base, base + delta, count, largest, crc, epoch, producer,
        producer_epoch, sequence, first,
    )  # fmt: skip


class Stamp:
    """Gives batches that follow one another their offsets, and collects what is in the files beside them.

    Parameters
    ----------
    builder : SidecarBuilder
        Gets each batch.
    next_offset : int
        Of the first batch.
    keeps : bool
        The batches have their offsets already.

    Attributes
    ----------
    next_offset : int
    position : int
        Bytes so far.
    """

    def __init__(self, builder: SidecarBuilder, next_offset: int, keeps: bool) -> None:
        self._builder = builder
        self._keeps = keeps
        self.next_offset = next_offset
        self.position = 0

    def base_of(self, header: BatchHeader) -> int:
        """The batch's offset in the log; the batch counts as passed."""
        base = header.base_offset if self._keeps else self.next_offset
        last = base + header.last_offset - header.base_offset
        self._builder.add(header._replace(position=self.position, base_offset=base, last_offset=last))
        self.position += header.size
        self.next_offset = last + 1
        return base

    def stamped(self, file: FileRecords) -> Iterator[tuple[memoryview, bytearray]]:
        """The file in pieces, each as it is, and with its offsets."""
        for _, piece in file.pieces():
            data = bytearray(piece)
            at = 0
            while at < len(data):
                header = header_of(data, at)
                _BASE.pack_into(data, at, self.base_of(header))
                at += header.size
            yield piece, data

    def stamp_in_place(self, path: str, headers: Iterable[BatchHeader]) -> None:
        """Write the offsets into a local file, and bring them to the disk."""
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
    """Every header of a file that was written completely.

    Raises
    ------
    CorruptRecordError
        It has another size.
    """
    if file.size != bytes_expected:
        raise CorruptRecordError(
            f"{bytes_expected} bytes were written, and {file.size} are there", file=file.name, rule="staged segment"
        )
    yield from HeaderWalk(file)
