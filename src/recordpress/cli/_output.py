"""Output on stdout: tables, JSON and bytes, with readable units."""

from __future__ import annotations

import codecs
import errno
import json
import os
import posixpath
import re
import sys
from collections.abc import Iterable, Sequence
from io import BufferedWriter, RawIOBase, TextIOWrapper
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

if TYPE_CHECKING:
    from typing_extensions import Buffer

_WIDEST = 60  # characters, at most, of a column before the last in a table of records; chosen
_LEAST = 8  # characters of the last column: if fewer remain, each row becomes a block of lines
_WIDE = 10_000  # for a table that is not on a terminal: nothing is folded or cut
# Characters that move a terminal's cursor, change its state, or reorder or hide text: controls except tab and newline,
# bidirectional controls and invisible characters.
_CONTROL = re.compile(
    "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]|\r(?!\n)"
)


def print_json(result: object) -> None:
    """Print one JSON object. Its text is complete before any of it is written."""
    write((json.dumps(result, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape"))


def write(data: bytes | memoryview) -> None:
    """Write bytes unchanged, except for control characters on a terminal."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


class _Terminal(RawIOBase):
    """A terminal to which control characters are written as JSON escapes, ``\\u001b``."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._decoder = codecs.getincrementaldecoder(stream.encoding)("backslashreplace")

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.stream.fileno()

    def write(self, data: Buffer) -> int:
        self.write_plain(_CONTROL.sub(_escape, self._decoder.decode(bytes(data))))
        return len(memoryview(data).cast("B"))

    def write_plain(self, text: str) -> None:
        """Write a text including its control characters."""
        self.stream.buffer.write(text.encode(self.stream.encoding, "backslashreplace"))
        self.stream.buffer.flush()


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def write_plain(text: str, stream: TextIO) -> None:
    """Write our own text, whose control characters a terminal interprets."""
    stream.flush()
    raw = _raw(stream)
    raw.write_plain(text) if isinstance(raw, _Terminal) else stream.write(text)


def _raw(stream: TextIO) -> object:
    return getattr(getattr(stream, "buffer", None), "raw", None)


def _on_terminal(stream: TextIO) -> TextIO:
    if not stream.isatty() or isinstance(_raw(stream), _Terminal):
        return stream
    return TextIOWrapper(BufferedWriter(_Terminal(stream)), stream.encoding, stream.errors, "", line_buffering=True)


def prepare_streams() -> None:
    """Escape control characters on a terminal, and handle streams that are closed (``>&-``), for which Python has
    None, or that have no buffer: with ``PYTHONUNBUFFERED``, a write may accept only a part of its data, and on a full
    disk the rest would be lost without an error.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - it stays open
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")
    stdout = sys.stdout
    if isinstance(getattr(stdout, "buffer", None), RawIOBase):
        sys.stdout = open(  # noqa: SIM115 - it stays open
            stdout.fileno(), "w", encoding=stdout.encoding, errors=stdout.errors, closefd=False
        )
    sys.stdout, sys.stderr = _on_terminal(sys.stdout), _on_terminal(sys.stderr)


def write_out() -> None:
    """Flush all output."""
    if sys.stdout is not None:
        sys.stdout.flush()
        os.close(os.dup(1))  # NFS reports a failed write only when the file is closed


def note(message: str) -> None:
    """Print text that is not part of the result."""
    sys.stdout.flush()  # keeps the order if both go to one terminal
    say(message, sys.stderr)


def say(text: object = "", file: TextIO | None = None) -> None:
    """Print a message. On a terminal, its lines are wrapped at words, and paths longer than a line are shortened."""
    stream = file or sys.stdout
    if not stream.isatty():
        print(text, file=stream)
        return
    for line in str(text).split("\n"):
        print("\n".join(_wrapped(line, _terminal_width())), file=stream)


def say_finding(finding: object, file: TextIO | None = None) -> None:
    """Print a finding; on a terminal its place is bold, and its rule or a loss is red."""
    stream, text = file or sys.stdout, shown(finding)
    if not _has_styles(stream):
        say(text, stream)
        return
    text = "\n".join(_wrapped(text, _terminal_width()))
    text = re.sub(r"\A(?!lost:)[^\s:]+", lambda place: _bold(place[0]), text)
    write_plain(re.sub(r"\Alost: .+|\([^()]+\)\Z", "\x1b[1;31m\\g<0>\x1b[0m", text) + "\n", stream)


def _wrapped(line: str, width: int) -> list[str]:
    from textwrap import wrap

    indent = " " * (len(line) - len(line.lstrip()) + 4)
    line = re.sub(r"\S*/\S*", lambda path: _shortened(path[0], width - len(indent)), line)
    return wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]


class _Column(NamedTuple):
    name: str
    is_number: bool
    is_path: bool
    cells: list[str]

    def width(self, folded: bool = False) -> int:
        """Return the width of the widest cell or of the header; if `folded`, of the header's longest word."""
        return max(map(_cells, [*(self.words() if folded else [self.name]), *self.cells]), default=0)

    def words(self) -> list[str]:
        """Return the words of the header; the slash in bytes/record separates words, the slash in MB/s does not."""
        return re.sub(r"(?<=\w{3}/)(?=\w{3})", " ", self.name).split()

    def header(self, width: int) -> list[str]:
        from textwrap import wrap

        if _cells(self.name) <= width:
            return [self.name]
        return wrap(" ".join(self.words()), max(width, 1), break_long_words=False, break_on_hyphens=False)

    def aligned(self, cell: str, width: int) -> str:
        space = " " * (width - _cells(cell))
        return space + cell if self.is_number else cell + space


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "") -> None:
    """Print aligned columns: ``>name`` has numbers, which are aligned right, and ``/name`` has paths.

    On a terminal that is too narrow, columns that have one value move above the table, headers are wrapped, paths are
    shortened in the middle, and at last each row becomes a block of lines.
    """
    cells = [[shown(cell) for cell in row] for row in rows]
    table = [
        _Column(name.lstrip(">/"), name.startswith(">"), name.startswith("/"), [row[number] for row in cells])
        for number, name in enumerate(columns)
    ]
    line = _terminal_width() if sys.stdout.isatty() else _WIDE
    above, header, body = _laid_out(table, line)
    text = [*map(_bold, [title] if title else []), *above, *map(_bold, header), *body]
    write_plain("".join(f"{one.rstrip()}\n" for one in text), sys.stdout)


def _laid_out(table: list[_Column], line: int) -> tuple[list[str], list[str], list[str]]:
    """Return the lines above a table, the lines of its header, and the lines of its rows."""
    if (all_of_it := _aligned(table, line)) is not None:
        return [], *all_of_it
    if len(table) == 2 and not table[1].is_number:
        return [], *_pairs(table, line)
    constant = [one for one in table[1:] if one.name and len(one.cells) > 1 and len({*one.cells}) == 1]
    stated = [one for one in constant if one.cells[0]]
    names, cells = [one.name for one in stated], [one.cells[0] for one in stated]
    above = _block(["", *names], ["in each row:", *cells], line) if stated else []
    varying = [one for one in table if one not in constant]
    for folded, gap, shortens in ((False, 2, False), (True, 2, False), (True, 2, True), (True, 1, True)):
        if (fitting := _aligned(varying, line, folded, gap, shortens)) is not None:
            return above, *fitting
    names = [one.name for one in varying]
    shortened = (
        [_shortened(cell, line - len(one.name) - 3) for cell in one.cells] if one.is_path else one.cells
        for one in varying
    )
    blocks = [_block(names, row, line) for row in zip(*shortened, strict=True)]
    return above, [], [text for block in blocks for text in block]


def _aligned(
    table: list[_Column], line: int, folded: bool = False, gap: int = 2, shortens: bool = False
) -> tuple[list[str], list[str]] | None:
    """Return header and rows, one line each, with paths as short as needed; None if they do not fit."""
    widths = [one.width(folded) for one in table]
    excess = sum(widths) + gap * (len(widths) - 1) - line
    for number, one in enumerate(table):
        if shortens and excess > 0 and one.is_path:
            least = max((len(_end(cell)) + 1 for cell in one.cells), default=0)
            shorter = max(widths[number] - excess, least, len(one.name))
            excess -= widths[number] - shorter
            widths[number] = shorter
    if excess > 0:
        return None
    headers = [one.header(width) for one, width in zip(table, widths, strict=True)]
    height = max(map(len, headers))
    rows = zip(*([""] * (height - len(lines)) + lines for lines in headers), strict=True)
    body = zip(*(one.cells for one in table), strict=True)
    return tuple(  # type: ignore[return-value]
        [
            (" " * gap).join(
                one.aligned(_shortened(cell, width), width) for one, cell, width in zip(table, row, widths, strict=True)
            )
            for row in part
        ]
        for part in (rows, body)
    )


def _pairs(table: list[_Column], line: int) -> tuple[list[str], list[str]]:
    """Return names with their wrapped texts next to them."""
    width = table[0].width()
    rows = zip(*(one.cells for one in table), strict=True)
    lines = [_wrapped(f"{name:{width}}  {text}", line) for name, text in rows]
    return [f"{table[0].name:{width}}  {table[1].name}"], [text for row in lines for text in row]


def _block(names: Sequence[str], cells: Sequence[str], line: int) -> list[str]:
    """Return one row as pairs of name and value, on as many lines as it takes."""
    lines = [""]
    for name, cell in zip(names, cells, strict=True):
        pair = f"{name} {cell}" if name and cell else cell
        if lines[-1] and _cells(lines[-1]) + 3 + _cells(pair) > line:
            lines += [f"  {text}" for text in _wrapped(pair, line - 2)]
        elif pair:
            lines[-1] += f"   {pair}" if lines[-1] else pair
    return lines


def _shortened(text: str, width: int) -> str:
    """Cut a path in the middle if it is wider than `width`."""
    if _cells(text) <= width:
        return text
    tail = 2 * (width - 1) // 3
    if len(_end(text)) < width:
        tail = max(len(_end(text)), tail)
    return f"{text[: width - 1 - tail]}…{text[-tail:]}"


def _end(path: str) -> str:
    """Return the name at the end of a path; for a file of a partition, also the name of its directory."""
    directory, _, name = path.rpartition("/")
    return f"/{posixpath.basename(directory)}/{name}" if name[:1].isdigit() else f"/{name}"


def _bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if _has_styles(sys.stdout) else text


def _has_styles(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _cells(text: str) -> int:
    """Return the number of columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(one) else 1 + (east_asian_width(one) in "WF") for one in text)


class StreamTable:
    """Aligned table for rows that arrive a few at a time: columns grow but never shrink, and the last column takes
    the rest of a terminal's line."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._names = [name.removeprefix(">") for name in columns]
        self._is_number = [name.startswith(">") for name in columns]
        self._widths = [len(name) for name in self._names]
        self._is_begun = False
        self._line = _terminal_width() if sys.stdout.isatty() else _WIDE

    def print(self, rows: Iterable[Sequence[str]]) -> None:
        """Print rows; if they are the first, print the header before them."""
        cells = [[shown(cell) for cell in row] for row in rows]
        for row in cells:
            self._widths = [max(width, min(len(cell), _WIDEST)) for width, cell in zip(self._widths, row, strict=True)]
        if sum(self._widths[:-1]) + 2 * len(self._widths) + _LEAST > self._line:
            sys.stdout.write("".join(self._blocks(row) for row in cells))
            return
        if not self._is_begun:
            cells.insert(0, self._names)
            self._is_begun = True
        sys.stdout.write("".join(self._text(row) for row in cells))

    def _blocks(self, row: Sequence[str]) -> str:
        cells = [cut(cell, self._line - len(name) - 3) for name, cell in zip(self._names, row, strict=True)]
        return "".join(f"{text}\n" for text in _block(self._names, cells, self._line))

    def _text(self, row: Sequence[str]) -> str:
        parts = [
            cut(cell, width).rjust(width) if is_number else cut(cell, width).ljust(width)
            for cell, width, is_number in zip(row[:-1], self._widths, self._is_number, strict=False)
        ]
        used = sum(self._widths[:-1]) + 2 * len(parts)
        last = row[-1].rjust(self._widths[-1]) if self._is_number[-1] else row[-1]
        return "  ".join([*parts, cut(last, max(self._line - used, _LEAST))]).rstrip() + "\n"


def _terminal_width() -> int:
    from shutil import get_terminal_size

    return get_terminal_size().columns


def cut(text: str, width: int) -> str:
    """Shorten a text to `width` characters."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def shown(value: Any) -> str:
    """Return a cell's text, without control characters that would affect the terminal."""
    if value is None:
        return "-"
    text = str(value)
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def size(number: float | None) -> str:
    """Return bytes as text: ``0 B``, ``4.2 MiB``."""
    from recordpress.analysis import html

    return "-" if number is None else html.size(number, " ")


def count(number: int | None) -> str:
    """Return a number as text: ``12,345``."""
    return "-" if number is None else f"{number:,}"


def percent(change: int, of: int) -> str:
    """Return a change as text: ``-12.5 %``."""
    return f"{100 * change / of:+.1f} %" if of else "-"


def duration(seconds: float) -> str:
    """Return a duration as text: ``50 ms``, ``3.2 s``, ``12 min 30 s``, ``2 h 5 min``."""
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds) // 60
    return f"{minutes} min {round(seconds) % 60} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def moment(milliseconds: int | None, timespec: str = "milliseconds") -> str:
    """Return a timestamp in UTC, in a form that options accept."""
    from datetime import UTC, datetime, timedelta

    if milliseconds is None or milliseconds < 0:
        return "-"
    try:
        time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return str(milliseconds)
    return time.isoformat(timespec=timespec).replace("+00:00", "Z")
