"""What the reader takes from the session: its cores, and whether Spark hands filters over."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark]

from pyspark.sql import datasource

import recordpress.spark
from recordpress.spark import KafkaLogDataSource, datasource as datasource_of_ours

DEMO_LOGS = Path(__file__).resolve().parents[2] / "demo" / "logs"


def test_tasks_are_as_many_as_the_session_has_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """`minPartitions` comes first, then what `register` saw, then the driver's cores."""
    monkeypatch.setattr(datasource_of_ours, "_LEAST_TASK_BYTES", 1)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(3))

    def tasks(parallelism: int | None, **options: str) -> int:
        source = KafkaLogDataSource({"path": str(DEMO_LOGS)} | options)
        source.parallelism = parallelism
        return len(source.reader(source.schema()).partitions())

    assert [tasks(None), tasks(5), tasks(5, minPartitions="2")] == [3, 5, 2]


@pytest.mark.parametrize("is_on", [False, True])
def test_filters_are_taken_where_the_session_gives_them(is_on: bool) -> None:
    """Spark refuses a reader that takes them where it does not give them."""
    source = KafkaLogDataSource({"path": str(DEMO_LOGS)})
    source.is_pushdown_on = is_on
    kind = type(source.reader(source.schema()))
    assert (kind.pushFilters is not datasource.DataSourceReader.pushFilters) == is_on


def test_pushdown_that_is_switched_off_later_fails(spark: Any) -> None:
    """`register` saw it on; the docs explain the error."""
    name = "spark.sql.python.filterPushdown.enabled"
    query = 'topic = "sessions" AND offset < 7'
    try:
        spark.conf.set(name, "true")
        recordpress.spark.register(spark)
        logs = spark.read.format("recordpress").load(str(DEMO_LOGS / "sessions-0"))
        assert logs.where(query).count() == 7
        spark.conf.set(name, "false")
        logs = spark.read.format("recordpress").load(str(DEMO_LOGS / "sessions-0"))
        with pytest.raises(Exception, match="DATA_SOURCE_PUSHDOWN_DISABLED"):
            logs.where(query).count()
        recordpress.spark.register(spark)
        logs = spark.read.format("recordpress").load(str(DEMO_LOGS / "sessions-0"))
        assert logs.where(query).count() == 7
    finally:
        spark.conf.unset(name)
        recordpress.spark.register(spark)
