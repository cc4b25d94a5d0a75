"""Plots of the page as SVG files, drawn as in reports, for wide and for narrow windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from recordpress.analysis import Cell, Simulation
from recordpress.analysis.html import LogAxis, Plot

FOLDER = Path(__file__).parents[1] / "docs" / "_static" / "origins"
_WIDTHS = {"wide": 760, "narrow": 356}
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 34, 40
_STYLE = """
svg { --text: #1b1b1b; --ground: #ffffff; --faint: #666666; --line: #d9d9d9; --one: #0b5cad; --two: #a63d00; }
@media (prefers-color-scheme: dark) { svg { --text: #ececec; --ground: #161616; --faint: #a6a6a6; --line: #3b3b3b;
  --one: #6cb6ff; --two: #ff9e5e; } }
text { font: 12px system-ui, sans-serif; fill: var(--text); } .faint { fill: var(--faint); }
.grid { stroke: var(--line); } path { stroke-width: 1.5; } path.thin { stroke-width: .6; } .bold { font-weight: 600; }
.one { fill: var(--one); stroke: var(--one); } .two { fill: var(--two); stroke: var(--two); }
.three { fill: var(--faint); stroke: var(--faint); }
text.one, text.two { stroke: var(--ground); stroke-width: 3px; paint-order: stroke; }
"""


def write(name: str, what: str, height: int, draw: Callable[[Plot], object]) -> str:
    """Write a plot for both widths; return the HTML that shows it."""
    FOLDER.mkdir(exist_ok=True)
    for kind, width in _WIDTHS.items():
        canvas = Plot(width, height)
        draw(canvas)
        content = "\n".join(canvas.parts)
        (FOLDER / f"{name}-{kind}.svg").write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}">\n<style>{_STYLE}</style>\n{content}\n</svg>\n'
        )
    return (
        f'<picture><source media="(max-width: 791.98px)" srcset="_static/origins/{name}-narrow.svg">\n'
        f'<img src="_static/origins/{name}-wide.svg" alt="{what}"></picture>'
    )


def ratio_and_speed(plot: Plot, cells: Sequence[Cell]) -> None:
    """Draw the ratio over the speed of compression, with a line per codec."""
    shown = [cell for cell in cells if cell.compression_type != "none"]
    area = (_LEFT, _TOP, plot.width - _RIGHT, plot.height - _BOTTOM)
    speeds = [cell.speed.compress_mb_s for cell in shown]
    across = LogAxis(min(speeds) / 1.4, max(speeds) * 1.4, area[0], area[2])
    least, most = min(cell.ratio for cell in shown) - 0.2, max(cell.ratio for cell in shown) + 0.2
    _grid(plot, area, across.ticks(6), across.at, least, most, "MB/s compressed, one thread")

    def place(cell: Cell) -> tuple[float, float]:
        height = area[3] - (cell.ratio - least) / (most - least) * (area[3] - area[1])
        return across.at(cell.speed.compress_mb_s), height

    kinds = {"zstd": "one", "gzip": "two", "lz4": "three", "snappy": "three"}
    for codec, kind in kinds.items():
        own = [cell for cell in shown if cell.compression_type == codec]
        plot.path([place(cell) for cell in own], f"{kind} thin", is_free=False)
        for cell in own:
            x, y = place(cell)
            plot.point(x, y, 3, kind)
            plot.occupy(x - 4, y - 4, x + 4, y + 4)
    for cell in shown:
        words = cell.compression_type if cell.level is None else f"{cell.compression_type} {cell.level}"
        if cell.level in (None, 1, 3, 6, 9, 19):
            plot.label(*place(cell), words, "", area)
    plot.write(area[0], 16, "ratio", "faint")


def speed_by_level(plot: Plot, cells: Sequence[Cell]) -> None:
    """Draw both speeds of zstd over its levels."""
    shown = [cell for cell in cells if cell.compression_type == "zstd"]
    area = (_LEFT, _TOP, plot.width - _RIGHT, plot.height - _BOTTOM)
    both = [speed for cell in shown for speed in (cell.speed.compress_mb_s, cell.speed.decompress_mb_s)]
    upward = LogAxis(min(both) / 1.4, max(both) * 1.4, area[3], area[1])
    levels = [cell.level or 0 for cell in shown]

    def across(level: float) -> float:
        return area[0] + (level - levels[0]) / (levels[-1] - levels[0]) * (area[2] - area[0])

    for tick in upward.ticks(5):
        plot.line(area[0], upward.at(tick), area[2], upward.at(tick))
        plot.write(area[0] - 6, upward.at(tick) + 4, f"{tick:g}", "faint", "end")
    for level in (1, 5, 10, 15, 22):
        plot.write(across(level), area[3] + 16, str(level), "faint", "end" if level == levels[-1] else "middle")
    plot.write(area[2], area[3] + 32, "level of zstd", "faint", "end")
    for kind, speeds in (
        ("one", [cell.speed.compress_mb_s for cell in shown]),
        ("two", [cell.speed.decompress_mb_s for cell in shown]),
    ):
        plot.path([(across(level), upward.at(speed)) for level, speed in zip(levels, speeds, strict=True)], kind)
    plot.legend((("compress MB/s", "one"), ("decompress MB/s", "two")), area[0], 18)


def fills(plot: Plot, streams: Mapping[str, Simulation]) -> None:
    """Draw how full the batches of each policy are, by stream."""
    kinds = {"damped": "three", "kip-126": "two", "uncompressed": "faint", "packed": "one"}
    left = 118
    y = 14.0
    for name, found in streams.items():
        plot.write(0, y + 10, name, "bold")
        for policy in found.policies:
            length = min(policy.fill, 1.2) * (plot.width - left - 130)
            y += 18
            plot.write(0, y + 10, policy.name)
            plot.bar(left, y, length, 12, kinds[policy.name])
            splits = f", {policy.splits} splits" if policy.splits else ""
            plot.write(left + length + 6, y + 10, f"{100 * policy.fill:.0f} %{splits}")
        y += 26


def _grid(
    plot: Plot,
    area: tuple[float, float, float, float],
    ticks: Sequence[float],
    at: Callable[[float], float],
    least: float,
    most: float,
    name: str,
) -> None:
    for tick in ticks:
        plot.line(at(tick), area[1], at(tick), area[3])
        plot.write(at(tick), area[3] + 16, f"{tick:g}", "faint", "middle")
    for tick in range(int(least) + 1, int(most) + 1):
        y = area[3] - (tick - least) / (most - least) * (area[3] - area[1])
        plot.line(area[0], y, area[2], y)
        plot.write(area[0] - 6, y + 4, str(tick), "faint", "end")
    plot.write(area[2], area[3] + 32, name, "faint", "end")
