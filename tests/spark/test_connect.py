"""Spark Connect: a client that cannot start a JVM, and a server in a separate process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("grpc_status", reason="pyspark[connect] is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark]

from spark_processes import connect_server, environment_of

LOGS = Path(__file__).parents[2] / "demo" / "logs"
CLIENT = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession
import recordpress
from recordpress.spark import functions
from recordpress.spark._session import parallelism_of

url, logs, target = sys.argv[1:]
spark = SparkSession.builder.remote(url).getOrCreate()

def read(path):
    return spark.read.format("recordpress").load(path)

def stream():
    query = spark.readStream.format("recordpress").option("includeActiveSegment", "true").load(logs).writeStream
    query = query.format("memory").queryName("rows").trigger(availableNow=True).start()
    query.awaitTermination()
    return spark.sql("SELECT count(*) FROM rows").collect()[0][0]

found = {"parallelism": parallelism_of(spark)}
recordpress.spark.register(spark)
found["read"] = [read(logs).where("topic = 'sessions'").count(), read(logs).count()]
found["read"].append(recordpress.spark.read(spark, logs, subscribe="sessions").count())
found["inventory"] = sorted([row.topic, row.partition] for row in recordpress.spark.inventory(spark, logs).collect())
findings = recordpress.spark.verify(spark, logs)
found["verify"] = [findings.columns[:3], findings.count()]
values = spark.createDataFrame([(b"123456789",), (None,)], "value binary")
checksum = functions.crc32c(functions.decompress(functions.compress("value", "zstd"), "zstd"))
found["functions"] = [row[0] for row in values.select(checksum).collect()]
values.createOrReplaceTempView("temporary")
small = f"USING parquet LOCATION '{target}/small' AS SELECT rp_compress(value) AS v FROM temporary"
spark.sql(f"CREATE TABLE small {small}")
query = "SELECT rp_crc32c(rp_decompress(v)), rp_schema_id(X'0000000007'), rp_payload(X'000000000700') FROM small"
found["sql"] = sorted(([row[0], row[1], row[2].hex()] for row in spark.sql(query).collect()), key=str)
spark.sql(f"CREATE TABLE logs USING recordpress OPTIONS (path '{logs}', subscribe 'sessions')")
found["table"] = spark.sql("SELECT count(*) FROM logs").collect()[0][0]
recordpress.spark.transcode(spark, logs, f"{target}/zstd", "zstd").collect()
found["transcode"] = recordpress.spark.compare(spark, logs, f"{target}/zstd").where("NOT isSame").count()
rows = spark.range(100).selectExpr("CAST(id AS STRING) AS value")
rows.write.format("recordpress").option("topic", "t").option("partitions", 2).mode("append").save(f"{target}/written")
found["write"] = read(f"{target}/written").count()
found["stream"] = stream()
spark.stop()
Path(target, "found.json").write_text(json.dumps(found))
"""

BEFORE_THE_SESSION = """
import json, sys
import recordpress.spark
from pyspark.sql import SparkSession

url, logs, target = sys.argv[1:]
spark = SparkSession.builder.remote(url).getOrCreate()
rows = spark.range(3).selectExpr("CAST(id AS STRING) AS value")

def read():
    return spark.read.format("recordpress").load(logs).count()

def load():
    return spark.read.load(logs, format="RecordPress").count()

def save():
    rows.write.format("recordpress").option("topic", "t").option("partitions", 1).mode("append").save(target)

def read_stream():
    return spark.readStream.format("recordpress").load(logs).isStreaming

def write_stream():
    stream = spark.readStream.format("rate").load().selectExpr("CAST(value AS STRING)").writeStream
    return str(stream.format("recordpress"))

def sql():
    return spark.sql("SELECT rp_crc32c('123456789')").first()[0]

def job():
    return recordpress.spark.inventory(spark, logs).count()

said = {}
for action in (read, load, save, read_stream, write_stream, job, sql):
    try:
        said[action.__name__] = action()
    except Exception as error:
        said[action.__name__] = str(error)
print(json.dumps(said))
"""
AFTER_THE_SESSION = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
import recordpress.spark  # its ship() may help
try:
    spark.read.format("recordpress")
except ImportError as error:
    print(error)
"""


def printed(code: str, *arguments: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-5000:]
    return done.stdout


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with connect_server(tmp_path_factory.mktemp("server"), "local[3]", environment_of(sys.executable)) as url:
        yield url


@pytest.fixture(scope="module")
def found(server: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a client gets."""
    target = tmp_path_factory.mktemp("client")
    environment = os.environ | {"JAVA_HOME": str(target / "none"), "SPARK_HOME": str(target / "none")}
    command = [sys.executable, "-W", "ignore", "-c", CLIENT, server, str(LOGS), str(target)]
    done = subprocess.run(command, env=environment, cwd=target, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-5000:]
    parsed: dict[str, Any] = json.loads((target / "found.json").read_text())
    return parsed


def test_tasks_are_planned_for_the_servers_cores(found: dict[str, Any]) -> None:
    assert found["parallelism"] == 3


def test_the_data_source(found: dict[str, Any]) -> None:
    assert found["read"] == [3600, 24100, 3600]
    assert found["write"] == 100
    assert found["stream"] == 24100


def test_jobs(found: dict[str, Any]) -> None:
    names = [path.name.rpartition("-") for path in LOGS.iterdir() if path.is_dir()]
    assert found["inventory"] == sorted([topic, int(partition)] for topic, _, partition in names)
    assert found["verify"] == [["topic", "partition", "file"], 0]
    assert found["transcode"] == 0


def test_functions_of_columns(found: dict[str, Any]) -> None:
    assert found["functions"] == [0xE3069283, None]  # RFC 3720's check value


def test_sql(found: dict[str, Any]) -> None:
    assert found["sql"] == [[0xE3069283, 7, "00"], [None, 7, "00"]]
    assert found["table"] == 3600


def test_the_import_alone_is_enough(server: str, tmp_path: Path) -> None:
    found = json.loads(printed(BEFORE_THE_SESSION, server, str(LOGS), str(tmp_path)))
    assert (found["read"], found["load"], found["read_stream"]) == (24100, 24100, True)
    assert (found["job"], found["sql"]) == (8, 0xE3069283)


def test_a_server_without_recordpress(bare_python: Path, tmp_path: Path) -> None:
    """Each call that names the format raises one sentence, not the error of the server."""
    sentence = (
        f"recordpress.spark: {bare_python}, with which the Spark Connect server plans reads and writes, has no "
        "recordpress: install it there, or start the server with PYSPARK_PYTHON set to a Python that has it"
    )
    environment = {name: value for name, value in environment_of(bare_python).items() if name != "PYTHONPATH"}
    with connect_server(tmp_path, "local[1]", environment) as url:
        found = json.loads(printed(BEFORE_THE_SESSION, url, str(LOGS), str(tmp_path / "written")))
        job, sql = found.pop("job"), found.pop("sql")
        assert found == dict.fromkeys(("read", "load", "save", "read_stream", "write_stream"), sentence)
        of_workers = f"{bare_python} has no recordpress: install it there, or set PYSPARK_PYTHON"
        assert job.startswith(f"recordpress.spark: {of_workers}") and len(job.splitlines()) == 1
        assert of_workers in sql and len(sql.splitlines()) == 4  # Spark frames the sentence
        assert printed(AFTER_THE_SESSION, url) == sentence + "\n"
