"""Does a test fail for each small mistake? Mutants of every .pyx file and header against the tests of their room.

    run.py --work /tmp/mutants --n 120 --seed 1 [--only record] [--jobs 2] [--minutes 40]

Works in its own clones and prints a table of those that no test found. A mutant has a minute of CPU time; one that
does not compile is replaced by another one.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import mutants

CPU_SECONDS, WALL_SECONDS = 60, 300
# The first that matches a path: the C tests and the fuzz target that need no build of the modules, and the room.
ROOMS: list[tuple[str, str, str, str]] = [
    ("snappy.h", "snappy", "snappy", "tests/codecs/test_snappy.py tests/codecs"),
    ("snappy_encode.h", "snappy_encode", "snappy_encode", "tests/codecs/test_snappy.py tests/codecs"),
    ("lz4_header", "lz4", "lz4_header", "tests/codecs/test_lz4.py tests/codecs"),
    ("crc", "crc32c", "crc32c", "tests/test_checksum.py"),
    ("pool.h", "pool", "pool", "tests/hostile/test_leaks.py tests/codecs"),
    ("atomics", "thread", "", "tests/hostile/test_leaks.py tests/columns"),
    ("threads", "thread", "", "tests/columns"),
    ("columns.h", "wire", "columns", "tests/columns"),
    ("utf8", "utf8", "utf8", "tests/record tests/columns"),
    ("json.h", "", "json", "tests/columns tests/log/test_dump.py"),
    ("status.h", "", "record", "tests/test_errors.py tests/hostile tests/record tests/codecs"),
    ("batch_header", "wire", "batch_header", "tests/record tests/columns tests/hostile/test_lying_fields.py"),
    ("record.h", "wire", "record", "tests/record tests/columns tests/hostile/test_lying_fields.py"),
    ("include/", "wire", "cursor", "tests/record tests/columns tests/hostile/test_lying_fields.py"),
    ("codecs/", "", "", "tests/codecs tests/test_arguments.py tests/hostile"),
    ("record/", "", "", "tests/record tests/test_arguments.py tests/hostile tests/compat tests/properties"),
    ("columns/", "", "", "tests/columns tests/test_arguments.py tests/hostile tests/properties"),
    ("log/", "", "", "tests/log"),
    ("checksum", "", "", "tests/test_checksum.py tests/test_arguments.py"),
    ("_arguments", "", "", "tests/test_arguments.py tests/record tests/codecs"),
    ("", "", "", "tests/test_errors.py tests/test_arguments.py tests/hostile tests/record tests/codecs"),
]


class Clone:
    """A checkout with a build, which is put back after every mutant."""

    def __init__(self, folder: Path, python: str) -> None:
        self.root, self.pristine, self.python = folder / "clone", folder / "pristine", python
        self.environment = os.environ | {
            "PYTHONPATH": f"{self.root}/src",
            "CFLAGS": "-O0 -g0",
            "RECORDPRESS_VECTORS": "",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run(["git", "clone", "-q", mutants.ROOT, self.root], check=True)
        if not self.build():
            raise SystemExit("the project itself does not compile")
        shutil.copytree(self.root, self.pristine, symlinks=True)

    def build(self) -> bool:
        command = [self.python, "setup.py", "-q", "build_ext", "--inplace"]
        return subprocess.run(command, cwd=self.root, env=self.environment, capture_output=True).returncode == 0

    def test(self, arguments: str) -> str:
        """ "passed", "failed" or "hung"."""
        words = [
            word
            for word in arguments.split()
            if not word.startswith("tests/") or (self.root / word.split("::")[0]).exists()
        ]
        command = [
            self.python,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "-m",
            "not spark and not memory",
            *words,
        ]
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))  # noqa: E731
        try:
            result = subprocess.run(
                command,
                cwd=self.root,
                env=self.environment,
                capture_output=True,
                timeout=WALL_SECONDS,
                preexec_fn=limit,
            )
        except subprocess.TimeoutExpired:
            return "hung"
        # 0 all passed, 5 none was there, -24 out of CPU time
        return {0: "passed", 5: "passed", -24: "hung"}.get(result.returncode, "failed")

    def restore(self) -> None:
        for source in self.pristine.rglob("*"):
            if source.is_file() and not source.is_symlink() and ".git" not in source.parts:
                target = self.root / source.relative_to(self.pristine)
                if not target.exists() or target.stat().st_mtime_ns != source.stat().st_mtime_ns:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(source, target)


def outcome(clone: Clone, mutant: mutants.Mutant) -> str:
    _, native, target, room = next(row for row in ROOMS if row[0] in str(mutant.path))
    mutant.apply(clone.root)
    try:
        if native and clone.test(f"tests/native -k {native}") != "passed":
            return "found"
        if target and clone.test(f"tests/fuzz/test_corpus.py::test_target_takes_every_input[{target}]") != "passed":
            return "found"
        if not clone.build():
            return "does not compile"
        return {"passed": "SURVIVED", "failed": "found", "hung": "found (hung)"}[clone.test(room)]
    finally:
        clone.restore()


class Campaign:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.lock = options, threading.Lock()
        self.source = mutants.sample(mutants.ROOT, options.n, random.Random(options.seed), options.only)
        self.outcomes: list[tuple[mutants.Mutant, str]] = []
        self.end = time.monotonic() + 60 * options.minutes

    def next(self) -> Iterator[mutants.Mutant]:
        while time.monotonic() < self.end:
            with self.lock:
                judged = sum(result != "does not compile" for _, result in self.outcomes)
                mutant = next(self.source, None)
            if mutant is None or judged >= self.options.n:
                return
            yield mutant

    def work(self, number: int) -> None:
        clone = Clone(self.options.work / str(number), self.options.python)
        for mutant in self.next():
            result = outcome(clone, mutant)
            with self.lock:
                self.outcomes.append((mutant, result))
                print(f"{len(self.outcomes):4} {result:17} {mutant}", flush=True)

    def report(self) -> None:
        counts = Counter(result for _, result in self.outcomes)
        judged = len(self.outcomes) - counts["does not compile"]
        print(f"\n{judged} mutants: {dict(counts)}")
        for mutant, result in self.outcomes:
            if result == "SURVIVED":
                print(mutant)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="a folder for the clones, emptied first")
    parser.add_argument("--n", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a part of the path")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    campaign = Campaign(options)
    workers = [threading.Thread(target=campaign.work, args=(number,)) for number in range(options.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    campaign.report()


if __name__ == "__main__":
    main()
