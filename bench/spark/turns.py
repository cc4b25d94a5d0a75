"""Contenders that take turns; the ratio within a round counts."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bench.spark.session import Cost, cost

Contenders = dict[str, Callable[[], Any]]


class Asked(NamedTuple):
    """A target: how many times as good a contender must be as another one.

    It is judged by the median of the rounds' ratios, never by the best of them.
    """

    contender: str
    over: str
    what: str  # "wall" or "cpu"
    least: float


class Table:
    """Runs contenders in turn, prints a line for each, and what is asked of them."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.missed: list[str] = []
        self._is_begun = False

    def race(
        self,
        title: str,
        contenders: Contenders,
        *,
        rows: int = 0,
        asked: Iterable[Asked] = (),
        more: tuple[int, ...] = (),
        less: Contenders | None = None,
    ) -> None:
        """Time the contenders, the first of which is the reference of the lines; a target names its own."""
        costs = self.turns(contenders, more, less)
        self._print(title, costs, rows)
        for one in asked:
            ratio = getattr(_over_rounds(costs[one.over], costs[one.contender]), one.what)
            self.judge(f"{title}: {_TIMES[one.what]}, {one.contender} over {one.over}", ratio, least=one.least)

    def turns(
        self, contenders: Contenders, more: tuple[int, ...] = (), less: Contenders | None = None
    ) -> dict[str, list[Cost]]:
        """The costs of each contender, one per round; before the first there is one that is not counted.

        `less` has for each contender what its fixed cost is: it is measured in the same round and taken off. `more` are
        other processes that work for them.
        """
        costs: dict[str, list[Cost]] = {name: [] for name in contenders}
        for number in range(self.rounds + 1):
            for name, work in contenders.items():
                found = cost(work, more)
                if less is not None:
                    fixed = cost(less[name], more)
                    found = Cost(found.wall - fixed.wall, found.cpu - fixed.cpu)
                if number:
                    costs[name].append(found)
        return costs

    def judge(self, title: str, figure: float, *, least: float | None = None, most: float | None = None) -> None:
        """Print a figure beside what is asked of it."""
        is_met = (least is None or figure >= least) and (most is None or figure <= most)
        bound = f">= {least:g}" if most is None else f"<= {most:g}"
        print(f"    {'met ' if is_met else 'MISS'}  {title}: {figure:.2f} (asked: {bound})", flush=True)
        if not is_met:
            self.missed.append(title)

    def _print(self, title: str, costs: dict[str, list[Cost]], rows: int) -> None:
        reference = next(iter(costs.values()))
        for name, found in costs.items():
            best = _least(found)
            rate = f"{rows / best.cpu / 1e6:.2f}" if rows else ""
            ratios = (f"{value:.2f}" for value in (*_over_rounds(reference, found), *_over_least(reference, found)))
            self._line(title, name, f"{best.wall:.2f}", f"{best.cpu:.2f}", rate, *ratios)
            title = ""

    def _line(self, *cells: str) -> None:
        if not self._is_begun:
            self._is_begun = True
            self._line(*_HEADINGS)
        line = " ".join(f"{cell:{side}}" for cell, side in zip(cells, _SIDES, strict=True))
        print(line.rstrip(), flush=True)

    def note(self, title: str, text: str) -> None:
        """One figure, in words."""
        print(f"{title:{_SIDES[0]}} {text}", flush=True)


@dataclass(frozen=True)
class Bench:
    """What a measurement is given."""

    spark: Any
    table: Table
    root: Path
    batches: int
    segments: int
    records: str

    @contextmanager
    def directory(self) -> Iterator[Path]:
        """A place for a measurement's data, until it ends."""
        with tempfile.TemporaryDirectory(dir=self.root) as name:
            yield Path(name)


def _over_rounds(reference: list[Cost], found: list[Cost]) -> Cost:
    """The median of the rounds' ratios."""
    pairs = list(zip(reference, found, strict=True))
    walls = statistics.median(before.wall / one.wall for before, one in pairs)
    return Cost(walls, statistics.median(before.cpu / one.cpu for before, one in pairs))


def median_cpu(costs: list[Cost]) -> float:
    """The CPU seconds of the round in the middle."""
    return statistics.median(one.cpu for one in costs)


def _least(costs: list[Cost]) -> Cost:
    return Cost(min(one.wall for one in costs), min(one.cpu for one in costs))


def _over_least(reference: list[Cost], found: list[Cost]) -> Cost:
    before, after = _least(reference), _least(found)
    return Cost(before.wall / after.wall, before.cpu / after.cpu)


_TIMES = {"wall": "rows per second", "cpu": "rows per CPU second"}
_OF_RATIOS = ("wall x", "CPU x", "best wall", "best CPU")
_HEADINGS = ("what", "contender", "wall s", "CPU s", "M rows/CPU s", *_OF_RATIOS)
_SIDES = ("<30", "<24", ">7", ">7", ">12", ">7", ">7", ">9", ">9")
