"""One segment under another codec: written beside, compared record by record, then given its name.

    source ─► whole entries, piece by piece ─► recompress | pack ─► temporary file ─► digests compared ─► rename

Memory is bounded by a piece, not by the segment. Needs pyarrow, for the digests.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from kpress.columns import iter_columns
from kpress.errors import CorruptRecordError
from kpress.log._digest import RecordDigest
from kpress.log._directory import located
from kpress.log._pack import pack
from kpress.record import read_batches, recompress
from kpress.typing import CompressionType, Level

_PIECE_BYTES = 16 << 20
# All that a record is, and what brokers and consumers derive from its batch.
_COMPARED = (
    "offset",
    "timestamp",
    "timestampType",
    "key",
    "value",
    "headers",
    "producerId",
    "producerEpoch",
    "sequence",
    "partitionLeaderEpoch",
    "isTransactional",
    "isControl",
)


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
    compression_types : tuple of str
        Of these entries, sorted.
    next_offset : int | None
        The offset after the last batch; None for an empty file.
    digest : str
        Over all records and markers in order: offset, timestamp and its type, key, value, headers, and from the
        batch producer id, epoch, sequence, leader epoch, transactional and control flags.
    """

    records: int
    batches: int
    bytes: int
    compression_types: tuple[str, ...]
    next_offset: int | None
    digest: str


def read_content(path: Path) -> SegmentContent:
    """Read a segment from beginning to end.

    Raises
    ------
    KpressError
        What `iter_columns` raises; and CorruptRecordError where the last entry is cut.
    """
    digest = RecordDigest(_COMPARED)
    records = batches = 0
    next_offset = None
    codecs = set()
    with open(path, "rb") as file:
        for position, piece in whole_entries(file):
            with located(position, path):
                for batch in read_batches(piece):
                    next_offset = batch.next_offset
                    if not batch.is_control and batch.records_count != 0:
                        batches += 1
                        codecs.add(batch.compression_type)
                records += _add(digest, piece)
        size = file.tell()
    return SegmentContent(records, batches, size, tuple(sorted(codecs)), next_offset, digest.hexdigest())


def _add(digest: RecordDigest, piece: bytes) -> int:
    """The number of records which are not control records."""
    import pyarrow as pa
    import pyarrow.compute as pc

    records = 0
    for columns in iter_columns(piece, _COMPARED, control=True):
        for batch in pa.RecordBatchReader.from_stream(columns):
            digest.update(batch)
            records += batch.num_rows - (pc.sum(batch.column("isControl")).as_py() or 0)
    return records


def whole_entries(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Pieces of a segment which end between entries, each with its position.

    Raises
    ------
    CorruptRecordError
        An impossible entry, or the last one is cut. Pieces before it are handed out.
    """
    position, data = 0, b""
    while piece := file.read(max(_PIECE_BYTES, len(data))):  # an entry larger than a piece: twice as much each time
        data += piece
        with located(position, file.name):
            entries = read_batches(data)
            for _ in entries:
                pass
        if size := entries.valid_bytes:
            yield position, data[:size]
            position, data = position + size, data[size:]
    if data:
        raise CorruptRecordError(
            f"the last entry is cut: {len(data)} bytes of it are here",
            file=file.name,
            position=position,
            field="size",
            rule="record set framing",
        )


def transcode_segment(
    source: Path, target: Path, compression_type: CompressionType, level: Level = None, batch_bytes: int | None = None
) -> tuple[SegmentContent, SegmentContent]:
    """Write `source` under another codec to `target`, which gets its name when all records are proven the same.

    Parameters
    ----------
    source, target : Path
        Segment files.
    compression_type, level
        As in `recompress`.
    batch_bytes : int, optional
        Pack shallow batches into batches of up to that size before compression.

    Returns
    -------
    tuple of SegmentContent
        Of the source and of the copy, each from reading the file back.

    Raises
    ------
    KpressError
        The source is damaged; file, position and offset say where.
    CorruptRecordError
        The copy does not hold what the source does: nothing is left of it.
    """
    # one name for each attempt: a scheduler may run the same work twice at a time
    temporary = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        with open(source, "rb") as file, open(temporary, "xb") as out:
            for position, piece in whole_entries(file):
                with located(position, source):
                    if batch_bytes is None:
                        out.write(recompress(piece, compression_type, level))
                    else:
                        out.write(pack(piece, compression_type, level, batch_bytes))
            out.flush()
            os.fsync(out.fileno())
        before, after = read_content(source), read_content(temporary)
        if (before.digest, before.next_offset) != (after.digest, after.next_offset):
            raise CorruptRecordError(
                f"the copy holds other records than the source: {after} instead of {before}",
                file=str(source),
                rule="verification of the copy",
            )
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    sync_directory(target.parent)
    return before, after


def sync_directory(path: Path) -> None:
    """Make names that were given in a directory last."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
