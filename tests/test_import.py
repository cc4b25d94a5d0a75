"""What `import recordpress` may cost: nothing but the standard library and our own modules."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import recordpress

SCRIPT = """
import sys
before = set(sys.modules)
import recordpress
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""


@pytest.mark.slow
def test_import_loads_no_other_package():
    printed = subprocess.run([sys.executable, "-c", SCRIPT], check=True, capture_output=True, text=True).stdout
    assert "recordpress" in printed.split()
    ours = {"recordpress", "cython_runtime"}
    strangers = {name for name in printed.split() if name not in sys.stdlib_module_names | ours}
    assert {name for name in strangers if not name.startswith("_cython_")} == set()


DECLARED = """
import importlib, pkgutil, sys

class Undeclared:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in OURS | sys.stdlib_module_names:
            raise ModuleNotFoundError(f"{name} is not declared", name=name)

OURS = {"recordpress"}
sys.meta_path.insert(0, Undeclared())
import recordpress
for module in pkgutil.walk_packages(recordpress.__path__, "recordpress.", onerror=lambda name: None):
    if module.name == "recordpress._native":  # the shared object, which is not a module
        continue
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as missing:
        print(module.name, missing.name)
    except ImportError as missing:
        print(module.name, missing.__cause__.name if missing.__cause__ else missing.name)
"""
# what an extra brings, or the caller has: recordpress[cli], recordpress[analyze], PySpark, and the adapted clients
EXTRAS = {"click", "jsonschema", "pyspark", "pyarrow", "pandas", "numpy", "aiokafka", "kafka"}


@pytest.mark.slow
def test_modules_import_only_what_the_package_declares():
    """An environment with recordpress alone has neither typing_extensions nor anything that comes with other tools."""
    printed = subprocess.run([sys.executable, "-c", DECLARED], check=True, capture_output=True, text=True).stdout
    wanted = {tuple(line.split()) for line in printed.splitlines()}
    assert {(module, name) for module, name in wanted if name.partition(".")[0] not in EXTRAS} == set()


LATER = """
import sys
import recordpress
assert not {"recordpress.log._segment", "recordpress.spark._session", "pathlib"} & set(sys.modules), sorted(sys.modules)
print(recordpress.log.open_log.__name__, recordpress.log.transcode.__name__)
assert recordpress.log is sys.modules["recordpress.log"] and "pyarrow" not in sys.modules
assert set(recordpress.log.__all__) == set(dir(recordpress.log)) and "recordpress.log._verify" not in sys.modules
for room, name in ((recordpress, "logs"), (recordpress.log, "open_logs")):
    try:
        getattr(room, name)
    except AttributeError as error:
        print(error)
"""


@pytest.mark.slow
def test_rooms_that_are_loaded_when_they_are_used():
    printed = subprocess.run([sys.executable, "-c", LATER], check=True, capture_output=True, text=True).stdout
    assert printed.splitlines() == [
        "open_log transcode",
        "module 'recordpress' has no attribute 'logs'",
        "module 'recordpress.log' has no attribute 'open_logs'",
    ]


@pytest.mark.parametrize("room", ["analysis", "broker", "dictionaries", "log", "producer", "spark"])
def test_names_are_those_that_type_checkers_see(room):
    """The stub of a package that loads on use names what the package has."""
    package = importlib.import_module(f"recordpress.{room}")
    stub = Path(package.__file__).with_suffix(".pyi")
    if not stub.exists():
        assert "__getattr__" not in vars(package)
        return
    imported = [alias for node in ast.parse(stub.read_text(encoding="utf-8")).body for alias in node.names]
    assert sorted(alias.asname for alias in imported if alias.asname == alias.name) == package.__all__
    assert all(hasattr(package, name) for name in package.__all__)


LIGHT = """
import sys
from recordpress.cli import main
assert main(["dump", sys.argv[1], "--format", "jsonl"]) == 0
LATER = {
    "concurrent.futures", "recordpress.log.copy._copy_log", "recordpress.log.copy.repair",
    "recordpress.log.check.verify", "shutil",
}
print(*sorted(LATER & set(sys.modules)))
"""


@pytest.mark.slow
def test_a_command_imports_what_it_needs(tmp_path):
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(recordpress.write_records([b"value"]))
    command = [sys.executable, "-c", LIGHT, str(path)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert [line[:1] for line in printed.splitlines()] == ["{", ""]


# without site, whose .pth files may load anything: where recordpress lies is told by hand
SMALL = f"""
import sys
sys.path.append({str(Path(recordpress.__file__).parents[1])!r})
before = set(sys.modules)
import recordpress
print(*sorted({{"datetime", "difflib", "re", "typing", "recordpress.typing"}} & (set(sys.modules) - before)))
"""


@pytest.mark.slow
def test_what_few_calls_need_is_not_loaded():
    printed = subprocess.run([sys.executable, "-S", "-c", SMALL], check=True, capture_output=True, text=True).stdout
    assert printed.split() == []


def test_a_name_means_one_thing():
    """compress is a function, not also a module; what the facade shows of a room is what the room shows."""
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("recordpress.compress")
    for room in ("codecs", "columns", "record"):
        module = importlib.import_module(f"recordpress.{room}")
        assert set(module.__all__) <= set(dir(module))
        for name in set(module.__all__) & set(recordpress.__all__):
            assert getattr(module, name) is getattr(recordpress, name)
    assert importlib.import_module("recordpress.record").Batch is recordpress.Batch


def test_the_facade_has_no_getattr():
    """CPython specializes no attribute of such a module: each recordpress.crc32c(data) would take 20 ns more."""
    assert "__getattr__" not in vars(recordpress)


SECOND_INTERPRETER = """
import sys
import recordpress
try:
    import _interpreters  # CPython 3.13
    second = _interpreters.create("isolated" if {own_gil} else "legacy")
    told = _interpreters.exec(second, "import recordpress").formatted
except ImportError:
    import _xxsubinterpreters as _interpreters
    try:
        _interpreters.run_string(_interpreters.create(isolated={own_gil}), "import recordpress")
    except _interpreters.RunFailedError as error:
        told = str(error)
print(told)
print(recordpress.decompress(recordpress.compress(b"records", "lz4"), "lz4"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("own_gil", [True, False], ids=["with its own GIL", "with the same GIL"])
def test_a_second_interpreter_is_told_that_it_cannot_import(own_gil):
    code = SECOND_INTERPRETER.format(own_gil=own_gil)
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "ImportError" in printed.stdout
    assert "subinterpreters" in printed.stdout or "one interpreter per process" in printed.stdout
    assert "b'records'" in printed.stdout  # the first one goes on
