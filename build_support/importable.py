"""A pytest plugin, `-p build_support.importable`: leaves out the files that import what is not installed, skips tests
that do, and says so.

For environments that cannot have all packages, as few are built for a CPython of our own. A file in the folder of a
test, or in tests/, counts with what it imports itself.
"""

import ast
import functools
from importlib.util import find_spec
from pathlib import Path

import pytest

TESTS = Path("tests").resolve()
ROOMS = {"recordpress.adapters": ["aiokafka", "kafka"], "recordpress.spark": ["pyspark"]}  # and what they import
left_out = {}


def pytest_ignore_collect(collection_path):
    if collection_path.suffix != ".py" or collection_path.name == "conftest.py":
        return None
    missing = missing_for(collection_path)
    if missing:
        left_out[collection_path] = missing
        return True
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    return (yield from skipping())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    return (yield from skipping())


def skipping():
    """Skip the test if what it runs imports what is not installed."""
    try:
        return (yield)
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if not name or there(name):
            raise
        pytest.skip(f"needs {name}")


def pytest_terminal_summary(terminalreporter):
    for path, missing in sorted(left_out.items()):
        terminalreporter.write_line(f"LEFT OUT {path.relative_to(TESTS.parent)}: needs {', '.join(sorted(missing))}")


@functools.cache
def missing_for(path):
    """The packages that are imported when the file is, and not there."""
    missing = set()
    statements = ast.parse(path.read_text(encoding="utf-8")).body
    statements += [inner for outer in statements if isinstance(outer, ast.With) for inner in outer.body]
    for statement in statements:
        for name in names_of(statement):
            near = [folder / f"{name}.py" for folder in (path.parent, TESTS)]
            found = next((file for file in near if file.exists()), None)
            if found:
                missing |= missing_for(found)
            elif not there(name):
                missing.add(name)
    return missing


def names_of(node):
    """The packages of an import statement."""
    modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    if isinstance(node, ast.ImportFrom) and node.module:
        modules = [node.module]
    return [name for module in modules for name in packages_of(module.split("."))]


def packages_of(parts):
    """The packages of a module: its own, and what a room of recordpress imports."""
    return [parts[0], *ROOMS.get(".".join(parts[:2]), [])]


@functools.cache
def there(name):
    """ctypes is there and cannot be imported where its C part was not built."""
    return find_spec("_ctypes" if name == "ctypes" else "_lzma" if name == "lzma" else name) is not None
