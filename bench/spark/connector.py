"""A broker's directory, read by format("recordpress") and recordpress.spark.read, and by Spark's Kafka connector from
the broker.

The connector runs in its own Spark 4.0.0 (other_spark), in turns with recordpress in this one; the CPU seconds of
both Sparks and of the broker count in every turn. `make -f labs.mk bench-spark-connector` installs what it needs.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import recordpress.spark
from bench.answers import equal
from bench.spark.data import make
from bench.spark.other_spark import OtherSpark
from bench.spark.reading import of_log, to_nothing
from bench.spark.turns import Asked, Bench

ROOT = Path(__file__).parents[2]
PARTITIONS = 2
TUNED = {
    "kafka.max.poll.records": "5000",
    "kafka.max.partition.fetch.bytes": "4194304",
    "kafka.fetch.max.wait.ms": "20",
}


def connector(bench: Bench) -> None:
    """All columns, `offset` alone, and a count; each less the same query over one batch."""
    with served(bench) as (broker, rows), OtherSpark() as peer:
        _races(bench, broker, peer, rows)


@contextmanager
def served(bench: Bench) -> Iterator[tuple[Any, int]]:
    """A broker with the topic ``lines``, and ``one`` of a single batch a partition; and the rows of the first."""
    module = _broker_module()
    with bench.directory() as root:
        broker = module.Broker(root)
        with broker:
            _create(broker.address, "lines", "one")
        made = make(root / "made", bench.records, "zstd", bench.batches // PARTITIONS, partitions=PARTITIONS)
        one = make(root / "one", "apache100", "zstd", 1, partitions=PARTITIONS)
        for source, topic in ((made, "lines"), (one, "one")):
            for partition in range(PARTITIONS):
                _put(source.path / f"lines-{partition}", broker.data / f"{topic}-{partition}")
        with broker:
            yield broker, made.rows


def _races(bench: Bench, broker: Any, peer: OtherSpark, rows: int) -> None:
    def by_broker(topic: str, action: str, *expressions: str, **options: str) -> Callable[[], Any]:
        asked = {"kafka.bootstrap.servers": broker.address, "subscribe": topic, "startingOffsets": "earliest"}
        return lambda: peer.ask(action, expressions, **asked, **options)

    def by_files(topic: str, columns: tuple[str, ...] = (), **options: Any) -> Callable[[], Any]:
        return of_log(bench.spark, broker.data, columns, subscribe=topic, **options)

    def by_read(topic: str, **options: Any) -> Callable[[], Any]:
        return lambda: recordpress.spark.read(bench.spark, broker.data, subscribe=topic, **options)

    def headers(topic: str) -> Callable[[], Any]:
        found = by_files(topic, ("recordsCount",), rows="batches")
        return lambda: found().selectExpr("sum(recordsCount)").collect()[0][0]

    times = "sum(unix_millis(timestamp) % 1000003)"  # a sum of whole timestamps overflows
    figures = ("count(*)", "sum(offset)", "sum(length(value))", times)
    [served] = by_broker("lines", "rows", *figures)()
    for source in (by_files, by_read):
        equal(tuple(served), tuple(source("lines")().selectExpr(*figures).collect()[0]), "the broker's rows")
    equal((served[0], headers("lines")()), (rows, rows), "rows")

    everything = {
        "connector": lambda topic: by_broker(topic, "nothing"),
        "connector, tuned": lambda topic: by_broker(topic, "nothing", **TUNED),
        "recordpress": lambda topic: to_nothing(by_files(topic)),
        "recordpress, read": lambda topic: to_nothing(by_read(topic)),
    }
    alone = {
        "connector, tuned": lambda topic: by_broker(topic, "nothing", "offset", **TUNED),
        "recordpress": lambda topic: to_nothing(by_files(topic, ("offset",))),
        "recordpress, read": lambda topic: to_nothing(by_read(topic, columns="offset")),
    }
    counts = {"connector, tuned": lambda topic: by_broker(topic, "count", **TUNED), "recordpress, headers": headers}
    defaults, tuned = "connector", "connector, tuned"
    asked = {
        "all columns": [
            Asked("recordpress, read", defaults, "wall", 3),
            Asked("recordpress, read", tuned, "wall", 1.8),
            *(Asked(ours, defaults, "cpu", 1.8) for ours in ("recordpress", "recordpress, read")),
            *(Asked(ours, tuned, "cpu", 1.3) for ours in ("recordpress", "recordpress, read")),
        ],
        "offset alone": [Asked(ours, tuned, "cpu", 2.5) for ours in ("recordpress", "recordpress, read")],
        "count": [Asked("recordpress, headers", tuned, "cpu", 50)],
    }
    for title, contenders in (("all columns", everything), ("offset alone", alone), ("count", counts)):
        work, fixed = ({name: of(topic) for name, of in contenders.items()} for topic in ("lines", "one"))
        bench.table.race(f"connector: {title}", work, rows=rows, asked=asked[title], less=fixed)


def _broker_module() -> Any:
    """The broker of the tests."""
    spec = importlib.util.spec_from_file_location("kafka_broker", ROOT / "tests" / "log" / "broker.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _create(address: str, *topics: str) -> None:
    from kafka.admin import KafkaAdminClient, NewTopic

    admin = KafkaAdminClient(bootstrap_servers=address)
    admin.create_topics([NewTopic(topic, PARTITIONS, 1) for topic in topics])
    admin.close()


def _put(source: Path, place: Path) -> None:
    """The segments become those of the broker's partition, which keeps its topic id; its indexes are made again."""
    for path in place.iterdir():
        if path.name != "partition.metadata":
            path.unlink()
    for path in source.iterdir():
        shutil.move(path, place / path.name)
    (place.parent / ".kafka_cleanshutdown").unlink(missing_ok=True)
