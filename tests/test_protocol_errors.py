"""Kafka's error codes: their names are those that kafka-python has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recordpress._protocol_errors import CONNECTION_CLOSED, Errors, is_retriable, name_of

ERROR_CODES = Path(__file__).parents[1] / "src/recordpress/broker/_error_codes.pxd"
# kafka-python's words, some of them Kafka's own of long ago, and Kafka's
SAME = {
    "NO_ERROR": "NONE",
    "UNKNOWN": "UNKNOWN_SERVER_ERROR",
    "INVALID_TOPIC": "INVALID_TOPIC_EXCEPTION",
    "MESSAGE_SIZE_TOO_LARGE": "MESSAGE_TOO_LARGE",
    "NOT_LEADER_FOR_PARTITION": "NOT_LEADER_OR_FOLLOWER",
    "INVALID_REPLICATION_ASSIGNMENT": "INVALID_REPLICA_ASSIGNMENT",
}


def theirs() -> dict[int, str]:
    errors = pytest.importorskip("kafka.errors")
    return {
        one.errno: SAME.get(one.message, one.message)
        for one in vars(errors).values()
        if isinstance(one, type) and issubclass(one, errors.BrokerResponseError) and one.errno is not None
    }


def test_names_are_those_of_another_client() -> None:
    assert {code: name_of(code) for code in theirs()} == theirs()


def test_a_code_that_has_no_name() -> None:
    assert name_of(None) == CONNECTION_CLOSED
    assert name_of(32767) == "error 32767"
    assert not is_retriable(32767)


def test_what_may_be_sent_again() -> None:
    assert is_retriable(Errors.NOT_LEADER_OR_FOLLOWER)
    assert not is_retriable(Errors.MESSAGE_TOO_LARGE)


def test_the_numbers_that_c_code_uses() -> None:
    declared = re.findall(r"^    (\w+) = (-?\d+)", ERROR_CODES.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name: int(code) for name, code in declared} == {name: Errors[name] for name, _ in declared}
    assert len(declared) > 5
