"""One segment at a time, by the parts of a copy: its content, and a copy of it with another codec."""

from pathlib import Path
from typing import Any

from recordpress.codecs.choice import CodecChoice
from recordpress.files import resolve
from recordpress.log import FileRecords
from recordpress.log.copy._recompress_threads import RecompressThreads
from recordpress.log.copy._segment_content import SegmentContent
from recordpress.log.copy._segment_copy import copy_segment, pass_through
from recordpress.log.copy.transcode import TranscodeJob


def read_content(path: Path, threads: int = 1) -> SegmentContent:
    """Read a segment from beginning to end."""
    with FileRecords(path) as file:
        recompressor = RecompressThreads(None, threads=threads, file=file.path)
        pass_through(file, recompressor, lambda data: None)
        return recompressor.before._replace(bytes=file.size, trailing_bytes=file.trailing_bytes)


def transcode_segment(
    source: Path,
    target: Path,
    compression_type: str,
    level: int | None = None,
    batch_bytes: int | None = None,
    *,
    threads: int = 1,
    **options: Any,
) -> tuple[SegmentContent, SegmentContent]:
    """Copy a segment with another codec; the copy gets its name once it is proven to hold what the source does."""
    job = TranscodeJob(CodecChoice(compression_type, level, options.pop("codecs", None)), batch_bytes, **options)
    with FileRecords(source) as file:
        copy = copy_segment(file, job.recompressor(threads, file.path), *resolve(target))
    return copy.before, copy.after
