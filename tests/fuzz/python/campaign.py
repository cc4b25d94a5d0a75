"""The loop of a fuzzer in Python: draw an input, keep it where a crash leaves it, run it, count.

An input is bytes, and what is done with it depends on them alone, so that a file is a test.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import mmap
import random
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

MOST_BYTES = 1 << 16


class LastInput:
    """The input that is running, in a file that outlives the process."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(4 + MOST_BYTES))
        self.path = path
        with path.open("r+b") as file:
            self.pages = mmap.mmap(file.fileno(), 4 + MOST_BYTES)

    def keep(self, data: bytes) -> None:
        self.pages[: 4 + len(data)] = len(data).to_bytes(4, "little") + data

    def forget(self) -> None:
        self.path.unlink()


def last_input(path: Path) -> bytes:
    content = path.read_bytes()
    return content[4 : 4 + int.from_bytes(content[:4], "little")]


def main(name: str, draw: Callable[[random.Random], bytes], run: Callable[[bytes], None]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=time.time_ns())
    parser.add_argument("--found", type=Path, default=Path("build/fuzz/found"))
    parser.add_argument("inputs", nargs="*", type=Path, help="run these instead")
    options = parser.parse_args()
    faulthandler.enable()
    for path in options.inputs:
        run(path.read_bytes())
    if options.inputs:
        return 0
    print("seed:", options.seed, flush=True)
    return _fuzz(name, draw, run, random.Random(options.seed), options)


def _fuzz(
    name: str,
    draw: Callable[[random.Random], bytes],
    run: Callable[[bytes], None],
    rng: random.Random,
    options: argparse.Namespace,
) -> int:
    _rescue(options.found, name)
    last = LastInput(options.found / f"{name}.running")
    runs, end, failed = 0, time.monotonic() + options.seconds, False
    while time.monotonic() < end and not failed:
        for _ in range(100):
            data = draw(rng)
            last.keep(data)
            try:
                run(data)
            except Exception:
                traceback.print_exc()
                path = options.found / f"{name}-{hashlib.sha1(data).hexdigest()[:16]}"
                path.write_bytes(data)
                print("found:", path, file=sys.stderr)
                failed = True
                break
            runs += 1
        if runs % 100_000 == 0:
            print("runs so far:", runs, flush=True)
    last.forget()
    print("runs:", runs)
    return int(failed)


def _rescue(found: Path, name: str) -> None:
    """The input that ended an earlier process."""
    running = found / f"{name}.running"
    if running.exists():
        data = last_input(running)
        (found / f"{name}-{hashlib.sha1(data).hexdigest()[:16]}").write_bytes(data)
