"""Measure speeds in as few rounds as there are: the numbers matter to no test."""

import pytest


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    from recordpress.analysis import _measure

    monkeypatch.setattr(_measure, "_LEAST_SECONDS", 0.0)
