"""A log dir recompressed with another codec: executors read, verify and write the segments.

    driver     list segments ─────────────► tasks ─► results ─► rename the whole ─► one row per partition
    executor                  one segment each: kpress.log.transcode_segment

Only paths and numbers go through the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from kpress._arguments import integer
from kpress.errors import InvalidArgumentError
from kpress.log import (
    PartitionDirectory,
    TopicPartition,
    copy_offset_files,
    list_partitions,
    sweep_directory,
    sync_directory,
    transcode_segment,
    unfinished_directory,
)
from kpress.record import recompress
from kpress.typing import CompressionType, Integer, Level

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class TranscodedPartition:
    """The result for one partition.

    Attributes
    ----------
    topic : str
    partition : int
    records : int
        Without control records.
    batches_before, batches_after : int
        Batches that hold these records.
    bytes_before, bytes_after : int
        Of the segments.
    compression_types_before, compression_types_after : tuple of str
        Of these batches.
    digests : tuple of str
        One per segment, the same for source and copy: over all records and markers, with what their batches say.
    trailing_bytes : int
        Bytes at the end of the source's last segment: an entry that a crash cut, or zeros. They hold no record, and
        the copy ends before them.
    """

    topic: str
    partition: int
    records: int
    batches_before: int
    batches_after: int
    bytes_before: int
    bytes_after: int
    compression_types_before: tuple[str, ...]
    compression_types_after: tuple[str, ...]
    digests: tuple[str, ...]
    trailing_bytes: int = 0


@dataclass(frozen=True)
class _Task:
    """One segment, by reference."""

    partition: int  # index into the list of partitions
    source: Path
    target: Path
    is_last: bool  # of its partition


@dataclass(frozen=True)
class _Done:
    """A segment's numbers, which go back to the driver as a row."""

    task: int
    records: int
    batches_before: int
    batches_after: int
    bytes_before: int
    bytes_after: int
    codecs_before: str
    codecs_after: str
    digest: str
    trailing_bytes: int


_DONE_ARROW = pa.schema([(f.name, pa.string() if f.type == "str" else pa.int64()) for f in fields(_Done)])
_DONE_SPARK = ", ".join(f"{f.name} {'string' if f.type == 'str' else 'long'}" for f in fields(_Done))


def transcode(
    spark: SparkSession,
    src: str | Path,
    dst: str | Path,
    compression_type: CompressionType = "zstd",
    level: Level = None,
    batch_bytes: int | None = None,
) -> list[TranscodedPartition]:
    """Recompress a log dir with another codec; every record keeps its offset.

    Executors do the work, one segment per task, in bounded memory; only paths and numbers go through the driver. The
    source is only read. Each batch is verified when it is made, and each copy of a segment is read back before it gets
    its name (`kpress.log.transcode_segment`); `dst` appears when all of them are complete.

    Files that stay valid are copied too: ``leader-epoch-checkpoint``, ``partition.metadata``, ``.snapshot`` and
    ``.txnindex``, which refer to offsets. ``.index`` and ``.timeindex`` hold byte positions, which change with
    every batch's size, so they are left out: a broker that finds none rebuilds them.

    Every segment but the last of its partition must be complete. The last may end in an entry that a crash cut, or in
    zeros; the copy ends before these bytes, and ``trailing_bytes`` says how many there are.

    Work is hidden beside `dst` until it is finished. What a killed job left there is removed by the next one with the
    same `dst`.

    Parameters
    ----------
    spark : SparkSession
        Its executors see `src` and `dst` under these paths.
    src : str or Path
        A log dir, or the directory of one partition; no broker may be writing to it.
    dst : str or Path
        A path that does not exist yet, outside of `src`. If `src` is the directory of one partition, `dst` becomes that
        directory if its name is a partition's (``topic-0``), else a log dir that holds it.
    compression_type : {'none', 'gzip', 'snappy', 'lz4', 'zstd'}
    level : int, optional
        As in `kpress.recompress`; None is what Kafka's Java producer does by default.
    batch_bytes : int, optional
        Join adjacent small batches into batches of up to this many bytes before compression. Not joined
        are control batches and batches with a producer id, a transaction, LogAppendTime or records removed by
        compaction. Without this option no batches are joined.

    Returns
    -------
    list of TranscodedPartition
        By topic and partition.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        `dst` exists or lies in `src`; `src` holds no partition, or something that `list_partitions` refuses, such as
        a symbolic link that leaves `src`; a codec, level or size that is not accepted.
    pyspark.errors.PySparkException
        A task failed: the error has the text of the `KpressError`, with file, position and offset. Nothing is left at
        `dst` or beside it.

    Examples
    --------
    >>> for row in kpress.spark.transcode(spark, "logs", "cold", "zstd", 9):        # doctest: +SKIP
    ...     print(row.topic, row.partition, row.bytes_before, row.bytes_after)
    """
    recompress(b"", compression_type, level)  # invalid arguments are refused before any work
    _check_batch_bytes(batch_bytes)
    source, target = Path(src).resolve(), Path(dst).absolute()
    partitions = list_partitions(source)
    _check_target(source, target)
    with unfinished_directory(target) as unfinished:
        tasks = list(_prepare(partitions, source, unfinished, target))
        done = _run(spark, tasks, _task_of(tasks, compression_type, level, batch_bytes))
        _finish(unfinished)
        _check_target(source, target)
        unfinished.rename(target)
        sync_directory(target.parent)
    return [
        _summary(partition, [segment for segment in done if tasks[segment.task].partition == i])
        for i, partition in enumerate(partitions)
    ]


def _check_batch_bytes(batch_bytes: Integer | None) -> None:
    if batch_bytes is not None:
        integer(batch_bytes, "batch_bytes", 1, (1 << 31) - 1)


def _check_target(source: Path, target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise InvalidArgumentError(f"{target} exists: nothing is overwritten", field="dst")
    if target.resolve().is_relative_to(source):
        raise InvalidArgumentError(f"{target} lies inside the source {source}", field="dst")


def _prepare(partitions: list[PartitionDirectory], source: Path, unfinished: Path, target: Path) -> Iterator[_Task]:
    """Make the directories, copy the small files, and name the work."""
    for i, partition in enumerate(partitions):
        directory = unfinished / _place(partition, source, target)
        directory.mkdir(parents=True, exist_ok=True)
        copy_offset_files(partition, directory)
        for segment in partition.segments:
            yield _Task(i, segment.path, directory / segment.path.name, segment.is_last)


def _place(partition: PartitionDirectory, source: Path, target: Path) -> Path:
    """The partition's directory in the copy, which must have a partition's name."""
    if partition.path == source and TopicPartition.of_directory(target.name):
        return Path()
    return Path(partition.path.name)


def _finish(unfinished: Path) -> None:
    """Leave no file of a killed attempt in the copy, and make all names durable."""
    for directory in [*(path for path in unfinished.iterdir() if path.is_dir()), unfinished]:
        sweep_directory(directory)
        sync_directory(directory)


def _task_of(
    tasks: list[_Task], compression_type: CompressionType, level: Level, batch_bytes: int | None
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that executors apply to the numbers of their tasks."""

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                task = tasks[number]
                before, after = transcode_segment(
                    task.source, task.target, compression_type, level, batch_bytes, complete=not task.is_last
                )
                done = _Done(
                    number,
                    before.records,
                    before.batches,
                    after.batches,
                    before.bytes,
                    after.bytes,
                    ",".join(before.compression_types),
                    ",".join(after.compression_types),
                    after.digest,
                    before.trailing_bytes,
                )
                yield pa.RecordBatch.from_arrays([pa.array([value]) for value in astuple(done)], schema=_DONE_ARROW)

    return work


def _run(
    spark: SparkSession, tasks: list[_Task], work: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
) -> list[_Done]:
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    return sorted((_Done(*row) for row in numbers.mapInArrow(work, _DONE_SPARK).collect()), key=lambda done: done.task)


def _summary(partition: PartitionDirectory, done: list[_Done]) -> TranscodedPartition:
    return TranscodedPartition(
        partition.topic_partition.topic,
        partition.topic_partition.partition,
        sum(d.records for d in done),
        sum(d.batches_before for d in done),
        sum(d.batches_after for d in done),
        sum(d.bytes_before for d in done),
        sum(d.bytes_after for d in done),
        _codecs(d.codecs_before for d in done),
        _codecs(d.codecs_after for d in done),
        tuple(d.digest for d in done),
        sum(d.trailing_bytes for d in done),
    )


def _codecs(lists: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name for text in lists for name in text.split(",") if name}))
