"""read(): the rows of format("recordpress") by mapInArrow.

Spark copies each row of a Python data source twice, and each row of mapInArrow once: it adds a Project above a scan
that is not columnar (DataSourceV2Strategy.withProjectAndFilter), as EXPLAIN shows.
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.utils import to_str

from recordpress._arguments import sequence
from recordpress.errors import InvalidArgumentError
from recordpress.files import named, text_of
from recordpress.log.splits import refuse_missing
from recordpress.spark._jobs import Paths
from recordpress.spark._run import spread
from recordpress.spark._session import parallelism_of
from recordpress.spark._without_recordpress import opener
from recordpress.spark.datasource import KafkaLogReader
from recordpress.spark.options import ReadOptions
from recordpress.spark.schema import spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read(spark: SparkSession, src: Paths, **options: Any) -> DataFrame:
    """Return the rows of ``spark.read.format("recordpress")`` in less CPU time, if most columns and rows are needed.

    This call plans the work: the DataFrame never reads segments that appear later. The
    query's filters do not reduce what is read; `columns`, `startingTimestamp` and similar options do.

    Parameters
    ----------
    spark : SparkSession
        Its executors see `src` under the same paths.
    src : path, URL, pattern, or several
        As for `recordpress.open_log`.
    **options
        Options of ``spark.read.format("recordpress")``: see `ReadOptions`. `columns` may also be a list.

    Returns
    -------
    DataFrame
        With the columns of the data source: see `KafkaLogDataSource`.

    Raises
    ------
    InvalidArgumentError
        An option is not accepted, or no partition was found.
    FileNotFoundError
        A path does not exist.
    pyspark.errors.PySparkException
        Raised by actions on the DataFrame: a task failed, for example because of damage, depending on `mode`.

    Examples
    --------
    >>> import recordpress
    >>> df = recordpress.spark.read(spark, "demo/logs", subscribe="sessions", columns=["offset", "value"])
    >>> df.columns, df.count()
    (['offset', 'value'], 3600)
    """
    reader = _reader(src, options, parallelism_of(spark))
    work = [pickle.dumps((reader.options, task)) for task in reader.partitions()]
    return spread(spark, work).mapInArrow(_worker(), spark_schema(reader.names))


def _reader(src: Paths, given: dict[str, Any], parallelism: int | None) -> KafkaLogReader:
    """Check every argument, and return the reader."""
    with named("src"):
        paths = [src] if isinstance(src, str | os.PathLike) else sequence(src, "src", "paths")
        texts = {"paths": json.dumps([text_of(path) for path in paths])}
    for name, value in given.items():
        if name.lower() in ("path", "paths"):
            raise InvalidArgumentError(f"{name} is not accepted here: src has the paths", field=name)
        if isinstance(value, list | tuple) and name.lower() == "columns":
            value = ",".join(map(str, value))
        if value is not None:
            texts[name] = str(to_str(value))
    options = ReadOptions.parse(texts)
    options.reject_streaming_options()
    for path in options.paths:
        refuse_missing(path)
    return KafkaLogReader(options, options.column_names, parallelism)


def _worker() -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that a task applies to its row."""
    opened = opener()

    def worked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for item in batch.column("item"):
                options, task = opened(item.as_py())
                from recordpress.spark.datasource import KafkaLogReader

                yield from KafkaLogReader(options, options.column_names, None).read(task)

    return worked
