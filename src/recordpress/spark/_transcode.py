"""transcode: a copy of a log with another codec, by all executors.

::

    driver     paths, lock, segments left ──► groups of segments         manifest, _SUCCESS ──► its name
    executor                                   └──► copied, verified, with indexes and a proof
                                                    (large ones in chunks, which are then joined)

Only paths and numbers go through the driver.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recordpress._arguments import check_flags
from recordpress.codecs.choice import CodecChoice
from recordpress.log import CopiedPartition
from recordpress.log.copy.defaults import DEFAULT_MAX_MESSAGE_BYTES, EXPIRATION_MS
from recordpress.log.copy.tasks import CopyWork, OfProducers, OnDamage, TranscodeJob, copy_group, transcode_by
from recordpress.spark._codecs import Codecs, registry_of
from recordpress.spark._jobs import Paths, cores_of, schema_of, task_bytes
from recordpress.spark._run import run, table
from recordpress.typing import CompressionType, Integer, Level, Time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_RESULT = schema_of(
    "topic string, partition int, directory string, segments long, records long, batchesBefore long, "
    "batchesAfter long, bytesBefore long, bytesAfter long, compressionTypesBefore array<string>, "
    "compressionTypesAfter array<string>, digests array<string>, trailingBytes long, quarantined array<string>, "
    "findings array<string>"
)
_ESTIMATE = schema_of(
    "bytesBefore long, bytesAfter long, leastBytes long, mostBytes long, cpuSeconds double, sampledBytes long, "
    "segments long, sampledSegments long"
)


def transcode(
    spark: SparkSession,
    src: Paths,
    dst: str | os.PathLike[str],
    compression_type: CompressionType | str = "zstd",
    *,
    level: Level = None,
    batch_bytes: Integer | None = None,
    batch_records: Integer | None = None,
    max_message_bytes: Integer = DEFAULT_MAX_MESSAGE_BYTES,
    producer_id_expiration_ms: Integer = EXPIRATION_MS,
    now_ms: Time | None = None,
    producers: OfProducers = "keep",
    min_gain: float | None = 0.0,
    resume: bool = True,
    dry_run: bool = False,
    on_corrupt: OnDamage = "raise",
    codecs: Codecs = None,
) -> DataFrame:
    """Recompress a log with another codec on the executors, as `recordpress.transcode` does; every record keeps its
    offset.

    One task copies several small segments. A segment larger than a core's share of the work is copied in chunks, which
    are then joined; the files equal the output of one process. The source is only read. Each batch is verified when it
    is written, each segment is read back before it gets its name, and `dst` gets its name when all segments are
    complete; in an object store, which cannot rename, ``recordpress-manifest.jsonl`` and ``_SUCCESS`` are written last.
    A task that is retried, or runs twice at once, writes the same files. A second job on the same `dst` is refused
    while the first job runs. If a job is killed, the next job with the same arguments continues after the segments that
    are proven complete.

    Parameters
    ----------
    spark : SparkSession
        Its executors see `src` and `dst` under these paths.
    src : path, URL, pattern, or several
        As for `recordpress.open_log`; no broker may be writing to it.
    dst : path or URL
        Must not exist yet, and must lie outside `src`. If `src` is the directory of one partition, `dst` becomes the
        partition's directory if it is named like one (``topic-0``), else a log dir that holds that directory.
    compression_type, level, batch_bytes, batch_records, max_message_bytes, min_gain, resume
        As for `recordpress.transcode`.
    producer_id_expiration_ms, now_ms, producers
        As for `recordpress.transcode`.
    dry_run : bool
        Only estimate the result, on the driver, from up to 64 MiB of the log.
    on_corrupt : {'raise', 'quarantine'}
        If a segment is damaged, fail the job; or copy the segment's file unchanged, next to the others, under the name
        ``<base offset>.log.quarantined``, which brokers and readers ignore. `recordpress.log.repair` copies its intact
        batches. Not with ``producers="settle"``, which needs the transactions of whole partitions.
    codecs : CodecRegistry, str or several, optional
        Codec plug-ins: a registry, or paths as `CodecRegistry.load` takes them (``"package.module:attribute"``),
        which executors import, too.

    Returns
    -------
    DataFrame
        With `dry_run`, one row: bytesBefore, bytesAfter, leastBytes and mostBytes (95 % confidence interval of
        bytesAfter), cpuSeconds, sampledBytes, segments, sampledSegments. Otherwise one row per partition: topic,
        partition, directory, segments, records, batchesBefore, batchesAfter, bytesBefore, bytesAfter,
        compressionTypesBefore, compressionTypesAfter, digests (one per segment, the same for source and copy),
        trailingBytes (bytes after a source's last complete entry, which hold no record and are not copied),
        quarantined (files in the copy), findings (data that the copy lacks, as text).

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        `dst` exists or lies in `src`; `src` holds no partition; a codec, level or size is not accepted.
    pyspark.errors.PySparkException
        A task failed: the error has the text of the `RecordpressError`, with file, position and offset.

    Examples
    --------
    >>> import tempfile, recordpress
    >>> target = tempfile.mkdtemp() + "/copy"
    >>> done = recordpress.spark.transcode(spark, "demo/logs/sessions-0", target, "zstd", level=9).collect()
    >>> recordpress.open_log(target).count()
    1634
    """

    def send(groups: Sequence[CopyWork]) -> list[Any]:
        return run(spark, "transcode", copy_group, groups)

    check_flags(resume=resume, dry_run=dry_run)
    codec = CodecChoice(compression_type, level, registry_of(codecs))
    job = TranscodeJob(
        codec,
        batch_bytes,
        min_gain,
        on_corrupt=on_corrupt,
        batch_records=batch_records,
        max_message_bytes=max_message_bytes,
        producer_id_expiration_ms=producer_id_expiration_ms,
        now_ms=now_ms,
        producers=producers,
    )
    if dry_run:
        return table(spark, [job.run(src, dst, resume, True, None).to_dict()], _ESTIMATE)
    manifest = transcode_by(
        send,
        job,
        src,
        dst,
        resume=resume,
        group_bytes=lambda total: task_bytes(spark, total),
        side_by_side=lambda: cores_of(spark),
    )
    return table(spark, [_row(partition) for partition in manifest.partitions], _RESULT)


def _row(partition: CopiedPartition) -> dict[str, Any]:
    segments = partition.segments
    return {
        "topic": partition.topic,
        "partition": partition.partition,
        "directory": partition.directory,
        "segments": len(segments),
        "records": sum(one.records for one in segments),
        "batchesBefore": sum(one.source.batches for one in segments),
        "batchesAfter": sum(one.batches for one in segments),
        "bytesBefore": sum(one.source.bytes for one in segments),
        "bytesAfter": sum(one.bytes for one in segments),
        "compressionTypesBefore": sorted({name for one in segments for name in one.source.compression_types}),
        "compressionTypesAfter": sorted({name for one in segments for name in one.compression_types}),
        "digests": [one.digest for one in segments],
        "trailingBytes": sum(one.source.trailing_bytes for one in segments),
        "quarantined": ["/".join(filter(None, (partition.directory, one.file))) for one in partition.quarantined],
        "findings": [str(finding) for finding in partition.findings],
    }
