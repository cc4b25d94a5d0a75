"""Messages drawn by the schemas that Kafka's jars carry: of any kind and version, with any values."""

from __future__ import annotations

import json
import random
import struct
import zipfile
from pathlib import Path
from typing import Any

Schema = dict[str, Any]
_WORDS = ["", "orders", "payments-eu", "a", "Grüße", "日本", "x" * 40, 'q"\\\n\x1b\x7f', "😀"]
_NUMBERS = {"int8": "b", "int16": "h", "uint16": "H", "int32": "i", "int64": "q"}
_DOUBLES = [0.0, -0.0, 1.0, 0.1, 1e7, 9999999.5, 1e-3, 9.5e-4, 1.25e300, float("inf"), float("nan"), 123456.0]


def schemas(jars: Path, jar: str) -> list[Schema]:
    """All in a jar."""
    [path] = jars.glob(f"{jar}-[0-9]*.jar")
    with zipfile.ZipFile(path) as archive:
        texts = [archive.read(name).decode() for name in sorted(archive.namelist()) if name.endswith(".json")]
    lines = (text.splitlines() for text in texts)
    return [json.loads("\n".join(line for line in text if not line.strip().startswith("//"))) for text in lines]


def is_in(versions: str | None, version: int) -> bool:
    if versions in (None, "none"):
        return False
    assert versions is not None
    first, _, last = versions.rstrip("+").partition("-")
    return int(first) <= version and (versions.endswith("+") or version <= int(last or first))


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


class Encoder:
    """One message.

    Parameters
    ----------
    schema : dict
    version : int
    draw : random.Random
    """

    def __init__(self, schema: Schema, version: int, draw: random.Random) -> None:
        self.version = version
        self.draw = draw
        self.flexible = is_in(schema["flexibleVersions"], version)
        self.structures = {structure["name"]: structure["fields"] for structure in schema.get("commonStructs", [])}
        self.message = self.structure(schema["fields"])

    def structure(self, fields: list[Schema]) -> bytes:
        here = [field for field in fields if is_in(field.get("versions") or field["taggedVersions"], self.version)]
        tagged = [field for field in here if is_in(field.get("taggedVersions"), self.version)]
        out = b"".join(self.field(field) for field in here if field not in tagged)
        if not self.flexible:
            return out
        chosen = {field["tag"]: self.field(field) for field in tagged if self.draw.random() < 0.7}
        if self.draw.random() < 0.1:
            chosen[99] = b"unknown"
        return (
            out
            + varint(len(chosen))
            + b"".join(varint(tag) + varint(len(data)) + data for tag, data in sorted(chosen.items()))
        )

    def field(self, field: Schema) -> bytes:
        kind = field["type"]
        nullable = is_in(field.get("nullableVersions"), self.version)
        if kind.startswith("[]"):
            if nullable and self.draw.random() < 0.3:
                return self.size(None, "i")
            number = self.draw.choice([0, 0, 1, 1, 2, 3])
            return self.size(number, "i") + b"".join(self.value(field, kind[2:]) for _ in range(number))
        if nullable and self.draw.random() < 0.3:
            if kind in ("string", "bytes"):
                return self.size(None, "i" if kind == "bytes" else "h")
            return b"\0" if "tag" in field else b"\xff"
        is_structure = kind not in (*_NUMBERS, "string", "bytes", "uuid", "bool", "float64")
        return (b"\x01" if nullable and is_structure else b"") + self.value(field, kind)

    def size(self, number: int | None, form: str) -> bytes:
        if self.flexible:
            return varint(0 if number is None else number + 1)
        return struct.pack(">" + form, -1 if number is None else number)

    def value(self, field: Schema, kind: str) -> bytes:
        draw = self.draw
        if kind in _NUMBERS:
            bits = 8 * struct.calcsize(_NUMBERS[kind])
            low = 0 if kind.startswith("u") else -(1 << bits - 1)
            number = draw.choice([0, 1, max(-1, low), draw.randrange(low, low + (1 << bits))])
            return struct.pack(">" + _NUMBERS[kind], number)
        if kind == "bool":
            return draw.choice([b"\0", b"\1"])
        if kind == "float64":
            return struct.pack(">d", draw.choice([*_DOUBLES, draw.uniform(-1e9, 1e9)]))
        if kind == "uuid":
            return draw.choice([bytes(16), draw.randbytes(16)])
        if kind in ("string", "bytes"):
            data = draw.choice(_WORDS).encode() if kind == "string" else draw.randbytes(draw.randrange(5))
            return self.size(len(data), "h" if kind == "string" else "i") + data
        return self.structure(field.get("fields") or self.structures[kind])


def versions_of(schema: Schema) -> range:
    first, _, last = schema["validVersions"].partition("-")
    return range(int(first), int(last or first) + 1)
