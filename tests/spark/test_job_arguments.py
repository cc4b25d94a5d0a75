"""Every argument of every job and function of columns, with whatever a caller can pass: accepted, or refused by name.

Tasks run in this process; what is wrong is told before there are any.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.usefixtures("in_this_process")]

import recordpress.spark
from odd_values import wrong_answers
from recordpress.spark import functions

LOGS = str(Path(__file__).parents[2] / "demo" / "logs" / "sessions-0")
PLACES = {"src", "left", "right", "dst"}  # there may be nothing, or something

MADE = "made"

# Arguments with which each job succeeds.
GOOD: dict[str, Callable[[], dict[str, Any]]] = {
    "compare": lambda: {"left": LOGS, "right": LOGS},
    "estimate": lambda: {"src": LOGS, "codecs": "lz4", "sample_bytes": 1024},
    "inventory": lambda: {"src": LOGS},
    "to_parquet": lambda: {"src": LOGS, "dst": MADE},
    "transcode": lambda: {"src": LOGS, "dst": MADE},
    "transcode, dry": lambda: {"src": LOGS, "dst": MADE, "dry_run": True},
    "verify": lambda: {"src": LOGS},
}
OF_COLUMNS = {name: getattr(functions, name) for name in functions.__all__}
ALL = [
    (job, parameter)
    for job in GOOD
    for parameter in inspect.signature(getattr(recordpress.spark, job.partition(",")[0])).parameters
    if parameter != "spark"
]


@pytest.mark.parametrize(("job", "parameter"), ALL)
def test_an_argument_is_accepted_or_refused_by_its_name(
    job: str, parameter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call = getattr(recordpress.spark, job.partition(",")[0])
    number = iter(range(1000))

    def elsewhere(**arguments: Any) -> Any:
        if arguments.get("dst") is MADE:
            arguments["dst"] = f"made-{next(number)}"
        return call(None, **arguments)

    wrong = wrong_answers(
        lambda: elsewhere, GOOD[job], parameter, {*inspect.signature(call).parameters}, may_fail=parameter in PLACES
    )
    if answers := list(wrong):
        pytest.fail("\n".join(answers), pytrace=False)


@pytest.mark.parametrize("name", OF_COLUMNS)
def test_an_argument_of_a_function_is_accepted_or_refused_by_its_name(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but the column, which is Spark's to judge."""
    monkeypatch.setattr(functions, "_column", lambda *given: given)
    call = OF_COLUMNS[name]
    parameters = [*inspect.signature(call).parameters]
    wrong = [
        answer
        for parameter in parameters[1:]
        for answer in wrong_answers(
            lambda: call, lambda: {"column": "value"}, parameter, {*parameters}, may_fail=parameter == "dictionaries"
        )
    ]
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)
