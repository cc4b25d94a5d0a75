"""Lets Spark find ``format("kpress")`` by itself.

Spark imports every top-level module whose name begins with ``pyspark_`` when a data source is asked for that it does
not know, and takes ``DefaultSource`` from it. Nothing else lives here; the data source is kpress.spark.
"""

from kpress.spark import KafkaLogDataSource as DefaultSource

__all__ = ["DefaultSource"]
