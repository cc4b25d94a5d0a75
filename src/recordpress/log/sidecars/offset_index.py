"""Offset index of a segment, ``.index`` (Kafka's OffsetIndex): positions at which the search for an offset begins.

::

    int32 offset - base offset     of the last record that one append added
    int32 position                 of the first byte that it added

An entry means only that the batch with this offset begins at or after this position: a follower appends several batches
at once. A broker keeps the file of an active segment at its full size, padded with zeros.
"""

from __future__ import annotations

import struct
import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise
from operator import ge
from typing import NamedTuple

from recordpress.errors import InvalidArgumentError
from recordpress.log.sidecars.sidecar_io import (
    Index,
    Sidecar,
    SidecarSource,
    SidecarTarget,
    check_relative,
    count_entries,
    packed,
    read_index,
    write_sidecar,
)

ENTRY_SIZE = 8
_ENTRY = struct.Struct(">ii")
_RULE = "offset index"


class OffsetPosition(NamedTuple):
    """Entry of an offset index.

    Attributes
    ----------
    offset : int
        The last offset of the data that was appended at `position`.
    position : int
        Position in the ``.log`` file.

    Examples
    --------
    >>> from recordpress.log.sidecars import OffsetPosition, read_offset_index
    >>> read_offset_index(bytes.fromhex("00000078 00001040"), 1000)[0]
    OffsetPosition(offset=1120, position=4160)
    """

    offset: int
    position: int


class OffsetIndex(Index[OffsetPosition]):
    """Entries of a ``.index`` file in order, as `read_offset_index` returns them.

    Attributes
    ----------
    base_offset : int
        Base offset of the segment.
    padding : int
        Number of zero bytes after the last entry; the file of an active segment has its full size.

    Examples
    --------
    >>> from recordpress.log.sidecars import read_offset_index
    >>> index = read_offset_index(bytes.fromhex("00000078 00001040"), 1000)
    >>> len(index), index.lookup(1500)
    (1, OffsetPosition(offset=1120, position=4160))
    """

    def _entry(self, key: int, value: int) -> OffsetPosition:
        return OffsetPosition(self.base_offset + key, value)

    def lookup(self, target: int) -> OffsetPosition:
        """Return the last entry whose offset is at most `target`; otherwise the start of the segment.

        Examples
        --------
        >>> index = read_offset_index(bytes.fromhex("0000007800001040"), base_offset=1000)
        >>> index.lookup(5000), index.lookup(1119)
        (OffsetPosition(offset=1120, position=4160), OffsetPosition(offset=1000, position=0))
        """
        found = bisect_right(self._keys, target - self.base_offset)
        return self[found - 1] if found else OffsetPosition(self.base_offset, 0)


def read_offset_index(source: SidecarSource, base_offset: int | None = None) -> OffsetIndex:
    """Read the entries of a ``.index`` file.

    Parameters
    ----------
    source : path, bytes-like, or an object with `size` and `read_at`
    base_offset : int, optional
        Base offset of the segment. By default, the number at the start of the file's name; 0 if it is unknown.

    Returns
    -------
    OffsetIndex
        A sequence of `OffsetPosition`.

    Raises
    ------
    CorruptRecordError
        The size is not a multiple of 8, offsets or positions do not ascend, or something follows the zeros that pad
        the file. (OffsetIndex.sanityCheck checks only the size, and that the last offset is not too low.)
    OSError

    Examples
    --------
    >>> from recordpress.log.sidecars import read_offset_index
    >>> list(read_offset_index(bytes.fromhex("0000007800001040"), base_offset=1000))
    [OffsetPosition(offset=1120, position=4160)]
    """
    sidecar, base, size = read_index(source, base_offset, ENTRY_SIZE, "offset", _RULE)
    fields = array("i", sidecar.data)
    if sys.byteorder == "little":
        fields.byteswap()
    offsets, positions = fields[::2], fields[1::2]
    count = count_entries(sidecar, offsets, 0, ENTRY_SIZE, "offset", _RULE)
    del offsets[count:], positions[count:]
    for values, name, shift in ((offsets, "offset", 0), (positions, "position", 4)):
        _check_ascent(sidecar, values, name, shift)
    return OffsetIndex(base, offsets, positions, size - count * ENTRY_SIZE)


def _check_ascent(sidecar: Sidecar, values: array[int], name: str, shift: int) -> None:
    if values and values[0] < 0:
        raise sidecar.corrupt(f"{name} {values[0]} is negative", shift, name, _RULE)
    if any(map(ge, values, values[1:])):
        number = next(i for i, (before, after) in enumerate(pairwise(values), 1) if before >= after)
        raise sidecar.corrupt(
            f"{name} {values[number]} does not follow {values[number - 1]}", number * ENTRY_SIZE + shift, name, _RULE
        )


def offset_index_bytes(entries: Iterable[tuple[int, int]], base_offset: int = 0, padding: int = 0) -> bytes:
    """Return the bytes of a ``.index`` file; see `write_offset_index`."""
    relative = [(offset - base_offset, position) for offset, position in entries]
    for number, (before, after) in enumerate(pairwise([(-1, -1), *relative])):
        if after[0] <= before[0] or after[1] <= before[1]:
            raise InvalidArgumentError(
                f"entry {number}: offsets (base offset {base_offset} or more) and positions (0 or more) must ascend",
                field="entries",
            )
        check_relative(number, after[0], base_offset)
    return packed(_ENTRY, relative, ("offset", "position")) + bytes(padding)


def write_offset_index(
    target: SidecarTarget, entries: Iterable[tuple[int, int]], base_offset: int = 0, padding: int = 0
) -> None:
    """Write a ``.index`` file.

    Parameters
    ----------
    target : path, or an object with `write`
        A file is written under a hidden name and renamed when it is complete.
    entries : iterable of (offset, position)
        Both must ascend.
    base_offset : int
        Base offset of the segment.
    padding : int
        Number of zero bytes to add after the entries.

    Raises
    ------
    InvalidArgumentError
        Entries do not ascend, or do not fit their fields.
    OSError

    Examples
    --------
    >>> import io
    >>> out = io.BytesIO()
    >>> write_offset_index(out, [(1120, 4160)], base_offset=1000)
    >>> out.getvalue().hex(" ")
    '00 00 00 78 00 00 10 40'
    """
    write_sidecar(target, offset_index_bytes(entries, base_offset, padding))
