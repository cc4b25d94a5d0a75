"""The README's session is what the commands print."""

import importlib.util
import subprocess
import sys
from pathlib import Path

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
    ],
)
def test_only_figures_may_differ_and_only_a_little(printed: str, is_same: bool) -> None:
    spec = importlib.util.spec_from_file_location("session", SCRIPT)
    assert spec is not None and spec.loader is not None
    session = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(session)
    assert session.is_same("zstd 4.3 MiB, 12 segments", printed) is is_same
