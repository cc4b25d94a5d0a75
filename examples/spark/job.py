"""A log's whole way through Spark: inventory, estimate, a query of a window of time, a recompressed copy, its proof,
Parquet files, and a page that says what it brought.

    spark-submit examples/spark/job.py /backup/logs /backup/cold --start "2024-05-01 00:00:00"

SRC is only read. DST must not exist; it gets ``logs``, ``parquet`` and ``report.html``. Executors see both under these
paths, and have recordpress; the page is written by the driver.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import recordpress.spark
from recordpress.spark.report import html_of, moments_of


def main(arguments: list[str] | None = None) -> int:
    options = parsed(arguments)
    spark = SparkSession.builder.appName(f"recordpress: {options.src}").getOrCreate()
    recordpress.spark.register(spark)
    copy = str(options.dst / "logs")

    stored = recordpress.spark.inventory(spark, options.src)
    stored.select("topic", "partition", "bytes", "records", "recordsPerBatch", "findings").show(truncate=False)

    expected = recordpress.spark.estimate(spark, options.src, f"{options.codec},{options.level}/lz4")
    expected.select("topic", "codec", "level", "ratioBefore", "ratio", "saved").show(truncate=False)

    rows = spark.read.format("recordpress").load(options.src)
    wanted = rows.where(f"timestamp >= '{options.start}' AND timestamp < '{options.end}'")
    wanted.groupBy("topic").agg({"*": "count", "timestamp": "max"}).show(truncate=False)

    options.dst.mkdir(parents=True)
    recordpress.spark.transcode(spark, options.src, copy, options.codec, level=options.level)
    different = recordpress.spark.compare(spark, options.src, copy).where("NOT isSame")
    is_same = different.isEmpty()
    if not is_same:
        different.show(truncate=False)

    recordpress.spark.to_parquet(spark, copy, str(options.dst / "parquet"))

    headers = spark.read.format("recordpress").option("level", "batches").load(options.src)
    page = html_of(
        stored.collect(),
        recordpress.spark.inventory(spark, copy).collect(),
        moments_of(headers),
        is_same=is_same,
        estimates=expected.collect(),
    )
    (options.dst / "report.html").write_text(page, encoding="utf-8")
    print(f"the report is {options.dst / 'report.html'}")
    return 0 if is_same else 1


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A log recompressed by Spark, with proof, Parquet files and a report.")
    parser.add_argument("src", help="a log directory: path, URL or pattern")
    parser.add_argument("dst", type=Path, help="a directory that does not exist")
    parser.add_argument("--codec", default="zstd", choices=["gzip", "lz4", "zstd"])
    parser.add_argument("--level", type=int, default=3)
    parser.add_argument("--start", default="1970-01-01 00:00:00", help="of the query's window, in the session's zone")
    parser.add_argument("--end", default="9999-12-31 00:00:00")
    options = parser.parse_args(arguments)
    options.dst = options.dst.absolute()
    if options.dst.exists():
        parser.error(f"{options.dst} exists; nothing is overwritten")
    return options


if __name__ == "__main__":
    sys.exit(main())
