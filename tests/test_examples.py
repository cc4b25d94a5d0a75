"""Every example that users see runs: docstrings of all modules, and the README's blocks."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

import recordpress
from modules import MODULES
from together import grouped

README = Path(__file__).parents[1] / "README.md"
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
TRIED = [name for name in MODULES if not name.startswith("recordpress.spark")]


class Finder(doctest.DocTestFinder):
    """Also finds the classes of a module that state their package."""

    def _from_module(self, module, object):
        if isinstance(object, type) and module.__file__.endswith(".py"):
            source = Path(module.__file__).read_text(encoding="utf-8")
            return re.search(rf"^class {object.__name__}\b", source, re.MULTILINE) is not None
        return super()._from_module(module, object)


def examples(name: str) -> list[doctest.DocTest]:
    module = importlib.import_module(name)
    # compiled modules list their docstrings in __test__ (Cython's autotestdict): the finder would see them twice
    finder = Finder(exclude_empty=True)
    found = {test.docstring: test for test in finder.find(module, name) if test.examples}
    return list(found.values())


def run(test: doctest.DocTest) -> doctest.TestResults:
    return doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test)


@grouped("name", ["recordpress", *TRIED], lambda name: ".".join(name.split(".")[:2]), str)
def test_docstrings(name, monkeypatch):
    monkeypatch.chdir(README.parent)  # where demo/logs is
    for test in examples(name):
        for package in ("pyarrow", "polars"):
            pytest.importorskip(package) if package in test.docstring else None
        pytest.importorskip("click") if test.name == "recordpress.cli.main" else None
        assert run(test).failed == 0, test.name


def test_public_functions_have_examples():
    """A public function shows how it is called; so does the one class that users construct."""
    functions = [name for name in recordpress.__all__ if callable(getattr(recordpress, name)) and name.islower()]
    without = [name for name in [*functions, "BatchBuilder"] if ">>>" not in (getattr(recordpress, name).__doc__ or "")]
    assert len(functions) > 20
    assert without == []


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)


def test_readme():
    for package in ("pandas", "polars", "duckdb"):
        pytest.importorskip(package)
    text = "\n".join(block for block in blocks() if "spark" not in block)
    test = doctest.DocTestParser().get_doctest(text, {}, "README.md", str(README), 0)
    assert len(test.examples) > 7
    assert run(test).failed == 0
