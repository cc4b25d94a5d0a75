"""Spark's Kafka connector in a process of its own, which runs Spark 4.0.0 and does not need recordpress.

Later versions of the connector do not resolve. `Connector` starts the process and asks it; each request and each answer
is one line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parents[2]
JARS = ROOT / "build" / "bench" / "spark-connector"
PYTHON = JARS / "venv" / "bin" / "python"


def is_installed() -> bool:
    """Whether the jars and the environment are there."""
    return any(JARS.glob("*.jar")) and PYTHON.exists()


class Connector:
    """The process, inside a ``with`` statement."""

    def __enter__(self) -> Self:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK"))}
        self._process = subprocess.Popen(
            [PYTHON, "-m", "bench.spark.connector_process"],
            cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate()  # closes its input, which ends it

    def ask(self, action: str, expressions: Sequence[str] = (), **options: str) -> Any:
        """Read by the connector with these options, and return what the action of `ACTIONS` gives."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps([action, list(expressions), options]), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the connector's process has ended: its error is above")
        return json.loads(line)


def _to_nothing(rows: Any) -> None:
    rows.write.format("noop").mode("overwrite").save()


ACTIONS: dict[str, Callable[[Any], Any]] = {
    "schema": lambda rows: schema_of(rows),
    "rows": lambda rows: [list(row) for row in rows.collect()],
    "count": lambda rows: rows.count(),
    "nothing": _to_nothing,
}


def schema_of(rows: Any) -> list[list[str]]:
    """Return the names and types of the columns."""
    return [[field.name, field.dataType.simpleString()] for field in rows.schema]


def main() -> None:
    from bench.spark import session

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else Spark prints
    spark = session.start({"spark.jars": ",".join(map(str, sorted(JARS.glob("*.jar"))))})
    try:
        for line in sys.stdin:
            action, expressions, options = json.loads(line)
            rows = spark.read.format("kafka").options(**options).load()
            found = ACTIONS[action](rows.selectExpr(*expressions) if expressions else rows)
            print(json.dumps(found), file=answers, flush=True)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
