"""One segment with another codec: written under a hidden name, verified batch by batch, read back, then renamed.

    source ─► whole entries, piece by piece ─► _recoder ─► unfinished file ─► its checksum when read back ─► its name

Memory is bounded by a piece and the threads' current work, not by the segment.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recordpress._arguments import INT32_MAX
from recordpress._file_names import refuse_without_records
from recordpress.codecs import DEFAULT_MAX_SIZE, CodecRegistry
from recordpress.errors import CorruptRecordError
from recordpress.files import FileSystem, resolve
from recordpress.files.read_back import COPY_RULE, Look, publish_checked
from recordpress.log._file_records import FileRecords
from recordpress.log.copy._recompress_threads import RecompressThreads
from recordpress.typing import Integer, Level

if TYPE_CHECKING:
    from recordpress.log.copy._recompress_threads import _Content


@dataclass(frozen=True)
class SegmentContent:
    """The contents of a segment, from reading all of it.

    Attributes
    ----------
    records : int
        Without records of control batches.
    batches : int
        Entries that hold them: neither control batches nor batches that compaction emptied.
    bytes : int
        Of the file.
    compression_types : tuple of str
        Of these entries, sorted.
    next_offset : int | None
        The offset after the last batch; None for an empty file.
    digest : str
        Over all records and markers in order, by `RecordDigest`: offset, timestamp and its type, key, value, headers,
        and from the batch producer id, epoch, sequence, leader epoch, transactional and control flags.
    trailing_bytes : int
        Bytes of a cut entry, or zeros, after the last whole entry; they hold no record and are not copied.

    Examples
    --------
    >>> from recordpress.log import read_content
    >>> content = read_content("demo/logs/sessions-0/00000000000000000000.log")
    >>> content.records, content.batches, content.compression_types, content.next_offset
    (175, 1, ('lz4',), 175)
    """

    records: int
    batches: int
    bytes: int
    compression_types: tuple[str, ...]
    next_offset: int | None
    digest: str
    trailing_bytes: int = 0


@dataclass(frozen=True)
class SegmentCopy:
    """The contents of a segment and its copy; batches that were kept byte for byte, and the checksum of the file."""

    before: SegmentContent
    after: SegmentContent
    already: int
    not_smaller: int
    crc32c: int


def read_content(
    path: str | os.PathLike[str],
    *,
    complete: bool = True,
    max_message_bytes: int = INT32_MAX,
    max_decompressed_bytes: Integer = DEFAULT_MAX_SIZE,
    threads: Integer = 1,
    codecs: CodecRegistry | None = None,
) -> SegmentContent:
    """Read a segment from beginning to end.

    Parameters
    ----------
    path : str or Path
        A local path, or a URL as for `recordpress.open_log`.
    complete : bool
        If False, the file may end in a cut entry or in zeros, as the last segment of a partition may.
    max_message_bytes : int
        An entry whose size field is above this is corrupt.
    max_decompressed_bytes : int
        Cap on the decompressed size of one batch.
    threads : int
    codecs : CodecRegistry | None
        Custom codecs in addition to Kafka's five.

    Returns
    -------
    SegmentContent

    Raises
    ------
    RecordpressError
        As for `iter_columns`; also CorruptRecordError if the file has an end that it may not have.

    Examples
    --------
    >>> import tempfile, pathlib, recordpress
    >>> from recordpress.log import read_content
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory, "00000000000000000000.log")
    ...     _ = path.write_bytes(recordpress.write_records([b"line"] * 100, compression_type="lz4"))
    ...     content = read_content(path)
    >>> content.records, content.batches, content.compression_types, content.next_offset
    (100, 1, ('lz4',), 100)
    """
    files, where = resolve(path)
    with open_segment(files, where, complete, max_message_bytes) as file:
        recompressor = RecompressThreads(
            None, threads=threads, max_decompressed_bytes=max_decompressed_bytes, codecs=codecs, file=file.path
        )
        pass_through(file, recompressor, _discard)
        return _content(recompressor.before, recompressor, file.size, file.trailing_bytes)


def transcode_segment(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    compression_type: str,
    level: Level = None,
    batch_bytes: Integer | None = None,
    *,
    min_gain: float | None = 0.0,
    threads: Integer = 1,
    complete: bool = True,
    max_message_bytes: int = INT32_MAX,
    max_decompressed_bytes: Integer = DEFAULT_MAX_SIZE,
    codecs: CodecRegistry | None = None,
) -> tuple[SegmentContent, SegmentContent]:
    """Recompress a segment with another codec; the copy gets its name once it is verified to hold what the source does.

    Each new batch is verified: it is decompressed and compared with the source's bytes, or
    record by record if batches were joined. Then the file is read back and its checksum is compared. Files that killed
    calls with this `target` left next to it is removed first.

    Parameters
    ----------
    source, target : str or Path
        Segment files: local paths, or URLs as for `recordpress.open_log`.
    compression_type : {'none', 'gzip', 'snappy', 'lz4', 'zstd'}
    level : int, optional
        As in `recompress`; None is what Kafka's Java producer does by default.
    batch_bytes : int, optional
        Join adjacent small batches into batches of up to this many bytes before compression. Batches whose producer,
        transaction or append time would be lost are recompressed one to one.
    min_gain : float | None
        The fraction of its bytes by which a batch must become smaller; otherwise its old bytes are copied. They are
        also copied if the batch has this codec already and no level is given. None, or ``none`` as the codec: the new
        bytes are always written.
    threads : int
    complete : bool
        If False, `source` may end in a cut entry or in zeros, as the last segment of a partition does after a crash.
        These bytes hold no record and are left out; ``trailing_bytes`` of the first result has their number. If True,
        they are an error.
    max_message_bytes : int
        An entry of the source whose size field is above this is corrupt. An entry is held in memory as a whole.
    max_decompressed_bytes : int
        Cap on the decompressed size of one batch.
    codecs : CodecRegistry | None
        Custom codecs in addition to Kafka's five.

    Returns
    -------
    tuple of SegmentContent
        The contents of the source and of the copy, which have the same ``digest`` and ``next_offset``.

    Raises
    ------
    RecordpressError
        The source is damaged; file, position and offset say where.
    CorruptRecordError
        The copy does not hold what the source does, or the source was replaced during the call; the copy is removed.
    OSError
        Nothing is left of the copy.

    Examples
    --------
    >>> import tempfile, pathlib, recordpress
    >>> from recordpress.log import transcode_segment
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     source, target = pathlib.Path(directory, "source.log"), pathlib.Path(directory, "target.log")
    ...     _ = source.write_bytes(recordpress.write_records([b"line"] * 100, compression_type="snappy"))
    ...     before, after = transcode_segment(source, target, "zstd", 9)
    >>> before.digest == after.digest, before.compression_types, after.compression_types, after.bytes < before.bytes
    (True, ('snappy',), ('zstd',), True)
    """
    files, where = resolve(source)
    refuse_without_records(where, "source")
    with open_segment(files, where, complete, max_message_bytes) as file:
        recompressor = RecompressThreads(
            compression_type,
            level,
            batch_bytes=batch_bytes,
            min_gain=min_gain,
            threads=threads,
            max_decompressed_bytes=max_decompressed_bytes,
            codecs=codecs,
            file=file.path,
        )
        copy = copy_segment(file, recompressor, *resolve(target))
    return copy.before, copy.after


def open_segment(files: FileSystem, path: str, complete: bool, max_message_bytes: int = INT32_MAX) -> FileRecords:
    """Open a segment's file if its name may hold records."""
    refuse_without_records(path)
    return FileRecords(files.open(path), complete=complete, max_message_bytes=max_message_bytes)


def copy_segment(
    file: FileRecords,
    recompressor: RecompressThreads,
    files: FileSystem,
    target: str,
    step: Callable[[int], None] | None = None,
    look: Look | None = None,
) -> SegmentCopy:
    """Write the recompressed file to `target`. `step` gets the number of source bytes processed, often zero, and may
    raise to cancel; `look` gets the bytes that are read back."""
    with files.create(target) as writer:

        def write(data: memoryview) -> None:
            if step:
                step(0)
            writer.write(data)

        pass_through(file, recompressor, write, step)
        before = _content(recompressor.before, recompressor, file.size, file.trailing_bytes)
        after = _content(recompressor.after, recompressor, recompressor.after["bytes"])
        if (before.records, before.next_offset) != (after.records, after.next_offset):
            raise CorruptRecordError(
                f"the copy does not hold what the source does: {after} instead of {before}",
                file=file.path,
                rule=COPY_RULE,
            )
        publish_checked(writer, files, target, after.bytes, recompressor.crc32c, look)
    return SegmentCopy(before, after, recompressor.already, recompressor.left, recompressor.crc32c)


def _discard(data: memoryview) -> None:
    pass


def pass_through(
    file: FileRecords,
    recompressor: RecompressThreads,
    write: Callable[[memoryview], object],
    step: Callable[[int], None] | None = None,
) -> None:
    """Feed every entry of the file to the recompressor, in order."""
    try:
        for position, piece in file.pieces():
            recompressor.feed(piece, position, write)
            if step:
                step(len(piece))
        recompressor.finish(write)
    finally:
        recompressor.close()
    if step:
        step(file.trailing_bytes)
    whole = file.valid_bytes - file.file.start
    if recompressor.before["bytes"] != whole:
        raise CorruptRecordError(
            f"of {whole} bytes of entries {recompressor.before['bytes']} were read",
            file=file.path,
            rule=COPY_RULE,
        )


def _content(numbers: _Content, recompressor: RecompressThreads, size: int, trailing_bytes: int = 0) -> SegmentContent:
    return SegmentContent(
        records=numbers["records"],
        batches=numbers["batches"],
        bytes=size,
        compression_types=numbers["compression_types"],
        next_offset=numbers["next_offset"],
        digest=recompressor.digest.hexdigest(),
        trailing_bytes=trailing_bytes,
    )
