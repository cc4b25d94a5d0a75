"""Copy of a log with another codec: the job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias, cast, get_args

from recordpress._arguments import INT64_MAX, MOST_THREADS, choice, integer, time as time_of
from recordpress.codecs.choice import CodecChoice, level_as_json
from recordpress.errors import InvalidArgumentError
from recordpress.files import FileSystem
from recordpress.log._segment import Partition
from recordpress.log.copy._copy_log import (
    SUFFIXES,
    CopyJob,
    copy_small_files,
    list_copied_segments,
    number_of,
    small_files,
)
from recordpress.log.copy._producers import Expiry, fit_small_files
from recordpress.log.copy._recompress_threads import RecompressThreads
from recordpress.log.copy._settle_marks import NO_MARKS, Marks
from recordpress.log.copy.defaults import DEFAULT_MAX_MESSAGE_BYTES, EXPIRATION_MS, JOINED_BYTES
from recordpress.log.copy.savings import SAMPLE_BYTES, Estimate, estimate
from recordpress.log.findings import Finding
from recordpress.typing import Integer, Time

OnDamage: TypeAlias = Literal["raise", "quarantine"]
ON_DAMAGE = get_args(OnDamage)
OfProducers: TypeAlias = Literal["keep", "settle"]
OF_PRODUCERS = get_args(OfProducers)


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
    now_ms: Time | None = None
    producers: OfProducers = "keep"

    def __post_init__(self) -> None:
        integer(self.threads, "threads", 1, MOST_THREADS)
        integer(self.producer_id_expiration_ms, "producer_id_expiration_ms", 1, INT64_MAX)
        choice("producers", self.producers, OF_PRODUCERS)
        if self.producers == "settle" and self.expiry is None:
            raise InvalidArgumentError(
                "producers are settled only if batches are joined: set batch_bytes or batch_records", field="producers"
            )
        if self.now_ms is not None:
            object.__setattr__(self, "now_ms", time_of(self.now_ms, "now_ms"))
        choice("on_corrupt", self.on_corrupt, ON_DAMAGE)
        if self.producers == "settle" and self.on_corrupt == "quarantine":
            raise InvalidArgumentError(
                "producers are settled only in intact partitions: copy damaged partitions with producers='keep'",
                field="on_corrupt",
            )
        self.recompressor()  # checks batch_bytes and min_gain

    def options(self) -> dict[str, Any]:
        options = {
            "compression_type": self.codec.compression_type,
            "level": level_as_json(self.codec.level),
            "batch_bytes": number_of(self.batch_bytes),
            "min_gain": self.min_gain,
        }
        if self.expiry is not None:
            options |= {
                "batch_records": number_of(self.batch_records),
                "max_message_bytes": number_of(self.max_message_bytes),
                "producer_id_expiration_ms": self.expiry.expiration_ms,
                "now_ms": self.expiry.now_ms,
                "producers": self.producers,
            }
        return options if self.on_corrupt == "raise" else options | {"on_corrupt": self.on_corrupt}

    @property
    def expiry(self) -> Expiry | None:  # type: ignore[override]
        if self.batch_bytes is None and self.batch_records is None:
            return None
        return Expiry(int(self.producer_id_expiration_ms), cast("int | None", self.now_ms), self.producers == "settle")

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
            copied = list_copied_segments(partition, files, directory)
            changed = fit_small_files(partition, copied, small_files(partition, suffixes=SUFFIXES), self.expiry.settles)
        return copy_small_files(partition, files, directory, changed=changed)

    def preview(self, partitions: tuple[Partition, ...]) -> Estimate:
        return self.estimate(partitions)

    def estimate(
        self,
        partitions: Sequence[Partition],
        sample_bytes: int = SAMPLE_BYTES,
        *,
        seed: int = 0,
        is_quick: bool = False,
        findings: list[Finding] | None = None,
    ) -> Estimate:
        """Estimate the size of the copy, also with joined batches and with settled producers.

        With `is_quick`, and for large logs in a store, headers outside the sample are not read: all producers are
        treated as expired, and all their transactions as committed. Damage raises an error; if `findings` is a list,
        the damage is added to it instead, unless the list has it already, and the topic is omitted.
        """
        joined = self if self.expiry else replace(self, batch_bytes=min(JOINED_BYTES, int(self.max_message_bytes)))
        jobs = (
            replace(self, batch_bytes=None, batch_records=None, producers="keep"),
            replace(joined, producers="keep"),
            replace(joined, producers="settle", on_corrupt="raise"),
        )
        asked = 0 if self.expiry is None else 1 + OF_PRODUCERS.index(self.producers)
        limits = number_of(joined.batch_bytes), number_of(joined.batch_records)
        return estimate(
            jobs, asked, limits, partitions, sample_bytes=sample_bytes, seed=seed, is_quick=is_quick, findings=findings
        )
