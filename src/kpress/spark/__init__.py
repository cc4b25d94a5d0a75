"""Kafka log directories and Spark: the same calls as everywhere in kpress, spread over executors.

::

    datasource   spark.read.format("kpress").load(log dir)   one task a segment, Arrow record batches
    options      what that takes                             parsed once
    schema       what it gives                               the columns of spark-sql-kafka
    transcode    transcode(spark, src, dst, "zstd")          by reference: executors read and write the segments
    digest       digest(df)                                  one line a partition: two with the same hold the same

Needs pyspark 4.0 or newer and pyarrow (``pip install kpress[spark]``). The data source is found without registration
through the module pyspark_kpress, where kpress is installed for the driver's Python; `register` does it by hand.
Streaming reads, writing, splits of one segment and object stores are further files of this folder.
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
    """Make ``spark.read.format("kpress")`` known to a session.

    Examples
    --------
    >>> kpress.spark.register(spark)                                # doctest: +SKIP
    >>> spark.read.format("kpress").load("/var/kafka-logs").show()  # doctest: +SKIP
    """
    spark.dataSource.register(KafkaLogDataSource)
