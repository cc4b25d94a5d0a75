"""Packages whose modules are imported when one of their names is first used.

`recordpress.broker`, `recordpress.log` and `recordpress.spark` are there after ``import recordpress`` and cost it nothing. They have a
``__getattr__`` (PEP 562), and `recordpress` itself has none: CPython does not specialize attribute access on a module with
one, so that ``recordpress.crc32c(data)`` would take half as long again.
"""

TYPE_CHECKING = False  # importing typing would add a tenth to the time that importing recordpress takes
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def names_of(room: str) -> "tuple[Callable[[str], Any], Callable[[], list[str]]]":
    """``__getattr__`` and ``__dir__`` of a room whose names are those of its module ``_names``."""

    def load() -> "Any":
        from importlib import import_module

        return import_module(f"{room}._names")

    def get(name: str) -> "Any":
        if name != "__all__" and (name.startswith("_") or name not in load().__all__):
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(load(), name)

    def names() -> "list[str]":
        return sorted(load().__all__)

    return get, names
