"""What the reader takes from the session: its cores, and whether Spark hands filters over."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark]

from pyspark.sql import datasource

from recordpress.spark import KafkaLogDataSource
from recordpress.spark import datasource as datasource_of_ours

DEMO_LOGS = Path(__file__).resolve().parents[2] / "demo" / "logs"


def test_tasks_are_as_many_as_the_session_has_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """`minPartitions` comes first, then what `register` saw, then the driver's cores."""
    monkeypatch.setattr(datasource_of_ours, "_LEAST_PIECE_BYTES", 1)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(3))

    def tasks(parallelism: int | None, **options: str) -> int:
        source = KafkaLogDataSource({"path": str(DEMO_LOGS)} | options)
        source.parallelism = parallelism
        return len(source.reader(source.schema()).partitions())

    assert [tasks(None), tasks(5), tasks(5, minPartitions="2")] == [3, 5, 2]


@pytest.mark.parametrize(
    ("option", "is_on", "is_pushed"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"pushFilters": "true"}, False, True),
        ({"pushFilters": "false"}, True, False),
    ],
)
def test_filters_are_taken_where_the_session_gives_them(option: Any, is_on: bool, is_pushed: bool) -> None:
    """Spark refuses a reader that takes them where it does not give them."""
    source = KafkaLogDataSource({"path": str(DEMO_LOGS)} | option)
    source.is_pushdown_on = is_on
    kind = type(source.reader(source.schema()))
    assert (kind.pushFilters is not datasource.DataSourceReader.pushFilters) == is_pushed
