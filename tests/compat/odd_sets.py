"""Record sets of every format, drawn: good ones, and ones that are wrong in one or a few of the ways that bytes can be.

Fields are written by hand, since no builder writes most of this. Checksums are right, unless it is they that are wrong.
"""

from __future__ import annotations

import contextlib
import gzip
import random
import struct
import sys
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import crc32c
import xxhash

sys.path.insert(0, str(Path(__file__).parents[1] / "hostile"))
from hostile_sets import SMALL_SETS, with_right_crc

import recordpress
from messages import message

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
ENDS = {bits: (-(1 << (bits - 1)), -2, -1, 0, 1, 2, (1 << (bits - 1)) - 1) for bits in (8, 16, 32, 64)}
WORDS = (b"", b"a", b"key", b"value", b"GET / HTTP/1.1", b"\0" * 63, b"x" * 64, bytes(range(256)), b"ab" * 700)
BLOCK_EDGES = (8191, 8192, 32767, 32768, 32769, 65535, 65536, 65537, 70_000)


@dataclass
class Times:
    """What a broker compares timestamps with."""

    now: int = 1_700_000_000_000
    before: int = 2**63 - 1
    after: int = 2**63 - 1

    def near(self, draw: random.Random) -> int:
        """Mostly in range; now and then just at a bound, just past it, or absurd."""
        kind = draw.random()
        if kind < 0.8:
            return self.now - draw.choice((0, 0, 1, 5, 1000))
        edges = [self.now - self.before, self.now + self.after]
        values = [-1, -1, 0, self.now, *(edge + step for edge in edges for step in (-1, 0, 1))]
        if kind > 0.985:
            values = [-2, -(2**63), 2**63 - 1, self.now + 2**62]
        value = draw.choice(values)
        return value if -(2**63) <= value < 2**63 else self.now


# ---- varints


def varint(value: int, bits: int = 32, pad: int = 0) -> bytes:
    """Zigzag, with as many needless groups as wanted."""
    number = ((value << 1) ^ (value >> (bits - 1))) & ((1 << bits) - 1)
    out = bytearray()
    while number > 127 or pad > 0:
        out.append(number & 127 | 128)
        number >>= 7
        if number == 0:
            pad -= 1
    return bytes([*out, number])


def odd_varint(draw: random.Random, value: int, bits: int = 32) -> bytes:
    """The value, or near it, or the ends of the range, or padded, too long, or with bits that are too high."""
    most = 5 if bits == 32 else 10
    whole = varint(value, bits)
    return draw.choice(
        (
            varint(draw.choice(ENDS[bits]), bits),
            varint(value + draw.choice((-2, -1, 1, 2, 64)), bits),
            varint(value, bits, min(1, most - len(whole))),
            varint(value, bits, most - len(whole)),
            b"\xff" * most + b"\1",
            b"\x80" * most,
            b"\xff" * (most - 1) + bytes([draw.choice((0x7F, 0x1F, 0x0F, 0x01))]),
        )
    )


# ---- records of v2


@dataclass
class Row:
    """A record of v2, with encodings that go before its right ones."""

    key: bytes | None
    value: bytes | None
    timestamp: int
    offset_delta: int
    headers: list[tuple[bytes, bytes | None]] = field(default_factory=list)
    attributes: int = 0
    odd: dict[str, bytes] = field(default_factory=dict)

    def encode(self, base_timestamp: int) -> bytes:
        delta = (self.timestamp - base_timestamp + 2**63) % 2**64 - 2**63
        parts = [
            struct.pack(">b", self.attributes),
            self.odd.get("timestampDelta", varint(delta, 64)),
            self.odd.get("offsetDelta", varint(self.offset_delta)),
            self._sized("key", self.key),
            self._sized("value", self.value),
            self.odd.get("headerCount", varint(len(self.headers))),
        ]
        for name, value in self.headers:
            parts += self._sized("headerKey", name), self._sized("headerValue", value)
        body = b"".join(parts) + self.odd.get("more", b"")
        body = body[: len(body) - len(self.odd.get("less", b""))]
        return self.odd.get("length", varint(len(body))) + body

    def _sized(self, name: str, data: bytes | None) -> bytes:
        size = self.odd.get(name, varint(-1 if data is None else len(data)))
        return size + (data or b"")


ROW_FIELDS = (
    "length",
    "timestampDelta",
    "offsetDelta",
    "key",
    "value",
    "headerCount",
    "headerKey",
    "headerValue",
    "more",
    "less",
)


def _payload(draw: random.Random, null: float) -> bytes | None:
    kind = draw.random()
    if kind < null:
        return None
    if kind > 0.995:
        return draw.randbytes(40) * (draw.choice(BLOCK_EDGES) // 40 + 1)
    return draw.choice(WORDS) if kind < 0.8 else draw.randbytes(draw.randrange(40))


def rows(draw: random.Random, times: Times) -> list[Row]:
    count = draw.choice((1, 1, 2, 3, 3, 5, 8)) if draw.random() < 0.98 else draw.choice((60, 200))
    without_keys = draw.choice((0.0, 0.0, 0.5, 1.0))
    found = []
    for index in range(count):
        names = draw.choices((b"h", b"", b"trace-id"), k=draw.choice((0, 0, 0, 1, 3)))
        headers = [(name, _payload(draw, 0.3)) for name in names]
        found.append(Row(_payload(draw, without_keys), _payload(draw, 0.1), times.near(draw), index, headers))
    return found


def _make_odd(draw: random.Random, row: Row) -> None:
    name = draw.choice(ROW_FIELDS)
    if name == "more":
        row.odd[name] = draw.randbytes(draw.choice((1, 2, 9)))
    elif name == "less":
        row.odd[name] = bytes(draw.choice((1, 2, 3)))
    else:
        sizes = {"key": row.key, "value": row.value}
        value = len(sizes[name] or b"") if name in sizes else row.offset_delta if name == "offsetDelta" else 1
        row.odd[name] = odd_varint(draw, value, 64 if name == "timestampDelta" else 32)


# ---- codecs


def _lz4_frame(draw: random.Random, data: bytes) -> bytes:
    """Stored blocks, with the parts of a frame that are optional."""
    content_size, block_checksum, content_checksum = (draw.random() < 0.3 for _ in range(3))
    flags = 0x40 | 0x20 | content_size << 3 | block_checksum << 4 | content_checksum << 2
    flags = flags if draw.random() < 0.9 else flags ^ 1 << draw.randrange(8)
    block_size = draw.choice((0x40, 0x50, 0x60, 0x70)) if draw.random() < 0.95 else draw.randrange(256)
    head = bytes([flags, block_size]) + (struct.pack("<Q", len(data)) if content_size else b"")
    out = b"\x04\x22\x4d\x18" + head + bytes([xxhash.xxh32_intdigest(head) >> 8 & 255])
    for start in range(0, len(data), 65536):
        block = data[start : start + 65536]
        out += struct.pack("<I", len(block) | 1 << 31) + block
        out += struct.pack("<I", xxhash.xxh32_intdigest(block)) if block_checksum else b""
    return out + bytes(4) + (struct.pack("<I", xxhash.xxh32_intdigest(data)) if content_checksum else b"")


def _gzip_member(draw: random.Random, data: bytes) -> bytes:
    whole = gzip.compress(data, draw.choice((1, 6, 9)), mtime=0)
    kind = draw.randrange(4)
    if kind == 0:  # a name and a comment
        return whole[:3] + b"\x18" + whole[4:10] + b"name\0comment\0" + whole[10:]
    if kind == 1:  # an extra field and the header's checksum
        head = whole[:3] + b"\x06" + whole[4:10] + b"\4\0abcd"
        return head + struct.pack("<H", zlib.crc32(head) & 0xFFFF) + whole[10:]
    return whole


def _xerial(draw: random.Random, data: bytes) -> bytes:
    """Blocks of other sizes than Kafka's."""
    size = draw.choice((1, 100, 1024, 32768, 40000))
    head = b"\x82SNAPPY\0" + struct.pack(">ii", *draw.choice(((1, 1), (1, 1), (2, 1), (1, 2), (0, 1))))
    raw = [recordpress.compress(data[start : start + size], "snappy")[16:] for start in range(0, len(data), size)]
    return head + b"".join(raw)


def _raw_snappy(data: bytes) -> bytes:
    """One block without a frame; only good where Kafka's framing makes one block of it."""
    framed = recordpress.compress(data, "snappy")
    return framed[20:] if len(data) <= 32768 and framed[16:] else framed


def _other_stream(draw: random.Random, codec: str, data: bytes) -> bytes:
    """The same content as others may write it."""
    half = draw.randrange(len(data) + 1)
    parts = [recordpress.compress(part, codec) for part in (data[:half], data[half:])]
    if codec == "gzip":
        return draw.choice((_gzip_member(draw, data), b"".join(parts)))
    if codec == "snappy":
        return draw.choice((_xerial(draw, data), _raw_snappy(data), parts[0] + parts[1][16:], b"".join(parts)))
    if codec == "lz4":
        return draw.choice((_lz4_frame(draw, data), _lz4_frame(draw, data), b"".join(parts)))
    skippable = b"\x50\x2a\x4d\x18\4\0\0\0abcd"
    best = recordpress.compress(data, "zstd", level=19)
    return draw.choice((b"".join(parts), skippable + b"".join(parts), parts[0] + skippable + parts[1], best))


def damaged(draw: random.Random, data: bytes) -> bytes:
    """Cut, longer, or with a byte or a bit that is another one."""
    kind = draw.randrange(5)
    at = draw.randrange(len(data)) if data else 0
    if kind == 0 or not data:
        return data[:at]
    if kind == 1:
        return data + draw.choice((b"\0", b"\0\0\0\0", data[:4], data, draw.randbytes(5)))
    if kind == 2:
        return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]
    if kind == 3:
        return data[:at] + data[at + draw.choice((1, 2, 4)) :]
    return data[:at] + draw.choice((b"\0", b"\xff", draw.randbytes(1))) + data[at + 1 :]


def stream(draw: random.Random, codec: str, data: bytes, oddness: float) -> bytes:
    if codec == "none":
        return data
    whole = _other_stream(draw, codec, data) if draw.random() < 0.15 else recordpress.compress(data, codec)
    return damaged(draw, whole) if draw.random() < oddness else whole


# ---- batches of v2

HEADER = (
    ("baseOffset", 0, ">q", 64),
    ("batchLength", 8, ">i", 32),
    ("partitionLeaderEpoch", 12, ">i", 32),
    ("magic", 16, ">b", 8),
    ("attributes", 21, ">h", 16),
    ("lastOffsetDelta", 23, ">i", 32),
    ("baseTimestamp", 27, ">q", 64),
    ("maxTimestamp", 35, ">q", 64),
    ("producerId", 43, ">q", 64),
    ("producerEpoch", 51, ">h", 16),
    ("baseSequence", 53, ">i", 32),
    ("recordsCount", 57, ">i", 32),
)


@dataclass
class Producer:
    """The producer fields of a batch."""

    id: int = -1
    epoch: int = -1
    sequence: int = -1


def batch(records: list[Row], payload: bytes | None, codec: int, producer: Producer, attributes: int = 0) -> bytes:
    """A batch of those records; payload is their area, compressed."""
    stamps = [row.timestamp for row in records] or [-1]
    area = b"".join(row.encode(stamps[0]) for row in records) if payload is None else payload
    numbers = (attributes | codec, len(records) - 1, stamps[0], max(stamps))
    checked = struct.pack(">hiqqqhii", *numbers, producer.id, producer.epoch, producer.sequence, len(records)) + area
    return struct.pack(">qiibI", 0, len(checked) + 9, -1, 2, crc32c.crc32c(checked)) + checked


def _inner_offsets(draw: random.Random, found: list[Row]) -> None:
    """All 0, with a gap, reversed, from 1."""
    last = len(found) - 1
    kind = draw.randrange(4)
    for index, row in enumerate(found):
        row.offset_delta = (0, index + (index == last), last - index, index + 1)[kind]


def _lie(draw: random.Random, data: bytes) -> bytes:
    """One header field that is another number, or has another bit, and mostly the right checksum."""
    name, at, form, bits = draw.choice(HEADER)
    (value,) = struct.unpack_from(form, data, at)
    new = draw.choice((*ENDS[bits], value + 1, value - 1, value ^ 1 << draw.randrange(bits)))
    if name == "attributes":
        new = value ^ 1 << draw.choice((*range(16), 3, 3, 4, 5, 6))
    changed = bytearray(data)
    mask = (1 << bits) - 1
    changed[at : at + bits // 8] = (new & mask).to_bytes(bits // 8, "big")
    return with_right_crc(bytes(changed)) if draw.random() < 0.95 else bytes(changed)


def v2(draw: random.Random, times: Times, producer: Producer, oddness: float) -> bytes:
    """A batch; the more odd, the more is wrong with it."""
    found = rows(draw, times)
    if draw.random() < oddness / 3:
        _inner_offsets(draw, found)
    if draw.random() < oddness / 2:
        _make_odd(draw, draw.choice(found))
    codec = draw.choice(CODECS)
    area = b"".join(row.encode(found[0].timestamp) for row in found)
    if draw.random() < oddness / 6:
        area = damaged(draw, area)
    data = batch(found, stream(draw, codec, area, oddness / 3), CODECS.index(codec), producer)
    if draw.random() < oddness / 2:
        data = _lie(draw, data)
    return data


# ---- messages of v0 and v1


def _body(draw: random.Random, magic: int, key: bytes | None, value: bytes | None, timestamp: int) -> bytes:
    stamp = struct.pack(">q", timestamp) if magic else b""
    sizes = [-1 if data is None else len(data) for data in (key, value)]
    if draw.random() < 0.02:
        sizes[draw.randrange(2)] = draw.choice((*ENDS[32], 3, 100))
    return stamp + struct.pack(">i", sizes[0]) + (key or b"") + struct.pack(">i", sizes[1]) + (value or b"")


def _messages(draw: random.Random, magic: int, times: Times, oddness: float) -> list[bytes]:
    found = []
    kind = draw.randrange(8) if draw.random() < oddness / 2 else -1
    all_of = rows(draw, times)
    last = len(all_of) - 1
    for index, row in enumerate(all_of):
        offset = {0: 0, 1: index + (index == last), 2: last - index, 3: index + 5}.get(kind, index)
        own, attributes = magic, 0
        if kind == 4 and draw.random() < 0.5:
            own = draw.choice((0, 1, 2, 3, -1))
        if kind == 5 and draw.random() < 0.5:
            attributes = 1 << draw.randrange(8)
        data = message(own, attributes, _body(draw, own, row.key, row.value, row.timestamp), offset)
        if kind == 6 and draw.random() < 0.3:
            data = damaged(draw, data)
        found.append(data)
    return found


def legacy(draw: random.Random, magic: int, times: Times, oddness: float) -> bytes:
    """Messages of v0 or v1: single ones, or in a wrapper."""
    found = _messages(draw, magic, times, oddness)
    codec = draw.choice(CODECS[:4] if draw.random() < 0.98 else CODECS)
    if codec == "none":
        return b"".join(found)
    inner = b"".join(found) if draw.random() > 0.01 else b""
    if draw.random() < 0.1:
        inner = inner[: -draw.choice((1, 5, 11, 13))]
    offset = draw.choice((len(found) - 1, len(found) - 1, len(found) - 1, 0, len(found) + 3, 1))
    attributes = CODECS.index(codec) | (draw.choice((8, 16, 32, 64, 128)) if draw.random() < oddness / 4 else 0)
    value = stream(draw, codec, inner, oddness / 3)
    if codec == "lz4" and draw.random() < (0.7 if magic == 0 else 0.2):
        value = _as_before_0_10(value)
    wrapped = None if draw.random() < oddness / 20 else value
    stamp = max(times.near(draw) for _ in range(2))
    key = None if draw.random() < 0.95 else b"key"
    return message(magic, attributes, _body(draw, magic, key, wrapped, stamp), offset)


def _as_before_0_10(frame: bytes) -> bytes:
    """With the header checksum of magic 0 (KIP-57)."""
    changed = bytearray(frame)
    with contextlib.suppress(recordpress.RecordpressError):  # damaged
        recordpress.break_lz4_header(changed)
    return bytes(changed)


def near_small(draw: random.Random) -> bytes:
    """A small good set with one or two bytes changed, under the right checksum."""
    data = bytearray(SMALL_SETS[draw.choice(sorted(SMALL_SETS))])
    if data[16] == 2:
        data[:8] = bytes(8)
    for _ in range(draw.choice((1, 1, 2))):
        at = draw.randrange(8, len(data))
        data[at] = draw.choice((data[at] ^ 1 << draw.randrange(8), 0, 255, draw.randrange(256)))
    return with_right_crc(bytes(data)) if draw.random() < 0.9 else bytes(data)
