"""The command line: ``python -m bench.spark [MEASUREMENT ...]``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import recordpress.spark
from bench.corpus import SETS
from bench.spark import connector, jobs, other_spark, reading, session, tables
from bench.spark.turns import Bench, Table

MEASUREMENTS = {
    "ceiling": reading.ceiling,
    "headers": reading.headers,
    "flat": reading.flat,
    "cores": reading.cores,
    "memory": reading.memory,
    "transcode": jobs.transcode,
    "parquet": jobs.parquet,
    "tiny": jobs.tiny,
    "connector": connector.connector,
    "tables": tables.tables,
}
BY_ITSELF = [name for name in MEASUREMENTS if name not in ("connector", "tables")]


def main() -> int:
    parser = argparse.ArgumentParser(description="Spark on Kafka's files, next to its upper limits.")
    which = f"of {', '.join(MEASUREMENTS)} (default: all but connector and tables, which need other Sparks)"
    parser.add_argument("names", nargs="*", metavar="MEASUREMENT", help=which)
    parser.add_argument("--batches", type=int, default=600, help="of a log (default: 600)")
    parser.add_argument("--segments", type=int, default=1000, help="tiny ones (default: 1,000)")
    parser.add_argument("--rounds", type=int, default=5, help="after one that is not counted (default: 5)")
    parser.add_argument("--records", default="apache5000", choices=SETS, help="of the connector's log (apache5000)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="where data is made (default: the system's place)")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in MEASUREMENTS]
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}: {', '.join(MEASUREMENTS)}")
    for name, least in (("batches", 16), ("segments", 10), ("rounds", 1)):
        if getattr(options, name) < least:
            parser.error(f"--{name}: {least} or more")
    names = options.names or BY_ITSELF
    if "connector" in names and not other_spark.is_installed():
        parser.error("the connector is not installed: make -f labs.mk bench-spark-connector")
    if "tables" in names and not tables.is_installed():
        parser.error("Iceberg is not installed: make -f labs.mk bench-spark-tables")
    with tempfile.TemporaryDirectory(prefix="recordpress-bench-", dir=options.data) as root:
        spark = session.start()
        recordpress.spark.register(spark)
        bench = Bench(spark, Table(options.rounds), Path(root), options.batches, options.segments, options.records)
        try:
            for name in names:
                MEASUREMENTS[name](bench)
        finally:
            spark.stop()
    if bench.table.missed:
        print("missed:", *bench.table.missed, sep="\n    ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
