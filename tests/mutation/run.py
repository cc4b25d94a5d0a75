"""Does a test fail for each small mistake? Mutants of every .pyx file and header against the tests.

    run.py --work /tmp/mutants --n 60 --seed 1 [--only record] [--jobs 2] [--minutes 40]

Works in its own clones and prints a table: which mutants `make test` finds, which only the slow tests of
`make test-all` find, and which no test finds. A mutant that does not compile is replaced by another one.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import mutants

# A run of tests hangs if it takes more than this many times the CPU time of the same tests without a mutant, or if it
# uses no CPU for so many seconds. The pace of the machine changes neither.
TIMES_THE_USUAL, IDLE_SECONDS = 5, 300
NOT_JUDGED = ("does not compile", "DOES NOT APPLY")
QUICK = "not slow and not spark and not memory"  # `make test`, without Spark: a JVM for each mutant takes too long
SLOW = "slow and not spark and not memory"
# The first that matches a path: the C tests and the fuzz targets that need no build of the modules, and the room.
ROOMS: list[tuple[str, str, str, str]] = [
    ("snappy.h", "snappy", "snappy snappy_encode", "tests/codecs/test_snappy.py tests/codecs"),
    ("lz4_header", "lz4", "lz4_header", "tests/codecs/test_lz4.py tests/codecs"),
    ("deflate_cut", "", "deflate_cut", "tests/producer"),
    ("crc", "crc32c", "crc32c", "tests/test_checksum.py"),
    ("pool.h", "pool", "pool", "tests/hostile/test_leaks.py tests/codecs"),
    ("atomics", "thread", "", "tests/hostile/test_leaks.py tests/columns"),
    ("threads.h", "thread", "", "tests/columns"),
    ("columns.h", "wire", "columns", "tests/columns"),
    ("utf8", "utf8", "utf8", "tests/record tests/columns"),
    ("json.h", "", "json", "tests/columns tests/log/dump/test_dump.py"),
    ("status.h", "", "record", "tests/test_errors.py tests/hostile tests/record tests/codecs"),
    ("batch_header", "wire", "batch_header", "tests/record tests/columns tests/hostile/test_lying_fields.py"),
    ("record.h", "wire", "record", "tests/record tests/columns tests/hostile/test_lying_fields.py"),
    ("include/", "wire", "cursor", "tests/record tests/columns tests/hostile/test_lying_fields.py"),
    ("codecs/", "", "", "tests/codecs tests/test_arguments.py tests/hostile"),
    ("record/", "", "", "tests/record tests/test_arguments.py tests/hostile tests/compat tests/properties"),
    ("columns/", "", "", "tests/columns tests/test_arguments.py tests/hostile tests/properties"),
    ("log/", "", "", "tests/log"),
    ("broker/", "", "", "tests/broker"),
    ("producer/", "", "", "tests/producer"),
    ("adapters/", "", "", "tests/adapters"),
    ("checksum", "", "", "tests/test_checksum.py tests/test_arguments.py"),
    ("_arguments", "", "", "tests/test_arguments.py tests/record tests/codecs"),
    ("", "", "", "tests/test_errors.py tests/test_arguments.py tests/hostile tests/record tests/codecs"),
]


class Clone:
    """A checkout with a build, which is put back after every mutant."""

    def __init__(self, folder: Path, python: str) -> None:
        self.root, self.pristine, self.python = folder / "clone", folder / "pristine", python
        self.environment = os.environ | {"CFLAGS": "-O0 -g0", "RECORDPRESS_VECTORS": ""}
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)  # pytest rewrites each test file once
        self._usual: dict[tuple[str, str], float] = {}
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run(["git", "clone", "-q", mutants.ROOT, self.root], check=True)
        self._copy_build()
        if not self.build():
            raise SystemExit("the project itself does not compile")
        shutil.copytree(self.root, self.pristine, symlinks=True)

    def _copy_build(self) -> None:
        """Take what the project has compiled, file by file in order of age: only what a mutant changes is compiled."""
        if subprocess.run(["git", "diff", "--quiet", "HEAD"], cwd=mutants.ROOT).returncode:
            raise SystemExit("commit your changes first: the clones are made from the last commit")
        subprocess.run([self.python, "setup.py", "-q", "build_ext", "--inplace"], cwd=mutants.ROOT, check=True)
        built = [*(mutants.ROOT / "build").rglob("*.[co]"), *(mutants.ROOT / "src").rglob("*.so")]
        for source in sorted(built, key=lambda path: path.stat().st_mtime_ns):
            target = self.root / source.relative_to(mutants.ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)

    def build(self) -> bool:
        command = [self.python, "setup.py", "-q", "build_ext", "--inplace"]
        return subprocess.run(command, cwd=self.root, env=self.environment, capture_output=True).returncode == 0

    def usual(self, arguments: str, marks: str) -> float:
        """CPU seconds of these tests without a mutant, whichever comes first. They pass."""
        names = arguments.split()
        arguments = " ".join(name for name in names if not any(name.startswith(f"{other}/") for other in names))
        if (arguments, marks) not in self._usual:
            result, first, seconds = self._run(self.pristine, arguments, marks, None)
            if result != "passed":
                raise SystemExit(f"{arguments}: {result} without a mutant: {first}")
            self._usual[arguments, marks] = seconds
        return self._usual[arguments, marks]

    def test(self, arguments: str, marks: str) -> tuple[str, str]:
        """ "passed", "failed" or "hung", and the first test that failed."""
        limit = int(TIMES_THE_USUAL * self.usual(arguments, marks)) + 30
        return self._run(self.root, arguments, marks, limit)[:2]

    def _run(self, root: Path, arguments: str, marks: str, limit: int | None) -> tuple[str, str, float]:
        command = [self.python, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", marks, *arguments.split()]
        limited = lambda: limit and resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))  # noqa: E731
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen(
                command,
                cwd=root,
                env=self.environment | {"PYTHONPATH": f"{root}/src"},
                stdout=out,
                stderr=out,
                preexec_fn=limited,
            )
            ended = threading.Event()
            watch = threading.Thread(target=_kill_if_idle, args=(process.pid, ended))
            watch.start()
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            ended.set()
            watch.join()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            said = out.read().decode(errors="replace")
        # 0 all passed, 5 none was there, -9 idle, -24 out of CPU time
        result = {0: "passed", 5: "passed", -9: "hung", -24: "hung"}.get(process.returncode, "failed")
        first = re.search(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)
        return result, first[1] if first else said[-300:].strip().replace("\n", " "), usage.ru_utime + usage.ru_stime

    def restore(self) -> None:
        for source in self.pristine.rglob("*"):
            if source.is_file() and not source.is_symlink() and not {".git", "__pycache__"} & {*source.parts}:
                target = self.root / source.relative_to(self.pristine)
                if not target.exists() or target.stat().st_mtime_ns != source.stat().st_mtime_ns:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(source, target)


def _kill_if_idle(pid: int, ended: threading.Event) -> None:
    """End a process that waits without end. It is not collected before `ended`, so its number stays its own."""
    before, since = -1, time.monotonic()
    while not ended.wait(1):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        used = sum(map(int, fields[11:15]))  # its own time and that of the children it waited for
        if used != before:
            before, since = used, time.monotonic()
        elif time.monotonic() > since + IDLE_SECONDS:
            os.kill(pid, 9)
            return


def stages(path: Path) -> Iterator[tuple[str, str, str]]:
    """The tests that judge a mutant, the quickest first: what finds it, their names, their marks."""
    _, native, targets, room = next(row for row in ROOMS if row[0] in str(path))
    named = f"test_*{path.stem.strip('_')}*.py"
    first = sorted({test for place in room.split() for test in (mutants.ROOT / place).glob(named)})
    room = " ".join([*(str(test.relative_to(mutants.ROOT)) for test in first), room])
    yield "make test", room, QUICK
    yield "make test", "tests", QUICK
    if native:
        yield "make test-all", f"tests/native -k {native}", SLOW
    for target in targets.split():
        yield "make test-all", f"tests/fuzz/test_corpus.py::test_target_takes_every_input[{target}]", SLOW
    yield "make test-all", room, SLOW


def outcome(clone: Clone, mutant: mutants.Mutant) -> tuple[str, str]:
    """What finds a mutant, and the first test that does."""
    try:
        if not mutant.apply(clone.root):
            return "DOES NOT APPLY", ""
        if not clone.build():
            return "does not compile", ""
        for name, tests, marks in stages(mutant.path):
            result, first = clone.test(tests, marks)
            if result != "passed":
                return name, first if result == "failed" else f"{tests} hung"
        return "SURVIVED", ""
    finally:
        clone.restore()


class Campaign:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.lock = options, threading.Lock()
        self.source = mutants.sample(mutants.ROOT, options.n, random.Random(options.seed), options.only)
        self.outcomes: list[tuple[mutants.Mutant, str, str]] = []
        self.end = time.monotonic() + 60 * options.minutes

    def next(self) -> Iterator[mutants.Mutant]:
        while time.monotonic() < self.end:
            with self.lock:
                judged = sum(result not in NOT_JUDGED for _, result, _ in self.outcomes)
                mutant = next(self.source, None)
            if mutant is None or judged >= self.options.n:
                return
            yield mutant

    def work(self, number: int) -> None:
        try:
            self._work(number)
        except SystemExit as error:  # which a thread would end with in silence
            print(error, file=sys.stderr, flush=True)
            os._exit(1)

    def _work(self, number: int) -> None:
        clone = Clone(self.options.work / str(number), self.options.python)
        for mutant in self.next():
            result, first = outcome(clone, mutant)
            with self.lock:
                self.outcomes.append((mutant, result, first))
                print(f"{len(self.outcomes):4} {result:16} {mutant}\n  by {first}", flush=True)

    def report(self) -> None:
        counts = Counter(result for _, result, _ in self.outcomes)
        print(f"\n{sum(counts.values()) - sum(counts[name] for name in NOT_JUDGED)} mutants: {dict(counts)}\n")
        print("| mutant | change | found by | first test |\n| --- | --- | --- | --- |")
        for mutant, result, first in sorted(self.outcomes, key=lambda row: (row[1], str(row[0].path))):
            print(f"| {mutant.path}:{mutant.line} | {mutant.operator} | {result} | {first} |")


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
