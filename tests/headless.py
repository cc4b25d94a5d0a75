"""A browser without a window: what it finds wrong with pages, in its light and dark scheme, at several widths."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from patience import HANG

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
SCHEMES = {"light": 1, "dark": 0}  # Chromium's preferredColorScheme
WIDTHS = (390, 800, 1300, 1600)  # of a telephone, a tablet, a laptop, a screen
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
