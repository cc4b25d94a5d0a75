"""Recompress a log with Spark: inventory, estimate, a query over a period, a recompressed copy, its proof, Parquet.

    spark-submit examples/spark/job.py /backup/logs /backup/cold --start "2024-05-01 00:00:00"

The job only reads SRC. DST must not exist; the job creates ``logs`` and ``parquet`` in it. Executors need recordpress,
and must see both directories under these paths.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import recordpress.spark


def main(arguments: list[str] | None = None) -> int:
    options = parsed(arguments)
    spark = SparkSession.builder.appName(f"recordpress: {options.src}").getOrCreate()
    recordpress.spark.register(spark)
    copy = str(options.dst / "logs")

    stored = recordpress.spark.inventory(spark, options.src)
    stored.select("topic", "partition", "bytes", "records", "recordsPerBatch", "findings").show(truncate=False)

    expected = recordpress.spark.estimate(spark, options.src, f"{options.codec},{options.level}/lz4")
    expected.select("topic", "compressionType", "level", "ratioBefore", "ratio", "saved").show(truncate=False)

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

    copied = recordpress.spark.inventory(spark, copy)
    before, after = (rows.agg({"bytes": "sum"}).first()[0] for rows in (stored, copied))
    print(f"{before:,} bytes became {after:,}; the copy {'holds every record' if is_same else 'differs'}")
    return 0 if is_same else 1


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Recompress a log with Spark, prove the copy, write Parquet files.")
    parser.add_argument("src", help="log directory: path, URL or pattern")
    parser.add_argument("dst", type=Path, help="directory to create")
    parser.add_argument("--codec", default="zstd", choices=["gzip", "lz4", "zstd"])
    parser.add_argument("--level", type=int, default=3)
    parser.add_argument("--start", default="1970-01-01 00:00:00", help="start of the period, in the session's zone")
    parser.add_argument("--end", default="9999-12-31 00:00:00")
    options = parser.parse_args(arguments)
    options.dst = options.dst.absolute()
    if options.dst.exists():
        parser.error(f"{options.dst} exists; nothing is overwritten")
    return options


if __name__ == "__main__":
    sys.exit(main())
