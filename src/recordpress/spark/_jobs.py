"""Plan the tasks of jobs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from recordpress._arguments import shown_value
from recordpress.errors import ArgumentTypeError, InvalidArgumentError
from recordpress.files import named
from recordpress.log import Log, open_log
from recordpress.log.splits import Piece, plan
from recordpress.spark._codecs import Codecs, registry_of
from recordpress.spark._session import parallelism_of
from recordpress.spark.datasource import piece_bytes
from recordpress.spark.options import TASK_BYTES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Paths: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"


def schema_of_partitions(fields: list[tuple[str, pa.DataType]]) -> pa.Schema:
    """Return the schema of a result with a row per partition, or several."""
    return pa.schema([("topic", pa.string()), ("partition", pa.int32()), *fields])


def check_choice(name: str, value: object, accepted: tuple[str, ...]) -> None:
    """Raise unless an argument is one of a few words."""
    if not isinstance(value, str):
        what = f"a str, one of {', '.join(accepted)}, not {type(value).__name__}"
        raise ArgumentTypeError(f"{name} must be {what}", field=name)
    if value not in accepted:
        raise InvalidArgumentError(f"{name} must be one of {', '.join(accepted)}, not {shown_value(value)}", field=name)


def opened(src: Paths, codecs: Codecs = None, argument: str = "src") -> Log:
    """Open the log at the paths that an argument of a job names."""
    own = registry_of(codecs)
    with named(argument):
        return open_log(src, codecs=own)


def task_bytes(spark: SparkSession, total: int, most: int = TASK_BYTES) -> int:
    """Return the bytes of one task, for `total` bytes of segments."""
    return piece_bytes(total, most, parallelism_of(spark))


def cores_of(spark: SparkSession) -> int:
    """Return the number of concurrent tasks."""
    return parallelism_of(spark) or len(os.sched_getaffinity(0))


def pieces(
    spark: SparkSession,
    log: Log,
    *,
    most: int = TASK_BYTES,
    whole_segments: bool = False,
    with_files: bool = False,
    by_state: bool = False,
) -> list[Piece]:
    """Plan a piece of at most `most` bytes per task; `by_state`: begin pieces at snapshots of producers."""
    total = sum(segment.size or 0 for partition in log.partitions for segment in partition.segments)
    return plan(
        log.partitions,
        task_bytes(spark, total, most),
        whole_segments=whole_segments,
        with_files=with_files,
        committed=by_state,
    )
