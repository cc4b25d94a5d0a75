"""compact: small segments of a log dir merged in place, by all executors.

::

    driver      groups of small segments ──► tasks             names of the new segments; the old ones are deleted
    executor                                  └──► one segment each, verified, with indexes ──┘
"""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from recordpress._json_keys import camel_keys
from recordpress.codecs.choice import CodecChoice
from recordpress.log.copy.compact import compact_by, merge
from recordpress.log.copy.defaults import BATCH_BYTES, DEFAULT_MAX_MESSAGE_BYTES, SEGMENT_BYTES
from recordpress.log.copy.tasks import TranscodeJob
from recordpress.spark._codecs import Codecs, registry_of
from recordpress.spark._jobs import schema_of
from recordpress.spark._run import run, table
from recordpress.typing import CompressionType, Integer, Level

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_RESULT = schema_of(
    "topic string, partition int, segmentsBefore long, segmentsAfter long, records long, batchesBefore long, "
    "batchesAfter long, bytesBefore long, bytesAfter long"
)


def compact(
    spark: SparkSession,
    path: str | os.PathLike[str],
    *,
    segment_bytes: Integer = SEGMENT_BYTES,
    batch_bytes: Integer = BATCH_BYTES,
    max_message_bytes: Integer = DEFAULT_MAX_MESSAGE_BYTES,
    compression_type: CompressionType | str | None = None,
    level: Level = None,
    min_gain: float | None = 0.0,
    include_active_segment: bool = False,
    codecs: Codecs = None,
) -> DataFrame:
    """Merge small neighbouring segments of a log dir on the executors, as `recordpress.log.compact` does.

    Each task writes one segment. Only names and sizes go through the driver, which lists the log dir and commits. A
    query that writes to the log dir may run at the same time.

    Parameters
    ----------
    spark : SparkSession
        Its executors see `path` under the same name.
    path, segment_bytes, batch_bytes, max_message_bytes, compression_type, level, min_gain, include_active_segment
        As for `recordpress.log.compact`.
    codecs : CodecRegistry, str or several, optional
        Codec plug-ins: a registry, or paths as `CodecRegistry.load` takes them (``"package.module:attribute"``),
        which executors import, too.

    Returns
    -------
    DataFrame
        One row per partition that changed: topic, partition, segmentsBefore, segmentsAfter, records, batchesBefore,
        batchesAfter, bytesBefore, bytesAfter. Only segments that were replaced, and their replacements, are counted.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError, StorageError
        As for `recordpress.log.compact`.
    pyspark.errors.PySparkException
        A task failed: the error has the text of the `RecordpressError`, with file, position and offset.

    Examples
    --------
    >>> import tempfile, recordpress
    >>> target = tempfile.mkdtemp()
    >>> for _ in range(4):
    ...     rows = spark.range(10).selectExpr("CAST(id AS STRING) AS value", "'orders' AS topic", "0 AS partition")
    ...     rows.write.format("recordpress").mode("append").save(target)
    >>> [done] = recordpress.spark.compact(spark, target).collect()
    >>> done.segmentsBefore >= 3, done.segmentsAfter, recordpress.open_log(target).count()
    (True, 1, 40)
    """
    codec = CodecChoice(compression_type, level, registry_of(codecs), is_optional=True)
    job = TranscodeJob(codec, batch_bytes, min_gain, max_message_bytes=max_message_bytes)
    done = compact_by(
        lambda tasks: run(spark, "compact", merge, tasks), job, path, segment_bytes, include_active_segment
    )
    return table(spark, [camel_keys(asdict(one)) for one in done], _RESULT)
