"""Compiles and runs the C programs of this folder under sanitizers, and every header of include/recordpress alone."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
INCLUDE = HERE.parents[1] / "include"
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
COMPILE = [*shlex.split(os.environ.get("CC", "gcc")), "-std=gnu11", *WARNINGS]
SANITIZE = ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]

# what only clang looks for: offsets from NULL and out of an array, and nulls where none may be
CLANG = shutil.which("clang") or shutil.which("clang-14")
CLANG_CHECKS = "address,undefined,pointer-overflow,bounds,local-bounds,nullability"
PROGRAMS = sorted(HERE.glob("*.c"))

pytestmark = [pytest.mark.slow, pytest.mark.build]


def run(*command):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda path: path.stem)
def test_program(source, tmp_path):
    program = tmp_path / source.stem
    run(*COMPILE, *SANITIZE, f"-I{INCLUDE}", f"-I{HERE}", source, "-o", program, "-pthread")
    run(program)


@pytest.mark.skipif(not CLANG, reason="clang is not installed")
@pytest.mark.parametrize("source", PROGRAMS, ids=lambda path: path.stem)
def test_program_under_clang(source, tmp_path):
    program = tmp_path / source.stem
    flags = ["-std=gnu11", "-O1", "-g", f"-fsanitize={CLANG_CHECKS}", "-fno-sanitize-recover=all"]
    run(CLANG, *flags, f"-I{INCLUDE}", f"-I{HERE}", source, "-o", program, "-pthread")
    run(program)


def test_threads_under_thread_sanitizer(tmp_path):
    program = tmp_path / "threads"
    flags = ["-O1", "-g", "-fsanitize=thread", "-pthread"]
    run(*COMPILE, *flags, f"-I{INCLUDE}", f"-I{HERE}", HERE / "threads.c", "-o", program)
    run(program)


@pytest.mark.parametrize("header", sorted((INCLUDE / "recordpress").glob("*.h")), ids=lambda path: path.name)
def test_header_compiles_alone(header, tmp_path):
    source = tmp_path / "alone.c"
    source.write_text(f'#include "recordpress/{header.name}"\n#include "recordpress/{header.name}"\n')
    run(*COMPILE, f"-I{INCLUDE}", "-fsyntax-only", source)
