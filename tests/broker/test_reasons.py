"""The table of reasons: every row is complete, and says things as the rest of the project does."""

import re

from recordpress.broker import Finding, Reason
from together import together

ROWS = [*Reason, *Finding]


def test_the_reasons_to_rebuild_come_first() -> None:
    """Their order is that of the bits that the validator sets."""
    first = ["CODEC_DIFFERS", "MAGIC_CONVERSION", "TARGET_V0", "NON_SEQUENTIAL_INNER_OFFSETS"]
    assert [reason for reason in Reason if reason.stage == "rebuild"] == list(Reason)[:4] == first


@together("row", ROWS, ids=str)
def test_a_row_says_everything(row: Reason | Finding) -> None:
    assert row.value == (row.name if isinstance(row, Reason) else row.name.lower())
    assert row.rule and row.source
    for text in (row.message, row.advice):
        assert re.fullmatch(r"[A-Za-z0-9].*[^.]\.", text, re.DOTALL), text
        assert "  " not in text and "\n" not in text


def test_rules_are_told_apart_by_their_names() -> None:
    assert len({row.rule for row in Reason}) == len(Reason)
    assert len({row.rule for row in Finding}) == len(Finding)


def test_accepted_and_refused() -> None:
    accepted = {reason for reason in Reason if reason.error_code == 0}
    assert {reason.stage for reason in accepted} == {"rebuild", "rewrite", "cut", "producer", "fetch"}
    assert {reason for reason in accepted if reason.stage == "producer"} == {Reason.DUPLICATE_BATCH}
    assert {reason for reason in accepted if reason.stage == "fetch"} == {Reason.DOWN_CONVERSION}
