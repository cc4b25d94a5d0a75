"""Which names of recordpress are public: those of its rooms, each in the first room that has it."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import recordpress

# The order of the reference: a name is described in the first of the rooms that have it.
FIRST = (
    "recordpress",
    "recordpress.errors",
    "recordpress.log",
    "recordpress.broker",
    "recordpress.producer",
    "recordpress.dictionaries",
)

# Modules of a room that users import by themselves.
DOORS = ("recordpress.log.sidecars", "recordpress.spark.functions")


def rooms() -> list[str]:
    """The modules that a user may import: no part of their name begins with an underscore."""
    found = {
        f"recordpress.{info.name}"
        for info in pkgutil.iter_modules(recordpress.__path__)
        if not info.name.startswith("_")
    }
    found |= {
        f"{room}.{info.name}"
        for room in ("recordpress.adapters",)
        if room in found
        for info in pkgutil.iter_modules(import_module(room).__path__)
        if not info.name.startswith("_")
    }
    compiled = {"recordpress.checksum"}  # in the one shared object, which no listing of a folder shows
    return [*FIRST, *sorted((found | compiled | set(DOORS)) - set(FIRST))]


@dataclass(frozen=True)
class Name:
    """A public name."""

    room: str
    name: str
    value: Any

    @property
    def full(self) -> str:
        return f"{self.room}.{self.name}"

    @property
    def is_described_by_itself(self) -> bool:
        """Whether the object has its own docstring; a number or an alias of types has one next to it."""
        ours = str(getattr(self.value, "__module__", "")).startswith("recordpress")
        return ours and (inspect.isclass(self.value) or callable(self.value))


def names_of(room: str) -> list[Name]:
    module = import_module(room)
    listed = getattr(module, "__all__", None)
    names = listed if listed is not None else _defined_in(module)
    found = (Name(room, name, getattr(module, name)) for name in sorted(names, key=str.lower))
    return [name for name in found if not isinstance(name.value, ModuleType)]


def _defined_in(module: ModuleType) -> list[str]:
    """Of a module without ``__all__``: what is its own."""
    public = (name for name in dir(module) if not name.startswith("_"))
    return [name for name in public if getattr(getattr(module, name), "__module__", "") == module.__name__]


def public_names() -> Iterator[tuple[Name, Name]]:
    """Every name of every room, and where it is described: in the first room that has the same object."""
    described: dict[object, Name] = {}
    for room in rooms():
        for name in names_of(room):
            yield name, described.setdefault(_key(name), name)


def _key(name: Name) -> object:
    """A function of `recordpress` loads the room whose function of that name does the work: both are one."""
    does_the_work = name.room in ("recordpress", "recordpress.analysis", "recordpress.broker", "recordpress.log")
    if does_the_work and inspect.isfunction(name.value) and name.name in recordpress.__all__:
        return name.name
    return id(name.value) if name.is_described_by_itself else (name.name, repr(name.value))
