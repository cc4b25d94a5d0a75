"""One name for one thing: the table of CONTRIBUTING.md, next to what Python, the shell, Spark and JSON have."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CAMEL_CASE = re.compile("[a-z][a-zA-Z0-9]*")


def keys_of(schema: Any) -> Iterator[str]:
    """Yield the names of properties that a JSON Schema describes."""
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        for inner in schema.values():
            yield from keys_of(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from keys_of(inner)


def test_json_keys_are_in_camel_case() -> None:
    found = {path.name: set(keys_of(json.loads(path.read_text()))) for path in ROOT.glob("docs/*.schema.json")}
    assert found and all(found.values())
    others = {(name, key) for name, keys in found.items() for key in keys if not CAMEL_CASE.fullmatch(key)}
    assert others == set()
