"""Public classes and functions state the package that users import them from: in tracebacks, reprs and pickles."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import recordpress
from modules import MODULES

ROOT = Path(recordpress.__file__).parent
PACKAGES = sorted(".".join(("recordpress", *file.parent.relative_to(ROOT).parts)) for file in ROOT.rglob("__init__.py"))


def public() -> dict[str, Any]:
    """By the full name: the classes and functions of recordpress that packages offer."""
    found = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if hasattr(value, "__qualname__") and value.__module__.startswith("recordpress"):
                found[f"{package}.{name}"] = value
    return found


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    pytest.importorskip("pandas", reason="pandas is not installed")
    return public()


def test_no_public_name_states_a_private_module(names: dict[str, Any]) -> None:
    assert len(names) > 200
    assert {name: value.__module__ for name, value in names.items() if "._" in value.__module__} == {}
    assert repr(type(recordpress.read_columns(b""))) == "<class 'recordpress.columns.Columns'>"


def test_each_is_where_it_states(names: dict[str, Any]) -> None:
    """pickle looks there."""
    for name, value in names.items():
        assert getattr(importlib.import_module(value.__module__), value.__name__) is value, name
        assert pickle.loads(pickle.dumps(value)) is value


def test_no_other_class_states_a_package(names: dict[str, Any]) -> None:
    """Two packages may have classes of one name, such as ReadOptions."""
    for module in map(importlib.import_module, MODULES):
        for name, value in vars(module).items():
            if isinstance(value, type) and value.__module__ in PACKAGES and "_" not in (name[0], value.__name__[0]):
                assert getattr(importlib.import_module(value.__module__), value.__name__) is value, module.__name__


def test_annotations_are_found(names: dict[str, Any]) -> None:
    for name, value in names.items():
        if isinstance(value, type) and name not in CHECKED_ALONE:
            get_type_hints(value)


# Their annotations name what is imported for type checkers alone.
CHECKED_ALONE = {"recordpress.analysis.Extract", "recordpress.analysis.Simulation", "recordpress.log.DumpOptions"}


def test_an_object_that_no_one_asked_for_by_name() -> None:
    """Its module was imported by another one; a new process, as the packages give names when they are asked."""
    code = "import recordpress\nlog = recordpress.open_log('demo/logs')\nprint(type(log), type(log.partitions[0]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT.parents[1])
    assert done.stdout.strip() == "<class 'recordpress.log.Log'> <class 'recordpress.log.Partition'>", done.stderr
