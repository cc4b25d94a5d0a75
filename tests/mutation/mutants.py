"""Small mistakes that somebody could have made in a .pyx file or a header, each in one line."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

# name, what is looked for in a line, what stands there instead
SWAPS = [
    ("compare", r" < ", " <= "),
    ("compare", r" <= ", " < "),
    ("compare", r" > ", " >= "),
    ("compare", r" >= ", " > "),
    ("compare", r" == ", " != "),
    ("compare", r" != ", " == "),
    ("arithmetic", r" \+ ", " - "),
    ("arithmetic", r" - ", " + "),
    ("arithmetic", r" \+= ", " -= "),
    ("logic", r" and ", " or "),
    ("logic", r" or ", " and "),
    ("logic", r" && ", " || "),
    ("logic", r" \|\| ", " && "),
    ("logic", r"\bnot (?!in\b)", ""),
    ("logic", r"\(!(?=\w)", "("),
    ("truth", r"\bTrue\b", "False"),
    ("truth", r"\bFalse\b", "True"),
    ("extreme", r"\bmin\(", "max("),
    ("extreme", r"\bmax\(", "min("),
]
NUMBER = re.compile(r"(?<!except -)(?<![\w.\"'{%#])(\d{1,4})(?![\w.\"'}])")
# statements that can go: an assignment to what is declared elsewhere, or a call
PYX_STATEMENT = re.compile(
    r"^(\s+)(?!return|raise|yield|cdef|del|assert|from|import|global)[\w.\[\]&*()]+( [-+|&]?= .+|\(.*\))$"
)
C_STATEMENT = re.compile(
    r"^(\s+)(?!return|static|for|goto|typedef|const )[\w.>\[\]*-]+(?:->)?[\w.\[\]]*( [-+|&^]?= [^{]+;|\(.*\);|\+\+;)$"
)
PYX_RETURN = re.compile(r"^(\s+(?:if .*: )?)return (?!0$|None$|False$|RP_OK$|$)(.+)$")
C_RETURN = re.compile(r"^(\s+(?:if \(.*\) )?)return (?!0;|RP_OK;)(.+);$")


SKIPPED = re.compile(
    r"^\s*(@|from |import |cimport |cdef extern|enum|typedef|#|X\()|[\"]|NO_MEMORY|MemoryError|_prefetch"
)


@dataclass(frozen=True)
class Mutant:
    path: Path  # from the project's root
    line: int  # from 1
    operator: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.operator}\n  - {self.before.strip()}\n  + {self.after.strip()}"

    def apply(self, root: Path) -> bool:
        """Whether the file still has the line."""
        file = root / self.path
        lines = file.read_text().splitlines(keepends=True) if file.exists() else []
        if [line.rstrip("\n") for line in lines[self.line - 1 : self.line]] != [self.before]:
            return False
        lines[self.line - 1] = self.after + "\n"
        file.write_text("".join(lines))
        return True


def sources(root: Path) -> list[Path]:
    found = [*(root / "src").glob("**/*.pyx"), *(root / "include").glob("**/*.h")]
    return sorted(path.relative_to(root) for path in found if path.name != "arrow_c_data.h")


def mutants_of(root: Path, path: Path) -> list[Mutant]:
    text = (root / path).read_text()
    code = _code_lines(text, path.suffix)
    found = []
    for number, line, bare in code:
        operators = _pyx_changes(bare) if path.suffix == ".pyx" else _c_changes(bare)
        found += [Mutant(path, number, name, line, after) for name, after in [*_swaps(bare), *operators]]
    return found


def sample(root: Path, count: int, rng: random.Random, only: str) -> Iterator[Mutant]:
    """Mutants from all over the sources: one of each `count`-th part of them, in random order, then another one of
    each, without end: some do not compile."""
    found = [mutant for path in sources(root) if only in str(path) for mutant in mutants_of(root, path)]
    parts = [found[len(found) * number // count : len(found) * (number + 1) // count] for number in range(count)]
    for part in parts:
        rng.shuffle(part)
    rng.shuffle(parts)
    while any(parts):
        yield from (part.pop() for part in parts if part)


def _code_lines(text: str, suffix: str) -> list[tuple[int, str, str]]:
    """Number, line and code: no comments, docstrings, imports or tables of text, and nothing about a lack of memory."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])  # noqa: E731
    comments = r'"""(?:.|\n)*?"""|(?<=\s)#.*' if suffix == ".pyx" else r"/\*(?:.|\n)*?\*/"
    found, in_import = [], False
    lines = zip(text.split("\n"), re.sub(comments, blank, text).split("\n"), strict=True)
    for number, (line, code) in enumerate(lines, 1):
        bare = code.strip()
        in_import = in_import or bool(re.match(r"(from|import|cimport) .*\($", bare))
        skipped = in_import or SKIPPED.search(code)
        in_import = in_import and not bare.endswith(")")
        if bare and not skipped:
            found.append((number, line, code.rstrip()))
    return found


def _swaps(line: str) -> Iterator[tuple[str, str]]:
    for name, pattern, instead in SWAPS:
        for match in re.finditer(pattern, line):
            yield name, line[: match.start()] + instead + line[match.end() :]
    for match in NUMBER.finditer(line):
        yield "number", line[: match.start()] + str(int(match[1]) + 1) + line[match.end() :]


def _pyx_changes(line: str) -> Iterator[tuple[str, str]]:
    if line.count("(") == line.count(")"):
        if match := PYX_STATEMENT.match(line):
            yield "remove", match[1] + "pass"
        if match := PYX_RETURN.match(line):
            yield "return", match[1] + "return 0"


def _c_changes(line: str) -> Iterator[tuple[str, str]]:
    if match := C_STATEMENT.match(line):
        yield "remove", match[1] + ";"
    if match := C_RETURN.match(line):
        yield "return", match[1] + "return 0;"
