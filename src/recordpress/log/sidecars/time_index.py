"""The time index of a segment, ``.timeindex`` (Kafka's TimeIndex, KIP-33): from a timestamp to an offset.

::

    int64 timestamp                the largest so far, in ms
    int32 offset - base offset     the last offset of the first batch that has it

No record up to that offset has a larger timestamp. Records without a timestamp (v0) have no entry.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise
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

ENTRY_SIZE = 12
_ENTRY = struct.Struct(">qi")
_RULE = "time index"


class TimestampOffset(NamedTuple):
    """Entry of a time index.

    Attributes
    ----------
    timestamp : int
        The largest timestamp of the segment up to `offset`, in ms; -1 if no record has a timestamp.
    offset : int

    Examples
    --------
    >>> from recordpress.log.sidecars import read_time_index
    >>> index = read_time_index("demo/logs/sessions-0/00000000000000000000.timeindex")
    >>> list(index)[-1]
    TimestampOffset(timestamp=1431867959000, offset=174)
    """

    timestamp: int
    offset: int


class TimeIndex(Index[TimestampOffset]):
    """Entries of a ``.timeindex`` file in order, as `read_time_index` returns them.

    Attributes
    ----------
    base_offset : int
        Base offset of the segment.
    padding : int
        Number of zero bytes after the last entry; the file of an active segment has its full size.

    Examples
    --------
    >>> from recordpress.log.sidecars import read_time_index
    >>> index = read_time_index("demo/logs/sessions-0/00000000000000000000.timeindex")
    >>> len(index), index.lookup(0)
    (1, TimestampOffset(timestamp=-1, offset=0))
    """

    def _entry(self, key: int, value: int) -> TimestampOffset:
        return TimestampOffset(key, self.base_offset + value)

    def lookup(self, timestamp: int) -> TimestampOffset:
        """Return the last entry whose timestamp is at most `timestamp`; otherwise the start of the segment.

        Examples
        --------
        >>> index = read_time_index(bytes.fromhex("0000018bcfe5680000000078"), base_offset=1000)
        >>> index.lookup(1700000000000), index.lookup(0)
        (TimestampOffset(timestamp=1700000000000, offset=1120), TimestampOffset(timestamp=-1, offset=1000))
        """
        found = bisect_right(self._keys, timestamp)
        return self[found - 1] if found else TimestampOffset(-1, self.base_offset)


def read_time_index(source: SidecarSource, base_offset: int | None = None) -> TimeIndex:
    """Read the entries of a ``.timeindex`` file.

    Parameters
    ----------
    source : path, bytes-like, or an object with `size` and `read_at`
    base_offset : int, optional
        Base offset of the segment. By default, the number at the start of the file's name; 0 if it is unknown.

    Returns
    -------
    TimeIndex
        A sequence of `TimestampOffset`.

    Raises
    ------
    CorruptRecordError
        The size is not a multiple of 12, timestamps do not ascend, offsets descend, or something follows the zeros
        that pad the file (TimeIndex.sanityCheck and maybeAppend).
    OSError

    Examples
    --------
    >>> from recordpress.log.sidecars import read_time_index
    >>> list(read_time_index(bytes.fromhex("0000018bcfe5680000000078"), base_offset=1000))
    [TimestampOffset(timestamp=1700000000000, offset=1120)]
    """
    sidecar, base, size = read_index(source, base_offset, ENTRY_SIZE, "timestamp", _RULE)
    entries = list(_ENTRY.iter_unpack(sidecar.data))
    count = count_entries(sidecar, entries, (0, 0), ENTRY_SIZE, "timestamp", _RULE)
    del entries[count:]
    _check_ascent(sidecar, entries)
    timestamps = array("q", (timestamp for timestamp, _ in entries))
    offsets = array("i", (offset for _, offset in entries))
    return TimeIndex(base, timestamps, offsets, size - count * ENTRY_SIZE)


def _check_ascent(sidecar: Sidecar, entries: list[tuple[int, int]]) -> None:
    timestamp, offset = -1, 0
    for number, entry in enumerate(entries):
        if entry[0] <= timestamp:
            raise sidecar.corrupt(
                f"timestamp {entry[0]} does not follow {timestamp}", number * ENTRY_SIZE, "timestamp", _RULE
            )
        if entry[1] < offset:
            raise sidecar.corrupt(
                f"relative offset {entry[1]} is below {offset}", number * ENTRY_SIZE + 8, "offset", _RULE
            )
        timestamp, offset = entry


def time_index_bytes(entries: Iterable[tuple[int, int]], base_offset: int = 0, padding: int = 0) -> bytes:
    """Return the bytes of a ``.timeindex`` file; see `write_time_index`."""
    relative = [(timestamp, offset - base_offset) for timestamp, offset in entries]
    for number, (before, after) in enumerate(pairwise([(-1, 0), *relative])):
        if after[0] <= before[0] or after[1] < before[1]:
            raise InvalidArgumentError(
                f"entry {number}: timestamps (0 or more) must ascend, and offsets (base offset {base_offset} or more) "
                "must not descend",
                field="entries",
            )
        check_relative(number, after[1], base_offset)
    return packed(_ENTRY, relative, ("timestamp", "offset")) + bytes(padding)


def write_time_index(
    target: SidecarTarget, entries: Iterable[tuple[int, int]], base_offset: int = 0, padding: int = 0
) -> None:
    """Write a ``.timeindex`` file.

    Parameters
    ----------
    target : path, or an object with `write`
        A file is written under a hidden name and renamed when it is complete.
    entries : iterable of (timestamp, offset)
        Timestamps, in ms, must ascend; offsets must not descend.
    base_offset : int
        Base offset of the segment.
    padding : int
        Number of zero bytes to add after the entries.

    Raises
    ------
    InvalidArgumentError
        Entries are not in ascending order, or do not fit their fields.
    OSError

    Examples
    --------
    >>> import io
    >>> out = io.BytesIO()
    >>> write_time_index(out, [(1700000000000, 1120)], base_offset=1000)
    >>> out.getvalue().hex(" ")
    '00 00 01 8b cf e5 68 00 00 00 00 78'
    """
    write_sidecar(target, time_index_bytes(entries, base_offset, padding))
