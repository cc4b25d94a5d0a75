"""A payload whose last byte is the last one of its page, as in a mapped segment of a whole number of pages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def test_nothing_is_read_beyond_the_end_of_a_page() -> None:
    program = Path(__file__).with_name("page_ends.py")
    result = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, "read 13\n"), result.stderr
