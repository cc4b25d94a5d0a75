"""What is printed: tables, JSON and bytes on stdout; units that people read."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_WIDE = 10_000  # for a table that is no terminal's: nothing is folded or cut


def print_json(result: object) -> None:
    """One JSON object. Its text is made before any of it is written."""
    write((json.dumps(result, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape"))


def write(data: bytes) -> None:
    """Bytes as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


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
    console = Console(file=sys.stdout, width=None if is_terminal else _WIDE, highlight=False, soft_wrap=False)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
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
        console.print(Text(title, style="bold"))
    with console.capture() as captured:
        console.print(table)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def shown(value: Any) -> str:
    """A cell's text. Control characters of whatever was read do not reach the terminal."""
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


def moment(milliseconds: int | None) -> str:
    """A timestamp in UTC, as it can be typed again."""
    from datetime import UTC, datetime, timedelta

    if milliseconds is None or milliseconds < 0:
        return "-"
    try:
        time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return str(milliseconds)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
