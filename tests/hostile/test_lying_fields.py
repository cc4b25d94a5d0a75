"""Each field that can lie, at -1, 0, 1 and both ends of its range, under a right CRC."""

from __future__ import annotations

import struct
from typing import NamedTuple

import pytest
from hostile_sets import SMALL_SETS, exact, read_columns, read_objects, with_right_crc

import recordpress
from together import grouped

CORRUPT = recordpress.CorruptRecordError
INVALID = recordpress.InvalidRecordError


class Field(NamedTuple):
    name: str
    position: int
    format: str


V2_FIELDS = [
    Field("baseOffset", 0, ">q"),
    Field("batchLength", 8, ">i"),
    Field("partitionLeaderEpoch", 12, ">i"),
    Field("magic", 16, ">b"),
    Field("attributes", 21, ">h"),
    Field("lastOffsetDelta", 23, ">i"),
    Field("baseTimestamp", 27, ">q"),
    Field("maxTimestamp", 35, ">q"),
    Field("producerId", 43, ">q"),
    Field("producerEpoch", 51, ">h"),
    Field("baseSequence", 53, ">i"),
    Field("recordsCount", 57, ">i"),
]
V0_FIELDS = [
    Field("offset", 0, ">q"),
    Field("size", 8, ">i"),
    Field("magic", 16, ">b"),
    Field("attributes", 17, ">b"),
    Field("keyLength", 18, ">i"),
    Field("valueLength", 22, ">i"),
]
V1_FIELDS = [
    *V0_FIELDS[:4],
    Field("timestamp", 18, ">q"),
    Field("keyLength", 26, ">i"),
    Field("valueLength", 30, ">i"),
]
FIELDS = {"v0": V0_FIELDS, "v1": V1_FIELDS, "v2": V2_FIELDS}


def _ends(form: str) -> list[int]:
    bits = 8 * struct.calcsize(form)
    return [-(1 << (bits - 1)), -1, 0, 1, (1 << (bits - 1)) - 1]


LIES = [(name, field, value) for name in SMALL_SETS for field in FIELDS[name[:2]] for value in _ends(field.format)]


def _with(data: bytes, field: Field, value: int) -> bytes:
    lie = bytearray(data)
    struct.pack_into(field.format, lie, field.position, value)
    return with_right_crc(bytes(lie))


@grouped("name, field, value", LIES, lambda lie: lie[0])
def test_a_lying_field_is_read_or_refused(name: str, field: Field, value: int) -> None:
    view = exact(_with(SMALL_SETS[name], field, value))
    read_objects(view)
    read_columns(view)
    recordpress.read_columns(b"", columns=("offset",))  # the next call is not disturbed


REFUSED = [
    # set, field, value, what both ways of reading say
    ("v2-none", "batchLength", -1, CORRUPT),
    ("v2-none", "batchLength", 13, CORRUPT),
    ("v2-none", "batchLength", 48, CORRUPT),
    ("v2-none", "magic", 3, CORRUPT),
    ("v2-none", "magic", -1, CORRUPT),
    ("v2-none", "recordsCount", -1, INVALID),
    ("v2-none", "recordsCount", 2, INVALID),
    ("v2-none", "recordsCount", 4, INVALID),
    ("v2-none", "recordsCount", 2**31 - 1, INVALID),
    ("v2-zstd", "recordsCount", 2**31 - 1, INVALID),
    ("v2-gzip", "recordsCount", -(2**31), INVALID),
    ("v2-none", "attributes", 6, recordpress.UnsupportedCompressionTypeError),
    ("v2-none", "attributes", 3, recordpress.DecompressionError),
    ("v0-none", "size", 13, CORRUPT),
    ("v1-none", "size", -(2**31), CORRUPT),
    ("v1-gzip", "valueLength", -1, INVALID),
]


@pytest.mark.parametrize(("name", "field_name", "value", "error"), REFUSED)
def test_a_lie_that_matters_has_its_error(name: str, field_name: str, value: int, error: type[Exception]) -> None:
    field = next(field for field in FIELDS[name[:2]] if field.name == field_name)
    view = exact(_with(SMALL_SETS[name], field, value))
    assert type(read_columns(view)) is error
    assert error in [type(found) for found in read_objects(view)]


# ---- the varints of a v2 record

HEAD = SMALL_SETS["v2-none"][:61]


def _varint(value: int, bits: int = 32) -> bytes:
    number = (value << 1) ^ (value >> (bits - 1))
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _batch(record: bytes) -> bytes:
    """One uncompressed v2 batch of one record."""
    size = struct.pack(">i", 49 + len(record))
    head = HEAD[:8] + size + HEAD[12:23] + struct.pack(">i", 0) + HEAD[27:57] + struct.pack(">i", 1)
    return with_right_crc(head + record)


RECORD = {
    "timestampDelta": _varint(0),
    "offsetDelta": _varint(0),
    "keyLength": _varint(1),
    "key": b"k",
    "valueLength": _varint(1),
    "value": b"v",
    "headerCount": _varint(1),
    "headerKeyLength": _varint(1),
    "headerKey": b"h",
    "headerValueLength": _varint(1),
    "headerValue": b"x",
}
LENGTHS = ("keyLength", "valueLength", "headerCount", "headerKeyLength", "headerValueLength")
VARINTS = {
    "min": _varint(-(2**31)),
    "-2": _varint(-2),
    "-1": _varint(-1),
    "0": _varint(0),
    "2": _varint(2),
    "max": _varint(2**31 - 1),
    "too long": b"\xff" * 5 + b"\x01",
}


def _body(**changed: bytes) -> bytes:
    return b"\x00" + b"".join((RECORD | changed).values())


def test_the_record_is_right_before_it_lies() -> None:
    view = exact(_batch(_varint(len(_body())) + _body()))
    assert read_columns(view) is None


@pytest.mark.parametrize("lie", VARINTS)
@pytest.mark.parametrize("field", LENGTHS)
def test_a_lying_length_inside_a_record_is_refused(field: str, lie: str) -> None:
    body = _body(**{field: VARINTS[lie]})
    view = exact(_batch(_varint(len(body)) + body))
    assert type(read_columns(view)) is INVALID
    assert INVALID in [type(error) for error in read_objects(view)]


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 1, 6, 1000, 2**31 - 1])
def test_a_lying_record_length_is_refused(length: int) -> None:
    view = exact(_batch(_varint(length) + _body()))
    assert type(read_columns(view)) is INVALID
    assert INVALID in [type(error) for error in read_objects(view)]


@pytest.mark.parametrize("field", ["timestampDelta", "offsetDelta"])
@pytest.mark.parametrize("delta", [-(2**31), -1, 1, 2**31 - 1])
def test_any_delta_is_read(field: str, delta: int) -> None:
    body = _body(**{field: _varint(delta)})
    view = exact(_batch(_varint(len(body)) + body))
    assert read_columns(view) is None
    (record,) = next(recordpress.read_batches(view))
    base, found = (7, record.offset) if field == "offsetDelta" else (1_700_000_000_000, record.timestamp)
    assert found == base + delta
