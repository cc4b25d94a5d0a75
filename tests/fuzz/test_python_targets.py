"""A few inputs of the fuzzers in Python in every run of the suite, and all that were found."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "python"))
import fuzz_arrow
import fuzz_broker
import fuzz_dictionary
import fuzz_explain
import fuzz_fetch
import fuzz_join
import fuzz_plugins
import fuzz_read
import fuzz_scan
import fuzz_sidecars

from together import draws

# and how many inputs of each
TARGETS = {
    "arrow": (fuzz_arrow, 400),
    "broker": (fuzz_broker, 400),
    "dictionary": (fuzz_dictionary, 200),
    "explain": (fuzz_explain, 200),
    "fetch": (fuzz_fetch, 300),
    "join": (fuzz_join, 50),
    "plugins": (fuzz_plugins, 300),
    "read": (fuzz_read, 400),
    "scan": (fuzz_scan, 20),
    "sidecars": (fuzz_sidecars, 400),
}
CORPUS = [
    pytest.param(target, path, id=f"{name}-{path.name}")
    for name, (target, _) in TARGETS.items()
    for path in sorted((HERE / "corpus" / name).glob("*"))
]


@pytest.mark.parametrize(("target", "count"), TARGETS.values(), ids=TARGETS)
def test_drawn_inputs(target: ModuleType, count: int) -> None:
    rng = random.Random(7)
    for _ in range(draws(count)):
        target.run(target.draw(rng))


@pytest.mark.parametrize(("target", "path"), CORPUS)
def test_found_inputs(target: ModuleType, path: Path) -> None:
    target.run(path.read_bytes())
