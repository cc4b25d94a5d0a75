"""A topic in a table of Iceberg: from files by format("recordpress"), recordpress.spark.read and to_parquet, and from a
broker by Spark's Kafka connector.

Iceberg has packages for Spark 4.1, in which recordpress runs, and for the connector's 4.0.0: two separate processes.
`make -f labs.mk bench-spark-tables` installs what it needs.
"""

from __future__ import annotations

from bench.answers import equal
from bench.spark.connector import ROOT, TUNED, served
from bench.spark.other_spark import OtherSpark
from bench.spark.turns import Asked, Bench

PYTHON = ROOT / "build" / "spark" / "4.1.4" / "bin" / "python"
OURS = ROOT / "build" / "spark-tables"
PEERS = ROOT / "build" / "bench" / "spark-tables"
COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")
FIGURES = ("count(*)", "sum(offset)", "sum(length(value))", "sum(unix_millis(timestamp) % 1000003)")


def is_installed() -> bool:
    """Whether both Sparks and Iceberg's jars for them are there."""
    return PYTHON.exists() and any(OURS.glob("iceberg*.jar")) and any(PEERS.glob("iceberg*.jar"))


def tables(bench: Bench) -> None:
    """The same table by writeTo, and of files that are added; each less the same over one batch."""
    with (
        bench.directory() as lake,
        served(bench) as (broker, rows),
        OtherSpark(jars=[*PEERS.glob("iceberg*.jar")], lake=str(lake / "theirs")) as peer,
        OtherSpark(PYTHON, [*OURS.glob("iceberg*.jar")], str(ROOT / "src"), str(lake / "ours")) as ours,
    ):
        by_broker = {"kafka.bootstrap.servers": broker.address, "startingOffsets": "earliest"}
        by_files = {"path": str(broker.data)}
        contenders = {
            "connector": lambda topic: lambda: peer.ask("table", COLUMNS, subscribe=topic, **by_broker),
            "connector, tuned": lambda topic: lambda: peer.ask("table", COLUMNS, subscribe=topic, **by_broker, **TUNED),
            **{
                name: lambda topic, name=name: (
                    lambda: ours.ask("table", COLUMNS, format=name, subscribe=topic, **by_files)
                )
                for name in ("recordpress", "recordpress.spark.read")
            },
            "to_parquet, add_files": lambda topic: lambda: ours.ask("files", path=f"{broker.data}/{topic}-*"),
        }
        found = []
        for name, of in contenders.items():
            of("lines")()
            process = peer if name.startswith("connector") else ours
            found.append(tuple(process.ask("rows", FIGURES, format="table")[0]))
            equal(found[-1], found[0], f"rows of the table, {name}")
        equal(found[0][0], rows, "rows")
        work, fixed = ({name: of(topic) for name, of in contenders.items()} for topic in ("lines", "one"))
        asked = [
            Asked("recordpress.spark.read", "connector", "cpu", 1.25),
            Asked("to_parquet, add_files", "connector", "cpu", 3),
        ]
        bench.table.race("a table of Iceberg", work, rows=rows, asked=asked, less=fixed)
