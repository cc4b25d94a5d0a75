"""What a first user of Spark lacks is one sentence, or is set right: packages, and the Python of Spark's workers."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from spark_processes import QUICK, environment_of

from patience import HANG
from recordpress.spark import _environment

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "demo" / "logs"
IMPORT = """
import sys
class Finder:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1:]:
            return Finder
sys.meta_path.insert(0, Finder)
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name in sys.argv[1:] else found(name)
"""
JOB = f"""
import sys
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
         .config("spark.driver.extraJavaOptions", "{QUICK}").getOrCreate())
import recordpress.spark
logs = spark.read.format("recordpress").option("columns", "offset,value").load(sys.argv[1])
checksum = recordpress.spark.functions.crc32c("value")
print(logs.where("offset = 0").select(checksum).count(), recordpress.spark.inventory(spark, sys.argv[1]).count())
spark.stop()
"""


def said(code: str, *arguments: str, **environment: str) -> tuple[int, str]:
    """The exit status of a Python with this code, and the last line that it prints."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")}
    command = [sys.executable, "-W", "ignore", "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=clean | environment, timeout=HANG)
    return done.returncode, (done.stdout + done.stderr).splitlines()[-1]


def test_the_requirements_are_those_of_the_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extras["spark"] == list(_environment._PACKAGES.values())


@pytest.mark.slow
@pytest.mark.parametrize("missing", [["pyspark"], ["pyarrow"], ["pandas"], ["pyarrow", "pandas"]], ids=" ".join)
def test_the_import_names_missing_packages(missing: list[str]) -> None:
    status, sentence = said(f"{IMPORT}\nimport recordpress\nprint('imported')\nimport recordpress.spark", *missing)
    install = " ".join(f"'{_environment._PACKAGES[name]}'" for name in missing)
    what = " and no ".join(missing)
    python = sys.executable
    assert status == 1
    assert sentence == f"ImportError: recordpress.spark: {python} has no {what}: run  {python} -m pip install {install}"


@pytest.mark.slow
def test_what_spark_finds_by_itself_reports_missing_packages() -> None:
    """The module must not fail: Spark would then find no data source at all."""
    code = f"{IMPORT}\nimport pyspark_recordpress\nprint(pyspark_recordpress.DefaultSource.name())"
    worker = {"SPARK_PYTHON_RUNTIME": "PYTHON_WORKER"}
    assert said(code, "pyarrow", **worker) == (0, "recordpress")
    status, sentence = said(f"{code}\npyspark_recordpress.DefaultSource({{}})", "pyarrow", **worker)
    assert status == 1 and f"{sys.executable} has no pyarrow: run" in sentence
    assert said("import recordpress.spark as it; print(it.__name__)", "pandas", **worker) == (0, "recordpress.spark")


def test_an_old_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"pyspark": "4.0.5", "pyarrow": "26.0.1", "pandas": "3.1.1"}
    monkeypatch.setattr(_environment, "version", versions.__getitem__)
    with pytest.raises(ImportError, match=r"has pyspark 4\.0\.5, which is too old: run .* 'pyspark >= 4\.1'$"):
        _environment._check_packages("pyspark", "pyarrow", "pandas")


@pytest.mark.slow
def test_the_import_names_a_python_without_the_packages(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    bare = str(tmp_path / "bare" / "bin" / "python")
    sentence = (
        f"{bare}, which PYSPARK_PYTHON selects, has no recordpress and no pyarrow and no pandas: install them there"
    )
    status, line = said("import recordpress.spark", PYSPARK_PYTHON=bare)
    assert status == 1 and sentence in line and line.endswith(f"to {sys.executable} before the session starts")
    for other in (f"{tmp_path}/environment/bin/python", sys.executable):  # of an archive; this one
        assert said("import recordpress.spark; print(1)", PYSPARK_PYTHON=other) == (0, "1")
    assert said("import recordpress.spark; print(1)", PYSPARK_PYTHON=bare, PYSPARK_DRIVER_PYTHON=sys.executable)[0] == 0


FUNCTIONS = f"""
import sys, recordpress.spark
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
         .config("spark.driver.extraJavaOptions", "{QUICK}").getOrCreate())
print(spark.sql("SELECT rp_crc32c('123456789')").first()[0])
"""


@pytest.mark.slow
@pytest.mark.spark
def test_a_session_after_the_import_knows_the_functions() -> None:
    environment = environment_of(sys.executable)
    done = subprocess.run([sys.executable, "-c", FUNCTIONS], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == [str(0xE3069283)], done.stderr[-3000:]


SELECT = "import os, recordpress.spark; print(os.environ.get('PYSPARK_PYTHON'))"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "is_selected"),
    [("pyspark-shell", True), ("--master local[2] pyspark-shell", True), ("--master yarn pyspark-shell", False)],
)
def test_the_import_selects_this_python_for_a_local_session(arguments: str, is_selected: bool, tmp_path: Path) -> None:
    (tmp_path / "python3").symlink_to(sys.executable)
    found = said(SELECT, PYSPARK_SUBMIT_ARGS=arguments, PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert found == (0, sys.executable if is_selected else "None")
    activated = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    assert said(SELECT, PYSPARK_SUBMIT_ARGS=arguments, PATH=activated) == (0, "None")


class Context:
    """As much of a context as is asked."""

    def __init__(self, master: str, python: str) -> None:
        self.master, self.pythonExec = master, python


class Session:
    """As much of a session as is asked."""

    def __init__(self, context: Context, setting: str | None = None) -> None:
        self.context, self.setting = context, setting

    @property
    def conf(self) -> Any:
        return {_environment._SETTING: self.setting}

    @property
    def sparkContext(self) -> Context:
        return self.context


class ConnectSession:
    """As much of a session of Spark Connect as is asked: it has no context."""

    __module__ = "pyspark.sql.connect.session"


def test_a_session_gets_this_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    monkeypatch.setattr(_environment, "_missing_from", lambda python: ("recordpress",))
    local, cluster = Context("local[2]", "python3"), Context("spark://host:7077", "python3")
    for context in (local, cluster):
        _environment.prepare_session(Session(context))  # type: ignore[arg-type]
    assert (local.pythonExec, cluster.pythonExec) == (sys.executable, "python3")
    _environment.prepare_session(ConnectSession())  # type: ignore[arg-type]
    with pytest.raises(
        ImportError, match=rf"^recordpress.spark: {tmp_path}/python3, which spark\.sql\.\S+ selects, has no"
    ):
        _environment.prepare_session(Session(local, str(tmp_path / "python3")))  # type: ignore[arg-type]
    monkeypatch.setenv("PYSPARK_PYTHON", "python3")
    with pytest.raises(ImportError, match="which PYSPARK_PYTHON selects, has no recordpress: install it there"):
        _environment.prepare_session(Session(Context("local", "python3")))  # type: ignore[arg-type]


def test_a_cluster_keeps_its_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The import cannot know the master that a program selects later."""
    monkeypatch.setattr(_environment, "_selected", "/driver/python")
    monkeypatch.setenv("PYSPARK_PYTHON", "/driver/python")
    context = Context("yarn", "/driver/python")
    _environment.prepare_session(Session(context))  # type: ignore[arg-type]
    assert context.pythonExec == "python3"


@pytest.mark.slow
@pytest.mark.spark
def test_a_session_that_began_with_another_python_works(bare_python: Path) -> None:
    """The environment is not activated, and the python3 on PATH has no recordpress."""
    environment = environment_of(sys.executable)
    environment |= {"PATH": f"{bare_python.parent}{os.pathsep}{environment['PATH']}"}
    del environment["PYSPARK_PYTHON"]
    command = [sys.executable, "-W", "ignore", "-c", JOB, str(LOGS / "sessions-0")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=HANG)
    assert (done.returncode, done.stdout.split()) == (0, ["1", "1"]), done.stderr[-3000:]
