"""Description of the machine that a measurement ran on, for comparisons."""

from __future__ import annotations

import platform
from pathlib import Path

from recordpress._libraries import library_versions
from recordpress._threads import cores
from recordpress._version import VERSION


def machine_facts() -> dict[str, str]:
    """Return processor, cores, system and Python, but not the machine's name."""
    return {
        "processor": _processor(),
        "cores": str(cores()),
        "system": platform.platform(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def software_versions() -> dict[str, str]:
    """Return the versions of recordpress and of its C libraries."""
    return {"recordpress": VERSION, **library_versions()}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
