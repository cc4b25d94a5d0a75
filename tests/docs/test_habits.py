"""What outsiders look for is there, and true."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.build
ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]


def test_metadata() -> None:
    assert PROJECT["authors"]
    assert {"Source", "Issues", "Changelog", "Documentation", "Security"} <= set(PROJECT["urls"])
    for url in PROJECT["urls"].values():
        path = url.partition("/main/")[2]
        assert not path or (ROOT / path).exists()


def test_the_supported_pythons_are_those_of_the_metadata() -> None:
    page = (ROOT / "docs" / "support.md").read_text(encoding="utf-8")
    named = [line.rpartition(" :: ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert len(named) > 3
    assert all(version in page.partition("| CPython")[2].partition("\n")[0] for version in named)


def test_hooks_have_the_releases_of_the_lint_group() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    pinned = re.findall(r'additional_dependencies: \["(\S+==\d[\d.]*)"\]', text)
    assert len(pinned) == text.count("- id:") == 3
    least = {requirement.replace(" >= ", "==") for requirement in PYPROJECT["dependency-groups"]["lint"]}
    assert set(pinned) <= least


def test_the_sdist_has_what_the_site_includes() -> None:
    manifest = (ROOT / "MANIFEST.in").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        for name in re.findall(r"{include} \.\./(\S+)", page.read_text(encoding="utf-8")):
            assert (ROOT / name).exists() and name in manifest


def test_no_text_installs_a_release_that_does_not_exist() -> None:
    texts = [
        path
        for folder in ("docs", "examples", "src", "README.md", "CONTRIBUTING.md")
        for path in ([ROOT / folder] if (ROOT / folder).is_file() else (ROOT / folder).rglob("*"))
        if path.suffix in (".md", ".rst", ".py", ".pyx", ".ipynb", ".toml")
    ]
    assert len(texts) > 300
    command = re.compile(r"pip install (?:-\S+ )*\\?[\"']?recordpress")
    assert [path for path in texts if command.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    "page",
    ["start", "compared", "faq", "howto/choose-a-codec", "howto/recompress-a-topic", "howto/spark",
     "howto/what-is-stored"],
)  # fmt: skip
def test_a_page_about_size_names_what_saves_most(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert "--batch-bytes" in text or "batch_bytes" in text


def test_every_link_has_a_text() -> None:
    """The site shows the title of the page for an empty one, and GitHub shows nothing."""
    pages = list((ROOT / "docs").rglob("*.md"))
    assert len(pages) > 50
    assert [page.name for page in pages if "[](" in page.read_text(encoding="utf-8")] == []


def test_no_page_selects_a_topic_by_a_pattern_that_matches_others() -> None:
    """``orders-*`` also has the partitions of ``orders-eu``."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.rst")]
    assert len(pages) > 60
    assert [page.name for page in pages if re.search(r"/[\w.-]+-\*", page.read_text(encoding="utf-8"))] == []
