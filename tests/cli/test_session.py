"""The README's session is what the commands print."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.build  # it reads the checkout

SCRIPT = Path(__file__).parents[2] / "demo" / "session.py"


@pytest.mark.slow
def test_the_session_is_what_the_commands_print_now() -> None:
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("printed", "is_same"),
    [
        ("zstd  4.3 MiB,  12 segments", True),
        ("zstd 4.4 MiB, 12 segments", True),
        ("zstd 4.9 MiB, 12 segments", False),
        ("zstd 4.3 MiB, 13 segments", False),
        ("zstd 4.3 KiB, 12 segments", False),
        ("zstd 4.3 MiB, 12 segments more", False),
        ("zstd 4.3 MiB, 12 segments in 3 ms", False),
    ],
)
def test_only_figures_may_differ_and_only_a_little(printed: str, is_same: bool) -> None:
    assert session().is_same("zstd 4.3 MiB, 12 segments", printed) is is_same


@pytest.mark.parametrize("time", ["3 ms", "958 µs", "958\n    µs", "1.5\n    s"])
def test_a_time_may_be_any_other_wherever_its_line_is_folded(time: str) -> None:
    assert session().is_same("compression 2 ms, in all", f"compression {time}, in all")


def session() -> Any:
    spec = importlib.util.spec_from_file_location("session", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
