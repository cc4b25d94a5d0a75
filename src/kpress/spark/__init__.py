"""Kafka log directories in Spark: the calls of kpress, spread over executors.

::

    datasource   spark.read.format("kpress").load(log dir)   one task per segment, Arrow record batches
    options      what that takes                             parsed once, on the driver
    schema       what it gives                               the columns of Spark's Kafka source
    transcode    transcode(spark, src, dst, "zstd")          by reference: executors read and write the segments
    digest       digest(df)                                  one row per partition, to compare two sets of records

Needs pyspark 4.0 or newer, pyarrow and pandas (``pip install kpress[spark]``). If kpress is installed for the driver's
Python, Spark finds the data source by itself, through the module pyspark_kpress; `register` does it by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kpress.spark.datasource import KafkaLogDataSource
from kpress.spark.digest import digest
from kpress.spark.options import ReadOptions
from kpress.spark.transcode import TranscodedPartition, transcode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["KafkaLogDataSource", "ReadOptions", "TranscodedPartition", "digest", "register", "transcode"]


def register(spark: SparkSession) -> None:
    """Make ``spark.read.format("kpress")`` known to a session that does not find it by itself.

    Parameters
    ----------
    spark : SparkSession

    Examples
    --------
    >>> kpress.spark.register(spark)                                # doctest: +SKIP
    >>> spark.read.format("kpress").load("/var/kafka-logs").show()  # doctest: +SKIP
    """
    spark.dataSource.register(KafkaLogDataSource)
