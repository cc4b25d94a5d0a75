"""The HTML report: whole by itself, well formed, and legible in a browser's light and dark scheme."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import recordpress
from headless import BROWSER, COLORS, SCHEMES, picture_of, pixels_of
from recordpress.analysis import html_of

pytestmark = pytest.mark.slow

LOGS = Path(__file__).parents[2] / "demo" / "logs" / "access-log-0"
WIDTH, HEIGHT = 1000, 1250


@pytest.fixture(scope="module")
def page() -> str:
    return html_of(recordpress.analyze(LOGS))


def test_it_needs_nothing_else(page: str) -> None:
    assert not re.search(r"https?:|//|<script|<link|<img|@import|url\(", page)


def test_it_is_well_formed(page: str) -> None:
    head = '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">'
    root = ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>\n").replace(head, ""))
    assert len(root.findall(".//svg")) == 3
    assert len(root.findall(".//tr")) == 17
    assert len(root.findall(".//circle")) == 16 + 4  # cells and depths


def test_points_are_where_the_axes_are(page: str) -> None:
    for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', page):
        assert 70 <= float(x) <= 610 and 20 <= float(y) <= 330


def test_labels_do_not_cover_each_other(page: str) -> None:
    plot = page.split("<svg")[2]
    labels = [
        (float(x), float(y), len(text))
        for x, y, text in re.findall(r'<text x="([\d.]+)" y="([\d.]+)" class="(?:one|two)"[^>]*>([^<]*)<', plot)
    ]
    assert len(labels) == 16
    for number, (x, y, length) in enumerate(labels):
        for other_x, other_y, other_length in labels[:number]:
            apart = abs(y - other_y) > 12.5
            assert apart or x + 7 * length <= other_x + 0.5 or other_x + 7 * other_length <= x + 0.5


@pytest.mark.build  # a browser does not run under a sanitizer
@pytest.mark.skipif(not BROWSER, reason="no Chromium: make -f labs.mk report")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_browser_shows_it(page: str, scheme: str, tmp_path: Path) -> None:
    pixels = pixels_of(picture_of(page, scheme, WIDTH, HEIGHT, tmp_path))
    ground, one, two = (pixels.count(color) for color in COLORS[scheme])
    assert ground > 0.8 * WIDTH * HEIGHT  # of which text and lines leave most
    assert one > 10_000 and two > 3_000  # the bars alone have as many
