"""Plan the tasks of jobs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

import pyarrow as pa

from recordpress._threads import cores
from recordpress.files import named
from recordpress.log import Log, open_log
from recordpress.log.splits import TaskSplits, plan
from recordpress.spark._codecs import Codecs, registry_of
from recordpress.spark._session import parallelism_of
from recordpress.spark.datasource import bytes_of_task
from recordpress.spark.options import TASK_BYTES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OnCorrupt: TypeAlias = Literal["raise", "skip"]
Paths: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"

_TYPES = {
    "array<string>": pa.list_(pa.string()),
    "boolean": pa.bool_(),
    "double": pa.float64(),
    "int": pa.int32(),
    "long": pa.int64(),
    "string": pa.string(),
    "timestamp": pa.timestamp("us", "UTC"),
}


def schema_of(columns: str, **types: pa.DataType) -> pa.Schema:
    """Return the schema of a result from its columns in Spark's notation; `types` holds further types by name."""
    return pa.schema([(name, (_TYPES | types)[kind]) for name, kind in (one.split() for one in columns.split(", "))])


def opened(src: Paths, codecs: Codecs = None, argument: str = "src") -> Log:
    """Open the log at the paths in an argument of a job."""
    own = registry_of(codecs)
    with named(argument):
        return open_log(src, codecs=own)


def task_bytes(spark: SparkSession, total: int, most: int = TASK_BYTES) -> int:
    """Return the bytes of one task, for `total` bytes of segments."""
    return bytes_of_task(total, most, parallelism_of(spark))


def cores_of(spark: SparkSession) -> int:
    """Return the number of concurrent tasks."""
    return parallelism_of(spark) or cores()


def tasks(
    spark: SparkSession,
    log: Log,
    *,
    most: int = TASK_BYTES,
    whole_segments: bool = False,
    with_files: bool = False,
    by_state: bool = False,
) -> list[TaskSplits]:
    """Plan tasks of at most `most` bytes; with `by_state`, their splits begin at snapshots of producers."""
    total = sum(segment.size or 0 for partition in log.partitions for segment in partition.segments)
    return plan(
        log.partitions,
        task_bytes(spark, total, most),
        whole_segments=whole_segments,
        with_files=with_files,
        committed=by_state,
    )
