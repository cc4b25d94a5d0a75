"""A separate process with another version of Spark: 4.0.0 with the Kafka connector, which does not need recordpress, or
one for which table formats have packages.

Later versions of the connector do not resolve. `OtherSpark` starts the process and sends it requests; each request
and each answer is one line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parents[2]
JARS = ROOT / "build" / "bench" / "spark-connector"
PYTHON = JARS / "venv" / "bin" / "python"


def is_installed() -> bool:
    """Whether the jars and the environment are there."""
    return any(JARS.glob("*.jar")) and PYTHON.exists()


class OtherSpark:
    """The process, inside a ``with`` statement: Spark's connector, or what another Python has with other jars."""

    def __init__(self, python: Path = PYTHON, jars: Sequence[Path] = (), paths: str = "", lake: str = "") -> None:
        self._python, self._jars = python, [*sorted(JARS.glob("*.jar")), *jars] if python == PYTHON else jars
        self._environment = {"PYTHONPATH": paths, "RECORDPRESS_BENCH_LAKE": lake}

    def __enter__(self) -> Self:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK"))}
        environment |= self._environment
        self._process = subprocess.Popen(
            [self._python, "-m", "bench.spark.other_spark", *self._jars],
            cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate()  # closes its input, which ends it

    def ask(self, action: str, expressions: Sequence[str] = (), **options: str) -> Any:
        """Read with these options, by the connector unless `format` names another reader, and return what the action of
        `ACTIONS` gives."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps([action, list(expressions), options]), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the other process has ended: its error is above")
        return json.loads(line)


def _to_nothing(rows: Any) -> None:
    rows.write.format("noop").mode("overwrite").save()


def _to_table(rows: Any) -> None:
    """As docs/howto/spark-tables.md has it, without the shuffle that rows of a log do not need."""
    table = rows.writeTo(TABLE).partitionedBy(rows.topic, rows.partition)
    table.option("distribution-mode", "none").option("fanout-enabled", "true").createOrReplace()


def _files_to_table(spark: Any, path: str) -> None:
    """The files of to_parquet, added to the table; they and the table are new."""
    import recordpress.spark

    files = f"{os.environ['RECORDPRESS_BENCH_LAKE']}/files-{time.time_ns()}"
    spark.sql(f"DROP TABLE IF EXISTS {TABLE}")
    spark.sql(
        f"CREATE TABLE {TABLE} (key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, "
        "timestamp TIMESTAMP, timestampType INT) USING iceberg PARTITIONED BY (topic, partition)"
    )
    recordpress.spark.to_parquet(
        spark, path, files, columns=["key", "value", "offset", "timestamp", "timestampType"]
    ).collect()
    spark.sql(f"CALL lake.system.add_files(table => 'kafka.copy', source_table => '`parquet`.`{files}`')")


TABLE = "lake.kafka.copy"
ACTIONS: dict[str, Callable[[Any], Any]] = {
    "schema": lambda rows: schema_of(rows),
    "rows": lambda rows: [list(row) for row in rows.collect()],
    "count": lambda rows: rows.count(),
    "nothing": _to_nothing,
    "table": _to_table,
}


def schema_of(rows: Any) -> list[list[str]]:
    """Return the names and types of the columns."""
    return [[field.name, field.dataType.simpleString()] for field in rows.schema]


def _rows(spark: Any, format: str = "kafka", **options: str) -> Any:
    if format == "table":
        return spark.table(TABLE)
    if format != "recordpress.spark.read":
        return spark.read.format(format).options(**options).load()
    import recordpress.spark

    return recordpress.spark.read(spark, options.pop("path"), **options)


def _lake() -> dict[str, str]:
    """Iceberg's catalogue in a directory, if one is named."""
    if not (directory := os.environ.get("RECORDPRESS_BENCH_LAKE")):
        return {}
    return {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": directory,
        "spark.sql.catalog.lake.cache-enabled": "false",
        "spark.sql.session.timeZone": "UTC",
    }


def main() -> None:
    from bench.spark import session

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # for everything that Spark prints
    spark = session.start({"spark.jars": ",".join(sys.argv[1:])} | _lake())
    try:
        for line in sys.stdin:
            action, expressions, options = json.loads(line)
            if action == "files":
                found = _files_to_table(spark, **options)
            else:
                rows = _rows(spark, **options)
                found = ACTIONS[action](rows.selectExpr(*expressions) if expressions else rows)
            print(json.dumps(found), file=answers, flush=True)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
