"""Bytes after the last complete entry of a segment: left by a crash, or damage.

Kafka's readers treat every entry that does not fit into the rest of the data as truncated, so a length field that is
damaged in mid-file makes all entries after it vanish without an error. The rules here:

======================  =====================================================================================
a segment that is not   nothing may follow its last complete entry
its partition's last
zeros                   the tail of a file that was preallocated: the segment ends there
one entry, cut          by its header, it continues after the end of the file, and none of the rules below
                        applies: the segment ends there
damage                  more bytes follow than a produce request can have (socket.request.max.bytes is 100 MiB);
                        or the checksum is right for these bytes, so that only the length is wrong;
                        or an intact entry with a later offset is found among these bytes
======================  =====================================================================================

A cut, uncompressed entry also counts as damage if a record's value in it is an intact batch with a later offset: a
false error is better than a loss.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from recordpress._arguments import INT32_MAX, INT64_MAX
from recordpress.errors import CorruptRecordError
from recordpress.files import READ_BYTES, RandomAccessFile
from recordpress.log._header_walk import HeaderWalk
from recordpress.record.header import MIN_ENTRY_SIZE

Tail: TypeAlias = Literal["", "cut", "zeros"]

_LARGEST_CUT = 104857600  # default of a broker's socket.request.max.bytes


def tail_of(file: RandomAccessFile, position: int, size: int, next_offset: int | None, complete: bool) -> Tail:
    """Return the kind of the bytes from `position` to `size`; `next_offset` follows the last complete entry."""
    left = size - position
    if not left:
        return ""
    is_zero = _is_zero(file, position, size)
    if complete:
        what = (
            f"{left} zero bytes follow the last entry" if is_zero else f"the last entry is truncated after {left} bytes"
        )
        raise _damage(what, position)
    if is_zero:
        return "zeros"
    _refuse_damage(HeaderWalk(file, position=position, end=size, window_bytes=READ_BYTES), next_offset)
    return "cut"


def _refuse_damage(walk: HeaderWalk, next_offset: int | None) -> None:
    position, left = walk.position, walk.end - walk.position
    if (prefix := walk.prefix()) is None:
        return
    base, length = prefix
    if length < MIN_ENTRY_SIZE:
        raise _damage(f"entry size {length} is less than the minimum of {MIN_ENTRY_SIZE}", position)
    beyond = f"entry size {length} reaches beyond the end of the file"
    if left > _LARGEST_CUT:
        raise _damage(f"{beyond}, and {left} bytes are more than a truncated entry can have", position)
    if walk.ends_with_file():
        raise _damage(f"{beyond}, but the checksum matches the {left} bytes before that end", position)
    first = min(max(base + 1, next_offset or 0), INT64_MAX)  # and within the range of a segment
    if walk.search(position + 1, first, min(first + INT32_MAX, INT64_MAX)):
        raise _damage(f"{beyond}, but an intact entry with a later offset begins at byte {walk.position}", position)
    if walk.gave_up:  # a truncated entry does not look like thousands of headers
        raise _damage(f"{beyond}, and too many places in it look like entries to check all of them", position)


def _damage(message: str, position: int) -> CorruptRecordError:
    return CorruptRecordError(message, position=position, field="size", rule="record set framing")


def _is_zero(file: RandomAccessFile, position: int, size: int) -> bool:
    steps = range(position, size, READ_BYTES)
    return not any(file.read_exactly(at, min(READ_BYTES, size - at)).strip(b"\0") for at in steps)
