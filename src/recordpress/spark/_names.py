"""The names that `recordpress.spark` offers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recordpress.spark import functions
from recordpress.spark._compare import compare
from recordpress.spark._estimate import estimate
from recordpress.spark._inventory import inventory
from recordpress.spark._parquet import to_parquet
from recordpress.spark._read import read
from recordpress.spark._session import for_session
from recordpress.spark._ship import ship
from recordpress.spark._transcode import transcode
from recordpress.spark._verify import verify
from recordpress.spark._write_options import WriteOptions
from recordpress.spark.datasource import KafkaLogDataSource
from recordpress.spark.options import ReadOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "KafkaLogDataSource",
    "ReadOptions",
    "WriteOptions",
    "compare",
    "estimate",
    "functions",
    "inventory",
    "read",
    "register",
    "ship",
    "to_parquet",
    "transcode",
    "verify",
]


def register(spark: SparkSession) -> None:
    """Make ``spark.read.format("recordpress")`` known to a session that does not find it by itself.

    What is known of the session goes with it: how many tasks run side by side, for the size of tasks, and whether
    filters are handed down (spark.sql.python.filterPushdown.enabled).

    Parameters
    ----------
    spark : SparkSession

    Examples
    --------
    >>> import recordpress
    >>> recordpress.spark.register(spark)
    >>> spark.read.format("recordpress").load("demo/logs/sessions-0").count()
    1634
    """
    from pyspark.errors import PySparkException

    try:
        spark.dataSource.register(for_session(spark))
    except PySparkException as error:  # 4.0, where Spark has found the data source by itself
        if "DATA_SOURCE_ALREADY_EXISTS" not in str(error):
            raise
