"""The clients' own record tests, from their sources, with the adapter under them.

`make -f labs.mk clients` runs them: RECORDPRESS_CLIENT_SOURCES is a folder with checkouts of the installed releases,
named as in aiokafka-0.14.0. Without one, pip fetches PyPI's archive, which has tests of codecs at most.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from patience import HANG

SOURCES = os.environ.get("RECORDPRESS_CLIENT_SOURCES")
TESTS = {
    "aiokafka": ("aiokafka", ["tests/record", "tests/test_codec.py"], 150),
    "kafka-python": ("kafka_python", ["test/record", "test/test_codec.py"], 190),
}
IN_ARCHIVES = {"aiokafka": 0, "kafka-python": 10}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.build,
    pytest.mark.skipif(SOURCES is None, reason="no sources of the clients: make -f labs.mk clients"),
]


def checkout(client: str, root: Path) -> Path:
    """The client's sources: those that were given, or PyPI's archive of the installed release."""
    version = importlib.metadata.version(client)
    given = Path(SOURCES or "") / f"{client}-{version}"
    if SOURCES and given.is_dir():
        return given
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:",
               "--no-build-isolation", "-d", str(root), f"{client}=={version}"]  # fmt: skip
    if subprocess.run(command, timeout=HANG).returncode:
        pytest.skip(f"pip cannot fetch the archive of {client} {version}")
    [archive] = root.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(root, filter="data")
    return root / archive.name.removesuffix(".tar.gz")


@pytest.mark.parametrize("client", TESTS)
def test_the_clients_record_tests_pass(client: str, tmp_path: Path) -> None:
    module, paths, least = TESTS[client]
    sources = checkout(client, tmp_path / "sources")
    there = [path for path in paths if (sources / path).exists()]
    if len(there) < len(paths):
        least = IN_ARCHIVES[client]
    if not there:
        pytest.skip(f"the archive of {client} has no such tests")
    # only the tests: the package is the installed one, which has its compiled modules
    tests = paths[0].split("/")[0]
    shutil.copytree(sources / tests, tmp_path / "run" / tests)
    (tmp_path / "run" / tests / "__init__.py").touch()  # not in archives, and CPython has a package `test` of its own
    plugin = f"import recordpress.adapters.{module} as adapter\nadapter.install()\n"
    (tmp_path / "run" / "under_recordpress.py").write_text(plugin)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path / "run"), *sys.path])}
    options = ["-q", "-p", "under_recordpress", "-p", "no:cacheprovider", "--noconftest"]
    command = [sys.executable, "-m", "pytest", *options,
               "-W", "ignore", *there]  # fmt: skip
    ran = subprocess.run(command, cwd=tmp_path / "run", env=environment, capture_output=True, text=True, timeout=HANG)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1000:]
    assert int(ran.stdout.splitlines()[-1].split(" passed")[0].split()[-1]) >= least
