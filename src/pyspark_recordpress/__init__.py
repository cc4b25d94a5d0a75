"""Lets Spark find ``format("recordpress")`` by itself.

When Spark is asked for a data source that it does not know, it imports every top-level module whose name begins with
``pyspark_`` and takes ``DefaultSource`` from it. There is nothing else here; the data source is in recordpress.spark.
"""

__all__ = ["DefaultSource"]

try:
    from recordpress.spark import KafkaLogDataSource as DefaultSource
except ImportError as error:  # raised here, it would hide every data source; Spark reports errors of its methods
    from pyspark.sql.datasource import DataSource

    _MISSING = str(error)

    class DefaultSource(DataSource):  # type: ignore[no-redef]
        """Data source that reports the missing package."""

        def __init__(self, options: object) -> None:
            raise ImportError(_MISSING)

        @classmethod
        def name(cls) -> str:
            return "recordpress"
