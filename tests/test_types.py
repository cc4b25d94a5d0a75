"""The type checks can fail: one deliberate mistake each, in a copy, and the tool that must see it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.build


@pytest.fixture
def copy(tmp_path):
    """The package with one module and its stub, so that the checks are quick."""
    package = tmp_path / "kpress"
    package.mkdir()
    for file in (ROOT / "src" / "kpress").glob("*"):
        if file.name.split(".")[0] in ("checksum", "_arguments", "_status", "_buffers", "errors", "py"):
            shutil.copy(file, package)
    (package / "__init__.py").write_text("from kpress.checksum import crc32c as crc32c\n")
    return tmp_path


def run(tool, *arguments, cwd):
    pytest.importorskip("mypy")
    environment = os.environ | {"MYPYPATH": str(cwd), "PYTHONPATH": str(cwd)}
    command = [sys.executable, "-m", tool, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def stubtest(cwd):
    allowed = ROOT / "build_support" / "stubtest-allowlist.txt"
    return run("mypy.stubtest", "kpress.checksum", "--allowlist", allowed, "--ignore-unused-allowlist", cwd=cwd)


def test_stubtest_sees_a_parameter_that_is_not_there(copy):
    assert stubtest(copy).returncode == 0
    stub = copy / "kpress" / "checksum.pyi"
    stub.write_text(stub.read_text().replace("def crc32c(", "def crc32c(planted: int, "))
    result = stubtest(copy)
    assert result.returncode == 1
    assert "planted" in result.stdout


def test_mypy_sees_a_wrong_argument(copy):
    program = copy / "program.py"
    program.write_text("import kpress\n\nvalue: int = kpress.crc32c(b'')\n")
    assert run("mypy", "--strict", program, cwd=copy).returncode == 0
    program.write_text("import kpress\n\nvalue: str = kpress.crc32c(1)\n")
    result = run("mypy", "--strict", program, cwd=copy)
    assert result.returncode == 1
    assert "arg-type" in result.stdout
    assert "assignment" in result.stdout
