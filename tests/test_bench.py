"""The benchmarks' races: one contender that fails costs nothing but its own figures, and is named."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("bench.race", reason="the benchmarks are in the repository's root")

from bench import report
from bench.race import Cell, Contender, race


class Benchmark:
    """pytest-benchmark's fixture, as far as races use it."""

    def __init__(self, disabled: bool = False) -> None:
        self.disabled = disabled
        self.group = ""
        self.extra_info: dict[str, Any] = {}

    def pedantic(self, call: Callable[[], object], setup: Callable[[], object] = int, rounds: int = 1) -> None:
        for _ in range(rounds):
            setup()
            call()


def rival(name: str, fails_at: int = 0) -> Contender:
    """One that takes a second a call, and fails at its nth turn."""
    turns = 0

    def elsewhere(calls: int, clock: str) -> float:
        nonlocal turns
        turns += 1
        if turns == fails_at:
            raise RuntimeError(f"no answer from\n{name}")
        return 2.0 * calls

    return Contender(name, int, elsewhere=elsewhere, rounds=3)


def ours(fails: bool = False) -> Contender:
    return Contender("recordpress", lambda: 1 // (not fails), elsewhere=lambda calls, clock: 1.0 * calls, rounds=3)


CELL = Cell("decode", "json", "zstd", 100)


def clock() -> float:
    return 0.0


@pytest.mark.parametrize("fails_at", [1, 2, 3])
def test_a_rival_that_fails_is_named_and_the_others_are_measured(fails_at: int) -> None:
    benchmark = Benchmark()
    with pytest.raises(RuntimeError, match="no answer from"):
        race(benchmark, clock, CELL, ours(), rival("bad", fails_at), rival("good"))
    [line] = report.lines([benchmark.extra_info])
    assert line.measures["good"] == 2 and "bad" not in line.measures
    text = report.plain([line], report.failures([benchmark.extra_info]))
    assert text.endswith("contenders that failed: 1\n  decode, json, zstd: bad: RuntimeError: no answer from bad")


def test_recordpress_failing_ends_the_race() -> None:
    benchmark = Benchmark()
    with pytest.raises(ZeroDivisionError):
        race(benchmark, clock, CELL, ours(fails=True), rival("good"))
    assert report.lines([benchmark.extra_info]) == []
    assert any("recordpress: ZeroDivisionError" in line for line in report.failures([benchmark.extra_info]))


def test_a_rival_whose_answer_is_wrong_fails_a_smoke_run_too() -> None:
    wrong = Contender("wrong", int, check=lambda: 1 // 0)
    benchmark = Benchmark(disabled=True)
    with pytest.raises(ZeroDivisionError):
        race(benchmark, clock, CELL, ours(), wrong)
    assert "wrong" in benchmark.extra_info["failed"]


def test_contenders_without_times_are_left_out() -> None:
    info = {"cell": {"operation": "o", "set": "s", "codec": "-", "records": 1, "size": 0, "unit": "records"}}
    info |= {"measures": {}, "seconds": {"recordpress": [1.0], "one in C": [0.5], "nothing in C": [], "peer": []}}
    [line] = report.lines([info])
    assert set(line.measures) == {"per_second"}
    assert report.failures([info]) == ["  o, s, -: nothing in C: not timed", "  o, s, -: peer: not timed"]
