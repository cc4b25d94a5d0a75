"""Assignment of log offsets to batches that were written without them.

All other offsets of a v2 batch are relative to its base offset, which the checksum does not cover. So a batch becomes
part of a log when its base offset is overwritten, without decompression.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from recordpress.errors import CorruptRecordError
from recordpress.files import RandomAccessFile
from recordpress.log._file_records import FileRecords
from recordpress.log._header_walk import HeaderWalk
from recordpress.log.check.rebuild import SidecarBuilder
from recordpress.log.publish.staging import BASE_BYTES, StagedSegment
from recordpress.record.header import BatchHeader, moved_header, read_header


class Stamp:
    """Assign offsets to the batches of staged segments, one after the other, and pass their headers to the builder of
    indexes."""

    def __init__(self, builder: SidecarBuilder, next_offset: int) -> None:
        self._builder = builder
        self.next_offset = next_offset
        self.position = 0

    def stamped(self, file: FileRecords, staged: StagedSegment) -> Iterator[tuple[memoryview, bytearray]]:
        """Yield each chunk of the file twice: unchanged, and with its new offsets."""
        shift = 0 if staged.has_offsets else self.next_offset - staged.first_offset
        for _, chunk in file.chunks():
            data = bytearray(chunk)
            at = 0
            while at < len(data):
                header = read_header(data, at)
                moved = moved_header(header, self.position + at, header.base_offset + shift)
                data[at : at + BASE_BYTES] = moved.base_offset.to_bytes(BASE_BYTES, "big")
                self._builder.add(moved)
                self.next_offset = moved.next_offset
                at += header.size
            self.position += at
            yield chunk, data


def stamp_in_place(path: str, headers: Iterable[BatchHeader], next_offset: int) -> int:
    """Write consecutive offsets into a local file, and sync it; return the offset after the last one. The call can be
    repeated."""
    descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW)
    try:
        for header in headers:
            if header.base_offset != next_offset:
                os.pwrite(descriptor, next_offset.to_bytes(BASE_BYTES, "big"), header.position)
            next_offset += header.next_offset - header.base_offset
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return next_offset


def headers_of(file: RandomAccessFile, bytes_expected: int) -> Iterator[BatchHeader]:
    """Walk the headers of a file; raise an error if it does not have the expected size."""
    if file.size != bytes_expected:
        raise CorruptRecordError(
            f"wrote {bytes_expected} bytes, but the file has {file.size}", file=file.name, rule="staged segment"
        )
    yield from HeaderWalk(file)
