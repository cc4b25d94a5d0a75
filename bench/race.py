"""Contenders timed in turns: a round runs every rival and then recordpress, so that a ratio compares adjacent runs.

Machines are noisy over minutes and quiet over milliseconds. A ratio is therefore taken within each round, and its
median over the rounds is what the report shows.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass

Clock = Callable[[], float]

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
    the answer is wrong, and runs before anything is timed. `loop` does it n times where Python must not stand
    between the calls. `elsewhere` gives the seconds of n calls in another process, by the clock of that name. A slow
    peer asks for fewer `rounds`.
    """

    name: str
    call: Callable[[], object]
    check: Callable[[], None] | None = None
    loop: Callable[[int], object] | None = None
    elsewhere: Callable[[int, str], float] | None = None
    rounds: int = ROUNDS
    calls: int = 1

    def repeat(self) -> None:
        """As many calls as make a turn."""
        if self.loop:
            self.loop(self.calls)
            return
        call = self.call
        for _ in range(self.calls):
            result = call()
        del result

    def seconds(self, clock: Clock) -> float:
        if self.elsewhere:
            return self.elsewhere(self.calls, clock.__name__)
        start = clock()
        self.repeat()
        return clock() - start

    def calibrate(self, clock: Clock) -> None:
        """Find how many calls make a turn."""
        while (took := self.seconds(clock)) < SLOT:
            self.calls = int(self.calls * min(10, 1.2 * SLOT / max(took, 1e-7))) + 1

    def turn(self, clock: Clock) -> float:
        """Seconds a call, after one call that is not counted: the caches are this contender's own."""
        self.call()
        return self.seconds(clock) / self.calls


def race(
    benchmark,
    clock: Clock,
    cell: Cell,
    ours: Callable[[], object] | Contender,
    *rivals: Contender,
    check: Callable[[], None] | None = None,
    **measures: float,
) -> None:
    """Check every answer, then time `ours` and the rivals in turns and leave the result with pytest-benchmark.

    Parameters
    ----------
    benchmark
        The fixture of pytest-benchmark. Its timed function is a turn of `ours`; the rivals' turns are its setup.
        Where it is disabled (a smoke run), every contender is called and checked once.
    ours, check
        The call of recordpress and what raises if its answer is wrong; or both as a contender, where a loop in C is
        timed.
    **measures
        Further numbers for the report, by the names that targets.py uses.

    Raises
    ------
    Exception
        Of whichever contender failed first. A rival that fails is left out from there on, and the others are measured
        before its exception is raised.
    """
    us = ours if isinstance(ours, Contender) else Contender("recordpress", ours, check)
    seconds: dict[str, list[float]] = {contender.name: [] for contender in [us, *rivals]}
    failed: dict[str, str] = {}
    errors: list[Exception] = []
    benchmark.group = cell.operation
    benchmark.extra_info.update(cell=asdict(cell), seconds=seconds, measures=measures, failed=failed)

    def succeeds(contender: Contender, work: Callable[[], object]) -> bool:
        try:
            work()
        except Exception as error:
            failed[contender.name] = f"{type(error).__name__}: {error}"
            del seconds[contender.name]
            if contender is us:
                raise
            errors.append(error)
        return contender.name in seconds

    def rivals_turns() -> None:
        for rival in rivals:
            if rival.name in seconds and len(seconds[rival.name]) < rival.rounds:
                succeeds(rival, lambda one=rival: seconds[one.name].append(one.turn(clock)))
        us.call()

    def our_turn() -> None:
        seconds["recordpress"].append(us.seconds(clock) / us.calls)

    for contender in [us, *rivals]:
        if succeeds(contender, contender.check or contender.call) and not benchmark.disabled:
            succeeds(contender, lambda one=contender: one.calibrate(clock))
    if benchmark.disabled:
        benchmark.pedantic(us.call)
    else:
        benchmark.pedantic(our_turn, setup=rivals_turns, rounds=us.rounds)
    if errors:
        raise errors[0]
