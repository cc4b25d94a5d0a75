"""`make check`: print the tests of what changed since the last commit on the main branch.

    python -m build_support.changed_tests

A changed test stands for itself; a changed module for the test files that have its name, else for those of its folder.
"""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = Path("src/recordpress")


def main():
    print(*sorted({str(test) for path in changed() for test in tests_of(path)}), sep="\n")


def changed():
    """Return what differs from where this branch left origin/main, or from HEAD without such a branch."""
    base = git("merge-base", "HEAD", "origin/main") or ["HEAD"]
    return [Path(name) for name in git("diff", "--name-only", base[0]) + git("ls-files", "-o", "--exclude-standard")]


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else []


def tests_of(path):
    if path.parts[0] == "tests":
        return [path] if path.name.startswith("test_") and (ROOT / path).exists() else []
    if not path.is_relative_to(PACKAGE) or path.name.startswith("__init__"):
        return []
    room = Path("tests") / path.relative_to(PACKAGE).parts[0]
    folder = room if (ROOT / room).is_dir() else Path("tests")
    inner = [folder / one.name for one in (ROOT / PACKAGE / room.name).glob("*/")]  # log has rooms of its own
    tests = sorted(test for one in (folder, *inner) for test in (ROOT / one).glob("test_*.py"))
    named = [test for test in tests if test.match(f"test_*{path.stem.strip('_')}*.py")]
    return [test.relative_to(ROOT) for test in named or tests]


if __name__ == "__main__":
    main()
