"""A standalone cluster of two workers whose Python has no recordpress, a Spark Connect server on it, and speculation.

Part of `make full`: a cluster takes half a minute.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recordpress
from together import THOROUGH

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.skipif(not THOROUGH, reason="takes long: make full"),
]

from spark_processes import connect_server, environment_of, standalone

LOGS = Path(__file__).parents[2] / "demo" / "logs"
CONF = {"spark.executorEnv.PYTHONPATH": "", "spark.ui.showConsoleProgress": "false", "spark.ui.enabled": "false"}
CLIENT = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
import recordpress
from recordpress.spark import functions

url, wheel, logs, target, conf = sys.argv[1:]
builder = SparkSession.builder.remote(url) if url.startswith("sc:") else SparkSession.builder.master(url)
for name, value in json.loads(conf).items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()

@F.udf("string")
def where(_):
    try:
        import recordpress
        return recordpress.__file__
    except ImportError:
        return "nowhere"

def on_executors():
    return [row[0] for row in spark.range(0, 4, 1, 4).select(where("id")).distinct().collect()]

def said(query):
    try:
        query()
    except Exception as error:
        return str(error)

def read(path):
    return spark.read.format("recordpress").load(path)

found = {"before": on_executors(), "error": said(lambda: recordpress.spark.inventory(spark, logs))}
recordpress.spark.register(spark)
recordpress.spark.ship(spark, wheel)
found["after"] = on_executors()
found["inventory"] = recordpress.spark.inventory(spark, logs).count()
found["read"] = read(logs).count()
values = spark.createDataFrame([(b"123456789",)], "value binary")
found["function"] = values.select(functions.crc32c("value")).collect()[0][0]
recordpress.spark.transcode(spark, logs, f"{target}/copy", "zstd").collect()
found["different"] = recordpress.spark.compare(spark, logs, f"{target}/copy").where("NOT isSame").count()
rows = spark.range(100).selectExpr("CAST(id AS STRING) AS value")
rows.write.format("recordpress").option("topic", "t").option("partitions", 2).mode("append").save(f"{target}/written")
found["written"] = read(f"{target}/written").count()
spark.stop()
Path(target, "found.json").write_text(json.dumps(found))
"""


SPECULATION = """
import json, sys
from pathlib import Path
from pyspark import TaskContext
from pyspark.sql import SparkSession
import recordpress, spark_faults
from recordpress.spark import _parquet, _transcode, datasource
from recordpress.spark._run import run

url, logs, target, met, conf = sys.argv[1:]
builder = SparkSession.builder.master(url)
for name, value in json.loads(conf).items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()

def slowly(batches):
    if TaskContext.get().partitionId() == 0:
        spark_faults.meet(met, "rows")
    yield from batches

rows = spark.range(0, 1000, 1, 4).selectExpr("CAST(id AS STRING) AS value").mapInArrow(slowly, "value string")
rows.write.format("recordpress").option("topic", "t").option("partitions", 2).mode("append").save(f"{target}/written")

def beside(spark, what, work, items):
    return run(spark, what, spark_faults.beside, [(met, work, item) for item in items])

_transcode.run = _parquet.run = beside
datasource._LEAST_TASK_BYTES = 20_000
recordpress.spark.transcode(spark, logs, f"{target}/copy", "lz4", min_gain=None)
recordpress.spark.to_parquet(spark, logs, f"{target}/parquet")
spark.stop()
"""


@pytest.fixture(scope="module")
def environment(bare_python: Path) -> dict[str, str]:
    """The driver's host has recordpress, for plans of the data source; the workers get no PYTHONPATH and lack it."""
    return environment_of(bare_python) | {"PYTHONPATH": str(Path(recordpress.__file__).parents[1])}


@pytest.fixture(scope="module")
def master(bare_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    of_workers = {name: value for name, value in environment_of(bare_python).items() if name != "PYTHONPATH"}
    with standalone(tmp_path_factory.mktemp("cluster"), of_workers, ("127.0.0.1", "127.0.0.2")) as url:
        yield url


def found_by_a_client(url: str, wheel: Path, environment: dict[str, str], target: Path) -> dict[str, Any]:
    target.mkdir()
    given = [url, str(wheel), str(LOGS), str(target), json.dumps({} if url.startswith("sc:") else CONF)]
    command = [sys.executable, "-W", "ignore", "-c", CLIENT, *given]
    done = subprocess.run(command, env=environment, cwd=target, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-5000:]
    parsed: dict[str, Any] = json.loads((target / "found.json").read_text())
    return parsed


@pytest.mark.parametrize("kind", ["classic", "connect"])
def test_workers_without_recordpress_get_it(
    kind: str, master: str, wheel: Path, bare_python: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    if kind == "classic":
        found = found_by_a_client(master, wheel, environment, tmp_path / "client")
    else:
        pytest.importorskip("grpc_status", reason="pyspark[connect] is not installed")
        with connect_server(tmp_path, master, environment, **CONF) as url:
            found = found_by_a_client(url, wheel, environment, tmp_path / "client")
    assert found["before"] == ["nowhere"]
    assert f"{bare_python} has no recordpress" in found["error"] and "set PYSPARK_PYTHON (and" in found["error"]
    assert len(found["after"]) == 2 and "nowhere" not in found["after"]  # each has its own place
    partitions = [path for path in LOGS.iterdir() if path.is_dir()]
    assert (found["inventory"], found["read"], found["different"]) == (len(partitions), 24100, 0)
    assert (found["function"], found["written"]) == (0xE3069283, 100)


def test_two_attempts_of_a_task_at_once(
    master: str, bare_python: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """With spark.speculation: the slow one and its copy write in parallel, and every record is there once."""
    paths = os.pathsep.join([environment["PYTHONPATH"], str(Path(__file__).parent)])
    conf = CONF | {"spark.executorEnv.PYTHONPATH": paths, "spark.speculation": "true"}
    conf |= {"spark.speculation.interval": "100ms", "spark.speculation.minTaskRuntime": "500ms"}
    conf |= {"spark.speculation.quantile": "0.3", "spark.speculation.multiplier": "1.1"}
    (tmp_path / "met").mkdir()
    given = [master, str(LOGS), str(tmp_path), str(tmp_path / "met"), json.dumps(conf)]
    command = [sys.executable, "-W", "ignore", "-c", SPECULATION, *given]
    with_faults = environment | {"PYTHONPATH": paths}
    done = subprocess.run(command, env=with_faults, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-5000:]
    assert {path.name for path in (tmp_path / "met").glob("*-second")} >= {
        "rows-second", "CopyGroup-second", "tuple-second"
    }  # fmt: skip
    rows = recordpress.open_log(tmp_path / "written").read(["value"]).to_pyarrow()["value"].to_pylist()
    assert sorted(map(int, rows)) == list(range(1000))
    recordpress.transcode(LOGS, tmp_path / "other", "lz4", min_gain=None)
    found, expected = (
        {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (tmp_path / "copy", tmp_path / "other")
    )
    found.pop("_SUCCESS")
    assert found == expected | {name: found[name] for name in ("recordpress-manifest.jsonl",)}
    import pyarrow.parquet as pq

    records = recordpress.open_log(LOGS).read(["offset", "value"]).to_pyarrow()
    parquet = pq.read_table(tmp_path / "parquet", columns=["offset", "value"])
    assert sorted(map(str, parquet.to_pylist())) == sorted(map(str, records.to_pylist()))
    assert {path.suffix or path.name for path in (tmp_path / "parquet").rglob("*") if path.is_file()} == {
        ".parquet", "_SUCCESS"
    }  # fmt: skip
    assert not [path for path in tmp_path.rglob(".*") if path.exists()]
