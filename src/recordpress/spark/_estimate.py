"""estimate: the saving of each codec and level, from samples on all executors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from recordpress.analysis import DEFAULT_CANDIDATES, Setting, parse_candidates
from recordpress.analysis.sample_tasks import TopicEstimate, measured, placed
from recordpress.spark._codecs import Codecs, registry_of
from recordpress.spark._jobs import Paths, opened, schema_of, task_bytes
from recordpress.spark._run import run, table
from recordpress.typing import Integer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_RESULT = schema_of(
    "topic string, compressionType string, level string, bytes long, sampledBytes long, sampledRecords long, "
    "ratio double, ratioBefore double, bytesAfter long, savedBytes long, saved double, cpuSeconds double, "
    "findings array<string>"
)


def estimate(
    spark: SparkSession,
    src: Paths,
    candidates: str = DEFAULT_CANDIDATES,
    *,
    sample_bytes: Integer = 16 << 20,
    seed: Integer = 0,
    codecs: Codecs = None,
) -> DataFrame:
    """Estimate the size of a log with each codec and level, from samples of the whole log; nothing is written.

    The driver chooses the places of samples by names and sizes; executors read and decompress the batches there, and
    measure them with every setting as `recordpress.analyze` does: batches keep their depth, and compressed batches are
    read back.

    Parameters
    ----------
    spark : SparkSession
        Its executors see `src` under the same paths.
    src : path, URL, pattern, or several
        As for `recordpress.open_log`.
    candidates : str
        Codecs separated by ``/``, each with its levels after commas, as for `recordpress.analyze`; without levels,
        Kafka's default level.
    sample_bytes : int
        Uncompressed size of the samples of each topic, in bytes; a smaller topic is read completely.
    seed : int
        Seed for the places of the samples.
    codecs : CodecRegistry, str or several, optional
        Codec plug-ins to read with and to measure, as for `recordpress.spark.transcode`.

    Returns
    -------
    DataFrame
        One row per topic, codec and level: topic, compressionType, level (null: Kafka's default), bytes (of files),
        sampledBytes (as stored), sampledRecords, ratio and ratioBefore (uncompressed by compressed bytes: with this
        setting, and as stored), bytesAfter, savedBytes and saved (a share of bytes; both are negative if the result is
        larger), cpuSeconds (to decompress the stored batches, compress them, and verify the result), findings (damage,
        as text; samples omit it). If no record of a topic is intact, the topic has one row, without compressionType and
        figures.

        By default, `recordpress.spark.transcode` keeps a batch that would not become smaller, so its result is at most
        as large.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        No partition was found; a codec, level or number is not accepted.
    pyspark.errors.PySparkException
        A task failed: a file cannot be read. Damage is in the findings.

    Examples
    --------
    >>> import recordpress
    >>> found = recordpress.spark.estimate(spark, "demo/logs/nginx-status-0", "zstd,3/lz4").orderBy("bytesAfter")
    >>> [row.compressionType for row in found.collect()]
    ['zstd', 'lz4']
    """
    own = registry_of(codecs)
    settings = parse_candidates(candidates, own)
    topics, tasks = placed(opened(src, own), settings, sample_bytes, seed, lambda total: task_bytes(spark, total), own)
    for found in run(spark, "estimate", measured, tasks):
        for topic, one in found:
            topics[topic].merge(one)
    return table(spark, [row for topic, one in topics.items() for row in _rows(topic[0], one, settings)], _RESULT)


def _rows(topic: str | None, found: TopicEstimate, settings: tuple[Setting, ...]) -> Iterator[dict[str, Any]]:
    row = {"topic": topic, "bytes": found.size, "findings": [str(finding) for finding in found.findings]}
    if not found.sizes:
        yield row
    for setting, size in zip(settings, found.sizes, strict=False):
        after = found.bytes_after(size)
        yield row | {
            "compressionType": setting.compression_type,
            "level": None if setting.level is None else str(setting.level),
            "sampledBytes": found.stored_bytes,
            "sampledRecords": found.records,
            "ratio": size.input_bytes / size.output_bytes,
            "ratioBefore": found.input_bytes / found.stored_bytes,
            "bytesAfter": after,
            "savedBytes": found.size - after,
            "saved": 1 - after / found.size,
            "cpuSeconds": found.cpu_seconds(size),
        }
