"""Tables for notebooks: escaped, and bounded in rows and characters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

MOST_ROWS = 20  # a screen of a notebook
_MOST_CHARACTERS = 80  # of a value; chosen, not measured
_MOST_OF_TEXT = 300  # of our own texts and of paths, which are read whole


def html_table(caption: str, names: Sequence[str], rows: Iterable[Sequence[object]], count: int) -> str:
    """Return a table of the first rows, for ``_repr_html_``; the caption states `count` if there are more rows."""
    shown = [_line("td", row) for row in islice(rows, MOST_ROWS)]
    more = f"; the first {len(shown)} of {count:,}" if count > len(shown) else ""
    return f"<table><caption>{_cell(caption)}{more}</caption>{_line('th', names)}{''.join(shown)}</table>"


def _line(kind: str, cells: Iterable[object]) -> str:
    return f"<tr>{''.join(f'<{kind}>{_cell(cell)}</{kind}>' for cell in cells)}</tr>"


def _cell(value: object) -> str:
    if isinstance(value, bytes):
        value = value[:_MOST_CHARACTERS]
    text = "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
    most = _MOST_OF_TEXT if isinstance(value, str) else _MOST_CHARACTERS
    return escape(text if len(text) <= most else f"{text[: most - 1]}…")
