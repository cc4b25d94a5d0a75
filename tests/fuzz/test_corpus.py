"""Inputs that once failed, and those that Kafka's bytes give, through every C target, without a fuzzer."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest
import seeds

HERE = Path(__file__).parent
TARGETS = sorted((HERE / "targets").glob("*.c"))
INCLUDE = HERE.parents[1] / "include"
COMPILER = shlex.split(os.environ.get("CC", "gcc"))
FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-O1", "-g", "-fno-omit-frame-pointer"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]

pytestmark = pytest.mark.build


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seeds")
    seeds.write(folder, most=30)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, ids=lambda path: path.stem)
def test_target_takes_every_input(target, inputs, tmp_path):
    program = tmp_path / target.stem
    sources = [target, HERE / "replay.c"]
    subprocess.run([*COMPILER, *FLAGS, *SANITIZE, f"-I{INCLUDE}", *sources, "-o", program], check=True)
    files = [*sorted((HERE / "corpus" / target.stem).glob("*")), *sorted((inputs / target.stem).glob("*"))]
    assert files
    result = subprocess.run([program, *files], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-4000:]


@pytest.mark.slow
def test_every_header_has_a_target():
    """A use by another header is enough. arrow_c_data.h declares what others write (python/fuzz_arrow.py), and what
    threads share is in tests/native/threads.c."""
    command = [*COMPILER, "-std=gnu11", "-MM", f"-I{INCLUDE}", *map(str, TARGETS)]
    included = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    reached = {Path(name).name for name in included}
    assert {path.name for path in (INCLUDE / "recordpress").glob("*.h")} - reached == {
        "arrow_c_data.h",
        "atomics.h",
        "threads.h",
    }
