"""One quiet local Spark for all tests here; and for clusters a Python without recordpress, and a wheel of it."""

import os
import pickle
import shutil
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recordpress


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("no Java runtime is installed")
    from pyspark.sql import SparkSession
    from spark_processes import QUICK, python_path

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = python_path()  # workers import spark_faults
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # workers get them with Spark's environment: those of the S3 server of tests/files
    os.environ |= {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = (
            SparkSession.builder.master("local[2, 3]")  # a task is tried three times
            .appName("tests of recordpress")
            .config("spark.driver.extraJavaOptions", QUICK)
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.session.timeZone", "UTC")
            .getOrCreate()
        )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs do without Spark: their tasks run here, what travels is pickled, and a result is its rows."""
    from recordpress.spark import _compact, _compare, _estimate, _inventory, _jobs, _parquet, _transcode, _verify

    def run(spark: Any, what: str, work: Any, items: Any) -> list[Any]:
        return [pickle.loads(pickle.dumps(work(pickle.loads(pickle.dumps(item))))) for item in items]

    for module in (_compact, _compare, _estimate, _inventory, _parquet, _transcode, _verify):
        monkeypatch.setattr(module, "run", run)
        monkeypatch.setattr(module, "table", lambda spark, rows, schema: list(rows))
    for module in (_jobs, _transcode):
        monkeypatch.setattr(module, "cores_of", lambda spark: 2)
    monkeypatch.setattr(_jobs, "parallelism_of", lambda spark: 2)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of this checkout as a wheel has it."""
    package = Path(recordpress.__file__).parent
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    path = tmp_path_factory.mktemp("wheel") / f"recordpress-{recordpress.__version__}-{tag}-{tag}-linux_x86_64.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file in package.rglob("*"):
            if file.suffix in (".py", ".pyi", ".so"):
                archive.write(file, f"recordpress/{file.relative_to(package)}")
    return path


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with what pyspark needs and nothing else."""
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("no Java runtime is installed")
    bare = tmp_path_factory.mktemp("python") / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    (site,) = bare.glob("lib/python*/site-packages")
    import pandas

    packages = Path(pandas.__file__).parents[1]
    wanted = ("pyspark", "py4j", "pyarrow", "pandas", "numpy", "dateutil", "pytz", "tzdata", "six")
    for found in packages.iterdir():
        if found.name.partition(".")[0].partition("-")[0] in wanted:
            (site / found.name).symlink_to(found)
    return bare / "bin" / "python"
