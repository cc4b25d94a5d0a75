"""The built site: every link leads somewhere, nothing is fetched, and a browser shows each page."""

from __future__ import annotations

import json
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

SITE = Path(__file__).parents[2] / "build" / "docs" / "html"
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
NARROW = 380
DARK = {"light": 1, "dark": 0}  # Chromium's preferredColorScheme
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


def dump(address: str, profile: Path, scheme: str = "light", width: int = 1200, budget: int = 60_000) -> str:
    """The document after its scripts ran, without a network."""
    assert BROWSER is not None
    command = [
        BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
        "--host-resolver-rules=MAP * ~NOTFOUND", f"--blink-settings=preferredColorScheme={DARK[scheme]}",
        f"--window-size={width},900", f"--user-data-dir={profile}", f"--virtual-time-budget={budget}",
        "--dump-dom", address,
    ]  # fmt: skip
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout


# Loads the pages one after another into a frame, and tells of each: title, colours, errors, how wide it is.
HARNESS = """<!DOCTYPE html><meta charset="utf-8"><iframe id="frame" width="{width}" height="900"></iframe>
<pre id="found"></pre><script>
const pages = {pages}, found = [], frame = document.getElementById("frame");
function next() {{
  if (!pages.length) {{ document.getElementById("found").textContent = JSON.stringify(found); return; }}
  const address = pages.shift();
  frame.onload = () => setTimeout(() => {{
    const page = frame.contentDocument, root = page.documentElement;
    const style = frame.contentWindow.getComputedStyle(page.body);
    found.push({{address, title: page.title, ground: style.backgroundColor, ink: style.color, wide: root.scrollWidth,
                styled: page.styleSheets.length, headings: page.querySelectorAll("h1").length}});
    next();
  }}, 20);
  frame.src = address;
}}
next();
</script>"""


@pytest.mark.skipif(not BROWSER, reason="no Chromium: make docs")
@pytest.mark.parametrize(("scheme", "width"), [("light", NARROW), ("dark", 1200)])
def test_a_browser_shows_every_page(pages: dict[Path, Page], tmp_path: Path, scheme: str, width: int) -> None:
    addresses = [path.as_uri() for path in pages if path.name != "search.html"]  # which has its own test
    (tmp_path / "all.html").write_text(HARNESS.format(width=width, pages=json.dumps(addresses)))
    shown = dump((tmp_path / "all.html").as_uri(), tmp_path / "profile", scheme, 1300)
    text = shown.partition('<pre id="found">')[2].partition("</pre>")[0]
    found = json.loads(text.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
    assert [page["address"] for page in found] == addresses
    for page in found:
        assert page["headings"] >= 1 and page["title"] and page["styled"] >= 2, page
        assert page["wide"] <= width, page  # wide tables and code scroll by themselves
        assert bright(page["ground"]) is (scheme == "light"), page
        assert bright(page["ink"]) is (scheme == "dark"), page


def bright(color: str) -> bool:
    red, green, blue = (int(part) for part in color[color.index("(") + 1 : -1].split(",")[:3])
    return red + green + blue > 3 * 128


@pytest.mark.skipif(not BROWSER, reason="no Chromium: make docs")
@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("transcode", "reference/recordpress.html"),
        ("recordpress.BatchBuilder", "reference/recordpress.html"),
        ("recompress", "howto/recompress-a-topic.html"),
    ],
)
def test_search_works_offline(tmp_path: Path, words: str, page: str) -> None:
    shown = dump((SITE / "search.html").as_uri() + f"?q={words}", tmp_path / "profile", budget=10_000)
    results = shown.partition('id="search-results"')[2]
    assert results.count("<li") >= 1
    assert page in results
