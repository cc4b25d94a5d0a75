"""The command line, in this process and as it is installed."""

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click")

INSTALLED = shutil.which("recordpress", path=str(Path(sys.executable).parent))
COMMAND = [INSTALLED] if INSTALLED else [sys.executable, "-m", "recordpress"]
# The program, for `python -c`, with progress from its first bytes on.
AT_ONCE = (
    "import sys, recordpress.cli, recordpress.cli._progress as shown; "
    "shown.PATIENCE = 0; sys.exit(recordpress.cli.main())"
)


@dataclass(frozen=True)
class Finished:
    """A command that has ended."""

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


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command in this process; `process` has it as it is installed."""
    from recordpress.cli import main

    def run(*arguments: object, **changes: str) -> Finished:
        # pyarrow asks for the descriptor of standard output
        file = tempfile.TemporaryFile()  # noqa: SIM115
        out = io.TextIOWrapper(file, encoding="utf-8", write_through=True)
        err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with monkeypatch.context() as patch:
            for name in os.environ.keys() - environment().keys():
                patch.delenv(name)
            for name, value in changes.items():
                patch.setenv(name, value)
            for name, stream in {"stdout": out, "stderr": err, "__stdout__": out, "__stderr__": err}.items():
                patch.setattr(sys, name, stream)
            patch.setattr(sys, "argv", ["recordpress", *map(str, arguments)])
            status = main()
        with file:
            file.seek(0)
            written = file.read()
        return Finished(status, written, err.buffer.getvalue().decode())  # type: ignore[attr-defined]

    return run


@pytest.fixture(scope="session")
def process() -> Run:
    """The command as it is installed, in a separate process."""

    def run(*arguments: object, **changes: str) -> Finished:
        done = subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, env=environment(**changes))
        return Finished(done.returncode, done.stdout, done.stderr.decode())

    return run
