"""Contenders take turns; what counts is the ratio within a round."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.spark.session import Cost, cost

Contenders = dict[str, Callable[[], Any]]


class Table:
    """Runs contenders in turn, and prints a line for each."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self._is_begun = False

    def race(
        self,
        title: str,
        contenders: Contenders,
        *,
        rows: int = 0,
        least: dict[str, float] | None = None,
        more: tuple[int, ...] = (),
        less: Contenders | None = None,
    ) -> None:
        """Time the contenders, the first of which is the reference.

        `least` says by contender what is wanted of the ratio of CPU seconds: the reference's over the contender's.
        """
        self._print(title, self.turns(contenders, more, less), rows, least or {})

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

    def _print(self, title: str, costs: dict[str, list[Cost]], rows: int, least: dict[str, float]) -> None:
        reference = next(iter(costs.values()))
        for name, found in costs.items():
            of_rounds = _over_rounds(reference, found)
            best, of_bests = _least(found), _over_least(reference, found)
            rate = f"{rows / best.cpu / 1e6:.2f}" if rows else ""
            bound = least.get(name)
            is_met = bound is None or max(of_rounds.cpu, of_bests.cpu) >= bound
            wanted = "" if bound is None else f">= {bound:g}{'' if is_met else ' MISS'}"
            ratios = (f"{value:.2f}" for value in (*of_rounds, *of_bests))
            self._line(title, name, f"{best.wall:.2f}", f"{best.cpu:.2f}", rate, *ratios, wanted)
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


def _least(costs: list[Cost]) -> Cost:
    return Cost(min(one.wall for one in costs), min(one.cpu for one in costs))


def _over_least(reference: list[Cost], found: list[Cost]) -> Cost:
    before, after = _least(reference), _least(found)
    return Cost(before.wall / after.wall, before.cpu / after.cpu)


_OF_RATIOS = ("wall x", "CPU x", "best wall", "best CPU")
_HEADINGS = ("what", "contender", "wall s", "CPU s", "M rows/CPU s", *_OF_RATIOS, "wanted")
_SIDES = ("<30", "<24", ">7", ">7", ">12", ">7", ">7", ">9", ">9", ">12")
