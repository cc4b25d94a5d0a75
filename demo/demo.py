"""Kafka logs in Spark: read them, query them, put them under another codec, prove that nothing was lost."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kpress.spark import TranscodedPartition

HERE = Path(__file__).resolve().parent
LOGS = HERE / "logs"
OUT = HERE / "out"
# Java's second compiler pays off after minutes only; without it Spark starts in half the time
SHORT_RUN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

DEMO_QUERY = """
SELECT line.status, count(*) AS requests, count(DISTINCT client) AS clients, round(avg(line.bytes) / 1024, 1) AS avg_kib
FROM (SELECT from_json(CAST(value AS STRING), 'status INT, bytes LONG') AS line, CAST(key AS STRING) AS client
      FROM logs WHERE topic = 'access-json')
GROUP BY line.status ORDER BY requests DESC LIMIT 5
"""
ANY_QUERY = """
SELECT topic, count(*) AS records, min(timestamp) AS first, max(timestamp) AS last,
       round(avg(length(value))) AS avg_bytes
FROM logs GROUP BY topic ORDER BY topic
"""


def main() -> int:
    options = arguments()
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    started = time.monotonic()
    say(f"{bold('kpress demo')}: Kafka log dir -> Spark -> the same log dir under {options.codec}")
    with tempfile.TemporaryFile() as spark_log:
        try:
            spark = start_spark(spark_log)
            done = run(spark, options)
        except Exception as error:
            print(f"\ndemo: {reason(error)}{tail(spark_log) if is_spark_broken(error) else ''}", file=sys.stderr)
            return 1
        spark.stop()
    say(f"\n{time.monotonic() - started:.1f} s in all")
    return 0 if done else 1


def run(spark: SparkSession, options: argparse.Namespace) -> bool:
    if options.out == OUT:
        shutil.rmtree(OUT, ignore_errors=True)  # of the last run; any other directory that is there is refused
    before = read(spark, options.logs)
    query(spark, before, DEMO_QUERY if options.logs == LOGS else ANY_QUERY)
    results = transcode(spark, options)
    verified = verify(before, read(spark, options.out))
    report(results, verified)
    if options.batch_bytes:
        say("\nShallow batches were packed; those of idempotent and transactional producers are kept one to one,")
        say("because brokers know them by their sequence numbers.")
    say(f"\nThe copy: {shown(options.out)}")
    return all(verified.values())


def read(spark: SparkSession, path: Path) -> DataFrame:
    return spark.read.format("kpress").option("includeHeaders", "true").load(str(path))


def query(spark: SparkSession, logs: DataFrame, sql: str) -> None:
    logs.createOrReplaceTempView("logs")
    with step("\nSQL over the log dir"):
        result = spark.sql(sql).collect()
    say(dim(sql.strip()) + "\n")
    print_table(list(result[0].asDict()) if result else [], [[str(cell) for cell in row] for row in result])


def transcode(spark: SparkSession, options: argparse.Namespace) -> list[TranscodedPartition]:
    import kpress.spark

    level = "" if options.level is None else f" level {options.level}"
    with step(f"\nEvery segment recompressed to {options.codec}{level}, every offset kept"):
        return kpress.spark.transcode(
            spark, options.logs, options.out, options.codec, options.level, options.batch_bytes or None
        )


def verify(before: DataFrame, after: DataFrame) -> dict[tuple[str, int], bool]:
    """By partition: whether what Spark reads from the two directories has the same digest."""
    import kpress.spark

    with step("Both read back through Spark, record by record into digests"):
        source, copy = (
            {(row.topic, row.partition): row for row in kpress.spark.digest(logs).collect()} for logs in (before, after)
        )
    return {partition: source.get(partition) == copy.get(partition) for partition in source.keys() | copy.keys()}


# ---- the table


@dataclass
class Topic:
    name: str
    codecs_before: set[str]
    codecs_after: set[str]
    batches_before: int = 0
    batches_after: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    records: int = 0
    verified: bool = True

    def add(self, result: TranscodedPartition, verified: bool) -> None:
        self.codecs_before.update(result.compression_types_before)
        self.codecs_after.update(result.compression_types_after)
        for field in ("batches_before", "batches_after", "bytes_before", "bytes_after", "records"):
            setattr(self, field, getattr(self, field) + getattr(result, field))
        self.verified &= verified

    def row(self) -> list[str]:
        saved = 100 * (1 - self.bytes_after / self.bytes_before) if self.bytes_before else 0.0
        return [
            self.name,
            f"{', '.join(sorted(self.codecs_before))} -> {', '.join(sorted(self.codecs_after))}",
            f"{a_batch(self.records, self.batches_before)} -> {a_batch(self.records, self.batches_after)}",
            f"{self.bytes_before:,}",
            f"{self.bytes_after:,}",
            f"{saved:.1f} %",
            f"{self.records:,}",
            "yes" if self.verified else "NO",
        ]


def a_batch(records: int, batches: int) -> str:
    return f"{records / batches:.0f}" if batches else "-"


def report(results: list[TranscodedPartition], verified: dict[tuple[str, int], bool]) -> None:
    topics: dict[str, Topic] = {}
    total = Topic("all", set(), set())
    for result in results:
        is_same = verified.get((result.topic, result.partition), result.records == 0)
        topics.setdefault(result.topic, Topic(result.topic, set(), set())).add(result, is_same)
        total.add(result, is_same)
    rows = [topic.row() for topic in topics.values()]
    last = total.row()
    last[1] = ""
    say()
    headings = ["topic", "codec", "records a batch", "bytes before", "bytes after", "saved", "records", "verified"]
    print_table(headings, [*rows, last], rule_before_last=True)


def print_table(headings: list[str], rows: list[list[str]], rule_before_last: bool = False) -> None:
    """Columns of numbers to the right, of words to the left."""
    columns = list(zip(headings, *rows, strict=True))
    widths = [max(len(cell) for cell in column) for column in columns]
    right = [all(re.match(r"-?[\d-]", cell) for cell in column[1:]) for column in columns]
    rule = "  ".join("─" * width for width in widths)

    def line(cells: Sequence[str]) -> str:
        padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True))
        return "  ".join(padded).rstrip()

    say(f"  {bold(line(headings))}\n  {rule}")
    for i, row in enumerate(rows):
        if rule_before_last and i == len(rows) - 1:
            say(f"  {rule}")
        say(f"  {line(row)}")


# ---- the terminal


def say(text: str = "") -> None:
    print(text, flush=True)


def bold(text: str) -> str:
    return f"\033[1m{text}\033[0m" if sys.stdout.isatty() else text


def dim(text: str) -> str:
    text = "\n".join(f"  {line}" for line in text.splitlines())
    return f"\033[2m{text}\033[0m" if sys.stdout.isatty() else text


def shown(path: Path) -> Path:
    """As seen from where the command was given, where that is shorter."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


@contextmanager
def step(what: str) -> Iterator[None]:
    print(what, end=" ... ", flush=True)
    started = time.monotonic()
    yield
    say(f"{time.monotonic() - started:.1f} s")


# ---- Spark, quietly


def start_spark(log: IO[bytes]) -> SparkSession:
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    if not shutil.which(java):
        raise DemoError(f"Spark needs Java 17 or newer, and {java} is not there: `make demo` installs it on Debian")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with step("Spark"), output_to(log):
        from pyspark.sql import SparkSession

        return (
            SparkSession.builder.master("local[2]")
            .appName("kpress demo")
            .config("spark.driver.extraJavaOptions", SHORT_RUN)
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.session.timeZone", "UTC")
            .getOrCreate()
        )


@contextmanager
def output_to(log: IO[bytes]) -> Iterator[None]:
    """What is started here writes to `log`: the Java process keeps that for good."""
    saved = [os.dup(1), os.dup(2)]
    sys.stdout.flush()
    try:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        yield
    finally:
        for number, kept in enumerate(saved, start=1):
            os.dup2(kept, number)
            os.close(kept)


class DemoError(Exception):
    """Something is missing; the message is all that there is to say."""


def is_spark_broken(error: Exception) -> bool:
    return not isinstance(error, DemoError) and "kpress.errors." not in f"{type(error).__module__}.{error}"


def reason(error: Exception) -> str:
    """The sentence of kpress, out of the stack traces of executors that Spark puts around it."""
    found = re.search(r"^(?:.*: )?kpress\.errors\.(\w+: .*)$", str(error), re.MULTILINE)
    return found[1] if found else f"{type(error).__name__}: {error}"


def tail(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode(errors="replace").splitlines()
    return "".join(f"\n  {line}" for line in ["what Spark said last:", *lines[-15:]])


# ---- the command line


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--codec", default="zstd", choices=["none", "gzip", "snappy", "lz4", "zstd"])
    parser.add_argument("--level", type=int, help="of the codec; default: 9 for zstd, else Kafka's own default")
    parser.add_argument("--logs", type=Path, default=LOGS, metavar="DIR", help="log dir to read (default: demo/logs)")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help="where the copy goes (default: demo/out)")
    parser.add_argument(
        "--batch-bytes", type=int, default=1 << 18, metavar="N", help="pack shallow batches up to N bytes; 0: do not"
    )
    options = parser.parse_args()
    if options.level is None and options.codec == "zstd":
        options.level = 9  # Kafka's 3 is for producers in a hurry; this copy is kept
    options.logs, options.out = options.logs.resolve(), options.out.absolute()
    if not options.logs.is_dir():
        parser.error(f"--logs: {options.logs} is not a directory")
    if options.out != OUT and options.out.exists():
        parser.error(f"--out: {options.out} is there already; nothing is written over")
    if options.batch_bytes < 0:
        parser.error("--batch-bytes: 0 or more")
    return options


if __name__ == "__main__":
    sys.exit(main())
