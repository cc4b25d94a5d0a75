"""The built site: every link leads somewhere, nothing is fetched, and a browser shows each page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

from headless import BROWSER, SCHEMES, dump, faults_of

SITE = Path(__file__).parents[2] / "build" / "docs" / "html"
WIDTHS = (390, 1300)
MAIN = (
    "index", "start", "howto/read-a-backup", "howto/choose-a-codec", "howto/recompress-a-topic", "howto/spark",
    "howto/why-recompressed", "reference/index", "reference/command-line/analyze", "compared", "origins",
)  # fmt: skip
pytestmark = [
    pytest.mark.slow,
    pytest.mark.build,
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="no site: make docs"),
]


class Page(HTMLParser):
    """What a page points to, and what can be pointed to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "link" and found.get("rel") != "canonical" and "href" in found:
            self.loads.append(found["href"])
        elif tag in ("script", "img", "iframe", "source") and "src" in found:
            self.loads.append(found["src"])


@pytest.fixture(scope="module")
def pages() -> dict[Path, Page]:
    found = [path for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts]
    return {path: Page(path) for path in found}


def test_links_lead_somewhere(pages: dict[Path, Page]) -> None:
    assert len(pages) > 15
    broken = []
    for path, page in pages.items():
        for link in {*page.links, *page.loads}:
            address, fragment = urldefrag(link)
            if urlsplit(address).scheme:
                continue  # external ones are not fetched
            target = (path.parent / unquote(address.partition("?")[0])).resolve() if address else path
            missing = not target.exists() or (
                fragment and target in pages and unquote(fragment) not in pages[target].anchors
            )
            if missing and fragment != "furo-main-content":
                broken.append(f"{path.relative_to(SITE)}: {link}")
    assert broken == []


def test_nothing_is_fetched(pages: dict[Path, Page]) -> None:
    assert [(path.name, load) for path, page in pages.items() for load in page.loads if urlsplit(load).scheme] == []


def test_nothing_ends_in_the_middle(pages: dict[Path, Page]) -> None:
    """An error without words has no dash after it, a sample no empty line at its end."""
    texts = {path.relative_to(SITE): path.read_text(encoding="utf-8") for path in pages}
    assert [str(path) for path, text in texts.items() if " -- </p>" in text or "\n\n</pre>" in text] == []


@pytest.mark.skipif(not BROWSER, reason="no Chromium: make docs")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_browser_shows_the_main_pages(tmp_path: Path, scheme: str) -> None:
    assert faults_of([SITE / f"{page}.html" for page in MAIN], scheme, WIDTHS, tmp_path) == []


@pytest.mark.skipif(not BROWSER, reason="no Chromium: make docs")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_browser_shows_the_other_pages(pages: dict[Path, Page], tmp_path: Path, scheme: str) -> None:
    shown = {path.relative_to(SITE).with_suffix("").as_posix(): path for path in pages}
    others = shown.keys() - {*MAIN, "search"}  # search has its own test
    assert len(others) > 80
    assert faults_of([shown[page] for page in sorted(others)], scheme, WIDTHS, tmp_path) == []


@pytest.mark.skipif(not BROWSER, reason="no Chromium: make docs")
@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("transcode", "howto/"),
        ("recompress", "howto/recompress-a-topic.html"),
        ("spark", "howto/"),
        ("recordpress.BatchBuilder", "reference/recordpress/batch-builder.html"),
    ],
)
def test_search_works_offline_and_puts_how_tos_first(tmp_path: Path, words: str, first: str) -> None:
    shown, messages = dump(f"{(SITE / 'search.html').as_uri()}?q={words}", tmp_path / "profile", budget=10_000)
    results = re.findall(r'<li[^>]*><a href="([^"#?]*)', shown.partition('id="search-results"')[2])
    assert messages == []
    assert results[0].startswith(first), results[:5]
