"""docs/broker-decision.md has the reasons that the code has."""

from pathlib import Path
from types import ModuleType

import pytest

from recordpress.broker import Finding, Reason

pytestmark = pytest.mark.build
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "broker-decision.md"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT)
    from build_support import broker_decision

    return broker_decision


def test_the_page_is_current(script: ModuleType) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == script.current(page), "python -m build_support.broker_decision writes it again"


def test_every_reason_is_in_it() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [row for row in (*Reason, *Finding) if f"| `{row}` |" not in page] == []


def test_a_page_without_a_place_for_a_table_is_refused(script: ModuleType) -> None:
    page = PAGE.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="no place for rebuild"):
        script.current(page.replace("_reasons.py: rebuild", "_reasons.py: rebuilt"))
