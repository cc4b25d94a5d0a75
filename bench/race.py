"""Contenders timed in turns: one round visits every rival and then kpress, so that a ratio compares neighbours.

Machines are noisy over minutes and quiet over milliseconds. A ratio is therefore taken within each round, and its
median over the rounds is what the report shows.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

ROUNDS = 7
SLOT = 0.015  # seconds that a contender's turn lasts at least, where one call is shorter


@dataclass(frozen=True)
class Cell:
    """What is measured: one line of the report.

    `records` and `size` (bytes of keys and values, or of the payload) are what one call works on; `unit` names the
    records if they are something else.
    """

    operation: str
    set: str
    codec: str = "-"
    records: int = 1
    size: int = 0
    unit: str = "records"


@dataclass
class Contender:
    """One way to do the work.

    `call` does it once; its result is kept alive during the next call, as by a caller that uses it. `check` raises if
    the answer is wrong, and runs before anything is timed. `timer` gives the seconds of n calls where Python must
    not stand between them. A slow peer asks for fewer `rounds`.
    """

    name: str
    call: Callable[[], object]
    check: Callable[[], None] | None = None
    timer: Callable[[int], float] | None = None
    rounds: int = ROUNDS
    calls: int = 1

    def seconds(self) -> float:
        """Of one turn."""
        if self.timer:
            return self.timer(self.calls)
        call, turns = self.call, range(self.calls)
        start = time.perf_counter()
        for _ in turns:
            result = call()
        stop = time.perf_counter()
        del result
        return stop - start

    def calibrate(self) -> None:
        """Find how many calls make a turn."""
        while (took := self.seconds()) < SLOT:
            self.calls = int(self.calls * min(10, 1.2 * SLOT / max(took, 1e-7))) + 1

    def turn(self) -> float:
        """Seconds a call, after one call that is not counted: the caches are this contender's own."""
        self.call()
        return self.seconds() / self.calls


def race(benchmark, cell: Cell, ours: Callable[[], object], *rivals: Contender, check: Callable[[], None],
         **measures: float) -> None:
    """Check every answer, then time `ours` and the rivals in turns and leave the result with pytest-benchmark.

    Parameters
    ----------
    benchmark
        The fixture of pytest-benchmark. Its timed function is a turn of `ours`; the rivals' turns are its setup.
        Where it is disabled (a smoke run), every contender is called and checked once.
    ours, check
        The call of kpress and what raises if its answer is wrong.
    **measures
        Further numbers for the report, by the names that targets.py uses.
    """
    us = Contender("kpress", ours, check)
    for contender in [us, *rivals]:
        if contender.check:
            contender.check()
        else:
            contender.call()
    benchmark.group = cell.operation
    seconds: dict[str, list[float]] = {rival.name: [] for rival in rivals}
    benchmark.extra_info.update(cell=asdict(cell), seconds=seconds, measures=measures)
    if benchmark.disabled:
        benchmark.pedantic(ours)
        return
    for contender in [us, *rivals]:
        contender.calibrate()

    def rivals_turns() -> None:
        for rival in rivals:
            if len(seconds[rival.name]) < rival.rounds:
                seconds[rival.name].append(rival.turn())
        us.call()

    benchmark.pedantic(us.seconds, setup=rivals_turns, rounds=ROUNDS)
    seconds["kpress"] = [turn / us.calls for turn in benchmark.stats.stats.data]
