"""Copy of a log in another magic: losses are counted first, and rejected unless they are allowed.

Source: org.apache.kafka.common.record.RecordsUtil.downConvert, org.apache.kafka.storage.internals.log.LogValidator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from recordpress._arguments import MOST_THREADS, integer
from recordpress._file_names import PARTITION_METADATA
from recordpress.codecs.choice import CodecChoice, level_as_json
from recordpress.errors import ArgumentTypeError, CorruptRecordError, InvalidArgumentError
from recordpress.files import FileSystem
from recordpress.log._progress import Meter
from recordpress.log._segment import Partition, Segment
from recordpress.log._transactions import unseen_records
from recordpress.log.check.build_sidecars import epochs_of, producers_before, sidecar_files
from recordpress.log.check.rebuild import SidecarBuilder
from recordpress.log.copy._copy_log import CopyJob, copy_small_files, list_copied_segments
from recordpress.log.copy._recompress_threads import LOST, RecompressThreads
from recordpress.log.copy._segment_copy import discard, pass_through
from recordpress.log.copy._settle_marks import NO_MARKS, Marks
from recordpress.typing import Integer

ALL = "all"
# Records that a read_committed consumer gets only from a copy without markers.
_UNSEEN = {
    "aborted": "records of aborted transactions, which would become visible",
    "ongoing": "records of transactions without an end, which would become visible",
}
KINDS = LOST | _UNSEEN


@dataclass(frozen=True)
class ConvertJob(CopyJob):
    """Options of `recordpress.convert` for every segment."""

    operation: ClassVar[str] = "convert"
    with_indexes: ClassVar[bool] = False  # they are written with the other files next to the segments
    magic: Integer
    codec: CodecChoice
    allow_loss: str | Iterable[str] = ()
    threads: Integer = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "magic", integer(self.magic, "magic", 0, 2))
        object.__setattr__(self, "allow_loss", _kinds(self.allow_loss))
        integer(self.threads, "threads", 1, MOST_THREADS)

    def options(self) -> dict[str, Any]:
        return {
            "magic": self.magic,
            "compression_type": self.codec.compression_type,
            "level": level_as_json(self.codec.level),
            "allow_loss": list(self.allow_loss),
        }

    def recompressor(self, threads: int = 1, file: str | None = None, marks: Marks = NO_MARKS) -> RecompressThreads:
        return self._recompressor(threads, file, reading=False)

    def _recompressor(self, threads: int, file: str | None, *, reading: bool) -> RecompressThreads:
        return RecompressThreads(
            **self.codec.options, min_gain=None, threads=threads, file=file, magic=self.magic, reading=reading
        )

    def check_loss(self, partitions: tuple[Partition, ...]) -> dict[str, int]:
        found = self.count(partitions)
        refused = [f"{count} {KINDS[kind]} ({kind})" for kind, count in found.items() if kind not in self._allowed]
        if refused:
            raise InvalidArgumentError(
                f"magic {self.magic} would lose {', '.join(refused)}; list the accepted losses in allow_loss",
                field="allow_loss",
                rule="conversion to another magic",
            )
        return found

    @property
    def _allowed(self) -> Iterable[str]:
        return KINDS if ALL in self.allow_loss else self.allow_loss

    def preview(self, partitions: tuple[Partition, ...]) -> dict[str, int]:
        return self.count(partitions)

    def count(self, partitions: tuple[Partition, ...]) -> dict[str, int]:
        """Count the fields that the magic cannot hold, by kind."""
        if self.magic == 2:
            return {}
        found: Counter[str] = Counter()
        for partition in partitions:
            there: Counter[str] = Counter()
            for segment in partition.segments:
                there.update(self._count(segment))
            if "transactions" in there:
                there.update(unseen_records(partition.segments))
            found.update(there)
        return {kind: found[kind] for kind in KINDS if found[kind]}

    def _count(self, segment: Segment) -> dict[str, int]:
        with segment.records() as file:
            recompressor = self._recompressor(int(self.threads), file.path, reading=True)
            pass_through(file, recompressor, discard)
        if self.codec.compression_type is None and "zstd" in recompressor.before.compression_types:
            raise InvalidArgumentError(
                f"{segment.url} has batches under zstd, which magic {self.magic} does not support: "
                "give another compression_type",
                field="compression_type",
                rule="conversion to another magic",
            )
        return recompressor.lost

    def check_segment(self, recompressor: RecompressThreads, file: str) -> None:
        more = sorted(set(recompressor.lost).difference(self._allowed))
        if more:
            raise CorruptRecordError(
                f"{', '.join(more)}: absent from the first pass, so the file was written to while it was read",
                file=file,
                rule="a log is not in use",
            )

    def write_sidecars(self, partition: Partition, files: FileSystem, directory: str) -> list[str]:
        """Rebuild all files from the copy, except ``partition.metadata``."""
        names = copy_small_files(partition, files, directory, (PARTITION_METADATA,), ())
        segments = list_copied_segments(partition, files, directory)
        if not segments:
            return names
        epochs = epochs_of(partition) if self.magic == 2 else []
        builder = SidecarBuilder(producers_before(partition) if self.magic == 2 else ())
        for name, data in sidecar_files(segments, builder, Meter(None, ()), epochs):
            files.create_file(files.join(directory, name), data)
            names.append(name)
        return sorted(names)


def _kinds(allow_loss: str | Iterable[str]) -> tuple[str, ...]:
    try:
        kinds = (allow_loss,) if isinstance(allow_loss, str) else tuple(allow_loss)
    except (TypeError, ValueError):  # a memoryview that was released
        raise ArgumentTypeError(
            f"allow_loss must be a list of losses, not {type(allow_loss).__name__}", field="allow_loss"
        ) from None
    for kind in kinds:
        if not isinstance(kind, str):
            raise ArgumentTypeError(f"allow_loss has a {type(kind).__name__}, not a str", field="allow_loss")
        if kind != ALL and kind not in KINDS:
            message = f"unknown loss {kind[:100]!r} in allow_loss; must be one of {', '.join([*KINDS, ALL])}"
            raise InvalidArgumentError(message, field="allow_loss")
    return tuple(sorted(set(kinds)))
