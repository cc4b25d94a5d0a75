"""Records of a batch that is rebuilt: as Java writes them, whatever form they came in (DefaultRecord.writeTo)."""

from __future__ import annotations

import struct
from typing import Any

import pytest

import recordpress
from recordpress.broker import validate
from together import together

T = 1_700_000_000_000
COUNT = 4


def varint(number: int, size: int = 0) -> bytes:
    """Zigzag; in so many bytes, if it would take fewer."""
    rest = (number << 1) ^ (number >> 63)
    out = bytearray()
    while rest > 127:
        out.append(rest & 127 | 128)
        rest >>= 7
    out.append(rest)
    while len(out) < size:
        out[-1] |= 128
        out.append(0)
    return bytes(out)


def field(data: bytes | None, null: int = -1, size: int = 0) -> bytes:
    return varint(null, size) if data is None else varint(len(data), size) + data


def record(
    offset: int,
    *,
    attributes: int = 0,
    delta: int | None = None,
    key: bytes = field(b"key"),
    value: bytes = field(b"value" * 30),
    headers: bytes = varint(0),
    wide: int = 0,
) -> bytes:
    """`wide`: bytes of the offset's and the length's varints."""
    time = varint(offset if delta is None else delta)
    body = bytes([attributes]) + time + varint(offset, wide) + key + value + headers
    return varint(len(body), wide) + body


def batch(records: list[bytes], codec: str, base_timestamp: int = T) -> bytes:
    body = b"".join(records)
    payload = recordpress.compress(body, "lz4", magic=2) if codec == "lz4" else body
    after_crc = struct.pack(
        ">hiqqqhii", 3 if codec == "lz4" else 0, COUNT - 1, base_timestamp, T + COUNT - 1, -1, -1, -1, COUNT
    )
    after_crc += payload
    crc = recordpress.crc32c(after_crc)
    return struct.pack(">qiibI", 0, 9 + len(after_crc), -1, 2, crc) + after_crc


def rebuilt(data: bytes, codec: str) -> bytes:
    """The records that the log holds."""
    verdict = validate(data, topic_config={"compression.type": codec}, now_ms=T)
    assert (verdict.error, verdict.relation) == ("NONE", "rebuilt")
    [stored] = recordpress.read_batches(verdict.records)
    assert (stored.is_valid(), stored.records_count, stored.max_timestamp) == (True, COUNT, T + COUNT - 1)
    body = verdict.records[61:]
    return body if codec == "uncompressed" else recordpress.decompress(body, codec)  # type: ignore[call-overload]


HEADERS = varint(1) + field(b"name") + field(None)
PLAIN = [record(n) for n in range(COUNT)]
ODD: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "attributes": (dict(attributes=9), {}),
    "a wide varint": (dict(wide=3), {}),
    "a wide length": (dict(value=field(b"v", size=3)), dict(value=field(b"v"))),
    "null key": (dict(key=field(None)), dict(key=field(None))),
    "null key of -2": (dict(key=field(None, -2)), dict(key=field(None))),
    "null key of -2, a value that begins with the byte of -1": (
        dict(key=field(None, -2), value=field(b"\1value")),
        dict(key=field(None), value=field(b"\1value")),
    ),
    "null key of -64, null value": (
        dict(key=field(None, -64), value=field(None)),
        dict(key=field(None), value=field(None)),
    ),
    "null value of -2": (dict(value=field(None, -2)), dict(value=field(None))),
    "null value of -2 before headers": (
        dict(value=field(None, -2), headers=HEADERS),
        dict(value=field(None), headers=HEADERS),
    ),
    "null value of -100": (dict(value=field(None, -100)), dict(value=field(None))),
    "headers": (dict(headers=HEADERS), dict(headers=HEADERS)),
    "a header's null value of -2": (dict(headers=varint(1) + field(b"name") + field(None, -2)), dict(headers=HEADERS)),
    "a header's name that is not UTF-8": (
        dict(headers=varint(1) + field(b"n\xff") + field(b"v")),
        dict(headers=varint(1) + field("n\ufffd".encode()) + field(b"v")),
    ),
    "a wide count of headers": (dict(headers=varint(0, 2)), {}),
}


@pytest.mark.parametrize("codecs", ["lz4 uncompressed", "lz4 snappy", "none gzip"])
@pytest.mark.parametrize("at", range(COUNT))
@together("odd", ODD)
def test_a_record_in_any_form_is_written_in_javas(odd: str, at: int, codecs: str) -> None:
    source, target = codecs.split()
    sent, stored = ([*PLAIN[:at], record(at, **options), *PLAIN[at + 1 :]] for options in ODD[odd])
    assert rebuilt(batch(sent, source), target) == b"".join(stored)


def test_deltas_count_from_the_first_record() -> None:
    sent = [record(n, delta=n - 1000) for n in range(COUNT)]
    assert rebuilt(batch(sent, "lz4", T + 1000), "uncompressed") == b"".join(PLAIN)


def test_wrong_inner_offsets_are_put_right() -> None:
    sent = [PLAIN[0], record(2, delta=1), record(1, delta=2), PLAIN[3]]
    assert rebuilt(batch(sent, "lz4"), "uncompressed") == b"".join(PLAIN)


@pytest.mark.parametrize("next_offset", [0, 2**31 - 1, 2**31, 2**40, 2**62])
@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_log_of_any_length(magic: int, next_offset: int) -> None:
    """A rebuilt batch has the offsets of the log, far from those that a producer sends."""
    sent = recordpress.write_records([b"value"] * COUNT, magic=magic, compression_type="gzip")
    verdict = validate(
        sent,
        broker_version="3.9",
        produce_version=9 if magic == 2 else 2,
        topic_config={"compression.type": "lz4"},
        next_offset=next_offset,
        now_ms=T,
    )
    assert (verdict.error, verdict.base_offset, verdict.relation) == ("NONE", next_offset, "rebuilt")
    offsets = [record.offset for batch in recordpress.read_batches(verdict.records) for record in batch]
    assert offsets == [*range(next_offset, next_offset + COUNT)]
