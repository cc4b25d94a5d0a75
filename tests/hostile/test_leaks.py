"""Nothing is kept of what was read, written or refused: pooled memory comes back, and the process does not grow."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from repeated_work import WORK

import recordpress


def _in_use() -> int:
    gc.collect()
    return recordpress.pool_bytes()[0]


@pytest.mark.parametrize("name", WORK)
def test_pooled_memory_comes_back(name: str) -> None:
    WORK[name]()  # contexts and scratch that a thread keeps are there from now on
    before = _in_use()
    WORK[name]()
    assert _in_use() == before


@pytest.mark.slow
@pytest.mark.memory
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux' /proc")
@pytest.mark.skipif("RECORDPRESS_SANITIZED" in os.environ, reason="a sanitizer keeps what was freed")
@pytest.mark.parametrize("name", WORK)
def test_a_process_that_repeats_it_does_not_grow(name: str) -> None:
    script = Path(__file__).with_name("repeated_work.py")
    # one arena: which thread's heap serves a call is luck, and each grows once
    environment = {"PYTHONPATH": os.pathsep.join([str(script.parent.parent), *sys.path]), "MALLOC_ARENA_MAX": "1"}
    child = [sys.executable, str(script), name]
    out = subprocess.run(child, capture_output=True, text=True, check=True, env=os.environ | environment)
    assert int(out.stdout) < 1 << 20
