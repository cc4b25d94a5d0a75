"""Keys of JSON objects: the Python names of the same fields, in camelCase."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any


def camel_keys(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object for JSON with camelCase keys, in nested objects too. Names from users must not be keys."""
    return {_camel(name): _with_keys(value, _camel) for name, value in fields.items()}


def snake_keys(value: Any) -> Any:
    """Return a value from JSON with Python's names as keys: the inverse of `camel_keys`."""
    return _with_keys(value, lambda name: re.sub("[A-Z]", lambda match: f"_{match[0].lower()}", name))


def _camel(name: str) -> str:
    return re.sub("_([a-z0-9])", lambda match: match[1].upper(), name)


def _with_keys(value: Any, renamed: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {renamed(name): _with_keys(one, renamed) for name, one in value.items()}
    return [_with_keys(one, renamed) for one in value] if isinstance(value, list | tuple) else value


class JsonFields:
    """Mixin for dataclasses that are converted to objects for JSON."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return camel_keys(asdict(self))  # type: ignore[call-overload]
