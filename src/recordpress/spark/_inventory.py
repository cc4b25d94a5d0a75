"""inventory: codecs, batch depths and formats of a log, from headers, on all executors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from recordpress._arguments import check_flags
from recordpress.log import LogStats, stats_of
from recordpress.log.splits import TaskSplits
from recordpress.spark._codecs import Codecs
from recordpress.spark._jobs import Paths, opened, schema_of, tasks
from recordpress.spark._run import run, table
from recordpress.spark.options import HEADER_TASK_BYTES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Key: TypeAlias = "tuple[str | None, int | None, str]"

_SHARE = [("batches", pa.int64()), ("bytes", pa.int64()), ("records", pa.int64())]
_RESULT = schema_of(
    "topic string, partition int, segments long, bytes long, batches long, records long, recordsPerBatch double, "
    "codecs codecs, magics magics, depths depths, controlBatches long, transactionalBatches long, "
    "firstTimestamp timestamp, lastTimestamp timestamp, sampled boolean, findings array<string>",
    codecs=pa.map_(pa.string(), pa.struct([*_SHARE, ("ratio", pa.float64())])),
    magics=pa.map_(pa.int32(), pa.struct(_SHARE)),
    depths=pa.map_(pa.int64(), pa.struct(_SHARE)),
)


def inventory(spark: SparkSession, src: Paths, *, full: bool = False, codecs: Codecs = None) -> DataFrame:
    """Summarize the contents of a log from batch headers; only a few batches are decompressed, for the ratios.

    Parameters
    ----------
    spark : SparkSession
        Its executors see `src` under the same paths.
    src : path, URL, pattern, or several
        As for `recordpress.open_log`.
    full : bool
        Also read all headers of large segments in object stores; by default, a few ranges of each are sampled.
    codecs : CodecRegistry, str or several, optional
        Codec plug-ins, for the ratios of their batches, as for `recordpress.spark.transcode`.

    Returns
    -------
    DataFrame
        One row per partition: topic, partition, segments, bytes (of files), batches, records (without control records
        and the records of v0/v1 wrappers), recordsPerBatch, codecs and magics and depths (maps to batches, bytes and
        records; depths by records per batch: 1, 2 to 3, 4 to 7 and so on), controlBatches, transactionalBatches,
        firstTimestamp, lastTimestamp, sampled, findings (damage, as text). See `recordpress.log.LogStats`.

    Raises
    ------
    InvalidArgumentError
        No partition was found.
    pyspark.errors.PySparkException
        A task failed: a file cannot be read. Damage is in the findings.

    Examples
    --------
    >>> import recordpress
    >>> found = recordpress.spark.inventory(spark, "demo/logs").selectExpr("topic", "explode(codecs) AS (codec, share)")
    >>> sorted({row.codec for row in found.collect()})
    ['gzip', 'lz4', 'none', 'snappy']
    """
    check_flags(full=full)
    work = tasks(spark, opened(src, codecs), most=HEADER_TASK_BYTES, whole_segments=not full)
    totals: dict[Key, LogStats] = {}
    for found in run(spark, "inventory", _stats, [(task, full) for task in work]):
        for key, stats in found:
            totals.setdefault(key, LogStats()).merge(stats)
    return table(spark, [_row(key, stats) for key, stats in totals.items()], _RESULT)


def _stats(work: tuple[TaskSplits, bool]) -> list[tuple[Key, LogStats]]:
    task, full = work
    return [((one.topic, one.partition, one.url), stats_of(one.located(), full=full)) for one in task]


def _row(key: Key, stats: LogStats) -> dict[str, Any]:
    batches, records = (sum(getattr(one, name) for one in stats.codecs.values()) for name in ("batches", "records"))
    return {
        "topic": key[0],
        "partition": key[1],
        "segments": stats.segments,
        "bytes": stats.size,
        "batches": stats.seen.batches,
        "records": stats.seen.records,
        "recordsPerBatch": records / batches if batches else None,
        "codecs": [(name, share.to_dict() | {"ratio": stats.ratio(name)}) for name, share in stats.codecs.items()],
        "magics": [(magic, share.to_dict()) for magic, share in stats.magics.items()],
        "depths": [(depth, share.to_dict()) for depth, share in sorted(stats.depths.items())],
        "controlBatches": stats.control.batches,
        "transactionalBatches": stats.transactional.batches,
        "firstTimestamp": None if stats.first_timestamp is None else stats.first_timestamp * 1000,
        "lastTimestamp": None if stats.last_timestamp is None else stats.last_timestamp * 1000,
        "sampled": stats.sampled,
        "findings": [str(finding) for finding in stats.findings],
    }
