"""Spark reads odd logs by the rule of the docs, as everything else does: `tests/log/test_one_rule.py`."""

import random
from pathlib import Path
from typing import Any

import pytest

import odd_logs
import recordpress
from together import draws

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]


def drawn(number: int) -> odd_logs.OddLog:
    """A log without damage, nor a wrong base offset that only reading everything shows."""
    kinds = sorted(odd_logs.KINDS)
    for seed in range(number, 1 << 20, 1000):
        log = odd_logs.draw_odd_log(random.Random(seed), kinds[number % len(kinds)])
        if not (log.is_damaged or log.hides_a_jump):
            return log
        kinds.remove(kinds[number % len(kinds)])
    raise AssertionError


@pytest.mark.parametrize("reads", ["format", "read"])
def test_spark_reads_what_the_log_holds(spark: Any, reads: str, tmp_path: Path) -> None:
    """One query for all logs of an isolation level: each is a partition."""
    logs, wrong = [drawn(number) for number in range(60)], []  # all kinds
    for remainder, isolation in enumerate(("read_uncommitted", "read_committed")):
        numbers = range(remainder, len(logs), 2)
        for number in numbers:
            logs[number].write(tmp_path / isolation / f"t-{number}")
        options = {"isolation.level": isolation, "maxPartitionBytes": 1000, "columns": "partition,offset,value"}
        if reads == "format":
            rows = spark.read.format("recordpress").options(**options).load(str(tmp_path / isolation))
        else:
            rows = recordpress.spark.read(spark, tmp_path / isolation, **options)
        found = sorted((row.partition, row.offset, bytes(row.value)) for row in rows.collect())
        for number in numbers:
            expected = sorted((row.offset, row.value) for row in logs[number].rows(isolation))
            there = [row[1:] for row in found if row[0] == number]
            if there != expected:
                kinds = ", ".join(logs[number].kinds)
                wrong.append(f"{number}, {isolation}, {kinds}: {len(there)} of {len(expected)} rows")
    assert not wrong, "\n".join(wrong)


def test_spark_counts_from_an_offset(spark: Any, tmp_path: Path) -> None:
    for number in range(draws(80)):
        log = drawn(number)
        if log.rows():
            path = log.write(tmp_path / str(number) / "t-0")
            start = random.Random(number).choice(log.rows()).offset
            rows = spark.read.format("recordpress").option("columns", "offset").load(str(path))
            assert rows.filter(f"offset >= {start}").count() == sum(row.offset >= start for row in log.rows()), number


def test_starting_offsets_in_an_empty_segment(spark: Any, tmp_path: Path) -> None:
    """Which lies within the offsets of the one before."""
    path = tmp_path / "t-0"
    path.mkdir()
    (path / f"{0:020d}.log").write_bytes(recordpress.write_records([b"value"] * 100))
    (path / f"{50:020d}.log").write_bytes(b"")
    rows = spark.read.format("recordpress").option("startingOffsets", '{"t": {"0": 70}}').load(str(tmp_path))
    assert rows.count() == 30
