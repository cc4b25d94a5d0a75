"""Java's .properties files, such as a broker's server.properties, as java.util.Properties.load reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recordpress.errors import InvalidArgumentError

_BLANK = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED = re.compile(r"\\(u.{0,4}|.)", re.DOTALL)
_PAIR = re.compile(r"(?P<name>(?:\\.|[^\\ \t\f=:])*)[ \t\f]*[=:]?[ \t\f]*(?P<value>.*)", re.DOTALL)


def read_properties(text: str, file: str | None = None) -> dict[str, str]:
    r"""Return names and values; the last value counts if a name occurs more than once."""
    found: dict[str, str] = {}
    for number, line in _logical_lines(text):
        match = _PAIR.fullmatch(line)
        if match:  # every line does
            name, value = (_unescaped(part, number, file) for part in match.group("name", "value"))
            found[name] = value
    return found


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines without comments; a line that ends with an odd number of backslashes continues in the next line."""
    lines = enumerate(re.split("\r\n|\r|\n", text), 1)
    for number, line in lines:
        line = line.lstrip(_BLANK)
        if not line or line[0] in "#!":
            continue
        while (len(line) - len(line.rstrip("\\"))) % 2:
            line = line[:-1] + next(lines, (0, ""))[1].lstrip(_BLANK)
        yield number, line


def _unescaped(text: str, number: int, file: str | None) -> str:
    def one(match: re.Match[str]) -> str:
        escape = match[1]
        if escape[0] != "u":
            return _ESCAPES.get(escape, escape)
        if not re.fullmatch("u[0-9A-Fa-f]{4}", escape):
            raise InvalidArgumentError(f"line {number}: \\u needs four hexadecimal digits", file=file, field="config")
        return chr(int(escape[1:], 16))

    return _ESCAPED.sub(one, text)
