"""Lets Spark find ``format("recordpress")`` by itself.

When Spark is asked for a data source that it does not know, it imports every top-level module whose name begins with
``pyspark_`` and takes ``DefaultSource`` from it. There is nothing else here; the data source is in recordpress.spark.
"""

from recordpress.spark import KafkaLogDataSource as DefaultSource

__all__ = ["DefaultSource"]
