"""The HTML report: whole by itself, well formed, and legible in a browser's light and dark scheme."""

from __future__ import annotations

import re
import shutil
import subprocess
import zlib
from pathlib import Path
from xml.etree import ElementTree

import pytest

import kpress
from kpress.analysis import html_of

LOGS = Path(__file__).parents[2] / "demo" / "logs" / "access-log-0"
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
WIDTH, HEIGHT = 1000, 1250
SCHEMES = {"light": 1, "dark": 0}  # Chromium's preferredColorScheme
COLORS = {  # ground, today and the stored depth, advised and the deeper ones
    "light": ((0xFF, 0xFF, 0xFF), (0x0B, 0x5C, 0xAD), (0xA6, 0x3D, 0x00)),
    "dark": ((0x16, 0x16, 0x16), (0x6C, 0xB6, 0xFF), (0xFF, 0x9E, 0x5E)),
}


@pytest.fixture(scope="module")
def page() -> str:
    return html_of(kpress.analyze(LOGS))


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
@pytest.mark.skipif(not BROWSER, reason="no Chromium: make report")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_browser_shows_it(page: str, scheme: str, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(page)
    picture = tmp_path / "report.png"
    command = [
        BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        f"--window-size={WIDTH},{HEIGHT}",
        f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}", f"--user-data-dir={tmp_path / 'profile'}",
        f"--screenshot={picture}", (tmp_path / "report.html").as_uri(),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    pixels = pixels_of(picture.read_bytes())
    ground, one, two = (pixels.count(color) for color in COLORS[scheme])
    assert ground > 0.8 * WIDTH * HEIGHT  # of which text and lines leave most
    assert one > 10_000 and two > 3_000  # the bars alone have as many


def pixels_of(png: bytes) -> list[tuple[int, ...]]:
    """Of a picture of 8 bits per channel, with or without alpha (PNG, section 9: filters)."""
    assert png[24] == 8 and png[25] in (2, 6)
    depth = 3 if png[25] == 2 else 4
    width, height = int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")
    data, position = b"", 8
    while position < len(png):
        size = int.from_bytes(png[position : position + 4], "big")
        if png[position + 4 : position + 8] == b"IDAT":
            data += png[position + 8 : position + 8 + size]
        position += size + 12
    raw, stride = zlib.decompress(data), width * depth
    above, found = bytearray(stride), []
    for row in range(height):
        kind, line = raw[row * (stride + 1)], bytearray(raw[row * (stride + 1) + 1 : (row + 1) * (stride + 1)])
        for at in range(stride if kind else 0):
            left, corner = (line[at - depth], above[at - depth]) if at >= depth else (0, 0)
            line[at] = (line[at] + predicted(kind, left, above[at], corner)) & 0xFF
        found += [tuple(line[at : at + 3]) for at in range(0, stride, depth)]
        above = line
    return found


def predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 4:
        guess = left + up - corner
        return min((abs(guess - value), order, value) for order, value in enumerate((left, up, corner)))[2]
    return (0, left, up, (left + up) // 2)[kind]
