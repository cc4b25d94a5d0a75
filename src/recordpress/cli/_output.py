"""Output on stdout: tables, JSON and bytes, with readable units."""

from __future__ import annotations

import codecs
import errno
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from io import BufferedWriter, RawIOBase, TextIOWrapper
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from typing_extensions import Buffer

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_WIDEST = 60  # characters of a column of a table of records that is not the last
_WIDE = 10_000  # for a table that is not on a terminal: nothing is folded or cut
# What moves a terminal's cursor, changes its state, or reorders or hides text: controls except tabs and ends of lines,
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
    """A terminal that gets the control characters of a text as JSON's escapes, ``\\u001b``."""

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
        """Write a text with its control characters."""
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
    """Escape control characters on a terminal, and repair streams that may be closed (``>&-``), which Python has as
    None, or without a buffer: with ``PYTHONUNBUFFERED`` a write may take a part of what it is given, and on a full disk
    the rest would be missing without an error.
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
        os.close(os.dup(1))  # NFS says only when a file is closed what could not be written


def note(message: str) -> None:
    """Print text that is not part of the result."""
    sys.stdout.flush()  # where both go to one terminal, in order
    print(message, file=sys.stderr)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "") -> None:
    """Print aligned columns, with numbers to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    is_terminal = sys.stdout.isatty()
    bold = "" if os.environ.get("NO_COLOR") else "bold"  # rich takes colours alone away
    console = Console(file=sys.stdout, width=None if is_terminal else _WIDE, highlight=False, soft_wrap=False)
    table = Table(box=None, pad_edge=False, header_style=bold, padding=(0, 2, 0, 0))
    for name in columns:
        is_number = name.startswith(">")
        table.add_column(
            name.removeprefix(">"),
            justify="right" if is_number else "left",
            no_wrap=is_number or not is_terminal,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(shown(cell)) for cell in row))
    with console.capture() as captured:
        if title:
            console.print(Text(title, style=bold))
        console.print(table)
    write_plain("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()), sys.stdout)


class StreamTable:
    """Aligned table for rows that arrive a few at a time: columns grow but never shrink, and the last one takes the
    rest of a terminal's line."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._names = [name.removeprefix(">") for name in columns]
        self._is_number = [name.startswith(">") for name in columns]
        self._widths = [len(name) for name in self._names]
        self._is_begun = False
        self._line = _terminal_width() if sys.stdout.isatty() else _WIDE

    def print(self, rows: Iterable[Sequence[str]]) -> None:
        """Print these rows, after the header if they are the first."""
        cells = [[shown(cell) for cell in row] for row in rows]
        if not self._is_begun:
            cells.insert(0, self._names)
            self._is_begun = True
        for row in cells:
            self._widths = [max(width, min(len(cell), _WIDEST)) for width, cell in zip(self._widths, row, strict=True)]
        sys.stdout.write("".join(self._text(row) for row in cells))

    def _text(self, row: Sequence[str]) -> str:
        parts = [
            cut(cell, width).rjust(width) if is_number else cut(cell, width).ljust(width)
            for cell, width, is_number in zip(row[:-1], self._widths, self._is_number, strict=False)
        ]
        used = sum(self._widths[:-1]) + 2 * len(parts)
        last = row[-1].rjust(self._widths[-1]) if self._is_number[-1] else row[-1]
        return "  ".join([*parts, cut(last, max(self._line - used, 8))]).rstrip() + "\n"


def _terminal_width() -> int:
    from shutil import get_terminal_size

    return get_terminal_size().columns


def cut(text: str, width: int) -> str:
    """Shorten a text to this many characters."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def shown(value: Any) -> str:
    """Return a cell's text, without control characters that would affect the terminal."""
    if value is None:
        return "-"
    text = str(value)
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def size(number: float | None) -> str:
    """Return bytes as text: ``0 B``, ``4.2 MiB``."""
    if number is None:
        return "-"
    power = 0
    while abs(number) >= 1024 and power < len(_UNITS) - 1:
        number /= 1024
        power += 1
    return f"{number:.0f} B" if power == 0 else f"{number:.1f} {_UNITS[power]}"


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
