"""The code of docs/howto/spark-tables.md in its order, and its stream under kills of the driver.

Iceberg and Delta have no package for each Spark: `make -f labs.mk spark-tables` installs one that they have, and runs
this with it.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress
from recordpress.log import verify

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from spark_processes import QUICK, environment_of

from patience import HANG

ROOT = Path(__file__).parents[2]
JARS = sorted((ROOT / "build" / "spark-tables").glob("*.jar"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.build,
    pytest.mark.skipif(
        not JARS or not pyspark.__version__.startswith("4.1."),
        reason="no Spark 4.1 with Iceberg and Delta: make -f labs.mk spark-tables",
    ),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]

PAGE = ROOT / "docs" / "howto" / "spark-tables.md"
COLUMNS = ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers"]
CONF = {
    "spark.driver.extraJavaOptions": QUICK,
    "spark.jars": ",".join(map(str, JARS)),
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
SUBMIT = " ".join(["--master local[2]", *(f"--conf '{name}={value}'" for name, value in CONF.items()), "pyspark-shell"])
# what a driver does that writes each batch to both formats; it dies after its second batch is in both
DRIVER = """
def append_to_both(batch, number):
    append(batch, number)
    append_to_delta(batch, number)
    if number == {fatal}:
        os.kill(0, signal.SIGKILL)

query = stream.load({logs!r}).writeStream.foreachBatch(append_to_both).option("checkpointLocation", CHECKPOINT)
query.trigger({trigger}).start().awaitTermination()
"""
TEN = 10  # records of a segment


def blocks(root: Path) -> list[str]:
    """Return the page's code, with its paths in this directory."""
    text = PAGE.read_text(encoding="utf-8").replace("/backup", str(root))
    return re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)


def record(
    partition: str, number: int
) -> tuple[bytes | None, bytes | None, int, list[tuple[str, bytes | None]] | None]:
    """Key, value, timestamp and headers; some records lack one."""
    value = b"%s %d" % (partition.encode(), number) if number % 10 else None
    headers: list[tuple[str, bytes | None]] = [("h", b"%d" % number), ("h", None)]
    return b"%d" % number if number % 3 else None, value, 1_700_000_000_123 + number, headers if number % 2 else None


def grow(partition: Path, base: int) -> None:
    """Add a segment of ten records."""
    partition.mkdir(parents=True, exist_ok=True)
    keys, values, timestamps, headers = zip(
        *(record(partition.name, base + number) for number in range(TEN)), strict=True
    )
    data = recordpress.write_records(values, keys, timestamps, headers, compression_type="lz4", base_offset=base)
    staged = partition / ".staged"
    staged.write_bytes(data)
    staged.rename(partition / f"{base:020}.log")


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What the page's code has made, one block after another, of logs of a broker and of a topic named by a number."""
    root = tmp_path_factory.mktemp("page")
    for partition in oracle.PARTITIONS:
        if partition.entry["dir"].removeprefix("kafka-4.3.1/") in ("headers-v2-0", "headers-v2-1", "compacted.topic-0"):
            partition.write_to(root / "logs")
    shutil.copytree(ROOT / "demo" / "logs" / "sessions-0", root / "logs" / "sessions-0")
    for base in (0, 10, 20):
        grow(root / "logs" / "007-0", base)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment_of(sys.executable).items():
            patch.setenv(name, value)
        patch.setenv("PYSPARK_SUBMIT_ARGS", SUBMIT)
        names: dict[str, Any] = {"root": root}
        for code in blocks(root):
            exec(compile(code, PAGE.name, "exec"), names)
        yield names
        names["spark"].stop()


@pytest.mark.parametrize("name", ["lake.kafka.copy", "lake.kafka.records", "lake.kafka.archive", "delta.`{}`"])
def test_the_rows_of_the_tables(name: str, names: dict[str, Any]) -> None:
    expected = names["rows"].select(COLUMNS)
    rows = names["spark"].table(name.format(names["root"] / "delta-archive")).select(COLUMNS)
    assert rows.schema == expected.schema
    assert rows.count() == expected.count() > 1634
    assert rows.exceptAll(expected).isEmpty() and expected.exceptAll(rows).isEmpty()


def test_the_restored_segments(names: dict[str, Any]) -> None:
    """They have the records of Kafka's own segments at the same offsets."""
    columns = ["offset", "timestamp", "timestampType", "key", "value", "headers"]
    partitions = sorted(path.name for path in (names["root"] / "logs").iterdir())
    restored = names["root"] / "restored"
    assert sorted(path.name for path in restored.iterdir() if path.is_dir()) == partitions
    for name in partitions:
        before, after = (
            recordpress.open_log(names["root"] / place / name).read(columns).to_pyarrow()
            for place in ("logs", "restored")
        )
        assert after == before
    assert verify(restored, "record").findings == []


def test_files_are_added_once(names: dict[str, Any]) -> None:
    [call] = re.findall(r'spark\.sql\("(CALL .*?)"\)', "".join(blocks(names["root"])))
    with pytest.raises(Exception, match="already exist within the target table"):
        names["spark"].sql(call)


def test_a_new_checkpoint_begins_where_the_table_ends(names: dict[str, Any]) -> None:
    ends = json.loads(names["offsets"])
    assert ends["007"] == {"0": 30} and set(ends) == {"007", "compacted.topic", "headers-v2", "sessions"}
    grow(names["root"] / "logs" / "007-0", 30)
    grow(names["root"] / "logs" / "007-1", 0)  # a partition that the table does not have
    query = names["resumed"].writeStream.format("memory").queryName("resumed")
    query.trigger(availableNow=True).start().awaitTermination()
    found = names["spark"].table("resumed").select("topic", "partition", "offset").collect()
    assert sorted(map(tuple, found)) == [
        *(("007", 0, offset) for offset in range(30, 40)),
        *(("007", 1, offset) for offset in range(10)),
    ]


class Drivers:
    """Drivers of one query in turn, in processes of their own."""

    def __init__(self, root: Path) -> None:
        self.root, self.log = root, root / "driver.log"
        self.metadata = root / "lake" / "kafka" / "records" / "metadata"
        head = [code for code in blocks(root) if re.search(r"^def |getOrCreate", code, re.M)]
        head = [code.partition("query = stream")[0] for code in head]
        self.code = "import os, signal\n" + "\n".join(head)

    @contextmanager
    def running(
        self, trigger: str = 'processingTime="0 seconds"', fatal: int = -1
    ) -> Iterator[subprocess.Popen[bytes]]:
        path = self.root / "driver.py"
        path.write_text(self.code + DRIVER.format(logs=str(self.root / "logs"), trigger=trigger, fatal=fatal))
        package = str(Path(recordpress.__file__).parents[1])  # PYTHONPATH may have it relative to another directory
        environment = environment_of(sys.executable) | {"PYSPARK_SUBMIT_ARGS": SUBMIT, "PYTHONPATH": package}
        with open(self.log, "wb") as log:
            driver = subprocess.Popen(
                [sys.executable, path], env=environment, cwd=self.root, stdout=log, stderr=log, start_new_session=True
            )
        try:
            yield driver
        finally:
            with suppress(ProcessLookupError):
                os.killpg(driver.pid, signal.SIGKILL)  # the JVM, too
            driver.wait()

    def end(self, status: int, **how: Any) -> None:
        """Run one until it ends with this status."""
        with self.running(**how) as driver:
            assert driver.wait(HANG) == status, self.log.read_text()[-3000:]

    def kill(self, seconds: float) -> None:
        """Kill one some time after its first commit to the table."""
        before = self.snapshots()
        with self.running() as driver:
            while self.snapshots() == before and driver.poll() is None:
                time.sleep(0.02)
            time.sleep(seconds)
            assert driver.poll() is None, self.log.read_text()[-3000:]

    def snapshots(self) -> int:
        return len(list(self.metadata.glob("snap-*.avro")))


def test_each_record_is_written_once_though_drivers_are_killed(tmp_path: Path, names: dict[str, Any]) -> None:
    partitions = [tmp_path / "logs" / f"t-{number}" for number in range(2)]
    drivers, draw = Drivers(tmp_path), random.Random(28)
    ends: list[int] = []
    is_over = threading.Event()

    def grow_all() -> None:
        for base in count(0, TEN):
            for partition in partitions:
                grow(partition, base)
            ends.append(base + TEN)
            if is_over.wait(0.3):
                return

    grower = threading.Thread(target=grow_all)
    grower.start()
    try:
        drivers.end(-signal.SIGKILL, fatal=1)
        for _ in range(3):
            drivers.kill(draw.uniform(0, 3))
    finally:
        is_over.set()
        grower.join()
    for _ in range(2):  # the first one ends with the batch that the killed driver left
        drivers.end(0, trigger="availableNow=True")

    expected = sorted(
        (number, offset, *record(partition.name, offset))
        for number, partition in enumerate(partitions)
        for offset in range(ends[-1])
    )
    spark = names["spark"]
    for kind, table in (("iceberg", "lake/kafka/records"), ("delta", "delta")):
        rows = spark.read.format(kind).load(str(tmp_path / table)).selectExpr(
            "partition", "offset", "key", "value", "unix_millis(timestamp)", "headers"
        )  # fmt: skip
        assert sorted(map(plain, rows.collect())) == expected
    summaries = spark.read.format("iceberg").load(f"{tmp_path}/lake/kafka/records#snapshots").select("summary")
    numbers = [int(row.summary["kafka.batch"]) for row in summaries.collect()]
    assert sorted(numbers) == list(range(len(numbers))) and len(numbers) > 2


def plain(row: Any) -> tuple[Any, ...]:
    """Return a row as `record` has it."""
    partition, offset, key, value, timestamp, headers = row
    made = [(name, None if data is None else bytes(data)) for name, data in headers] if headers else None
    return partition, offset, *(None if data is None else bytes(data) for data in (key, value)), timestamp, made
