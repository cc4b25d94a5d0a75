"""What is printed: tables, JSON and bytes on stdout; units that people read."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterable, Sequence
from io import RawIOBase
from typing import Any

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_WIDEST = 60  # characters of a column of a table of records that is not the last
_WIDE = 10_000  # for a table that is not on a terminal: nothing is folded or cut


def print_json(result: object) -> None:
    """One JSON object. Its text is made before any of it is written."""
    write((json.dumps(result, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape"))


def write(data: bytes | memoryview) -> None:
    """Bytes as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


def prepare_streams() -> None:
    """Streams that may be closed (``>&-``), which Python has as None, or without a buffer: with ``PYTHONUNBUFFERED`` a
    write may take a part of what it is given, and on a full disk the rest would be missing without an error.

    Raises
    ------
    OSError
        stdout is closed.
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


def write_out() -> None:
    """Everything that was printed is written.

    Raises
    ------
    OSError
    """
    if sys.stdout is not None:
        sys.stdout.flush()
        os.close(os.dup(1))  # NFS says only when a file is closed what could not be written


def note(message: str) -> None:
    """Something that is not the result."""
    sys.stdout.flush()  # where both go to one terminal, in order
    print(message, file=sys.stderr)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "") -> None:
    """Aligned columns: numbers to the right.

    Parameters
    ----------
    columns : sequence of str
        Names; one that begins with ``>`` is right-aligned.
    rows : iterable of sequences
        Of what `str` turns into text.
    title : str
        A line above the table.
    """
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
    if title:
        console.print(Text(title, style=bold))
    with console.capture() as captured:
        console.print(table)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


class StreamTable:
    """Aligned columns of rows that come a few at a time.

    A column grows with what is in it, but never shrinks; the last one takes what is left of a terminal's line.

    Parameters
    ----------
    columns : sequence of str
        As `print_table` takes them.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self._names = [name.removeprefix(">") for name in columns]
        self._is_number = [name.startswith(">") for name in columns]
        self._widths = [len(name) for name in self._names]
        self._is_begun = False
        self._line = _terminal_width() if sys.stdout.isatty() else _WIDE

    def print(self, rows: Iterable[Sequence[str]]) -> None:
        """These rows, after the header if they are the first."""
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
    """Cut a text to this many characters."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def shown(value: Any) -> str:
    """A cell's text. Control characters in the data do not reach the terminal."""
    if value is None:
        return "-"
    text = str(value)
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def size(number: float | None) -> str:
    """Bytes: ``0 B``, ``4.2 MiB``."""
    if number is None:
        return "-"
    power = 0
    while abs(number) >= 1024 and power < len(_UNITS) - 1:
        number /= 1024
        power += 1
    return f"{number:.0f} B" if power == 0 else f"{number:.1f} {_UNITS[power]}"


def count(number: int | None) -> str:
    """``12,345``."""
    return "-" if number is None else f"{number:,}"


def percent(change: int, of: int) -> str:
    """How much something has changed: ``-12.5 %``."""
    return f"{100 * change / of:+.1f} %" if of else "-"


def duration(seconds: float) -> str:
    """``50 ms``, ``3.2 s``, ``12 min 30 s``, ``2 h 5 min``."""
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds) // 60
    return f"{minutes} min {round(seconds) % 60} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def moment(milliseconds: int | None, timespec: str = "milliseconds") -> str:
    """A timestamp in UTC, as it can be typed again."""
    from datetime import UTC, datetime, timedelta

    if milliseconds is None or milliseconds < 0:
        return "-"
    try:
        time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return str(milliseconds)
    return time.isoformat(timespec=timespec).replace("+00:00", "Z")
