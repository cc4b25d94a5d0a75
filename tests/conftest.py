"""Settings of all tests. Helpers are next to this file: oracle (vectors), facts, strategies, arrow_facts,
arrow_structs."""

import gc
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from together import THOROUGH

# quick: part of every run. thorough: HYPOTHESIS_PROFILE=thorough, for a night or before a release.
# On a busy machine no example and no draw is too slow.
any_pace = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=25, derandomize=True, **any_pace)
settings.register_profile("thorough", max_examples=3000, **any_pace)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

if not THOROUGH:  # to look for constants in all our sources takes three seconds in each process
    providers._get_local_constants = lambda: providers._local_constants

gc.disable()  # until all tests are collected: nothing is garbage before

SLOW_FILE = re.compile(r"^pytestmark = (\[\s*)?pytest\.mark\.slow\b", re.MULTILINE)

# No test cuts the power. A disk that others use takes milliseconds for each of thousands of calls.
os.fsync = os.fstat  # type: ignore[assignment]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files of slow tests if none of them is wanted: to import them takes seconds."""
    if "not slow" not in config.option.markexpr or collection_path.suffix != ".py":
        return None
    return bool(SLOW_FILE.search(collection_path.read_text(encoding="utf-8"))) or None


class FromTheEnd(pytest.Dir):
    """A directory whose files are collected in reverse order."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        return reversed([*super().collect()])


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Let the second worker begin at the end: in a fresh clone, each compiles half of the files, and reads the rest."""
    return FromTheEnd.from_parent(parent, path=path) if os.environ.get("PYTEST_XDIST_WORKER") == "gw1" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give all workers one order, Spark and builds first: they take longest, and no process should wait for them."""
    items.sort(key=lambda item: ([item.get_closest_marker(name) is None for name in ("spark", "build")], item.path))


def pytest_collection_finish() -> None:
    """Take all modules and cases out of the garbage collector's sight: each of its passes took a fifth of a second."""
    gc.collect()
    gc.freeze()
    gc.enable()


has_result = threading.Event()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Report how long the workers collect: in a fresh clone they first compile all test files."""
    threading.Thread(target=report_collection, args=(has_result.wait,), daemon=True).start()


def report_collection(wait: Callable[[float], bool]) -> None:
    """Print a line every ten seconds until `wait` returns True."""
    seconds, after = 0, "\n"  # xdist leaves its line open
    while not wait(10):
        seconds += 10
        print(f"{after}recordpress: collecting the tests: {seconds} s", file=sys.stderr, flush=True)
        after = ""


def pytest_runtest_logreport() -> None:
    has_result.set()


@pytest.fixture(autouse=True, scope="session")
def no_patience() -> None:
    """Measure each speed by the fewest calls on few bytes, once: the numbers matter to no test."""
    from recordpress.analysis import _analyze, _measure
    from recordpress.cli import _doctor

    _analyze.PATIENCE = 0.0
    _analyze.SPEED_BYTES = _measure.SPEED_BYTES = 1 << 18
    _measure._LEAST_SECONDS = 0.0
    _doctor._SECONDS = 0.01
