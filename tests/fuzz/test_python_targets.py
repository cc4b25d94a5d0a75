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
import fuzz_read

CORPUS = [
    pytest.param(target, path, id=f"{name}-{path.name}")
    for name, target in (("arrow", fuzz_arrow), ("read", fuzz_read))
    for path in sorted((HERE / "corpus" / name).glob("*"))
]


@pytest.mark.parametrize("target", [fuzz_arrow, fuzz_read], ids=["arrow", "read"])
def test_drawn_inputs(target: ModuleType) -> None:
    rng = random.Random(7)
    for _ in range(400):
        target.run(target.draw(rng))


@pytest.mark.parametrize(("target", "path"), CORPUS)
def test_found_inputs(target: ModuleType, path: Path) -> None:
    target.run(path.read_bytes())
