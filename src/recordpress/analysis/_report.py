"""Analysis as one HTML file that opens offline, without scripts, fonts or external pictures; light and dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from recordpress.analysis._analysis import Analysis, Cell
from recordpress.analysis.html import WIDTH, page, svg, table, text

HEIGHT = 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 110, 20, 50
_TICKS = 5
_LINE, _CHARACTER = 13, 7  # pixels of a text of 12 pixels


class _Axis(NamedTuple):
    """Logarithmic scale from the least value to the greatest, in pixels."""

    least: float
    most: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = math.log(value / self.least) / math.log(self.most / self.least)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        step = math.log(self.most / self.least) / (_TICKS - 1)
        return [self.least * math.exp(step * number) for number in range(_TICKS)]


def html_of(found: Analysis) -> str:
    """Return the report.

    Parameters
    ----------
    found : Analysis

    Returns
    -------
    str

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.analysis import html_of
    >>> html_of(recordpress.analyze("demo/logs/sessions-0", "none/zstd,3")).startswith("<!DOCTYPE html>")
    True
    """
    parts = [
        "<h1>Compression analysis</h1>",
        f"<p>{escape(_summary(found))}</p>",
        "<h2>Recommended settings</h2>",
        f"<pre>{escape(chr(10).join(found.recommendation['lines']))}</pre>",
        *(f"<p>{escape(words)}</p>" for words in [_dictionary(found)] if words),
        *(f"<p>{escape(warning)}</p>" for warning in found.recommendation["warnings"]),
        "<h2>Stored today and as recommended</h2>",
        _bars(found),
        "<h2>Ratio against speed</h2>",
        _scatter(found.cells),
        "<h2>Ratio by depth</h2>",
        _by_depth(found),
        "<h2>All figures</h2>",
        _table(found.cells),
        f"<p>{escape(', '.join(f'{name} {version}' for name, version in found.versions.items()))}</p>",
    ]
    return page("recordpress analyze", parts)


def _summary(found: Analysis) -> str:
    sample = found.sample
    return (
        f"A sample of {sample['records']:,} records ({sample['bytes']:,} bytes uncompressed, "
        f"{100 * sample['coverage']:.1f} % of all, seed {sample['seed']}) was written by each codec and read back. "
        f"Batches hold {found.baseline['mean_batch_records']:.1f} records today."
    )


def _dictionary(found: Analysis) -> str:
    """Return the section on the dictionary."""
    advice = found.recommendation["dictionary"]
    return f"{advice['summary'].capitalize()}." if advice else ""


def _label(cell: Cell) -> str:
    return cell.compression_type if cell.level is None else f"{cell.compression_type} {cell.level}"


# ---- plots


def _axes(values: Sequence[tuple[float, float]], below: str, left: str) -> tuple[_Axis, _Axis, list[str]]:
    xs, ys = ([point[number] for point in values] for number in (0, 1))
    across = _Axis(min(xs) * 0.9, max(xs) * 1.1, _LEFT, WIDTH - _RIGHT)
    up = _Axis(min(ys) * 0.95, max(ys) * 1.05, HEIGHT - _BOTTOM, _TOP)
    parts = []
    for value in across.ticks():
        x = across.at(value)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{HEIGHT - _BOTTOM}" class="grid"/>')
        parts.append(text(x, HEIGHT - _BOTTOM + 18, _short(value), "faint", "middle"))
    for value in up.ticks():
        y = up.at(value)
        parts.append(f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>')
        parts.append(text(_LEFT - 8, y + 4, _short(value), "faint", "end"))
    parts.append(text((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 10, below, "", "middle"))
    parts.append(text(_LEFT, 12, left))
    return across, up, parts


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _scatter(cells: Sequence[Cell]) -> str:
    """Draw each cell; the least depth has its own color, and the Pareto fronts are lines."""
    across, up, parts = _axes(
        [(cell.speed.compress_mb_s, cell.ratio) for cell in cells], "MB/s to compress, one thread", "ratio"
    )
    labels, points = _Labels(), []
    for depth in sorted({cell.depth for cell in cells}):
        row = [cell for cell in cells if cell.depth == depth]
        kind = "one" if depth == 1 else "two"
        front = sorted((cell for cell in row if cell.is_best), key=lambda cell: cell.speed.compress_mb_s)
        parts.append(_path([(across.at(cell.speed.compress_mb_s), up.at(cell.ratio)) for cell in front], kind))
        for cell in row:
            x, y = across.at(cell.speed.compress_mb_s), up.at(cell.ratio)
            points.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{4 if cell.is_best else 3}" class="{kind}"/>')
            labels.add(x, y, f"{_label(cell)}, {depth:g}x", kind)
    return svg(HEIGHT, "ratio against compression speed of all cells", parts + labels.parts + points)


class _Labels:
    """Place texts next to points, or above or below if another text is in the way."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._taken: list[tuple[float, float, float]] = []  # left, right, baseline

    def add(self, x: float, y: float, words: str, kind: str) -> None:
        left, right = x + 7, x + 7 + _CHARACTER * len(words)
        shifts = sorted((step * _LINE for step in range(-12, 13)), key=lambda shift: (abs(shift), -shift))
        places = [y + 4 + shift for shift in shifts if _TOP + 4 < y + 4 + shift < HEIGHT - _BOTTOM]
        base = next((place for place in places if self._is_free(left, right, place)), y + 4)
        self._taken.append((left, right, base))
        if base != y + 4:
            self.parts.append(_path([(x, y), (left - 1, base - 4)], f"{kind} leader"))
        self.parts.append(text(left, base, words, kind))

    def _is_free(self, left: float, right: float, base: float) -> bool:
        return all(
            right <= other_left or left >= other_right or abs(base - other) >= _LINE
            for other_left, other_right, other in self._taken
        )


def _path(points: Sequence[tuple[float, float]], kind: str) -> str:
    steps = " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f'<path d="M{steps}" class="{kind}" style="fill: none"/>'


def _by_depth(found: Analysis) -> str:
    """Return the recommended codec with batches of other depths."""
    advice = found.recommendation
    points = [(float(one["depth"]), float(one["ratio"])) for one in advice["by_depth"]]
    across, up, parts = _axes(
        points, "records per batch, as a multiple of today's", f"ratio of {advice['compression_type']}"
    )
    places = [(across.at(x), up.at(y)) for x, y in points]
    parts.append(_path(places, "one"))
    for (x, y), (depth, ratio) in zip(places, points, strict=True):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" class="one"/>')
        parts.append(text(x + 7, y + 14, f"{depth:g}x: {ratio:.2f}", "one"))
    return svg(HEIGHT, "ratio by depth", parts)


def _bars(found: Analysis) -> str:
    """Return a bar chart of bytes per record."""
    today = float(found.baseline["bytes_per_record"])
    advised = today * (1 - found.recommendation["saves"]["share"])
    longest = WIDTH - _LEFT - _RIGHT - 60
    parts = []
    for number, (name, value, kind) in enumerate((("today", today, "one"), ("advised", advised, "two"))):
        y, width = 8 + 40 * number, longest * value / max(today, advised)
        parts.append(text(_LEFT - 8, y + 20, name, "", "end"))
        parts.append(f'<rect x="{_LEFT}" y="{y}" width="{width:.1f}" height="30" class="{kind}"/>')
        parts.append(text(_LEFT + width + 8, y + 20, f"{value:.1f} bytes per record"))
    return svg(90, "bytes per record today and as recommended", parts)


def _table(cells: Sequence[Cell]) -> str:
    names = ("codec", "depth", "records per batch", "ratio", "bytes per record", "compress MB/s", "decompress MB/s")
    rows = [
        (
            _label(cell) + (" *" if cell.is_best else ""),
            f"{cell.depth:g}x",
            "varies" if cell.batch_records is None else f"{cell.batch_records:,}",
            f"{cell.ratio:.2f}",
            f"{cell.bytes_per_record:.1f}",
            f"{cell.speed.compress_mb_s:,.0f}",
            f"{cell.speed.decompress_mb_s:,.0f}",
        )
        for cell in cells
    ]
    return f"{table(names, rows)}\n<p>* on the Pareto front of its depth</p>"
