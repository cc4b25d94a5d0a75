"""A browser without a window, which shows a report in its light or dark scheme; the picture's pixels."""

from __future__ import annotations

import shutil
import subprocess
import zlib
from pathlib import Path

from patience import HANG

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
SCHEMES = {"light": 1, "dark": 0}  # Chromium's preferredColorScheme
COLORS = {  # ground, today and the stored depth, advised and the deeper ones
    "light": ((0xFF, 0xFF, 0xFF), (0x0B, 0x5C, 0xAD), (0xA6, 0x3D, 0x00)),
    "dark": ((0x16, 0x16, 0x16), (0x6C, 0xB6, 0xFF), (0xFF, 0x9E, 0x5E)),
}


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
