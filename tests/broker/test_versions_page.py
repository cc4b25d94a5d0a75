"""docs/broker-versions.md has the rows that the code has."""

from pathlib import Path
from types import ModuleType

import pytest

from recordpress.broker._validator import RULES
from recordpress.broker._versions import _CHANGES, BrokerRules

pytestmark = pytest.mark.build
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "broker-versions.md"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT)
    from build_support import broker_versions

    return broker_versions


def test_the_page_is_current(script: ModuleType) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == script.current(page), "python -m build_support.broker_versions writes it again"


def test_every_change_has_words(script: ModuleType) -> None:
    assert [row for row in script.rows() if "|  |" in row] == []
    named = {name for _, change, _ in _CHANGES for name in change.get("quirks", ())}
    assert named == set(RULES) == {*script.QUIRKS, "OFFSETS_REFUSED"}


def test_rows_ascend_and_change_something() -> None:
    releases = [since for since, _, _ in _CHANGES]
    assert releases == sorted(set(releases))
    fields = set(BrokerRules.__dataclass_fields__)
    assert all(set(change) <= fields for _, change, _ in _CHANGES)
    assert all(source for _, _, source in _CHANGES)


def test_a_page_without_a_place_for_the_table_is_refused(script: ModuleType) -> None:
    with pytest.raises(ValueError, match="no place"):
        script.current("a page")
