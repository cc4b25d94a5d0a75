"""Kafka's messages, read by schema and shown as JSON (org.apache.kafka.message.JsonConverterGenerator).

A schema here is a short form of a ``*.json`` file in Kafka's sources: the versions, the flexible ones (KIP-482), and
the fields in order, after a colon or in the lines below::

    0-4 flexible 4+: generation int32, leader string?      nullable
      currentStateTimestamp int64 2+                       since version 2
      members []MemberMetadata                             an array of structures, whose fields follow
        memberId string, clientId string
      topicId uuid 4+ tag 0                                a tagged field; not shown if it has its default
      validatedTopologyEpoch int32 tag 0 =-1               with a default that is not zero, empty or false

A structure that occurs again has the fields given at its first occurrence.
"""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

from recordpress.errors import InvalidArgumentError

_UUID = 16  # bytes
_NUMBERS = {name: (struct.Struct(f">{code}"), size) for name, code, size in (
    ("int8", "b", 1), ("int16", "h", 2), ("uint16", "H", 2), ("int32", "i", 4), ("int64", "q", 8), ("float64", "d", 8)
)}  # fmt: skip
_LONGEST_STRING = 0x7FFF
_LINE = re.compile(r"(\w+) ((?:\[\])?)(\w+)(\??)(?: (\d+)(\+?))?(?: tag (\d+))?(?: =(\S+))?")
_VERSIONS = re.compile(r"(\d+)(?:-(\d+))?(?: flexible (\d+)\+)?")
_NO_VERSION = 0x7FFF  # above all versions


class UnreadableMessageError(Exception):
    """Bytes do not match a schema; `message` is the text of Kafka's exception, or None."""

    def __init__(self, message: str | None) -> None:
        super().__init__(message or "it ends too early")
        self.message = message


class Message:
    """Bytes of a message, read from the start."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    @property
    def remaining(self) -> int:
        return len(self.data) - self.position

    def take(self, size: int) -> bytes:
        """Take bytes (ByteBufferAccessor.readArray)."""
        if size < 0:
            raise UnreadableMessageError(str(size))  # NegativeArraySizeException
        if size > self.remaining:
            text = f"Error reading byte array of {size} byte(s): only {self.remaining} byte(s) available"
            raise UnreadableMessageError(text)
        self.position += size
        return self.data[self.position - size : self.position]

    def number(self, type: str) -> Any:
        form, size = _NUMBERS[type]
        if size > self.remaining:
            raise UnreadableMessageError(None)  # BufferUnderflowException
        self.position += size
        return form.unpack_from(self.data, self.position - size)[0]

    def unsigned_varint(self) -> int:
        """Read a varint (ByteUtils.readUnsignedVarint, whose result is a signed int of 32 bits)."""
        value = 0
        for shift in range(0, 35, 7):
            byte = self.number("int8") & 0xFF
            value |= (byte if shift == 28 else byte & 0x7F) << shift
            if byte < 0x80:
                break
        value = (value & 0xFFFFFFFF) - ((value & 0x80000000) << 1)
        if byte >= 0x80:
            text = "Varint is too long, the most significant bit in the 5th byte is set, converted value: "
            raise UnreadableMessageError(f"{text}{value & 0xFFFFFFFF:x}")
        return value

    def length(self, is_flexible: bool, type: str) -> int:
        """Read the length of a string, of bytes or of an array; negative for null."""
        return self.unsigned_varint() - 1 if is_flexible else int(self.number(type))


_Reader = Callable[[Message, int, bool], Any]  # reads a value in a version, which may be flexible


class _Field(NamedTuple):
    name: str
    read: _Reader
    first_version: int
    last_version: int
    tag: int | None
    default: Any

    def is_in(self, version: int) -> bool:
        return self.first_version <= version <= self.last_version


class Schema(NamedTuple):
    """Layout of a message."""

    lowest_version: int
    highest_version: int
    flexible_since: int
    read_structure: _Reader

    def read(self, message: Message, version: int) -> dict[str, Any]:
        """Return the fields of a version by name, as JSON shows them."""
        version = max(version, self.lowest_version)  # Kafka's classes do not reject lower versions
        fields: dict[str, Any] = self.read_structure(message, version, version >= self.flexible_since)
        return fields


@cache
def schema(text: str) -> Schema:
    """Parse the lines of a schema."""
    versions, colon, fields = text.strip().partition("\n")[0].partition(": ")
    lines = [f"  {fields}"] if colon else []
    lines += text.strip().splitlines()[1:]
    lowest, highest, flexible = _parts(_VERSIONS, versions)
    return Schema(
        int(lowest),
        int(highest or lowest),
        _NO_VERSION if flexible is None else int(flexible),
        _structure_of(_fields(_Lines(lines, int(highest or lowest)), 2, {})),
    )


def _parts(pattern: re.Pattern[str], line: str) -> tuple[Any, ...]:
    match = pattern.fullmatch(line)
    if match is None:
        raise InvalidArgumentError(f"{line!r} is not a line of a schema", field="text")
    return match.groups()


class _Lines:
    def __init__(self, lines: Iterable[str], highest_version: int) -> None:
        self._lines = list(lines)
        self.highest_version = highest_version

    def at(self, indent: int) -> Iterator[str]:
        """Parse the following lines with this indentation."""
        while self._lines and len(self._lines[0]) - len(self._lines[0].lstrip()) == indent:
            yield from self._lines.pop(0).strip().rstrip(",").split(", ")


class _Structure(NamedTuple):
    read: _Reader
    default: dict[str, Any]


def _fields(lines: _Lines, indent: int, known: dict[str, _Structure]) -> list[_Field]:
    return [_field(line, lines, indent, known) for line in lines.at(indent)]


def _field(line: str, lines: _Lines, indent: int, known: dict[str, _Structure]) -> _Field:
    name, array, type_, nullable, first, later, tag, default = _parts(_LINE, line)
    first_version = int(first or 0)
    value: Any = [] if array else _DEFAULTS.get(type_, 0)
    if type_ in _PLAIN:
        read = _PLAIN[type_](f"{name} element" if array else name, bool(nullable) and not array)
    else:
        if type_ not in known:
            inner = _fields(lines, indent + 2, known)
            read = _nested(type_, _structure_of(inner), lines.highest_version)
            known[type_] = _Structure(read, {field.name: field.default for field in inner})
        read = known[type_].read
        if not array:
            value = known[type_].default
            if nullable:
                read = _nullable(read, in_tag=tag is not None)
    if array:
        read = _array(name, read, bool(nullable))
    if default is not None:
        value = None if default == "null" else int(default)
    last_version = first_version if first and not later else _NO_VERSION
    return _Field(name, read, first_version, last_version, None if tag is None else int(tag), value)


# ---- values


def _structure_of(fields: list[_Field]) -> _Reader:
    plain = [field for field in fields if field.tag is None]
    tagged = {field.tag: field for field in fields if field.tag is not None}

    def read(message: Message, version: int, is_flexible: bool) -> dict[str, Any]:
        found = {field.name: field.read(message, version, is_flexible) for field in plain if field.is_in(version)}
        if not is_flexible:
            return found
        count = message.unsigned_varint()
        if count > message.remaining:
            text = f"Tried to read {count} tagged fields, but there are only {message.remaining} bytes remaining."
            raise UnreadableMessageError(text)
        for _ in range(count):
            tag, size = message.unsigned_varint(), message.unsigned_varint()
            field = tagged.get(tag)
            if field is None or not field.is_in(version):
                message.take(size)
                continue
            found[field.name] = field.read(message, version, True)
        return {
            field.name: found[field.name]
            for field in fields
            if field.name in found and (field.tag is None or found[field.name] != field.default)
        }

    return read


def _nested(type: str, read: _Reader, highest_version: int) -> _Reader:
    def read_known(message: Message, version: int, is_flexible: bool) -> Any:
        if version > highest_version:
            raise UnreadableMessageError(f"Can't read version {version} of nested message of type {type}")
        return read(message, version, is_flexible)

    return read_known


def _nullable(read: _Reader, in_tag: bool) -> _Reader:
    def read_or_null(message: Message, version: int, is_flexible: bool) -> Any:
        is_null = message.unsigned_varint() <= 0 if in_tag else message.number("int8") < 0
        return None if is_null else read(message, version, is_flexible)

    return read_or_null


def _array(name: str, read: _Reader, is_nullable: bool) -> _Reader:
    def read_all(message: Message, version: int, is_flexible: bool) -> list[Any] | None:
        size = message.length(is_flexible, "int32")
        if size < 0:
            _check_null(name, is_nullable)
            return None
        if size > message.remaining:
            text = f"Tried to allocate a collection of size {size}, but there are only {message.remaining} bytes"
            raise UnreadableMessageError(f"{text} remaining.")
        return [read(message, version, is_flexible) for _ in range(size)]

    return read_all


def _string(name: str, is_nullable: bool) -> _Reader:
    def read(message: Message, _: int, is_flexible: bool) -> str | None:
        size = message.length(is_flexible, "int16")
        if size < 0:
            _check_null(name, is_nullable)
            return None
        if size > _LONGEST_STRING:
            raise UnreadableMessageError(f"string field {name} had invalid length {size}")
        return message.take(size).decode("utf-8", "replace")

    return read


def _bytes(name: str, is_nullable: bool) -> _Reader:
    def read(message: Message, _: int, is_flexible: bool) -> str | None:
        size = message.length(is_flexible, "int32")
        if size < 0:
            _check_null(name, is_nullable)
            return None
        return base64.b64encode(message.take(size)).decode()

    return read


def _check_null(name: str, is_nullable: bool) -> None:
    if not is_nullable:
        raise UnreadableMessageError(f"non-nullable field {name} was serialized as null")


def _uuid(message: Message, _: int, __: bool) -> str:
    """Return Kafka's form of an id: base64 for URLs, without padding."""
    if message.remaining < _UUID:
        raise UnreadableMessageError(None)
    return base64.urlsafe_b64encode(message.take(_UUID)).decode().rstrip("=")


def _number_of(type: str) -> _Reader:
    return lambda message, _, __: message.number(type)


# By type: a function from a field's name, and whether it may be null, to a reader.
_PLAIN: dict[str, Callable[[str, bool], _Reader]] = {
    "string": _string,
    "bytes": _bytes,
    "uuid": lambda _, __: _uuid,
    "bool": lambda _, __: lambda message, _, __: message.number("int8") != 0,
    **{type: (lambda _, __, type=type: _number_of(type)) for type in _NUMBERS},  # type: ignore[misc]
}
_DEFAULTS = {"string": "", "bytes": "", "uuid": "A" * 22, "bool": False}


# ---- JSON, as Jackson writes it


def json_text(value: Any) -> str:
    """Return the JSON text of a message."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{_quoted(name)}:{json_text(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(json_text, value)) + "]"
    if isinstance(value, str):
        return _quoted(value)
    return _double(value) if isinstance(value, float) else json.dumps(value)


def _quoted(text: str) -> str:
    def upper(match: re.Match[str]) -> str:
        escape = match[0]
        return f"\\u{escape[2:].upper()}" if len(escape) > 2 else escape

    return re.sub(r"\\(?:u00[01][0-9a-f]|.)", upper, json.dumps(text, ensure_ascii=False))


def _double(value: float) -> str:
    """Return a number as Java's Double.toString does; infinities and NaN are in quotation marks."""
    if value != value or abs(value) == float("inf"):
        return '"NaN"' if value != value else '"Infinity"' if value > 0 else '"-Infinity"'
    if value == 0:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + int(exponent)  # digits before the point
    minus = "-" if sign else ""
    if not 1e-3 <= abs(value) < 1e7:
        return f"{minus}{text[0]}.{text[1:] or '0'}E{point - 1}"
    if point <= 0:
        return f"{minus}0.{'0' * -point}{text}"
    text = text.ljust(point, "0")
    return f"{minus}{text[:point]}.{text[point:] or '0'}"
