"""Register the data source with a session, and read the session's settings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from pyspark.sql.datasource import DataSource

from recordpress.spark._environment import check_server, context_of, is_connect, prepare_session
from recordpress.spark._without_recordpress import maker_of
from recordpress.spark.datasource import KafkaLogDataSource
from recordpress.spark.functions import register_functions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
_with_functions: WeakSet[SparkSession] = WeakSet()


def parallelism_of(spark: SparkSession) -> int | None:
    """Return the number of concurrent tasks, or None if the session does not reveal it."""
    text = spark.conf.get("spark.default.parallelism", "")
    if text:
        return int(text)
    if (context := context_of(spark)) is not None:
        return int(context.defaultParallelism)
    (row,) = spark.sql("EXPLAIN SELECT * FROM range(1)").collect()  # RangeExec.numSlices; nothing runs
    found = re.search(r"\bsplits=(\d{1,9})\b", str(row[0]))
    return int(found[1]) if found else None


def for_session(spark: SparkSession) -> type[DataSource]:
    """Return the data source with the session's settings, as a local class: Spark pickles it by value, so that it can
    report a missing recordpress."""
    settings = {"parallelism": parallelism_of(spark), "is_pushdown_on": spark.conf.get(_PUSHDOWN, "false") == "true"}
    made = maker_of(KafkaLogDataSource, settings)

    class Source(DataSource):
        def __new__(cls, options: Any) -> Any:
            return made(options)

        @classmethod
        def name(cls) -> str:
            return "recordpress"

    return Source


def register(spark: SparkSession) -> None:
    """Register ``format("recordpress")`` and the functions for SQL with a session, and adapt it to the session.

    Tasks are sized for the number of tasks that the session runs at a time. If the setting
    spark.sql.python.filterPushdown.enabled is true, filters on offset, timestamp, partition and topic reduce what is
    read. If it becomes false later, queries fail with DATA_SOURCE_PUSHDOWN_DISABLED until `register` is called again.

    In SQL, ``rp_compress(value[, codec[, level]])``, ``rp_decompress(value[, codec])``, ``rp_crc32c(value)``,
    ``rp_schema_id(value)``, ``rp_payload(value[, format])``, ``rp_read_record_set(value)`` and
    ``rp_write_record_set(records[, codec[, level]])`` are the column functions of `recordpress.spark.functions`; codec,
    level and format may be columns.

    Parameters
    ----------
    spark : SparkSession

    Raises
    ------
    ImportError
        The Python of the workers, or the Python with which a Spark Connect server plans, lacks a package.

    Examples
    --------
    >>> import recordpress
    >>> recordpress.spark.register(spark)
    >>> spark.sql("SELECT rp_crc32c('123456789') AS crc").first().crc == 0xE3069283
    True
    """
    if is_connect(spark):
        check_server(spark)
    register_unchecked(spark)


def register_unchecked(spark: SparkSession) -> None:
    """Register with a session whose executors may get recordpress later, from `ship`."""
    add_functions(spark)
    spark.dataSource.register(for_session(spark))


def add_functions(spark: SparkSession) -> None:
    """Register only the functions for SQL, once: Spark warns about each function that it replaces. Spark finds the data
    source by itself, and then plans reads with the driver's Python."""
    prepare_session(spark)
    if spark not in _with_functions:
        register_functions(spark)
        _with_functions.add(spark)
