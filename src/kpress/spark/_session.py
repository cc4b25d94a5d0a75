"""What a session tells of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kpress.spark.datasource import KafkaLogDataSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


def parallelism_of(spark: SparkSession) -> int | None:
    """How many tasks run side by side; None if the session does not say, as with Spark Connect."""
    text = spark.conf.get("spark.default.parallelism", "")
    if text:
        return int(text)
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # Connect has no context, and says so with an error of its own kind
        return None


def for_session(spark: SparkSession) -> type[KafkaLogDataSource]:
    """The data source, with what is known of the session. It is pickled by value: no module has this class."""

    class Source(KafkaLogDataSource):
        parallelism = parallelism_of(spark)
        is_pushdown_on = spark.conf.get(_PUSHDOWN, "false") == "true"

    return Source
