"""Class.__new__(Class) of every class of every module: a TypeError, or an object on which nothing crashes.

A process of its own tries them, so that a crash is a failed test; the last lines that it wrote name the module and the
member. It works in an empty directory: a method may delete what its arguments name.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from modules import COMPILED, MODULES

SCRIPT = """
import faulthandler
import importlib
import sys

faulthandler.enable()
import recordpress

GIVEN = [(), (b"",), (0,), (b"", b""), (0, 0), (b"", 0, 0), (None, None, None)]
USES = [len, iter, next, repr, str, bool, hash, list, memoryview, bytes, abs, int, hash, reversed]
USES += [lambda made: made[0], lambda made: made[:], lambda made: made["offset"], lambda made: made == made]
USES += [recordpress.control_record, recordpress.write_columns, recordpress.read_batches]
USES += [recordpress.iter_columns, recordpress.crc32c]
USES += [lambda made: recordpress.write_records(made), lambda made: recordpress.compress_into(b"", made, "zstd")]

def attempt(what, *arguments):
    try:
        return what(*arguments)
    except (Exception, SystemExit):  # a command's main ends in the latter
        return None

def poke(made):
    for use in USES:
        attempt(use, made)
    for name in dir(made):
        print(" ", name, flush=True)
        found = attempt(getattr, made, name)
        attempt(setattr, made, name, 0)
        if callable(found) and name != "__class__":
            for arguments in GIVEN:
                attempt(found, *arguments)

def try_module(module):
    for name, kind in sorted(vars(module).items()):
        if not isinstance(kind, type) or kind.__module__ != module.__name__:
            continue
        print(name, flush=True)
        try:
            made = kind.__new__(kind)
        except TypeError as error:
            print("refused:", error)
        else:
            poke(made)
            del made
        initialised = [made for arguments in GIVEN if (made := attempt(kind, *arguments)) is not None]
        for made in initialised[:1]:  # other arguments give the same members
            poke(made)

for name in sys.argv[1:]:
    print(name, flush=True)
    try:
        module = importlib.import_module(name)
    except ImportError:
        continue  # it needs a package that is not installed
    try_module(module)
print("done")
"""


# What is written in Python crashes only in an object of a compiled module.
PYTHON = sorted(set(MODULES) - set(COMPILED))


@pytest.mark.parametrize(
    "modules", [COMPILED, pytest.param(PYTHON, marks=pytest.mark.slow)], ids=["compiled", "python"]
)
def test_no_object_crashes_that_was_never_initialised(modules: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, *modules]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert ran.returncode == 0, ran.stdout[-300:] + ran.stderr[-3000:]
    assert ran.stdout.endswith("done\n")
