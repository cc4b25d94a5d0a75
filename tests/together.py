"""One case for many inputs: a test is cheap next to what pytest adds to each case."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import pytest

Test = Callable[..., None]
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"  # for a night or before a release: `make full`


def draws(most: int) -> int:
    """How many of `most` inputs a test draws: a quarter, and all of them in a thorough run."""
    return most if THOROUGH else most // 4


def thinned(values: Iterable[Any], every: int) -> list[Any]:
    """All values as parameters: one of `every` runs in `make test`, the others are slow."""
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else [value]), marks=[pytest.mark.slow] if number % every else []
        )
        for number, value in enumerate(values)
    ]


def sampled(values: Iterable[Any], every: int) -> list[Any]:
    """One of `every` values; all of them in a thorough run."""
    return list(values)[:: 1 if THOROUGH else every]


def together(arguments: str, values: Iterable[Any], ids: Callable[[Any], str] = repr) -> Callable[[Test], Test]:
    """Try all values in one case, which lists every failure. Several arguments, "a, b", take tuples."""
    return grouped(arguments, values, lambda _: "all", ids)


def grouped(
    arguments: str,
    values: Iterable[Any],
    group_of: Callable[[Any], str],
    ids: Callable[[Any], str] = repr,
    slow: Collection[str] = (),
) -> Callable[[Test], Test]:
    """Try all values of a group in one case, which lists every failure. Each gets a `tmp_path` of its own. Groups with
    the names in `slow` are slow tests."""
    names = [name.strip() for name in arguments.split(",")]
    groups: dict[str, list[Any]] = {}
    for value in values:
        groups.setdefault(group_of(value), []).append(value)
    if not groups:
        raise ValueError(f"no values for {arguments!r}: the test would try nothing")

    def parametrized(test: Test) -> Test:
        @functools.wraps(test)
        def of_group(**given: Any) -> None:
            members = given.pop(names[0])
            for name in names[1:]:
                del given[name]
            _run(test, names, members, ids, given)

        cases = [
            pytest.param(*[members] + [None] * (len(names) - 1), marks=[pytest.mark.slow] if name in slow else [])
            for name, members in groups.items()
        ]
        return pytest.mark.parametrize(names, cases, ids=list(groups))(of_group)

    return parametrized


def _run(test: Test, names: list[str], values: list[Any], ids: Callable[[Any], str], given: Mapping[str, Any]) -> None:
    failures: list[tuple[str, BaseException]] = []
    skips: list[BaseException] = []
    for number, value in enumerate(values):
        own = dict(zip(names, value if len(names) > 1 else [value], strict=True))
        if "tmp_path" in given:
            own["tmp_path"] = given["tmp_path"] / str(number)
            own["tmp_path"].mkdir()
        try:
            test(**{**given, **own})
        except pytest.skip.Exception as skipped:
            skips.append(skipped)
        except (Exception, pytest.fail.Exception) as error:
            failures.append((ids(value), error))
    if failures:
        texts = [f"{name[:200]}: {type(error).__name__}: {str(error)[:500]}" for name, error in failures]
        raise AssertionError("\n".join([f"{len(failures)} of {len(values)}:", *texts])) from failures[0][1]
    if len(skips) == len(values):
        raise skips[0]
