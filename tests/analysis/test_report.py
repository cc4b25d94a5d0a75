"""The HTML report: whole by itself, well formed, right in its figures, and legible at each width, light and dark."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import recordpress
from headless import BROWSER, SCHEMES, WIDTHS, faults_of
from recordpress.analysis import Analysis, html_of
from recordpress.analysis._report import _axes
from recordpress.analysis.html import CHARACTER, LogAxis, Plot, figures

LOGS = Path(__file__).parents[2] / "demo" / "logs"
HEAD = '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">'


@pytest.fixture(scope="module")
def found() -> Analysis:
    paths = [LOGS / "access-log-0", LOGS / "sessions-0"]
    return recordpress.analyze(paths, rate="20MB/s", price_gb=0.023, sample_bytes=1_000_000)


@pytest.fixture(scope="module")
def page(found: Analysis) -> str:
    return html_of(found)


def words(page: str) -> str:
    return " ".join(
        re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.S).replace("\N{NO-BREAK SPACE}", " ").split()
    )


@pytest.mark.slow
def test_it_needs_nothing_else(page: str) -> None:
    assert not re.search(r"https?:|//|<script|<link|<img|@import|url\(", page)


@pytest.mark.slow
def test_it_is_well_formed(page: str, found: Analysis) -> None:
    root = ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>\n").replace(HEAD, ""))
    assert len(root.findall(".//svg")) == 2 * 2  # two plots, each for wide and narrow windows
    wide = root.find(".//svg[@class='wide']")
    assert wide is not None
    assert len(wide.findall("circle")) == len(found.cells) + 1 + 2  # a ring, two colors
    assert len(root.findall(".//tr[@class='chosen']")) == 1


@pytest.mark.slow
def test_it_leads_with_the_saving(page: str, found: Analysis) -> None:
    share = found.recommendation["saves"]["share"]
    assert share > 0.2
    assert words(page[page.index("<h1>") : page.index("</h1>")]).startswith(f"{100 * share:.1f} % less space with zstd")


@pytest.mark.slow
def test_it_says_what_was_measured_when_and_where(page: str, found: Analysis) -> None:
    text, facts = words(page), found.measurement
    assert f"access-log and 1 more · {facts['started'][:10]}" in text
    assert str(LOGS / "sessions-0") in text and facts["machine"]["processor"] in text
    assert f"{found.sample['records']:,} records" in text and f"zstd {found.versions['zstd']}" in text


@pytest.mark.slow
def test_it_has_the_bill_and_the_joining_savings(page: str, found: Analysis) -> None:
    text = words(page)
    assert f"{found.recommendation['saves']['price_a_day']:,.2f} less" in text
    assert found.savings is not None
    for topic in found.savings.topics:
        share, _ = topic.keep.change(topic.bytes_before)
        assert re.search(rf"{topic.topic} [\d.]+ KiB .*{re.escape(f'{100 * share:+.1f} %')}", text)


@pytest.mark.slow
def test_a_log_without_a_saving_is_said_to_have_none(found: Analysis) -> None:
    advice = {**found.recommendation, "saves": {"share": -0.031, "bytes": -31}}
    page = words(html_of(replace(found, recommendation=advice, rate_bytes=None, savings=None)))
    assert "Nothing to save: 3.1 % more space with zstd" in page
    assert "Give --rate for CPU time and bytes per day, --price-gb for the price of storage." in page


@pytest.mark.slow
@pytest.mark.build  # a browser does not run under a sanitizer
@pytest.mark.skipif(not BROWSER, reason="no Chromium: make -f labs.mk report")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_browser_shows_it(page: str, scheme: str, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    assert faults_of([tmp_path / "report.html"], scheme, WIDTHS, tmp_path) == []


# ---- elements


def test_no_line_ends_in_a_unit() -> None:
    assert "1,467 MB/\N{WORD JOINER}s</dd>" in figures([("to read", "1,467 MB/s", "\N{PLUS-MINUS SIGN} 3 %")])


@pytest.mark.parametrize(
    ("least", "most", "ticks"),
    [
        (9.0, 1100.0, [10, 30, 100, 300, 1000]),
        (0.9, 12_000.0, [1, 10, 100, 1000, 10_000]),
        (2.6, 7.7, [3, 4, 5, 6, 7]),
        (1.0, 1.11, [1, 1.02, 1.04, 1.06, 1.08, 1.1]),
        (40.0, 90.0, [40, 50, 60, 70, 80, 90]),
    ],
)
def test_ticks_are_round(least: float, most: float, ticks: list[float]) -> None:
    assert LogAxis(least, most, 0, 300).ticks(6) == pytest.approx(ticks)


def test_the_last_tick_of_an_axis_is_within_the_plot() -> None:
    canvas = Plot(356, 300)
    _axes(canvas, [(100, 1), (9_000, 2)], "", "")
    [x] = [float(x) for part in canvas.parts for x in re.findall(r'x="([0-9.]+)" .*>10,000<', part)]
    assert 340 > x > 300 and x + 3 * CHARACTER <= canvas.width


def test_labels_are_dropped_rather_than_drawn_over_each_other() -> None:
    canvas = Plot(356, 100)
    for _ in range(30):
        canvas.label(50, 50, "zstd 3", "one", (0, 0, 356, 100))
    assert 5 < sum("<text" in part for part in canvas.parts) < 30
