"""A log with another codec: the job, and an estimate of it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from recordpress._arguments import integer
from recordpress.codecs import CodecRegistry
from recordpress.files import FileSystem
from recordpress.log._file_records import FileRecords
from recordpress.log._progress import ProgressCallback
from recordpress.log._segment import Partition, Segment
from recordpress.log.copy._copy_log import (
    MOST_THREADS,
    Paths,
    check_flags,
    copy_log,
    copy_small_files,
    open_source,
)
from recordpress.log.copy._recompress_threads import RecompressThreads
from recordpress.log.copy.manifest import Manifest
from recordpress.typing import Integer, Level

# 64 MiB in all: an estimate takes seconds
_SAMPLED_SEGMENTS = 16
_SAMPLED_BYTES = 4 << 20


class Estimate(NamedTuple):
    """The estimate of `recordpress.transcode` with ``dry_run``, from the first megabytes of up to 16 segments.

    Attributes
    ----------
    bytes_before, bytes_after : int
        Of all segments. The second is an estimate.
    cpu_seconds : float
        An estimate.
    sampled_bytes : int
        Bytes of the source on which the estimate is based.
    segments, sampled_segments : int

    Examples
    --------
    >>> import recordpress
    >>> estimate = recordpress.transcode("demo/logs/nginx-status-0", "/copy", "zstd", dry_run=True)
    >>> estimate.segments, estimate.bytes_before, estimate.bytes_after < estimate.bytes_before / 10
    (3, 2790398, True)
    """

    bytes_before: int
    bytes_after: int
    cpu_seconds: float
    sampled_bytes: int
    segments: int
    sampled_segments: int


@dataclass(frozen=True)
class Job:
    """The work for every segment."""

    operation: ClassVar[str] = "transcode"
    with_indexes: ClassVar[bool] = True
    compression_type: str
    level: Level
    batch_bytes: Integer | None
    min_gain: float | None
    threads: int
    codecs: CodecRegistry | None = None

    def options(self) -> dict[str, Any]:
        level = None if self.level is None or isinstance(self.level, str) else int(self.level)
        batch_bytes = None if self.batch_bytes is None else int(self.batch_bytes)
        return {
            "compression_type": self.compression_type,
            "level": level,
            "batch_bytes": batch_bytes,
            "min_gain": self.min_gain,
        }

    def recompressor(self, threads: int = 1, file: str | None = None) -> RecompressThreads:
        return RecompressThreads(
            self.compression_type,
            self.level,
            batch_bytes=self.batch_bytes,
            min_gain=self.min_gain,
            threads=threads,
            file=file,
            codecs=self.codecs,
        )

    def check_loss(self, partitions: tuple[Partition, ...]) -> dict[str, int]:
        return {}

    def check_segment(self, recompressor: RecompressThreads, file: str) -> None:
        pass

    def write_sidecars(self, partition: Partition, files: FileSystem, directory: str) -> list[str]:
        return copy_small_files(partition, files, directory)


def transcode(
    src: Paths,
    dst: str | os.PathLike[str],
    compression_type: str,
    *,
    level: Level = None,
    batch_bytes: Integer | None = None,
    min_gain: float | None = 0.0,
    threads: Integer = 1,
    resume: bool = True,
    dry_run: bool = False,
    codecs: CodecRegistry | None = None,
    progress: ProgressCallback | None = None,
) -> Manifest | Estimate:
    """Implements `recordpress.transcode`."""
    job = Job(compression_type, level, batch_bytes, min_gain, integer(threads, "threads", 1, MOST_THREADS), codecs)
    job.recompressor()  # invalid arguments are refused before any work
    check_flags(dry_run=dry_run)
    if dry_run:
        _, opened, _, _ = open_source(src, dst, resume, progress)
        return _estimate(job, opened.partitions)
    return copy_log(job, src, dst, resume, progress)


# ---- an estimate


def _estimate(job: Job, partitions: tuple[Partition, ...]) -> Estimate:
    segments = [segment for partition in partitions for segment in partition.segments]
    sizes = [segment.filesystem.info(segment.path).size or 0 for segment in segments]
    step = max(1, -(-len(segments) // _SAMPLED_SEGMENTS))
    sampled = before = after = 0
    cpu = 0.0
    for segment in segments[::step]:
        started = time.thread_time()
        done = _sample(job, segment)
        cpu += time.thread_time() - started
        before += done.before["bytes"]
        after += done.after["bytes"]
        sampled += 1
    whole = sum(sizes)
    share = whole / before if before else 0.0
    return Estimate(whole, round(after * share), cpu * share, before, len(segments), sampled)


def _sample(job: Job, segment: Segment) -> RecompressThreads:
    """Convert the first megabytes of a segment in this thread, and drop the result."""
    with FileRecords(segment.open(), complete=not segment.is_last, codecs=segment.codecs) as file:
        recompressor = job.recompressor(1, file.path)
        try:
            for position, piece in file.pieces():
                recompressor.feed(piece, position, _discard)
                if file.valid_bytes + len(piece) >= _SAMPLED_BYTES:
                    break
            recompressor.finish(_discard)
        finally:
            recompressor.close()
    return recompressor


def _discard(data: memoryview) -> None:
    pass
