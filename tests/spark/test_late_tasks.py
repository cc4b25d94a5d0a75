"""Tasks that outlive their driver, next to the next job on the same destination: only that one's files are there.

Executors do not end with a driver that is killed. Tasks run in this process: what is tried here is what they do.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import recordpress
from files.conftest import S3Server, s3, s3_server  # noqa: F401
from together import sampled

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.usefixtures("in_this_process")]

from recordpress.files import resolve
from recordpress.spark import _parquet, _transcode

# a driver that is killed when its tasks have begun, of which it says what they are
DRIVER = """
import json, os, pickle, signal, sys
from pathlib import Path
import recordpress.spark
from recordpress.spark import _jobs, _parquet, _transcode

name, logs, target, options, tasks = sys.argv[1:]

def run(spark, what, work, items):
    Path(tasks).write_bytes(pickle.dumps([(work, item) for item in items]))
    os.kill(os.getpid(), signal.SIGKILL)

_transcode.run = _parquet.run = run
_jobs.cores_of = _transcode.cores_of = _jobs.parallelism_of = lambda spark: 2
getattr(recordpress.spark, name)(None, logs, target, **json.loads(options))
"""
JOBS: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "transcode": (_transcode, {"compression_type": "lz4"}, {"compression_type": "gzip"}),
    "to_parquet": (_parquet, {"columns": ["offset", "value"]}, {"columns": ["offset"]}),
}


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for partition in (0, 1):
        directory = tmp_path / "logs" / f"t-{partition}"
        directory.mkdir(parents=True)
        for base in (0, 20):
            records = [b"%d " % number * 100 for number in range(20)]
            (directory / f"{base:020d}.log").write_bytes(recordpress.write_records(records, base_offset=base))
    return tmp_path / "logs"


def tasks_of_a_killed_driver(job: str, logs: Path, target: str, options: dict[str, Any], folder: Path) -> list[Any]:
    file = folder / "tasks"
    given = [job, str(logs), target, json.dumps(options), str(file)]
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", DRIVER, *given], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr[-3000:]
    found: list[Any] = pickle.loads(file.read_bytes())
    return found


def at_last(tasks: list[Any]) -> None:
    """They do not know that nobody waits for them."""
    for work, item in tasks:
        with suppress(OSError):
            work(item)


def contents(place: str) -> dict[str, bytes]:
    files, root = resolve(place)

    def walk(path: str) -> Any:
        for info in files.list(path):
            if info.is_directory:
                yield from walk(info.path)
            else:
                with files.open(info.path) as file:
                    yield info.path.removeprefix(root), file.read_exactly(0, file.size)

    return dict(walk(root))


def expected_of(job: str, options: dict[str, Any], logs: Path, target: Path) -> dict[str, bytes]:
    getattr(recordpress.spark, job)(None, logs, target, **options)
    return contents(str(target))


def same(found: dict[str, bytes], expected: dict[str, bytes]) -> bool:
    for one in (found, expected):
        one.pop("/recordpress-manifest.jsonl", None)  # it says what was done when
    return found == expected


@pytest.mark.parametrize(("job", "store", "begun"), sampled(product(JOBS, ("local", "s3"), (True, False)), 3))
def test_they_do_not_get_into_the_next_job(
    job: str, store: str, begun: bool, logs: Path, tmp_path: Path, request: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = str(tmp_path / "place" / "done")
    if store == "s3":
        target = request.getfixturevalue("s3").url("logs/done")
    module, first, second = JOBS[job]
    expected = expected_of(job, second, logs, tmp_path / "expected")
    tasks = tasks_of_a_killed_driver(job, logs, target, first, tmp_path)
    if begun:
        at_last(tasks[:1])
    run = module.run

    def beside(*given: Any) -> Any:
        found = run(*given)
        at_last(tasks)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(module, "run", beside)
        getattr(recordpress.spark, job)(None, logs, target, **second)
    assert same(contents(target), expected)
    at_last(tasks)
    assert same(contents(target), expected)
    if store == "local":
        assert os.listdir(tmp_path / "place") == ["done"]


@pytest.mark.parametrize("store", ["local", "s3"])
def test_what_a_killed_copy_made_of_other_segments_is_not_in_the_next_one(
    store: str, logs: Path, tmp_path: Path, request: Any
) -> None:
    """Retention has deleted a segment meanwhile, and a partition."""
    target = str(tmp_path / "place" / "done")
    if store == "s3":
        target = request.getfixturevalue("s3").url("logs/done")
    options = {"compression_type": "lz4"}
    at_last(tasks_of_a_killed_driver("transcode", logs, target, options, tmp_path))
    (logs / "t-0" / f"{0:020d}.log").unlink()
    shutil.rmtree(logs / "t-1")
    expected = expected_of("transcode", options, logs, tmp_path / "expected")
    [row] = recordpress.spark.transcode(None, logs, target, **options)
    assert row["records"] == 20
    assert same(contents(target), expected)
