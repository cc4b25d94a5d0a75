"""Copy of a log with another codec: the job and its estimate."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, cast, get_args

from recordpress._arguments import INT64_MAX, MOST_THREADS, choice, integer, time as time_of
from recordpress.codecs.choice import CodecChoice
from recordpress.errors import InvalidArgumentError
from recordpress.files import FileSystem
from recordpress.log._segment import Partition, Segment
from recordpress.log.copy._copy_log import (
    SUFFIXES,
    CopyJob,
    copy_small_files,
    list_copied_segments,
    number_of,
    small_files,
)
from recordpress.log.copy._marks import NO_MARKS, Marks
from recordpress.log.copy._producers import Expiry, fit_small_files
from recordpress.log.copy._recompress_threads import RecompressThreads
from recordpress.log.copy.defaults import DEFAULT_MAX_MESSAGE_BYTES, EXPIRATION_MS
from recordpress.typing import Integer, Time

OnDamage: TypeAlias = Literal["raise", "quarantine"]
ON_DAMAGE = get_args(OnDamage)
OfProducers: TypeAlias = Literal["keep", "settle"]
OF_PRODUCERS = get_args(OfProducers)

# 64 MiB in all: an estimate takes seconds
_SAMPLED_SEGMENTS = 16
_SAMPLED_BYTES = 4 << 20


class Estimate(NamedTuple):
    """Estimate of `recordpress.transcode` with ``dry_run``, from the first megabytes of up to 16 segments.

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
class TranscodeJob(CopyJob):
    """Options of `recordpress.transcode` for every segment."""

    operation: ClassVar[str] = "transcode"
    with_indexes: ClassVar[bool] = True
    codec: CodecChoice
    batch_bytes: Integer | None = None
    min_gain: float | None = 0.0
    threads: Integer = 1
    on_corrupt: OnDamage = "raise"
    batch_records: Integer | None = None
    max_message_bytes: Integer = DEFAULT_MAX_MESSAGE_BYTES
    producer_id_expiration_ms: Integer = EXPIRATION_MS
    as_of: Time | None = None
    producers: OfProducers = "keep"

    def __post_init__(self) -> None:
        integer(self.threads, "threads", 1, MOST_THREADS)
        integer(self.producer_id_expiration_ms, "producer_id_expiration_ms", 1, INT64_MAX)
        choice("producers", self.producers, OF_PRODUCERS)
        if self.producers == "settle" and self.expiry is None:
            raise InvalidArgumentError(
                "producers are settled where batches are joined: give batch_bytes or batch_records", field="producers"
            )
        if self.as_of is not None:
            object.__setattr__(self, "as_of", time_of(self.as_of, "as_of"))
        choice("on_corrupt", self.on_corrupt, ON_DAMAGE)
        self.recompressor()  # checks batch_bytes and min_gain

    def options(self) -> dict[str, Any]:
        options = {
            "compression_type": self.codec.compression_type,
            "level": number_of(self.codec.level),
            "batch_bytes": number_of(self.batch_bytes),
            "min_gain": self.min_gain,
        }
        if self.expiry is not None:
            options |= {
                "batch_records": number_of(self.batch_records),
                "max_message_bytes": number_of(self.max_message_bytes),
                "producer_id_expiration_ms": self.expiry.expiration_ms,
                "as_of": self.expiry.as_of,
                "producers": self.producers,
            }
        return options if self.on_corrupt == "raise" else options | {"on_corrupt": self.on_corrupt}

    @property
    def expiry(self) -> Expiry | None:  # type: ignore[override]
        if self.batch_bytes is None and self.batch_records is None:
            return None
        return Expiry(int(self.producer_id_expiration_ms), cast("int | None", self.as_of), self.producers == "settle")

    def recompressor(self, threads: int = 1, file: str | None = None, marks: Marks = NO_MARKS) -> RecompressThreads:
        return RecompressThreads(
            **self.codec.options,
            batch_bytes=self.batch_bytes,
            batch_records=self.batch_records,
            max_message_bytes=self.max_message_bytes,
            marks=marks,
            min_gain=self.min_gain,
            threads=threads,
            file=file,
        )

    def write_sidecars(self, partition: Partition, files: FileSystem, directory: str) -> list[str]:
        changed: dict[str, bytes | None] = {}
        if self.expiry is not None:
            copied, beside = (
                list_copied_segments(partition, files, directory),
                small_files(partition, suffixes=SUFFIXES),
            )
            changed = fit_small_files(partition, copied, beside, self.expiry.settles)
        return copy_small_files(partition, files, directory, changed=changed)

    def preview(self, partitions: tuple[Partition, ...]) -> Estimate:
        return _estimate(self, partitions)


def _estimate(job: TranscodeJob, partitions: tuple[Partition, ...]) -> Estimate:
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


def _sample(job: TranscodeJob, segment: Segment) -> RecompressThreads:
    """Recompress the first megabytes of a segment in this thread, and drop the result."""
    every_producer = Marks(settle_below=INT64_MAX) if job.expiry and job.expiry.settles else NO_MARKS
    with segment.records() as file:
        recompressor = job.recompressor(1, file.path, every_producer)
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
