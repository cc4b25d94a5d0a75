"""The code of docs/howto/spark-tables.md in its order.

Iceberg and Delta have no package for each Spark: `make -f labs.mk spark-tables` installs one that they have, and runs
this with it.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress
from recordpress.log import verify

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from spark_processes import QUICK, environment_of

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
