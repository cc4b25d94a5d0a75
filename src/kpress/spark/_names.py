"""The names that `kpress.spark` offers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kpress.spark._digest import digest
from kpress.spark._transcode import TranscodedPartition, transcode
from kpress.spark.datasource import KafkaLogDataSource
from kpress.spark.options import ReadOptions

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
