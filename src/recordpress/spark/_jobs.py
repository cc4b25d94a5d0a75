"""What jobs share: from paths to tasks."""

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
    """Of a result whose rows each say something of one partition."""
    return pa.schema([("topic", pa.string()), ("partition", pa.int32()), *fields])


def check_choice(name: str, value: object, accepted: tuple[str, ...]) -> None:
    """Raise unless an argument is one of a few words.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
    """
    if not isinstance(value, str):
        what = f"a str, one of {', '.join(accepted)}, not {type(value).__name__}"
        raise ArgumentTypeError(f"{name} must be {what}", field=name)
    if value not in accepted:
        raise InvalidArgumentError(f"{name} must be one of {', '.join(accepted)}, not {shown_value(value)}", field=name)


def opened(src: Paths, codecs: Codecs = None, argument: str = "src") -> Log:
    """The log at a path, or at several, which are that argument of a job."""
    own = registry_of(codecs)
    with named(argument):
        return open_log(src, codecs=own)


def task_bytes(spark: SparkSession, total: int, most: int = TASK_BYTES) -> int:
    """What one task does of so many bytes of segments."""
    return piece_bytes(total, most, parallelism_of(spark))


def cores_of(spark: SparkSession) -> int:
    """How many tasks run side by side."""
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
    """The log as one piece per task, of at most so many bytes; `by_state`: they begin where a snapshot tells the state
    of producers."""
    total = sum(segment.size or 0 for partition in log.partitions for segment in partition.segments)
    return plan(
        log.partitions,
        task_bytes(spark, total, most),
        whole_segments=whole_segments,
        with_files=with_files,
        committed=by_state,
    )
