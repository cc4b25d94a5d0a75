"""Every argument of the calls of recordpress.broker, given whatever a caller can hand in."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import recordpress
from odd_values import drain, wrong_answers
from recordpress.broker import PartitionLog, validate

DATA = recordpress.write_records([b"value"] * 3, timestamps=[1, 2, 3])


def _log() -> PartitionLog:
    return PartitionLog(broker_version="4.3")


CALLS: dict[str, tuple[Callable[[], Callable[..., Any]], Callable[[], dict[str, Any]]]] = {
    "validate": (lambda: validate, lambda: {"records": DATA}),
    "PartitionLog": (lambda: PartitionLog, lambda: {"broker_version": "3.9"}),
    "PartitionLog.append": (lambda: _log().append, lambda: {"records": DATA}),
    "PartitionLog.end_transaction": (
        lambda: _log().end_transaction,
        lambda: {"producer_id": 1, "producer_epoch": 0, "commit": True},
    ),
}
PARAMETERS = [(call, name) for call, (target, _) in CALLS.items() for name in inspect.signature(target()).parameters]


@pytest.mark.parametrize("call", CALLS)
def test_the_call_to_start_from_succeeds(call: str) -> None:
    target, good = CALLS[call]
    drain(target()(**good()))


@pytest.mark.parametrize(("call", "parameter"), PARAMETERS)
def test_an_argument_is_accepted_or_refused_by_its_name(call: str, parameter: str) -> None:
    target, good = CALLS[call]
    wrong = list(wrong_answers(target, good, parameter, {parameter}))
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)
