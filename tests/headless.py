"""A browser without a window: what it finds wrong with pages, in its light and dark scheme, at several widths."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from patience import HANG

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
SCHEMES = {"light": 1, "dark": 0}  # Chromium's preferredColorScheme
COLORS = {  # ground, today and the stored depth, advised and the deeper ones
    "light": ((0xFF, 0xFF, 0xFF), (0x0B, 0x5C, 0xAD), (0xA6, 0x3D, 0x00)),
    "dark": ((0x16, 0x16, 0x16), (0x6C, 0xB6, 0xFF), (0xFF, 0x9E, 0x5E)),
}
_WINDOW = 1800  # wider than any frame

# Loads each page into a frame of each width, and looks at what is drawn there.
_HARNESS = (Path(__file__).parent / "headless.html").read_text(encoding="utf-8")


def dump(address: str, profile: Path, scheme: str = "light", budget: int = 60_000) -> tuple[str, list[str]]:
    """The document after its scripts ran, without a network, and what they printed on the console."""
    assert BROWSER is not None
    command = [
        BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
        "--host-resolver-rules=MAP * ~NOTFOUND", f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
        f"--window-size={_WINDOW},900", f"--user-data-dir={profile}", f"--virtual-time-budget={budget}",
        "--enable-logging=stderr", "--dump-dom", address,
    ]  # fmt: skip
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=HANG)
    return done.stdout, re.findall(r":CONSOLE[:(]\d+[\])] (.*)", done.stderr)


def faults_of(pages: Iterable[Path], scheme: str, widths: Sequence[int], directory: Path) -> list[str]:
    """What is wrong with pages: wider than the window, cut, labels over each other or too small, the other scheme's
    colors, messages on the console."""
    addresses = [path.resolve().as_uri() for path in pages]
    tasks = [{"address": address, "width": width} for address in addresses for width in widths]
    harness = directory / f"{scheme}.html"
    harness.write_text(_HARNESS.replace("TASKS", json.dumps(tasks)), encoding="utf-8")
    shown, messages = dump(harness.as_uri(), directory / "profile", scheme)
    found: list[dict[str, Any]] = json.loads(html.unescape(re.search(r'(?s)<pre id="found">(.*?)</pre>', shown)[1]))
    assert [(one["address"], one["width"]) for one in found] == [(one["address"], one["width"]) for one in tasks]
    faults = [f"{one['address']} at {one['width']}: {fault}" for one in found for fault in one["faults"]]
    faults += [
        f"{one['address']} at {one['width']}: not {scheme}: {one['ground']}, {one['ink']}"
        for one in found
        if _is_bright(one["ground"]) is not (scheme == "light") or _is_bright(one["ink"]) is not (scheme == "dark")
    ]
    return [*faults, *(f"console: {message}" for message in messages)]


def _is_bright(color: str) -> bool:
    red, green, blue = (int(part) for part in color[color.index("(") + 1 : -1].split(",")[:3])
    return red + green + blue > 3 * 128


def picture_of(page: str, scheme: str, width: int, height: int, directory: Path) -> bytes:
    """A PNG file."""
    (directory / "report.html").write_text(page, encoding="utf-8")
    picture = directory / "report.png"
    command = [
        BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        f"--window-size={width},{height}",
        f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}", f"--user-data-dir={directory / 'profile'}",
        f"--screenshot={picture}", (directory / "report.html").as_uri(),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=HANG)
    return picture.read_bytes()


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
