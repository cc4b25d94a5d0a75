"""The command as it is installed, in a process of its own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

INSTALLED = shutil.which("recordpress", path=str(Path(sys.executable).parent))
COMMAND = [INSTALLED] if INSTALLED else [sys.executable, "-m", "recordpress"]


@dataclass(frozen=True)
class Finished:
    """A process that has ended."""

    status: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Finished]


def environment(**changes: str) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    return plain | {"PYTHONWARNINGS": "error"} | changes


@pytest.fixture(scope="session")
def run() -> Run:
    def run(*arguments: object, **changes: str) -> Finished:
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)], capture_output=True, env=environment(**changes), timeout=120
        )
        return Finished(done.returncode, done.stdout, done.stderr.decode())

    return run
