"""ship(): executors whose Python has pyspark, pyarrow and pandas, and no recordpress, get it from the driver."""

import subprocess
import sys
from pathlib import Path

import pytest

import recordpress
from recordpress.errors import ArgumentTypeError, InvalidArgumentError

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark]

from spark_processes import QUICK, environment_of

TAG = f"cp{sys.version_info.major}{sys.version_info.minor}"
LOGS = Path(__file__).parents[2] / "demo" / "logs"
SCRIPT = """
import sys, recordpress, pyspark
from pyspark.sql import SparkSession
wheel, logs, python, quick = sys.argv[1:]
spark = (SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
         .config("spark.driver.extraJavaOptions", quick).config("spark.executor.extraJavaOptions", quick)
         .config("spark.executorEnv.PYTHONPATH", "").config("spark.ui.showConsoleProgress", "false").getOrCreate())
spark.sparkContext.setLogLevel("OFF")

def where(_):
    try:
        import recordpress
        return [recordpress.__file__]
    except ImportError:
        return ["nowhere"]

on_executors = lambda: set(spark.sparkContext.parallelize(range(4), 4).mapPartitions(where).collect())
print("before", on_executors())

def said(query):
    try:
        query()
    except Exception as error:
        sentence = f"{python} has no recordpress: install it there, or set PYSPARK_PYTHON"
        return [type(error).__name__, sentence in str(error), len(str(error).splitlines()) < 4]

print("job", said(lambda: recordpress.spark.inventory(spark, logs)))
recordpress.spark.register(spark)
print("data source", said(lambda: spark.read.format("recordpress").load(logs).collect()))
recordpress.spark.ship(spark, wheel)
print("after", on_executors())
rows = recordpress.spark.inventory(spark, logs).collect()
print("inventory", len(rows) > 0)
spark.stop()
"""


def test_executors_without_recordpress_get_it(wheel, bare_python, tmp_path):
    environment = environment_of(bare_python, bare_python)
    script = tmp_path / "job.py"
    script.write_text(SCRIPT)
    command = [sys.executable, script, wheel, LOGS, bare_python, QUICK]
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "before {'nowhere'}" in done.stdout
    assert "job ['ImportError', True, True]" in done.stdout
    assert "data source ['AnalysisException', True, True]" in done.stdout
    assert "nowhere" not in done.stdout.partition("after")[2]
    assert "inventory True" in done.stdout


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("recordpress.zip", r"recordpress\.zip is not a wheel of recordpress"),
        (f"recordpress-0.0.1-{TAG}-{TAG}-linux_x86_64.whl", r"has version 0\.0\.1, but the driver has"),
        (f"recordpress-{recordpress.__version__}-cp39-cp39-linux_x86_64.whl", "is for cp39, but PySpark needs"),
        (f"recordpress-{recordpress.__version__}-{TAG}-{TAG}-linux_x86_64.whl", "cannot be read as a wheel"),
    ],
)
def test_what_is_no_wheel_is_refused(name, message, tmp_path):
    with pytest.raises(InvalidArgumentError, match=message):
        recordpress.spark.ship(None, tmp_path / name)


@pytest.mark.parametrize("wheel", [None, 5, b"recordpress.whl", ["recordpress.whl"]])
def test_what_is_no_path_is_refused(wheel):
    with pytest.raises(ArgumentTypeError, match="wheel must be a path, not"):
        recordpress.spark.ship(None, wheel)
