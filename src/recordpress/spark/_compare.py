"""compare: whether two logs hold the same records, by digests that executors compute."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from recordpress._arguments import choice
from recordpress._json_keys import camel_keys
from recordpress.log.copy.compare import compare_logs, digest_task
from recordpress.spark._codecs import Codecs
from recordpress.spark._jobs import OnCorrupt, Paths, opened, schema_of, task_bytes
from recordpress.spark._run import run, table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

By: TypeAlias = Literal["manifests", "records"]

_RESULT = schema_of(
    "topic string, partition int, isSame boolean, recordsLeft long, recordsRight long, differsFrom long, "
    "byManifest boolean, findings array<string>"
)


def compare(
    spark: SparkSession,
    left: Paths,
    right: Paths,
    *,
    by: By = "manifests",
    on_corrupt: OnCorrupt = "raise",
    codecs: Codecs = None,
) -> DataFrame:
    """Compare the records of two logs, partition by partition, regardless of codecs and batches.

    The comparison covers what `recordpress.log.RecordDigest` covers: offset, timestamp and its type, key, value and
    headers of every record, and its batch's fields for producer, transaction and leader epoch. If a partition has the
    same segments in both logs, each segment is read separately; otherwise one task reads the whole partition. If both
    also have manifests (``recordpress-manifest.jsonl``), nothing is read.

    Parameters
    ----------
    spark : SparkSession
        Its executors see both logs under these paths.
    left, right : path, URL, pattern, or several
        As for `recordpress.open_log`.
    by : {'manifests', 'records'}
        With 'manifests', a manifest in a directory given as `left` or `right` counts for the partitions whose files
        have the listed names and sizes. With 'records', every record is read.
    on_corrupt : {'raise', 'skip'}
        If a segment is damaged, fail the job; or report its partition, and compare the others.
    codecs : CodecRegistry, str or several, optional
        Codec plug-ins, as for `recordpress.spark.transcode`.

    Returns
    -------
    DataFrame
        One row per partition of either log: topic, partition, isSame (false if either side is damaged), recordsLeft,
        recordsRight (without control records; null if the partition is missing or damaged), differsFrom (base offset of
        the first segment that differs), byManifest (whether nothing of it was read), findings (damage, as text).

    Raises
    ------
    InvalidArgumentError
        No partition was found; `by` or `on_corrupt` is not accepted.
    pyspark.errors.PySparkException
        A task failed: damage, or a file that cannot be read.

    Examples
    --------
    >>> import tempfile, recordpress
    >>> target = tempfile.mkdtemp() + "/copy"
    >>> manifest = recordpress.transcode("demo/logs/sessions-0", target, "zstd")
    >>> recordpress.spark.compare(spark, "demo/logs/sessions-0", target).where("NOT isSame").count()
    0
    """
    choice("by", by, get_args(By))
    choice("on_corrupt", on_corrupt, get_args(OnCorrupt))
    logs = opened(left, codecs, "left"), opened(right, codecs, "right")

    found = compare_logs(
        (left, right),
        logs,
        by == "manifests",
        on_corrupt == "skip",
        lambda work: run(spark, "compare", digest_task, work),
        lambda total: task_bytes(spark, total),
    )
    return table(spark, [camel_keys(asdict(row)) for row in found], _RESULT)
