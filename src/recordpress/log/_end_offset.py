"""Where a partition ends: only the last headers are read, from the last entry of its offset index."""

from __future__ import annotations

from typing import Protocol

from recordpress._arguments import INT32_MAX, INT64_MAX
from recordpress._file_names import INDEX_FILE_SUFFIX
from recordpress.errors import RecordpressError
from recordpress.files import RandomAccessFile
from recordpress.log._file_records import FileRecords
from recordpress.log._header_walk import HeaderWalk
from recordpress.log._segment import Partition
from recordpress.log.sidecars.offset_index import read_offset_index


class SegmentFiles(Protocol):
    """A segment, or what stands in its place."""

    @property
    def base_offset(self) -> int: ...

    def open(self) -> RandomAccessFile: ...

    def open_sibling(self, suffix: str) -> RandomAccessFile: ...


def end_offset(partition: Partition, *, complete: bool = False) -> int:
    """The offset after the last batch of a partition (Kafka's log end offset).

    Parameters
    ----------
    partition : Partition
    complete : bool
        The log must end with a whole entry; by default a cut entry at the end, or zeros, do not count.

    Returns
    -------
    int

    Raises
    ------
    RecordpressError
        The last batches are damaged, or the end is not `complete`.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.log import end_offset
    >>> [end_offset(partition) for partition in recordpress.open_log("demo/logs").partitions]       # doctest: +SKIP
    [5481, 4519]
    """
    for segment in reversed(partition.segments):
        with segment.records(complete=complete) as file:
            hop = near_the_end(segment, file)
            for _ in file.walk(hop):
                pass
            if hop.next_offset is not None:
                return hop.next_offset if hop.next_offset >= 0 else INT64_MAX  # none comes after the last int64
        if segment.base_offset:  # a segment begins empty, at the offset that the one before it ended with
            return segment.base_offset
    return 0


def near_the_end(segment: SegmentFiles, file: FileRecords) -> HeaderWalk:
    """From the last index entry on, if a batch begins there."""
    try:
        with segment.open_sibling(INDEX_FILE_SUFFIX) as index_file:
            entry = read_offset_index(index_file, segment.base_offset).lookup(segment.base_offset + INT32_MAX)
    except (FileNotFoundError, RecordpressError):
        return file.headers()
    if not 0 < entry.position < file.size:
        return file.headers()
    hop = file.headers(entry.position)
    first, last = segment.base_offset, segment.base_offset + INT32_MAX
    return hop if hop.at_entry(entry.position, first, last) else file.headers()
