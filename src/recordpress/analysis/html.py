"""Elements of reports: a page that opens offline, without scripts, fonts or external pictures; light and dark.

The page of the demo is made of them, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["WIDTH", "page", "svg", "table", "text"]

WIDTH = 720  # of a plot

_STYLE = """\
:root { color-scheme: light dark; --text: #1b1b1b; --ground: #ffffff; --faint: #767676; --line: #d9d9d9;
  --one: #0b5cad; --two: #a63d00; }
@media (prefers-color-scheme: dark) {
  :root { --text: #ececec; --ground: #161616; --faint: #9c9c9c; --line: #3b3b3b; --one: #6cb6ff; --two: #ff9e5e; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--ground); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
svg { width: 100%; height: auto; } svg text { font-size: 12px; fill: var(--text); }
svg .faint { fill: var(--faint); } svg .grid { stroke: var(--line); } svg path { fill: none; stroke-width: 1.5; }
svg path.leader { stroke-width: .6; }
.one { fill: var(--one); stroke: var(--one); } .two { fill: var(--two); stroke: var(--two); }
svg text.one, svg text.two { stroke: var(--ground); stroke-width: 3px; paint-order: stroke; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } th, td { padding: .1rem .8rem .1rem 0;
  text-align: right; border-bottom: 1px solid var(--line); } th:first-child, td:first-child { text-align: left; }
pre { border: 1px solid var(--line); padding: .6rem 1rem; } .scroll { overflow-x: auto; }
"""


def page(title: str, parts: Iterable[str]) -> str:
    """Return the parts, which are HTML, as one file."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>\n{_STYLE}</style>\n</head>\n<body>\n{chr(10).join(parts)}\n</body>\n</html>\n"
    )


def svg(height: float, what: str, parts: Sequence[str]) -> str:
    """Return a plot as wide as the page; `what` describes it."""
    content = "\n".join(parts)
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(what)}">\n{content}\n</svg>'


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Return text in a plot; `kind` is a class of the style: faint, one, two."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def table(names: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table, which scrolls horizontally in a narrow window."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "\n".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="scroll"><table>\n<tr>{head}</tr>\n{body}\n</table></div>'
