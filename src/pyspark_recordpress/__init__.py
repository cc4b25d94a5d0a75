"""Entry point by which Spark finds ``format("recordpress")`` by itself.

When a query names a data source that Spark does not know, Spark imports every top-level module whose name begins with
``pyspark_`` and takes ``DefaultSource`` from it. The data source itself is in recordpress.spark.
"""

__all__ = ["DefaultSource"]

try:
    from recordpress.spark import KafkaLogDataSource as DefaultSource
except ImportError as error:  # raised here, it would hide every data source; Spark reports errors that methods raise
    from pyspark.sql.datasource import DataSource

    _MISSING = str(error)

    class DefaultSource(DataSource):  # type: ignore[no-redef]
        """Data source that reports the missing package."""

        def __init__(self, options: object) -> None:
            raise ImportError(_MISSING)

        @classmethod
        def name(cls) -> str:
            return "recordpress"
