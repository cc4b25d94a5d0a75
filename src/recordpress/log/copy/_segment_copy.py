"""Copy of a segment with another codec: written under a hidden name, verified batch by batch, read back, then renamed.

    source ─► complete entries, chunk by chunk ─► RecompressThreads ─► unfinished file ─► checksum read back ─► its name

Memory is bounded by a chunk and the threads' current work, not by the segment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recordpress.errors import CorruptRecordError
from recordpress.files import FileSystem
from recordpress.files.read_back import COPY_RULE, Look, publish_checked
from recordpress.log._file_records import FileRecords
from recordpress.log.copy._recompress_threads import RecompressThreads
from recordpress.log.copy._segment_content import SegmentContent


@dataclass(frozen=True)
class SegmentCopy:
    """Contents of a segment and its copy, the number of batches kept byte for byte, and the checksum of the file."""

    before: SegmentContent
    after: SegmentContent
    already: int
    not_smaller: int
    crc32c: int
    settled: dict[str, int]


def copy_segment(
    file: FileRecords,
    recompressor: RecompressThreads,
    files: FileSystem,
    target: str,
    step: Callable[[int], None] | None = None,
    look: Look | None = None,
) -> SegmentCopy:
    """Write the recompressed file; `step` is called with the number of source bytes just read and may raise to cancel,
    `look` with the file to be read back."""
    with files.create(target) as writer:

        def write(data: memoryview) -> None:
            if step:
                step(0)
            writer.write(data)

        pass_through(file, recompressor, write, step)
        before = recompressor.before._replace(bytes=file.size, trailing_bytes=file.trailing_bytes)
        after = recompressor.after
        # settling may drop batches at the end of a part; describe_copy compares the ends of segments
        ends_alike = recompressor.settles or before.next_offset == after.next_offset
        if before.records != after.records or not ends_alike:
            raise CorruptRecordError(
                f"the copy differs from its source: {after} instead of {before}", file=file.path, rule=COPY_RULE
            )
        publish_checked(writer, files, target, after.bytes, recompressor.crc32c, look)
    settled = {
        "batches": recompressor.settled,
        "aborted_records": recompressor.dropped_records,
        "markers": recompressor.dropped_markers,
    }
    return SegmentCopy(
        before,
        after,
        recompressor.already,
        recompressor.left,
        recompressor.crc32c,
        settled if recompressor.settles else {},
    )


def pass_through(
    file: FileRecords,
    recompressor: RecompressThreads,
    write: Callable[[memoryview], object],
    step: Callable[[int], None] | None = None,
) -> None:
    """Feed every entry of the file to the recompressor, in order."""
    try:
        for position, chunk in file.chunks():
            recompressor.feed(chunk, position, write)
            if step:
                step(len(chunk))
        recompressor.finish(write)
    finally:
        recompressor.close()
    if step:
        step(file.trailing_bytes)
    whole = file.valid_bytes - file.file.start
    if recompressor.before.bytes != whole:
        raise CorruptRecordError(
            f"{recompressor.before.bytes} of {whole} bytes of entries were read", file=file.path, rule=COPY_RULE
        )


def discard(data: object) -> None:
    """Discard the data."""
