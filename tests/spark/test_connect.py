"""Spark Connect: a client that cannot start a JVM, and a server in a process of its own."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("grpc_status", reason="pyspark[connect] is not installed")
pytestmark = pytest.mark.spark

import pyspark

LOGS = Path(__file__).parents[2] / "demo" / "logs"
SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
STARTS_WITHIN = 120  # seconds
CLIENT = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession
import kpress
from kpress.spark import functions
from kpress.spark._session import parallelism_of

url, logs, target = sys.argv[1:]
spark = SparkSession.builder.remote(url).getOrCreate()

def read(path):
    return spark.read.format("kpress").load(path)

def stream():
    query = spark.readStream.format("kpress").option("includeActiveSegment", "true").load(logs).writeStream
    query = query.format("memory").queryName("rows").trigger(availableNow=True).start()
    query.awaitTermination()
    return spark.sql("SELECT count(*) FROM rows").collect()[0][0]

found = {"parallelism": parallelism_of(spark)}
kpress.spark.register(spark)
found["read"] = [read(logs).where("topic = 'sessions'").count(), read(logs).count()]
found["inventory"] = sorted([row.topic, row.partition] for row in kpress.spark.inventory(spark, logs).collect())
findings = kpress.spark.verify(spark, logs)
found["verify"] = [findings.columns[:3], findings.count()]
values = spark.createDataFrame([(b"123456789",), (None,)], "value binary")
checksum = functions.crc32c(functions.decompress(functions.compress("value", "zstd"), "zstd"))
found["functions"] = [row[0] for row in values.select(checksum).collect()]
kpress.spark.transcode(spark, logs, f"{target}/zstd", "zstd").collect()
found["transcode"] = kpress.spark.compare(spark, logs, f"{target}/zstd").where("NOT isSame").count()
rows = spark.range(100).selectExpr("CAST(id AS STRING) AS value")
rows.write.format("kpress").option("topic", "t").option("partitions", 2).mode("append").save(f"{target}/written")
found["write"] = read(f"{target}/written").count()
found["stream"] = stream()
spark.stop()
Path(target, "found.json").write_text(json.dumps(found))
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("no Java runtime is installed")
    folder = tmp_path_factory.mktemp("server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.shuffle.partitions": 2,
        "spark.ui.enabled": "false",
    }
    given = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    command = [str(SUBMIT), "--class", SERVER, "--master", "local[3]", *given, "spark-internal"]
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    environment.pop("PYSPARK_DRIVER_PYTHON", None)
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)
    try:
        _wait_for(process, port, folder / "log")
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    latest = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < latest and process.poll() is None:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    pytest.fail(f"Spark's server does not start:\n{log.read_text()[-3000:]}")


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
    assert found["read"] == [3600, 24100]
    assert found["write"] == 100
    assert found["stream"] == 24100


def test_jobs(found: dict[str, Any]) -> None:
    names = [path.name.rpartition("-") for path in LOGS.iterdir() if path.is_dir()]
    assert found["inventory"] == sorted([topic, int(partition)] for topic, _, partition in names)
    assert found["verify"] == [["topic", "partition", "file"], 0]
    assert found["transcode"] == 0


def test_functions_of_columns(found: dict[str, Any]) -> None:
    assert found["functions"] == [0xE3069283, None]  # RFC 3720's check value
