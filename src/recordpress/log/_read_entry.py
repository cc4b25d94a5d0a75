"""Access to one entry of a file by its position: a large entry is held in memory only if it is intact."""

from __future__ import annotations

from recordpress.files import RandomAccessFile, walked
from recordpress.log._header_walk import HeaderWalk

LARGE_ENTRY_BYTES = 16 << 20  # as in columns/_iterate.pyx; Kafka's default max.message.bytes is 1 MiB


def read_entry(file: RandomAccessFile, position: int, size: int) -> bytes:
    """Read the bytes of an entry whose header was read."""
    if size > LARGE_ENTRY_BYTES:
        check_entry(file, position)
    return file.read_exactly(position, size)


def check_entry(file: RandomAccessFile, position: int) -> None:
    """Verify the checksum of an entry. It is read in chunks, so that a wrong size field costs no memory."""
    with walked(file) as stepped:
        walk = HeaderWalk(stepped, position=position)
        next(walk)
        error = walk.checksum_error()
    if error is not None:
        raise error
