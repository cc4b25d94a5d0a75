"""Copy of a large segment: its parts are copied in parallel, then joined.

::

    .log   ├─────────────┼─────────────┼──────────┤     cut where the chunks of `FileRecords` end
               copied        copied       copied        hidden files next to the copy, each proven batch by batch
           └─────────────┴──────┬──────┴──────────┘
                              joined                    read once more, for the digest of all records in order

The result is that of one process, byte for byte: no joined batch (``batch_bytes``) crosses the end of a chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from recordpress.checksum import crc32c, crc32c_combine
from recordpress.errors import CorruptRecordError, RecordpressError
from recordpress.files import FileSystem, Writer
from recordpress.files.read_back import COPY_RULE, publish_checked
from recordpress.log._file_records import CHUNK_BYTES, FileRecords
from recordpress.log._part import part_of
from recordpress.log.check.build_sidecars import Indexes
from recordpress.log.copy._copy_log import CopyJob, CopyTask, describe_copy, segment_name
from recordpress.log.copy._quarantine import damage_of_source
from recordpress.log.copy._recompress_threads import RecompressThreads
from recordpress.log.copy._segment_content import SegmentContent
from recordpress.log.copy._segment_copy import SegmentCopy, copy_segment, discard
from recordpress.log.copy.manifest import CopiedSegment
from recordpress.log.findings import Finding


class CopiedPart(NamedTuple):
    """A written part: the batches between two positions in the source."""

    file: str
    start: int
    end: int
    copy: SegmentCopy


class DamagedPart(NamedTuple):
    """A part that was not written, because the source is damaged."""

    finding: Finding


class CopyPart(NamedTuple):
    """A part to write: the batches that begin in a range of bytes."""

    job: CopyJob
    files: FileSystem
    task: CopyTask
    start: int
    end: int | None
    quarantines: bool

    def run(self) -> CopiedPart | DamagedPart:
        """Write the part; a repeated attempt writes the same bytes."""
        try:
            return self._write()
        except RecordpressError as error:
            if not self.quarantines:
                raise
            return DamagedPart(damage_of_source(self.task, error))

    def _write(self) -> CopiedPart:
        # if the part is never joined, a sweep removes it as unfinished; writers of the segment itself do not
        name = f".{segment_name(self.task.segment)}.part.{self.start:032x}"
        path = self.files.join(self.task.directory, name)
        part = part_of(self.task.segment, self.start, self.end)
        with part.records() as file:
            start, end = file.file.start, file.size
            copy = copy_segment(file, self.job.recompressor(1, file.path, self.task.marks), self.files, path)
        return CopiedPart(name, start, end, copy)


def cut_parts(size: int, part_bytes: int) -> list[tuple[int, int | None]]:
    """Return the bounds of parts of about this size; the last part ends with the file."""
    step = max(part_bytes // CHUNK_BYTES, 1) * CHUNK_BYTES
    starts = list(range(0, size, step))
    return [(start, end) for start, end in zip(starts, [*starts[1:], None], strict=True)]


def join_parts(
    job: CopyJob, task: CopyTask, files: FileSystem, parts: Sequence[CopiedPart], threads: int
) -> CopiedSegment:
    """Write the segment from its parts, and its indexes."""
    for part, following in pairwise(parts):
        if part.end != following.start:
            raise CorruptRecordError(
                f"a part of the copy ends at byte {part.end}, but the next part begins at {following.start}",
                file=task.segment.url,
                position=part.end,
                rule=COPY_RULE,
            )
    target = files.join(task.directory, segment_name(task.segment))
    indexes = Indexes(task.segment)
    recompressor = RecompressThreads(
        None, threads=threads, codecs=job.codec.codecs, file=files.url(target), marks=task.marks
    )
    with files.create(target) as writer:
        checksum = size = 0
        try:
            for part in parts:
                checksum, size = _append(task, files, part, recompressor, writer, checksum, size)
            recompressor.finish(discard)
        finally:
            recompressor.close()
        copy = _check_parts(task, parts, recompressor, size, checksum)
        publish_checked(writer, files, target, size, checksum, indexes.look)
    done = describe_copy(task, files, target, copy)
    indexes.write(files, task.directory)
    return done


def _append(
    task: CopyTask,
    files: FileSystem,
    part: CopiedPart,
    recompressor: RecompressThreads,
    writer: Writer,
    checksum: int,
    size: int,
) -> tuple[int, int]:
    """Append a part; return the checksum and size so far."""
    own = 0
    with FileRecords(files.open(files.join(task.directory, part.file))) as file:
        for position, chunk in file.chunks():
            own = crc32c(chunk, own)
            recompressor.feed(chunk, size + position, discard)
            writer.write(chunk)
        if (file.size, own) != (part.copy.after.bytes, part.copy.crc32c):
            raise CorruptRecordError("the file differs from the written bytes", file=file.path, rule=COPY_RULE)
        return crc32c_combine(checksum, own, file.size), size + file.size


def _check_parts(
    task: CopyTask, parts: Sequence[CopiedPart], recompressor: RecompressThreads, size: int, checksum: int
) -> SegmentCopy:
    digest = recompressor.digest.hexdigest()
    before = _sum([part.copy.before for part in parts], parts[-1].end, digest)
    after = _sum([part.copy.after for part in parts], size, digest)
    read = recompressor.before[:3]
    if read != (after.records, after.batches, size) or before.records != after.records:
        raise CorruptRecordError(
            f"the parts have {after}, but the copy has {read}", file=task.segment.url, rule=COPY_RULE
        )
    already = sum(part.copy.already for part in parts)
    not_smaller = sum(part.copy.not_smaller for part in parts)
    settled = {kind: sum(part.copy.settled[kind] for part in parts) for kind in parts[0].copy.settled}
    return SegmentCopy(before, after, already, not_smaller, checksum, settled)


def _sum(contents: Sequence[SegmentContent], size: int, digest: str) -> SegmentContent:
    ends = [one.next_offset for one in contents if one.next_offset is not None]
    return SegmentContent(
        records=sum(one.records for one in contents),
        batches=sum(one.batches for one in contents),
        bytes=size,
        compression_types=tuple(sorted({name for one in contents for name in one.compression_types})),
        next_offset=ends[-1] if ends else None,
        digest=digest,
        trailing_bytes=contents[-1].trailing_bytes,
    )
