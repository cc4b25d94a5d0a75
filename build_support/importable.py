"""A pytest plugin, `-p build_support.importable`: leaves out the files that import what is not installed, and says so.

For environments that cannot have all packages, as few are built for a CPython of our own. A file in the folder of a
test, or in tests/, counts with what it imports itself.
"""

import ast
import functools
from importlib.util import find_spec
from pathlib import Path

TESTS = Path("tests").resolve()
left_out = {}


def pytest_ignore_collect(collection_path):
    if collection_path.suffix != ".py" or collection_path.name == "conftest.py":
        return None
    missing = missing_for(collection_path)
    if missing:
        left_out[collection_path] = missing
        return True
    return None


def pytest_terminal_summary(terminalreporter):
    for path, missing in sorted(left_out.items()):
        terminalreporter.write_line(f"LEFT OUT {path.relative_to(TESTS.parent)}: needs {', '.join(sorted(missing))}")


@functools.cache
def missing_for(path):
    """The packages that are imported when the file is, and not there."""
    missing = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        for name in names_of(node):
            near = [folder / f"{name}.py" for folder in (path.parent, TESTS)]
            found = next((file for file in near if file.exists()), None)
            if found:
                missing |= missing_for(found)
            elif not there(name):
                missing.add(name)
    return missing


def names_of(node):
    """The packages of an import statement."""
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    return [node.module.partition(".")[0]] if isinstance(node, ast.ImportFrom) and node.module else []


@functools.cache
def there(name):
    """ctypes is there and cannot be imported where its C part was not built."""
    return find_spec("_ctypes" if name == "ctypes" else "_lzma" if name == "lzma" else name) is not None
