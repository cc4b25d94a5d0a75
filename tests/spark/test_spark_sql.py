"""Tables, and the statements of docs/howto/spark-sql.md in their order."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recordpress

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]

from pyspark.errors import PySparkException

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "howto" / "spark-sql.md"
LOGS = ROOT / "demo" / "logs"
AVRO = ROOT / "build" / "spark-avro"


def avro_long(number: int) -> bytes:
    """Of 0 to 63."""
    return bytes([2 * number])


@pytest.fixture
def sql(spark: Any) -> Iterator[Any]:
    recordpress.spark.register(spark)
    yield spark.sql
    for row in spark.sql("SHOW TABLES").collect():
        spark.sql(f"DROP {'VIEW' if row.isTemporary else 'TABLE'} {row.tableName}")


def test_the_statements_of_the_page(sql: Any, tmp_path: Path) -> None:
    for one in LOGS.glob("sessions-*"):
        shutil.copytree(one, tmp_path / "logs" / one.name)
    topic = tmp_path / "logs" / "orders-0"
    topic.mkdir()
    old = [b"\0\0\0\0\7" + avro_long(number) for number in range(3)]
    new = [b"\0\0\0\0\x09" + avro_long(number) + b"\x08Lyon" for number in range(2)]
    (topic / "00000000000000000000.log").write_bytes(recordpress.write_records([*old, *new, b"plain"]))

    text = PAGE.read_text(encoding="utf-8")
    exec(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0], {})
    blocks = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    statements = [one for block in blocks for one in block.replace("/backup", str(tmp_path)).split(";") if one.strip()]
    jars = list(AVRO.glob("*.jar"))  # make -f labs.mk spark-avro
    if jars:
        sql(f"ADD JAR '{jars[0]}'")
    else:
        statements = [one for one in statements if "from_avro" not in one]
    results = [(one, sorted(map(tuple, sql(one).collect()), key=str)) for one in statements]
    by_partition, since, checked, parsed, by_schema, *decoded = [
        rows for one, rows in results if one.strip().startswith("SELECT")
    ]
    assert [row[:2] for row in by_partition] == [(0, 1634), (1, 1966)]
    assert 0 < since[0][0] < 3600 and (checked, parsed) == ([(1634,)], [(3600,)])
    assert by_schema == [(7, 3), (9, 2), (None, 1)]
    if jars:
        ids = [(0, 0, "unknown"), (1, 1, "unknown"), (2, 2, "unknown"), (3, 0, "Lyon"), (4, 1, "Lyon")]
        assert decoded == [[*ids, (5, None, None)]]
    assert len(recordpress.open_log(tmp_path / "copy").partitions) == 1  # overwritten


def test_a_table_of_a_new_path(sql: Any, tmp_path: Path) -> None:
    path = tmp_path / "new log"
    sql(f"CREATE TABLE t USING recordpress LOCATION '{path}' TBLPROPERTIES (owner_of_data 'us')")
    names = ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"]
    assert [row.col_name for row in sql("DESCRIBE t").collect()] == names
    assert sql("SELECT * FROM t").collect() == []
    given = f"path '{path}', topic 'orders', partitions 2"
    sql(f"INSERT INTO t WITH ({given}) (key, value) VALUES (X'01', X'61'), (X'02', NULL)")
    sql(
        f"INSERT INTO t WITH (path '{path}') VALUES (NULL, X'62', 'payments', 0, 7L, timestamp'2026-01-01 00:00:00', 0)"
    )
    found = sql("SELECT topic, bytes FROM (SELECT topic, CAST(value AS STRING) AS bytes FROM t)").collect()
    assert sorted(map(tuple, found), key=str) == [("orders", "a"), ("orders", None), ("payments", "b")]
    assert sql("SELECT count(*) FROM t WITH (subscribe 'orders')").first()[0] == 2
    sql(f"INSERT OVERWRITE t WITH ({given}) (value) VALUES (X'63')")
    assert sorted(row.topic for row in sql("SELECT topic FROM t").collect()) == ["orders", "payments"]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("INSERT INTO s SELECT * FROM s", "Spark does not pass a table's options to a Python data source"),
        (
            "CREATE TABLE n USING recordpress OPTIONS (path '{0}/n') AS SELECT * FROM s",
            "also instead of CREATE TABLE AS",
        ),
        ("CREATE TABLE n USING recordpress", "path is missing"),
        ("SELECT * FROM columns", "Create the table without columns"),
        (
            "CREATE TABLE n USING recordpress OPTIONS (path '{0}/n', topic 'n')",
            "in INSERT INTO t WITH",
        ),
        (
            "CREATE TABLE n USING recordpress OPTIONS (path 's3://bucket/n', `fs.s3a.access.key` 'x')",
            "a table would reveal option fs.s3a.access.key: set the environment",
        ),
        ("SELECT * FROM s WITH (subscribe 'no')", "has no topic no; it has sessions"),
    ],
)
def test_what_spark_does_not_allow(sql: Any, tmp_path: Path, statement: str, message: str) -> None:
    shutil.copytree(LOGS / "sessions-0", tmp_path / "logs" / "sessions-0")
    sql(f"CREATE TABLE s USING recordpress OPTIONS (path '{tmp_path}/logs')")
    sql(f"CREATE TABLE columns (value binary) USING recordpress OPTIONS (path '{tmp_path}/logs')")
    with pytest.raises(PySparkException, match=re.escape(message)):
        sql(statement.format(tmp_path)).collect()
    assert recordpress.open_log(tmp_path / "logs").read(["offset"]).to_pyarrow().num_rows == 1634
