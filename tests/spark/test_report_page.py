"""The demo's page: right figures, whole by itself, well formed, legible in a browser's two schemes."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest

from headless import BROWSER, COLORS, SCHEMES, picture_of, pixels_of

pytest.importorskip("pyspark")
from pyspark.sql import Row

sys.path += [str(Path(__file__).parents[2] / "demo")]

from page import Moment, html_of

pytestmark = [pytest.mark.slow, pytest.mark.spark]
WIDTH, HEIGHT = 1000, 1500


def row(topic: str, codecs: dict[str, int], depths: dict[int, int]) -> Row:
    """A row of an inventory."""
    return Row(
        topic=topic,
        bytes=sum(codecs.values()) + 61,  # and a control batch
        records=sum(depths.values()),
        codecs={name: {"bytes": size} for name, size in codecs.items()},
        depths={depth: {"records": records} for depth, records in depths.items()},
    )


BEFORE = [row("orders", {"none": 3000, "gzip": 500}, {1: 100, 8: 300}), row("a<b", {"snappy": 1000}, {8: 400})]
AFTER = [row("orders", {"zstd": 900}, {64: 400}), row("a<b", {"zstd": 300}, {32: 400})]
START = datetime(2024, 2, 29, 23, 59, 59, tzinfo=UTC)
MOMENTS = [Moment(topic, START + timedelta(hours=n), n * 10, n) for topic in ("orders", "a<b") for n in range(20)]
ESTIMATES = [
    Row(topic="orders", codec="zstd", level=3, ratioBefore=1.0, ratio=4.0, saved=0.75),
    Row(topic="lost", codec=None, level=None, ratioBefore=None, ratio=None, saved=None),
]


@pytest.fixture(scope="module")
def page() -> str:
    return html_of(BEFORE, AFTER, MOMENTS, is_same=True, estimates=ESTIMATES)


def test_it_needs_nothing_else(page: str) -> None:
    assert not re.search(r"https?:|//|<script|<link|<img|@import|url\(", page)


def test_it_is_well_formed_and_has_the_figures(page: str) -> None:
    head = '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">'
    root = ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>\n").replace(head, ""))
    assert len(root.findall(".//svg")) == 3 + 2  # legend, codecs, depths; a time line each
    cells = [[cell.text for cell in line] for line in root.findall(".//tr")]
    assert ["orders", "gzip, none → zstd", "3,561", "961", "73.0 %", "400", "400"] in cells
    assert ["orders", "zstd 3", "1.00", "4.00", "75.0 %"] in cells
    assert "4,622 bytes became 1,322: 71.4 % less. 800 records in the copy. Every record was found again" in page


def test_bars_are_to_scale(page: str) -> None:
    sizes = dict(re.findall(r'width="([\d.]+)" height="16" class="\w+"/>\n<text[^>]*>([\d,]+)<', page))
    longest = next(float(width) for width, size in sizes.items() if size == "3,000")
    assert {size: round(float(width) / longest, 2) for width, size in sizes.items() if size != "0"} == {
        "3,000": 1, "1,000": 0.33, "500": 0.17, "1,200": 0.4,
    }  # fmt: skip


def test_nothing_is_there() -> None:
    page = html_of([], [])
    assert "0 bytes became 0: 0.0 % less" in page and "over time" not in page and "expected" not in page


def test_a_failed_comparison_is_said() -> None:
    assert "The copy differs." in html_of(BEFORE, AFTER, is_same=False)


def test_only_the_largest_topics_have_time_lines() -> None:
    page = html_of(BEFORE, AFTER, [Moment(f"t{n}", START, n, 1) for n in range(40)])
    assert page.count("<h3>") == 12 and "<h3>t39</h3>" in page and "Of 40 topics these have the most records" in page


@pytest.mark.build  # a browser does not run under a sanitizer
@pytest.mark.skipif(not BROWSER, reason="no Chromium: make -f labs.mk report")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_browser_shows_it(page: str, scheme: str, tmp_path: Path) -> None:
    pixels = pixels_of(picture_of(page, scheme, WIDTH, HEIGHT, tmp_path))
    ground, before, after = (pixels.count(color) for color in COLORS[scheme])
    assert ground > 0.7 * WIDTH * HEIGHT
    assert before > 50_000 and after > 10_000
