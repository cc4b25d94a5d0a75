"""One segment recompressed with another codec: written beside, compared record by record, then given its name.

    source ─► whole entries, piece by piece ─► recompress | pack ─► unfinished file ─► digests compared ─► rename

Memory is bounded by a piece, not by the segment. Needs pyarrow, for the digests.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kpress._file_names import printable
from kpress.errors import CorruptRecordError
from kpress.files import located, sync_directory, unfinished_file
from kpress.log._digest import RecordDigest
from kpress.log._file_records import INT32_MAX, FileRecords
from kpress.log._pack import pack
from kpress.record import read_batches, recompress
from kpress.typing import CompressionType, Level

if TYPE_CHECKING:
    from io import FileIO


@dataclass(frozen=True)
class SegmentContent:
    """What a segment holds, by reading all of it.

    Attributes
    ----------
    records : int
        Without those of control batches.
    batches : int
        Entries that hold them: neither control batches nor those that compaction emptied.
    bytes : int
        Of the file.
    compression_types : tuple of str
        Of these entries, sorted.
    next_offset : int | None
        The offset after the last batch; None for an empty file.
    digest : str
        Over all records and markers in order: offset, timestamp and its type, key, value, headers, and from the
        batch producer id, epoch, sequence, leader epoch, transactional and control flags.
    trailing_bytes : int
        After the last whole entry: of an entry that was cut, or zeros. They hold no record, and are not copied.
    """

    records: int
    batches: int
    bytes: int
    compression_types: tuple[str, ...]
    next_offset: int | None
    digest: str
    trailing_bytes: int = 0


def read_content(path: Path, *, complete: bool = True, max_message_bytes: int = INT32_MAX) -> SegmentContent:
    """Read a segment from beginning to end.

    Parameters
    ----------
    path : Path
    complete : bool
        If False, the file may end in an entry that is cut, or in zeros, as the last segment of a partition does.
    max_message_bytes : int
        An entry whose size field is above this is corrupt.

    Raises
    ------
    KpressError
        What `iter_columns` raises; and CorruptRecordError if the file does not end as it may.
    """
    digest = RecordDigest()
    batches = 0
    next_offset = None
    codecs = set()
    with FileRecords(path, complete=complete, max_message_bytes=max_message_bytes) as file:
        for position, piece in file.pieces():
            with located(position, path):
                for batch in read_batches(piece):
                    next_offset = batch.next_offset
                    if not batch.is_control and batch.records_count != 0:
                        batches += 1
                        codecs.add(batch.compression_type)
                digest.update(piece)
    return SegmentContent(
        digest.records - digest.control_records,
        batches,
        file.size,
        tuple(sorted(codecs)),
        next_offset,
        digest.hexdigest(),
        file.trailing_bytes,
    )


def transcode_segment(
    source: Path,
    target: Path,
    compression_type: CompressionType,
    level: Level = None,
    batch_bytes: int | None = None,
    *,
    complete: bool = True,
    max_message_bytes: int = INT32_MAX,
) -> tuple[SegmentContent, SegmentContent]:
    """Recompress a segment; the copy gets its name when all its records are proven to be those of the source.

    What earlier calls with this `target` left beside it when they were killed is removed first.

    Parameters
    ----------
    source, target : Path
        Segment files.
    compression_type, level
        As in `recompress`.
    batch_bytes : int, optional
        Join adjacent small batches into batches of up to this many bytes before compression. Batches whose producer,
        transaction or append time would be lost are recompressed one to one.
    complete : bool
        If False, `source` may end in an entry that is cut, or in zeros, as the last segment of a partition does
        after a crash. These bytes hold no record and are left out; ``trailing_bytes`` of the first result says how
        many there are. If True, they are an error.
    max_message_bytes : int
        An entry of the source whose size field is above this is corrupt. An entry is held in memory as a whole.

    Returns
    -------
    tuple of SegmentContent
        Of the source and of the copy, each from reading the file back.

    Raises
    ------
    KpressError
        The source is damaged; file, position and offset say where.
    CorruptRecordError
        The copy does not hold what the source does; it is removed.

    Examples
    --------
    >>> before, after = transcode_segment(                                          # doctest: +SKIP
    ...     Path("logs/orders-0/00000000000000000000.log"), Path("cold/orders-0/00000000000000000000.log"), "zstd", 9)
    >>> before.digest == after.digest                                               # doctest: +SKIP
    True
    """
    source, target = Path(source), Path(target)
    with unfinished_file(target) as (path, out):
        with FileRecords(source, complete=complete, max_message_bytes=max_message_bytes) as file:
            for position, piece in file.pieces():
                with located(position, source):
                    _write(out, _transcoded(piece, compression_type, level, batch_bytes))
        os.fsync(out.fileno())
        before = read_content(source, complete=complete, max_message_bytes=max_message_bytes)
        after = read_content(path)
        if (before.digest, before.next_offset) != (after.digest, after.next_offset):
            raise CorruptRecordError(
                f"the copy holds other records than the source: {after} instead of {before}",
                file=printable(source),
                rule="verification of the copy",
            )
        os.replace(path, target)
    sync_directory(target.parent)
    return before, after


def _transcoded(piece: memoryview, compression_type: CompressionType, level: Level, batch_bytes: int | None) -> bytes:
    if batch_bytes is None:
        return recompress(piece, compression_type, level)
    return pack(piece, compression_type, level, batch_bytes)


def _write(out: FileIO, data: bytes) -> None:
    """All of it: a call to write takes 2 GiB at most."""
    left = memoryview(data)
    while left:
        left = left[out.write(left) :]
