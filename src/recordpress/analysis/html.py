"""Elements of reports: a page that opens offline, without scripts, fonts or external pictures, in light and dark.

The demo's page also uses these elements. Plots are drawn here, not by a plotting library: matplotlib brings eleven
packages (174 MB), fixes the colors of its SVG, and scales the text of a plot with the window.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

__all__ = ["CHARACTER", "LogAxis", "Plot", "figures", "page", "percent", "plot", "settings", "size", "table"]

CHARACTER = 7.4  # pixels: width of a wide letter in a 12-pixel label
_LINE = 14
_FARTHEST = 7  # maximum lines between a point and its label
_WIDE, _NARROW = 760, 356  # pixels: a plot is drawn for both widths, so that its text keeps its size
_CHOSEN = ' class="chosen"'
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")

_STYLE = """\
:root { color-scheme: light dark; --text: #1b1b1b; --ground: #ffffff; --faint: #666666; --line: #d9d9d9;
  --card: #f4f6f8; --one: #0b5cad; --two: #a63d00; }
@media (prefers-color-scheme: dark) {
  :root { --text: #ececec; --ground: #161616; --faint: #a6a6a6; --line: #3b3b3b; --card: #212325; --one: #6cb6ff;
    --two: #ff9e5e; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--ground); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: .2rem 0 .6rem; } h2 { margin: 2.4rem 0 .4rem; }
p { max-width: 44rem; }
.kicker, .note, figcaption { color: var(--faint); font-size: .875rem; } .kicker { margin: 0; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .8rem; margin: 1.4rem 0; }
.figures div { background: var(--card); border-radius: .5rem; padding: .7rem .9rem; }
.figures dt { color: var(--faint); font-size: .875rem; } .figures dd { margin: 0; }
.figures .value { font-size: 1.4rem; font-weight: 600; line-height: 1.3; }
figure { margin: .8rem 0; } svg { display: block; width: 100%; height: auto; } svg.narrow { max-width: 34rem; }
@media (min-width: 792px) { svg.narrow { display: none; } } @media (max-width: 791.98px) { svg.wide { display: none; } }
svg text { font-size: 12px; fill: var(--text); } svg .faint { fill: var(--faint); } svg .grid { stroke: var(--line); }
svg path { fill: none; stroke-width: 1.5; } svg path.thin { stroke-width: .6; } svg .bold { font-weight: 600; }
svg .ring { fill: none; stroke: var(--text); stroke-width: 1.5; }
.one { fill: var(--one); stroke: var(--one); } .two { fill: var(--two); stroke: var(--two); }
svg text.one, svg text.two { stroke: var(--ground); stroke-width: 3px; paint-order: stroke; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } th, td { padding: .2rem .9rem .2rem 0;
  text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--faint); font-weight: 500; } th:first-child, td:first-child { text-align: left; }
tr.chosen td { font-weight: 600; } .facts td { text-align: left; white-space: normal; overflow-wrap: anywhere; }
@media (max-width: 791.98px) { th, td { white-space: normal; padding-right: .4rem; vertical-align: top; }
  table { font-size: .75rem; } .facts { font-size: .875rem; } }
.facts td:first-child { color: var(--faint); white-space: nowrap; vertical-align: top; }
pre { background: var(--card); border-radius: .5rem; padding: .7rem 1rem; } .scroll, pre { overflow-x: auto; }
"""


def page(title: str, parts: Iterable[str]) -> str:
    """Return one HTML file with the given parts of HTML."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>\n{_STYLE}</style>\n</head>\n<body>\n{chr(10).join(parts)}\n</body>\n</html>\n"
    )


def figures(cards: Iterable[tuple[str, str, str]]) -> str:
    """Return the main figures as cards of name, value and note. A unit such as MB/s is not split between lines."""
    shown = "\n".join(
        f'<div><dt>{escape(name)}</dt><dd class="value">{escape(value)}</dd><dd class="note">{escape(note)}</dd></div>'
        for name, value, note in ((name, value.replace("/", "/\N{WORD JOINER}"), note) for name, value, note in cards)
    )
    return f'<dl class="figures">\n{shown}\n</dl>'


def table(names: Iterable[str], rows: Iterable[Sequence[str]], chosen: int | None = None) -> str:
    """Return a table, which scrolls horizontally in a narrow window; the `chosen` row is emphasized."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "\n".join(
        f"<tr{_CHOSEN if number == chosen else ''}>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
        for number, row in enumerate(rows)
    )
    return f'<div class="scroll"><table>\n<tr>{head}</tr>\n{body}\n</table></div>'


def settings(facts: Mapping[str, str]) -> str:
    """Return a table of names and facts, one per line."""
    rows = "\n".join(f"<tr><td>{escape(name)}</td><td>{escape(fact)}</td></tr>" for name, fact in facts.items())
    return f'<table class="facts">\n{rows}\n</table>'


def size(number: float, space: str = "\N{NO-BREAK SPACE}") -> str:
    """Return a size in bytes as text: ``0 B``, ``4.2 MiB``. By default, it is not split between lines."""
    power = 0
    while abs(number) >= 1024 and power < len(_UNITS) - 1:
        number /= 1024
        power += 1
    return f"{number:.{1 if power else 0}f}{space}{_UNITS[power]}"


def percent(share: float, digits: int = 1, sign: str = "-") -> str:
    """Return a share as text: ``12.5 %``; with ``sign="+"``, ``+12.5 %``."""
    return f"{100 * share:{sign}.{digits}f}\N{NO-BREAK SPACE}%"


# ---- plots


def plot(height: float, what: str, caption: str, draw: Callable[[Plot], object]) -> str:
    """Return a plot, drawn for wide and for narrow windows; `what` describes it for screen readers."""
    drawn = []
    for kind, width in (("wide", _WIDE), ("narrow", _NARROW)):
        canvas = Plot(width, height)
        draw(canvas)
        content = "\n".join(canvas.parts)
        drawn.append(
            f'<svg class="{kind}" viewBox="0 0 {width} {canvas.height:.0f}" role="img" aria-label="{escape(what)}">'
            f"\n{content}\n</svg>"
        )
    note = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f"<figure>{''.join(drawn)}{note}</figure>"


class Plot:
    """Area of a plot, and labels that do not cover each other."""

    def __init__(self, width: int, height: float) -> None:
        self.width, self.height = width, height
        self.parts: list[str] = []
        self._taken: list[tuple[float, float, float, float]] = []  # left, top, right, bottom

    @property
    def is_narrow(self) -> bool:
        return self.width == _NARROW

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str = "grid") -> None:
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>')

    def bar(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}" class="{kind}" '
            'style="stroke: none"/>'
        )

    def path(self, points: Sequence[tuple[float, float]], kind: str, *, is_free: bool = True) -> None:
        """Draw connected lines; keep labels away from them unless `is_free`."""
        for (x1, y1), (x2, y2) in pairwise(points) if not is_free else ():
            steps = max(int(math.hypot(x2 - x1, y2 - y1) / 4), 1)
            for step in range(steps + 1):
                x, y = x1 + (x2 - x1) * step / steps, y1 + (y2 - y1) * step / steps
                self.occupy(x - 2, y - 2, x + 2, y + 2)
        through = " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.parts.append(f'<path d="M{through}" class="{kind}" style="fill: none"/>')

    def point(self, x: float, y: float, radius: float, kind: str) -> None:
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{kind}"/>')

    def write(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> None:
        """Write text; `kind` is a class of the style: faint, bold, one, two."""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>')

    def legend(self, names: Sequence[tuple[str, str]], x: float, y: float) -> None:
        """Write names next to dots of their color."""
        for name, kind in names:
            self.point(x + 5, y - 4, 5, kind)
            self.write(x + 15, y, name)
            x += 25 + CHARACTER * len(name)

    def occupy(self, left: float, top: float, right: float, bottom: float) -> None:
        """Keep labels away from a rectangle."""
        self._taken.append((left, top, right, bottom))

    def label(self, x: float, y: float, words: str, kind: str, area: tuple[float, float, float, float]) -> None:
        """Label a point inside an area, if there is room near the point."""
        wide = CHARACTER * len(words)
        for distance in range(_FARTHEST):
            for shift in sorted({distance * _LINE, -distance * _LINE}):
                for left in (x + 8, x - 8 - wide):
                    box = (left, y + shift - _LINE / 2, left + wide, y + shift + _LINE / 2)
                    if self._is_free(box, area):
                        self._taken.append(box)
                        if distance:
                            self.path([(x, y), (left - 1 if left > x else left + wide + 1, y + shift)], f"{kind} thin")
                        self.write(left, y + shift + 4, words, kind)
                        return

    def _is_free(self, box: tuple[float, float, float, float], area: tuple[float, float, float, float]) -> bool:
        left, top, right, bottom = box
        if left < area[0] or top < area[1] or right > area[2] or bottom > area[3]:
            return False
        return all(
            right <= other_left or left >= other_right or bottom <= other_top or top >= other_bottom
            for other_left, other_top, other_right, other_bottom in self._taken
        )


@dataclass(frozen=True)
class LogAxis:
    """Logarithmic axis that maps a range of values to pixels, with ticks at round numbers."""

    least: float
    most: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = math.log(value / self.least) / math.log(self.most / self.least)
        return self.start + share * (self.end - self.start)

    def ticks(self, limit: int) -> list[float]:
        """Return up to `limit` round numbers, in steps of decades if possible."""
        found: list[float] = []
        for steps in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)):
            denser = self._multiples(steps)
            if len(denser) > limit:
                break
            found = denser
        return found if self.most >= 10 * self.least else max(found, self._even_ticks(limit), key=len)

    def _multiples(self, steps: Sequence[float]) -> list[float]:
        powers = range(math.floor(math.log10(self.least)), math.ceil(math.log10(self.most)) + 1)
        values = [step * 10.0**power for power in powers for step in steps]
        return [value for value in values if self.least <= value <= self.most]

    def _even_ticks(self, limit: int) -> list[float]:
        """Return multiples of a round step."""
        power = math.floor(math.log10((self.most - self.least) / limit))
        for step in (factor * 10.0**exponent for exponent in (power, power + 1) for factor in (1, 2, 2.5, 5)):
            first, last = math.ceil(self.least / step), math.floor(self.most / step)
            if last - first < limit:
                return [number * step for number in range(first, last + 1) if number]
        return []
