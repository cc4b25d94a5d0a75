"""The demo's page: right figures, whole by itself, well formed, legible at each width, light and dark."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest

import recordpress
from headless import BROWSER, SCHEMES, WIDTHS, faults_of

pytest.importorskip("pyspark")
from pyspark.sql import Row

sys.path += [str(Path(__file__).parents[2] / "demo")]

from page import Moment, html_of

pytestmark = [pytest.mark.slow, pytest.mark.spark]
LOGS = Path(__file__).parents[2] / "demo" / "logs"


def row(topic: str, codecs: dict[str, int], depths: dict[int, int]) -> Row:
    """A row of an inventory."""
    return Row(
        topic=topic,
        bytes=sum(codecs.values()) + 61,  # and a control batch
        records=sum(depths.values()),
        codecs={name: {"bytes": size} for name, size in codecs.items()},
        depths={depth: {"records": records, "batches": records // depth} for depth, records in depths.items()},
    )


BEFORE = [row("orders", {"none": 3000, "gzip": 500}, {1: 100, 8: 300}), row("a<b", {"snappy": 1000}, {8: 400})]
AFTER = [row("orders", {"zstd": 900}, {64: 400}), row("a<b", {"zstd": 300}, {32: 400})]
START = datetime(2024, 2, 29, 23, 59, 59, tzinfo=UTC)
MOMENTS = [Moment(topic, START + timedelta(hours=n), n * 10, n) for topic in ("orders", "a<b") for n in range(20)]
FACTS = {"what": "2 partitions recompressed to zstd 9", "where": "/logs to /copy"}


@pytest.fixture(scope="module")
def page() -> str:
    expected = recordpress.transcode(LOGS / "sessions-0", "/copy", "zstd", dry_run=True)
    return html_of(BEFORE, AFTER, MOMENTS, is_same=True, expected=expected, facts=FACTS)


def test_it_needs_nothing_else(page: str) -> None:
    assert not re.search(r"https?:|//|<script|<link|<img|@import|url\(", page)


def test_it_is_well_formed_and_has_the_figures(page: str) -> None:
    head = '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">'
    plain = page.replace("\N{NO-BREAK SPACE}", " ")
    root = ElementTree.fromstring(plain.removeprefix("<!DOCTYPE html>\n").replace(head, ""))
    assert len(root.findall(".//svg")) == 2 * (2 + 2)  # codecs, depths; a time line each; wide and narrow
    cells = [[cell.text for cell in line] for line in root.findall(".//tr")]
    assert ["orders", "gzip, none → zstd", "3,561", "961", "73.0 %", "400"] in cells
    assert ["what", FACTS["what"]] in cells and ["where", FACTS["where"]] in cells
    assert "The copy takes 71.4 % less space" in plain
    assert "800 records in the copy, each at its offset. Every record was found again" in plain


def test_expected_stands_next_to_achieved(page: str) -> None:
    row = page.replace("\N{NO-BREAK SPACE}", " ").partition("<tr><td>sessions</td>")[2].partition("</tr>")[0]
    stored, alone, joined, achieved = re.findall(r"([\d.]+ [KB]\w*)", row)
    assert stored == "41.5 KiB" and alone != stored and joined == alone and achieved == "0 B"  # no such topic after


def test_bars_are_to_scale(page: str) -> None:
    wide = page[page.index("Bytes by codec") :].partition('<svg class="narrow"')[0]
    widths = [float(width) for width in re.findall(r'width="([\d.]+)" height="16.0" class', wide)]
    longest = max(widths)
    assert [round(width / longest, 2) for width in widths if width] == [1, 0.33, 0.17, 0.4]


def test_nothing_is_there() -> None:
    page = html_of([], [])
    assert "The copy takes 0.0\N{NO-BREAK SPACE}% less space" in page
    assert "over time" not in page and "Expected" not in page


def test_a_copy_that_is_larger_is_not_said_to_be_smaller() -> None:
    assert "The copy takes more space" in html_of(AFTER, BEFORE)


def test_a_failed_comparison_is_said() -> None:
    assert "The copy differs." in html_of(BEFORE, AFTER, is_same=False)


def test_only_the_largest_topics_have_time_lines() -> None:
    page = html_of(BEFORE, AFTER, [Moment(f"t{n}", START, n, 1) for n in range(40)])
    assert page.count("<h3>") == 12 and "<h3>t39</h3>" in page and "Of 40 topics these have the most records" in page


@pytest.mark.build  # a browser does not run under a sanitizer
@pytest.mark.skipif(not BROWSER, reason="no Chromium: make -f labs.mk report")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_browser_shows_it(page: str, scheme: str, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    assert faults_of([tmp_path / "report.html"], scheme, WIDTHS, tmp_path) == []
