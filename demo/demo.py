"""Kafka logs in Spark: an inventory, an estimate, a query; a recompressed copy with its proof; Parquet; a report."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

    from recordpress.log import Estimate

HERE = Path(__file__).resolve().parent
LOGS = HERE / "logs"
OUT = HERE / "out"
COPY, PARQUET = "logs", "parquet"
REPORT = "report.html"
MOST_ROWS = 24  # rows of a table on the terminal; the report has all of them
# Java's second compiler pays off only after minutes; without it Spark starts in half the time
SHORT_RUN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

DEMO_QUERY = """
SELECT line.status, count(*) AS requests, count(DISTINCT client) AS clients,
       round(avg(line.bytes) / 1024, 1) AS avg_kib
FROM (SELECT from_json(CAST(value AS STRING),
                       'status INT, bytes LONG') AS line,
             CAST(key AS STRING) AS client
      FROM logs WHERE topic = 'access-json'
                  AND timestamp >= '{start}'
                  AND timestamp < '{end}')
GROUP BY line.status ORDER BY requests DESC LIMIT 5
"""
ANY_QUERY = """
SELECT topic, count(*) AS records, min(timestamp) AS first, max(timestamp) AS last,
       round(avg(length(value))) AS avg_bytes
FROM logs WHERE timestamp >= '{start}' AND timestamp < '{end}' GROUP BY topic ORDER BY topic
"""


def main() -> int:
    options = arguments()
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    started = time.monotonic()
    expected = " (about a minute)" if options.logs == LOGS else ""
    say(f"{bold('recordpress demo')}: Spark recompresses a Kafka log dir to {options.codec}{expected}\n")
    with tempfile.TemporaryFile() as spark_log:
        try:
            spark = start_spark(spark_log)
            done = run(spark, options)
        except Exception as error:
            print(f"\ndemo: {reason(error)}{tail(spark_log) if is_spark_broken(error) else ''}", file=sys.stderr)
            return 1
        spark.stop()
    say(f"\nAll done in {time.monotonic() - started:.1f} s.")
    return 0 if done else 1


def run(spark: SparkSession, options: argparse.Namespace) -> bool:
    if options.out == OUT:
        shutil.rmtree(OUT, ignore_errors=True)  # from the last run; any other directory that exists is refused
    stored = inventory(spark, options)
    expected = estimate(spark, options)
    query(spark, options, stored)
    options.out.mkdir(parents=True)
    results = transcode(spark, options)
    verified = verify(spark, options)
    parquet(spark, options)
    page = write_report(spark, options, stored, expected, all(verified.values()))
    report(results, verified)
    for result in results:
        if result.trailingBytes:
            say(f"\n{named(result)} ended in {result.trailingBytes} bytes that hold no complete batch;")
            say("the copy ends before them.")
    if options.batch_bytes:
        say("\nSmall batches were joined into larger ones, each of one producer, with its")
        say("sequence numbers. The last five batches of a producer that may still send stay")
        say("separate: a broker compares a retry with them.")
    say(f"\nThe recompressed log dir is {shown(options.out / COPY)}.")
    say(f"The same records as Parquet files are in {shown(options.out / PARQUET)}.")
    say(f"The report, which opens in any browser, is {shown(page)}.")
    return all(verified.values())


def inventory(spark: SparkSession, options: argparse.Namespace) -> list[Row]:
    import recordpress.spark

    with step(2, f"Take stock of {shown(options.logs)} from its batch headers", about(options, 8)):
        rows = recordpress.spark.inventory(spark, options.logs).orderBy("topic", "partition").collect()
    cells = [
        [
            named(row),
            ", ".join(sorted(row.codecs)) or "-",
            f"{row.recordsPerBatch or 0:.0f}",
            f"{row.bytes:,}",
            f"{row.records:,}",
        ]
        for row in rows[:MOST_ROWS]
    ]
    print_table(["partition", "codec", "records per batch", "bytes", "records"], cells)
    say_rest(len(rows), "partitions")
    return rows


def named(row: Row) -> str:
    return "-" if row.topic is None else f"{row.topic}-{row.partition}"


def say_rest(count: int, what: str) -> None:
    """Print how many rows a table leaves out."""
    say(f"  ... and {count - MOST_ROWS} more {what}\n" if count > MOST_ROWS else "")


def estimate(spark: SparkSession, options: argparse.Namespace) -> Estimate:
    """Estimate what codecs save batch by batch, and the size of the copy that follows."""
    import recordpress.spark

    chosen = options.codec if options.level is None else f"{options.codec},{options.level}"
    candidates = chosen if options.codec == "none" else "/".join(dict.fromkeys([chosen, "zstd,3", "lz4"]))
    with step(3, "Estimate from samples what codecs would save", about(options, 5)):
        rows = recordpress.spark.estimate(spark, options.logs, candidates).orderBy("topic", "bytesAfter").collect()
        expected = recordpress.transcode(
            options.logs,
            options.out / COPY,
            options.codec,
            level=options.level,
            batch_bytes=options.batch_bytes or None,
            dry_run=True,
        )
    rows = [row for row in rows if row.compressionType is not None]  # omit the row of a topic without an intact record
    cells = [
        [
            row.topic or "-",
            row.compressionType if row.level is None else f"{row.compressionType} {row.level}",
            f"{row.ratioBefore:.2f}",
            f"{row.ratio:.2f}",
            f"{100 * row.saved:.1f} %",
        ]
        for row in rows[:MOST_ROWS]
    ]
    print_table(["topic", "codec", "ratio now", "ratio", "saves"], cells)
    say_rest(len(rows), "rows")
    return expected


def query(spark: SparkSession, options: argparse.Namespace, stored: list[Row]) -> None:
    """Query a window of time; batches outside it are not decompressed."""
    start, end = window(options, stored)
    sql = (DEMO_QUERY if options.logs == LOGS else ANY_QUERY).format(start=start, end=end)
    spark.read.format("recordpress").load(str(options.logs)).createOrReplaceTempView("logs")
    with step(4, "Run an SQL query over a window of time", about(options, 8)):
        result = spark.sql(sql).collect()
    say(dim(sql.strip()) + "\n")
    print_table(list(result[0].asDict()) if result else [], [[str(cell) for cell in row] for row in result])
    say()


def window(options: argparse.Namespace, stored: list[Row]) -> tuple[str, str]:
    """Return a day of the demo's logs; for other logs, the hour that ends with their last record."""
    if options.logs == LOGS:
        return "2015-05-18 00:00:00", "2015-05-19 00:00:00"
    last = max((row.lastTimestamp for row in stored if row.lastTimestamp), default=datetime(1970, 1, 2))
    end = last.astimezone(UTC) + timedelta(seconds=1)  # Spark gives the local time, without a zone
    return f"{end - timedelta(hours=1):%Y-%m-%d %H:%M:%S}", f"{end:%Y-%m-%d %H:%M:%S}"


def transcode(spark: SparkSession, options: argparse.Namespace) -> list[Row]:
    import recordpress.spark

    level = "" if options.level is None else f", level {options.level}"
    what = f"Recompress to {options.codec}{level}; keep all offsets"
    with step(5, what, about(options, 5)):
        return recordpress.spark.transcode(
            spark,
            options.logs,
            options.out / COPY,
            options.codec,
            level=options.level,
            batch_bytes=options.batch_bytes or None,
            resume=False,
        ).collect()


def verify(spark: SparkSession, options: argparse.Namespace) -> dict[tuple[str, int], bool]:
    """Return for each partition whether its records have the same digest in both directories."""
    import recordpress.spark

    with step(6, "Compare digests of all records in both", about(options, 5)):
        rows = recordpress.spark.compare(spark, options.logs, options.out / COPY).collect()
    return {(row.topic, row.partition): row.isSame for row in rows}


def parquet(spark: SparkSession, options: argparse.Namespace) -> None:
    import recordpress.spark

    with step(7, "Write the records as Parquet files, too", about(options, 5)):
        recordpress.spark.to_parquet(spark, options.out / COPY, options.out / PARQUET).collect()


def write_report(
    spark: SparkSession, options: argparse.Namespace, stored: list[Row], expected: Estimate, is_same: bool
) -> Path:
    from page import html_of, moments_of

    import recordpress.spark

    level = "" if options.level is None else f" {options.level}"
    joined = f", batches joined up to {options.batch_bytes:,} bytes" if options.batch_bytes else ""
    facts = {
        "what": f"{len(stored)} partitions recompressed to {options.codec}{level}{joined}",
        "where": f"{options.logs} to {options.out / COPY}",
    }

    with step(8, "Write a page that compares before and after", about(options, 5)):
        copied = recordpress.spark.inventory(spark, options.out / COPY).collect()
        headers = spark.read.format("recordpress").option("rows", "batches").load(str(options.logs))
        page = html_of(stored, copied, moments_of(headers), is_same=is_same, expected=expected, facts=facts)
        path = options.out / REPORT
        path.write_text(page, encoding="utf-8")
    return path


def about(options: argparse.Namespace, seconds: int) -> int | None:
    """Return the seconds that a step takes for the demo's own logs; None for other logs."""
    return seconds if options.logs == LOGS else None


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

    def add(self, result: Row, verified: bool) -> None:
        self.codecs_before.update(result.compressionTypesBefore)
        self.codecs_after.update(result.compressionTypesAfter)
        self.batches_before += result.batchesBefore
        self.batches_after += result.batchesAfter
        self.bytes_before += result.bytesBefore
        self.bytes_after += result.bytesAfter
        self.records += result.records
        self.verified &= verified

    def row(self) -> list[str]:
        saved = 100 * (1 - self.bytes_after / self.bytes_before) if self.bytes_before else 0.0
        return [
            self.name,
            f"{', '.join(sorted(self.codecs_before))} -> {', '.join(sorted(self.codecs_after))}",
            f"{per_batch(self.records, self.batches_before)} -> {per_batch(self.records, self.batches_after)}",
            f"{self.bytes_before:,}",
            f"{self.bytes_after:,}",
            f"{saved:.1f} %",
            "yes" if self.verified else "NO",
        ]


def per_batch(records: int, batches: int) -> str:
    return f"{records / batches:.0f}" if batches else "-"


def report(results: list[Row], verified: dict[tuple[str, int], bool]) -> None:
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
    headings = ["topic", "codec", "per batch", "bytes", "after", "saved", "verified"]
    print_table(headings, [*rows, last], rule_before_last=True)


def print_table(headings: list[str], rows: list[list[str]], rule_before_last: bool = False) -> None:
    """Print a table with numbers aligned to the right and words to the left."""
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
    """Return a path relative to the working directory if the path is inside it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


@contextmanager
def step(number: int, what: str, seconds: int | None) -> Iterator[None]:
    expected = f" (about {seconds} s)" if seconds else ""
    print(f"{bold(str(number))}  {what}{expected} ... ", end="", flush=True)
    started = time.monotonic()
    with dots():
        yield
    say(f"done in {time.monotonic() - started:.1f} s")


@contextmanager
def dots() -> Iterator[None]:
    """Write a dot every ten seconds, even while output is redirected, to show that the demo is still running."""
    terminal, over = os.dup(1), threading.Event()

    def write() -> None:
        while not over.wait(10):
            os.write(terminal, b".")

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        os.close(terminal)


# ---- Spark, quietly


def start_spark(log: IO[bytes]) -> SparkSession:
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    if not shutil.which(java):
        raise DemoError(f"Spark needs Java 17 or newer, and there is no {java}: `make demo` installs it on Debian")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with step(1, "Start Spark with two cores", 10), output_to(log):
        from pyspark.sql import SparkSession

        import recordpress.spark

        spark = (
            SparkSession.builder.master("local[2]")
            .appName("recordpress demo")
            .config("spark.driver.extraJavaOptions", SHORT_RUN)
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.sql.python.filterPushdown.enabled", "true")  # the query's window reaches the reader
            .getOrCreate()
        )
        recordpress.spark.register(spark)
        return spark


@contextmanager
def output_to(log: IO[bytes]) -> Iterator[None]:
    """Redirect output to `log`, including that of processes started in the block; Java keeps writing there."""
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
    """A requirement is missing; the message names it."""


def is_spark_broken(error: Exception) -> bool:
    return not isinstance(error, DemoError) and "recordpress.errors." not in f"{type(error).__module__}.{error}"


def reason(error: Exception) -> str:
    """Return recordpress's own message, without the executors' stack traces that Spark puts around it."""
    found = re.search(r"^(?:.*: )?recordpress\.errors\.(\w+: .*)$", str(error), re.MULTILINE)
    return found[1] if found else f"{type(error).__name__}: {error}"


def tail(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode(errors="replace").splitlines()
    return "".join(f"\n  {line}" for line in ["the last lines of Spark's log:", *lines[-15:]])


# ---- the command line


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--codec", default="zstd", choices=["none", "gzip", "snappy", "lz4", "zstd"])
    parser.add_argument("--level", type=int, help="level of the codec; default: 9 for zstd, else Kafka's own default")
    parser.add_argument("--logs", type=Path, default=LOGS, metavar="DIR", help="log dir to read (default: demo/logs)")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help="results directory (default: demo/out)")
    parser.add_argument(
        "--batch-bytes",
        type=int,
        default=1 << 18,
        metavar="N",
        help="join small batches into batches of up to N bytes before compression; 0: keep them",
    )
    options = parser.parse_args()
    if options.level is None and options.codec == "zstd":
        options.level = 9  # Kafka's 3 is for producers in a hurry; this copy is kept
    options.logs, options.out = options.logs.resolve(), options.out.absolute()
    if not options.logs.is_dir():
        parser.error(f"--logs: {options.logs} is not a directory")
    if options.out != OUT and options.out.exists():
        parser.error(f"--out: {options.out} exists; nothing is overwritten")
    if options.batch_bytes < 0:
        parser.error("--batch-bytes: 0 or more")
    return options


if __name__ == "__main__":
    sys.exit(main())
