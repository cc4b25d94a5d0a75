"""Every public name says what it is, and classes and functions show it in an example that runs."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.build


@pytest.fixture(scope="module")
def names() -> dict[str, str]:
    """By the full name: the docstring, or the text next to an assignment."""
    for needed in ("sphinx", "pyspark", "pyarrow", "click"):
        pytest.importorskip(needed)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        from build_support.site.names import public_names
        from build_support.site.reference import text_of

        return {first.full: text_of(first) for _, first in public_names()}


def runs(text: str) -> bool:
    """Whether there is an example with a line that is neither skipped nor an import."""
    examples = doctest.DocTestParser().get_examples(text)
    shown = [example for example in examples if not example.source.startswith(("import ", "from "))]
    return any(not example.options.get(doctest.SKIP, False) for example in shown)


def test_every_name_has_a_docstring(names: dict[str, str]) -> None:
    assert len(names) > 200
    assert sorted(name for name, text in names.items() if not text) == []


def test_every_class_and_function_has_an_example(names: dict[str, str]) -> None:
    """Constants and aliases of types need none."""
    from build_support.site.names import public_names

    described = {first.full for _, first in public_names() if first.is_described_by_itself}
    assert len(described) > 180
    assert sorted(name for name in described if not runs(names[name])) == []


def test_members_have_docstrings(names: dict[str, str]) -> None:
    """Methods and properties, too; attributes stand in the docstring of their class."""
    from build_support.site import stubs
    from build_support.site.names import public_names

    without = []
    for _, name in public_names():
        if not inspect.isclass(name.value) or not name.value.__module__.startswith("recordpress"):
            continue
        text = inspect.getdoc(name.value) or ""
        for kind, member, _ in stubs.members(name.value):
            told = kind == "attribute" or re.search(rf"(?m)^(\w+, )*{member}(, \w+)* :", text)
            if not told and not inspect.getdoc(getattr(name.value, member, None)):
                without.append(f"{name.full}.{member}")
    assert sorted(set(without)) == []


def test_an_example_that_is_skipped_is_none() -> None:
    assert not runs("Text.\n\n>>> call()  # doctest: +SKIP\n1\n")
    assert not runs(">>> import recordpress\n>>> from recordpress import log\n>>> call()  # doctest: +SKIP\n1\n")
    assert runs(">>> 1 + 1\n2\n")


def test_every_error_has_a_remedy(names: dict[str, str]) -> None:
    """Those that rooms have besides recordpress.errors, too."""
    import recordpress
    from build_support.site.tables import public_errors

    errors = public_errors()
    assert {f"recordpress.{name}" for name in recordpress.errors.__all__} < set(errors)
    assert "recordpress.producer.RecordTooLargeError" in errors
    assert [full for full in errors if "\nRemedy\n---" not in names[full]] == []
