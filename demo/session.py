"""The README's session with the command line: recorded, or compared with what the commands print now.

    python demo/session.py            compare
    python demo/session.py --write    record

Sizes of compressed data and times depend on the machine and on the versions of the codec libraries: times are not
compared, and numbers with a point may differ by a few percent.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent
README = HERE.parent / "README.md"
BLOCK = re.compile(r"(?<=```console\n).*?(?=```\n)", re.DOTALL)
PLACE = "demo"  # where a reader of the README has the logs
WIDTH = 128
TOLERANCE = 0.05

COMMANDS = (
    "recordpress stats demo/logs --topic access-log",
    "recordpress explain demo/logs/access-log-0 --topic-config compression.type=lz4",
)


def main() -> int:
    parser = argparse.ArgumentParser(description="The README's session: compare it with what is printed now.")
    parser.add_argument("--write", action="store_true", help="record it in the README")
    options = parser.parse_args()
    text = README.read_text(encoding="utf-8")
    recorded, printed = BLOCK.findall(text)[0], session()
    if options.write:
        README.write_text(BLOCK.sub(lambda _: printed, text, count=1), encoding="utf-8")
        return 0
    if is_same(recorded, printed):
        return 0
    sys.stdout.writelines(difflib.unified_diff(recorded.splitlines(True), printed.splitlines(True), "README", "now"))
    print("the README's session differs from the commands' output: python demo/session.py --write", file=sys.stderr)
    return 1


def session() -> str:
    """Return the commands and their output."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(os.path.realpath(directory))
        shutil.copytree(HERE / "logs", place / "logs", ignore=shutil.ignore_patterns("*.md"))
        return "\n".join(f"$ {command}\n{output_of(command, place)}" for command in COMMANDS)


def output_of(command: str, place: Path) -> str:
    program = [sys.executable, "-m", "recordpress"]
    arguments = shlex.split(command.replace(PLACE, str(place)))[1:]
    done = subprocess.run([*program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = done.stdout.replace(str(place), PLACE).splitlines()
    return "".join(f"{one}\n" for line in lines for one in wrapped(line))


def wrapped(line: str) -> list[str]:
    """Wrap a long line as a terminal does."""
    if len(line) <= WIDTH:
        return [line]
    return textwrap.wrap(line, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def is_same(recorded: str, printed: str) -> bool:
    """Return whether two texts are the same, except for spaces, times, and a few percent in numbers with a point."""
    before, now = (re.sub(r"[\d.]+\s+(µs|ms|s)\b", "TIME", text).split() for text in (recorded, printed))
    return len(before) == len(now) and all(map(is_same_word, before, now))


def is_same_word(recorded: str, printed: str) -> bool:
    if recorded == printed:
        return True
    if not ("." in recorded and "." in printed):
        return False
    try:
        before, now = float(recorded), float(printed)
    except ValueError:
        return False
    return abs(before - now) <= TOLERANCE * max(abs(before), abs(now), 1.0)


if __name__ == "__main__":
    sys.exit(main())
