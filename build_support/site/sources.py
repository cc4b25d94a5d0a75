"""Addresses of the sources of public names, for ``sphinx.ext.linkcode``."""

from __future__ import annotations

import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import recordpress
from build_support.site.stubs import home_of

ROOT = Path(recordpress.__file__).parents[2]


def url_of(repository: str, module: str, name: str) -> str | None:
    """Return where a name of a module is written, or None if recordpress does not define it."""
    owner, *members = name.split(".")
    value = inspect.unwrap(getattr(import_module(module), owner))
    where = getattr(value, "__module__", None) if inspect.isclass(value) or callable(value) else module
    path = _file_of((where and home_of(where, getattr(value, "__name__", owner))) or "")
    if path is None:
        return None
    line = _line_of(path, getattr(value, "__name__", owner), *members)
    return f"{repository}/blob/main/{path.relative_to(ROOT)}" + (f"#L{line}" if line else "")


@cache
def _file_of(module: str) -> Path | None:
    if module.partition(".")[0] != "recordpress":
        return None
    base = ROOT.joinpath("src", *module.split("."))
    choices = (base.with_suffix(".pyx"), base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in choices if path.exists()), None)


@cache
def _line_of(path: Path, *names: str) -> int | None:
    """Return the line that defines a class or function, then that of its member."""
    lines, at, found = path.read_text(encoding="utf-8").splitlines(), 0, None
    for name in names:
        pattern = re.compile(
            rf"\s*(?:async def|cdef class|class|c?p?def) (?:[\w.\[\], *]+ )?{re.escape(name)}\b|{name}\b.* = "
        )
        number = next((n for n, line in enumerate(lines[at:], at + 1) if pattern.match(line)), None)
        if number is None:
            break
        at = found = number
    return found
