"""KRaft's own control records, as Kafka's DumpLogSegments (4.3.1) prints them.

Their values are Kafka messages in the flexible form of KIP-482: a compact array or string has its length plus one as an
unsigned varint before it, and tagged fields follow each structure. The schemas are those of LeaderChangeMessage,
SnapshotHeaderRecord, SnapshotFooterRecord, KRaftVersionRecord and VotersRecord (``*.json`` in Kafka's sources).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from kpress.errors import InvalidRecordError
from kpress.record import Record

_RULE = "control record"
_UUID = 16  # bytes


class _Value:
    """A record's value, read from its beginning to its end."""

    def __init__(self, data: bytes, offset: int) -> None:
        self.data = data
        self.offset = offset
        self.position = 0

    def take(self, size: int) -> bytes:
        if size < 0:
            raise self.wrong("has no text where there must be one")
        if size > len(self.data) - self.position:
            raise self.wrong(f"ends {size - len(self.data) + self.position} bytes too early")
        self.position += size
        return self.data[self.position - size : self.position]

    def wrong(self, message: str) -> InvalidRecordError:
        return InvalidRecordError(f"a control record's value {message}", offset=self.offset, field="value", rule=_RULE)

    def varint(self) -> int:
        number = 0
        for shift in range(0, 35, 7):
            [byte] = self.take(1)
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
        raise self.wrong("has a varint of more than five bytes")


def _integer(size: int, signed: bool = True) -> Callable[[_Value], int]:
    return lambda value: int.from_bytes(value.take(size), "big", signed=signed)


_int16, _int32, _int64, _uint16 = _integer(2), _integer(4), _integer(8), _integer(2, signed=False)


def _text(value: _Value) -> str:
    return value.take(value.varint() - 1).decode("utf-8", "replace")


def _uuid(value: _Value) -> str:
    """Kafka's form of an id: base64 for URLs, without padding."""
    return base64.urlsafe_b64encode(value.take(_UUID)).decode().rstrip("=")


class _Field(NamedTuple):
    name: str
    read: Callable[[_Value], Any]


def _structure(*fields: _Field) -> Callable[[_Value], dict[str, Any]]:
    def read(value: _Value) -> dict[str, Any]:
        found = {field.name: field.read(value) for field in fields}
        for _ in range(value.varint()):  # tagged fields: none is known
            value.varint()
            value.take(value.varint())
        return found

    return read


def _array(read: Callable[[_Value], Any]) -> Callable[[_Value], list[Any]]:
    return lambda value: [read(value) for _ in range(value.varint() - 1)]


_VERSION = _Field("version", _int16)
_QUORUM_VOTERS = _array(_structure(_Field("voterId", _int32)))
_VOTERS = _array(
    _structure(
        _Field("voterId", _int32),
        _Field("voterDirectoryId", _uuid),
        _Field(
            "endpoints", _array(_structure(_Field("name", _text), _Field("host", _text), _Field("port", _uint16)))
        ),
        _Field(
            "kRaftVersionFeature",
            _structure(_Field("minSupportedVersion", _int16), _Field("maxSupportedVersion", _int16)),
        ),
    )
)

# By type of control record: what the tool calls it, and its value. All have version 0 alone, as the tool reads them.
_KINDS: dict[str, tuple[str, Callable[[_Value], dict[str, Any]]]] = {
    "LEADER_CHANGE": (
        "LeaderChange:",
        _structure(
            _VERSION,
            _Field("leaderId", _int32),
            _Field("voters", _QUORUM_VOTERS),
            _Field("grantingVoters", _QUORUM_VOTERS),
        ),
    ),
    "SNAPSHOT_HEADER": ("SnapshotHeader", _structure(_VERSION, _Field("lastContainedLogTimestamp", _int64))),
    "SNAPSHOT_FOOTER": ("SnapshotFooter", _structure(_VERSION)),
    "KRAFT_VERSION": ("KRaftVersion", _structure(_VERSION, _Field("kRaftVersion", _int16))),
    "KRAFT_VOTERS": ("KRaftVoters", _structure(_VERSION, _Field("voters", _VOTERS))),
}


def kraft_record_text(type: str, record: Record) -> str | None:
    """What the tool prints of a control record's value; None of a type that it prints by its number.

    Parameters
    ----------
    type : str
        As `kpress.control_record` tells it.
    record : Record

    Raises
    ------
    InvalidRecordError
        The value ends too early, or is null.
    """
    if type not in _KINDS:
        return None
    name, read = _KINDS[type]
    value = _Value(record.value or b"", record.offset)
    return f"{name} {json.dumps(read(value), separators=(',', ':'), ensure_ascii=False)}"
