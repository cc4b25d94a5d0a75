"""The job and the notebook of examples/spark do what they say, on the demo's logs."""

from __future__ import annotations

import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import recordpress
from together import THOROUGH

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from spark_processes import BIN, environment_of

EXAMPLES = Path(__file__).parents[2] / "examples" / "spark"
LOGS = Path(__file__).parents[2] / "demo" / "logs"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.build,  # reads the checkout
    pytest.mark.skipif(not EXAMPLES.exists(), reason="not in a checkout"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for name in ("sessions-0", "access-log-2"):
        shutil.copytree(LOGS / name, tmp_path / "logs" / name)
    return tmp_path / "logs"


def is_done(logs: Path, target: Path, spark: Any) -> None:
    assert recordpress.open_log(target / "logs").read(["offset", "value"]).to_pyarrow() == (
        recordpress.open_log(logs).read(["offset", "value"]).to_pyarrow()
    )
    assert spark.read.parquet(str(target / "parquet")).count() == 1634 + 2773


def test_the_job(spark: Any, logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = runpy.run_path(str(EXAMPLES / "job.py"))
    assert job["main"]([str(logs), str(tmp_path / "cold"), "--start", "2015-05-18 00:00:00"]) == 0
    is_done(logs, tmp_path / "cold", spark)
    shown = capsys.readouterr().out
    assert "; the copy holds every record\n" in shown and "sessions" in shown
    with pytest.raises(SystemExit, match="2"):
        job["main"]([str(logs), str(tmp_path / "cold")])
    assert "exists; nothing is overwritten" in capsys.readouterr().err


@pytest.mark.skipif(not THOROUGH, reason="takes long: make full")
def test_the_job_by_spark_submit(spark: Any, logs: Path, tmp_path: Path) -> None:
    given = ["--master", "local[2]", "--conf", "spark.ui.enabled=false", str(EXAMPLES / "job.py"), str(logs)]
    command = [str(BIN / "spark-submit"), *given, str(tmp_path / "cold"), "--start", "2015-05-18 00:00:00"]
    done = subprocess.run(
        command, env=environment_of(sys.executable, sys.executable), cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-5000:]
    assert "; the copy holds every record\n" in done.stdout
    is_done(logs, tmp_path / "cold", spark)


def test_the_notebook(spark: Any, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells, one after another; the session that they ask for is the test's."""
    cells = json.loads((EXAMPLES / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] for cell in cells if cell["cell_type"] == "code")
    place = tmp_path / "examples" / "spark"
    place.mkdir(parents=True)
    monkeypatch.chdir(place)
    (tmp_path / "demo").mkdir()
    shutil.move(logs, tmp_path / "demo" / "logs")
    names: dict[str, Any] = {}
    for number, source in enumerate(sources):
        exec(compile(source, f"cell {number}", "exec"), names)
    assert names["is_same"] is True
    is_done(tmp_path / "demo" / "logs", place / "cold", spark)
