"""Record sets, good and odd ones, whose every field a case can choose.

Written here from the format's description (v0 and v1: KIP-32, v2: KIP-98), not with recordpress.record: brokers judge
them.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field

import recordpress

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
TIME = 1_700_000_000_000
Row = tuple[bytes | None, bytes | None]
# long enough to be worth compressing, small enough for a thousand cases
ROWS: list[Row] = [(b"key-%d" % n, b"GET /index.html 200 %d " % n * 3) for n in range(3)]


# ---- v0 and v1


def message(
    magic: int,
    key: bytes | None,
    value: bytes | None,
    *,
    offset: int = 0,
    attributes: int = 0,
    timestamp: int = TIME,
    crc_off: int = 0,
    cut: int = 0,
) -> bytes:
    """One entry. `crc_off`: bits of the CRC that are wrong; `cut`: bytes missing at the end, the size as if not."""
    body = struct.pack(">bB", magic, attributes)
    if magic == 1:
        body += struct.pack(">q", timestamp)
    for part in (key, value):
        body += struct.pack(">i", -1) if part is None else struct.pack(">i", len(part)) + part
    entry = struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body) ^ crc_off) + body
    return entry[: len(entry) - cut]


def messages(magic: int, rows: list[Row] = ROWS, *, offsets: list[int] | None = None, timestamp: int = TIME) -> bytes:
    """Uncompressed entries, a millisecond apart, with the offsets 0, 1, 2... or others."""
    numbers = offsets if offsets is not None else list(range(len(rows)))
    return b"".join(
        message(magic, key, value, offset=offset, timestamp=timestamp + n if timestamp >= 0 else timestamp)
        for n, ((key, value), offset) in enumerate(zip(rows, numbers, strict=True))
    )


def wrapper(
    magic: int,
    codec: str,
    inner: bytes | None = None,
    *,
    payload: bytes | None = None,
    codec_id: int | None = None,
    offset: int | None = None,
    attributes: int = 0,
    timestamp: int = TIME + 2,
    key: bytes | None = None,
    crc_off: int = 0,
) -> bytes:
    """A compressed set in one entry; `payload` is what lies there instead of `inner` compressed."""
    if payload is None:
        payload = recordpress.compress(messages(magic) if inner is None else inner, codec, magic=min(magic, 1))
    number = CODECS.index(codec) if codec_id is None else codec_id
    at = len(ROWS) - 1 if offset is None else offset
    return message(magic, key, payload, offset=at, attributes=attributes | number, timestamp=timestamp, crc_off=crc_off)


# ---- v2


def varint(value: int) -> bytes:
    value = (value << 1) ^ (value >> 63)
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def record(n: int, key: bytes | None, value: bytes | None, delta: int, headers: list[tuple[bytes, bytes]]) -> bytes:
    body = b"\0" + varint(delta) + varint(n)
    for part in (key, value):
        body += varint(-1) if part is None else varint(len(part)) + part
    body += varint(len(headers))
    for name, text in headers:
        body += varint(len(name)) + name + varint(len(text)) + text
    return varint(len(body)) + body


@dataclass
class Batch:
    """A v2 batch; None: what is right."""

    codec: str = "none"
    rows: list[Row] = field(default_factory=lambda: list(ROWS))
    deltas: list[int] | None = None
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    codec_id: int | None = None
    payload: bytes | None = None
    attributes: int = 0
    base_offset: int = 0
    base_timestamp: int = TIME
    max_timestamp: int | None = None
    last_offset_delta: int | None = None
    count: int | None = None
    producer: tuple[int, int, int] = (-1, -1, -1)
    leader_epoch: int = -1
    magic: int = 2
    crc_off: int = 0

    def bytes(self) -> bytes:
        deltas = self.deltas if self.deltas is not None else list(range(len(self.rows)))
        times = [n if self.base_timestamp >= 0 else 0 for n in range(len(self.rows))]
        records = b"".join(
            record(delta, key, value, time, self.headers)
            for (key, value), delta, time in zip(self.rows, deltas, times, strict=True)
        )
        payload = self.payload if self.payload is not None else recordpress.compress(records, self.codec)
        last = len(self.rows) - 1 if self.last_offset_delta is None else self.last_offset_delta
        count = len(self.rows) if self.count is None else self.count
        newest = self.base_timestamp + max(times, default=0) if self.max_timestamp is None else self.max_timestamp
        number = CODECS.index(self.codec) if self.codec_id is None else self.codec_id
        fields = (self.attributes | number, last, self.base_timestamp, newest, *self.producer, count)
        covered = struct.pack(">Hiqqqhii", *fields) + payload
        crc = recordpress.crc32c(covered) ^ self.crc_off
        return struct.pack(">qiibI", self.base_offset, len(covered) + 9, self.leader_epoch, self.magic, crc) + covered


def batch(codec: str = "none", **fields: object) -> bytes:
    return Batch(codec, **fields).bytes()  # type: ignore[arg-type]


# ---- LZ4 frames


def lz4_frame(data: bytes, *, flags: int = 0x60, block: int = 0x40, broken: bool = False, check_off: int = 0) -> bytes:
    """One block in a frame with the flags of the second byte, and their fields. `broken`: the header checksum of
    KIP-57's Kafka 0.8; `check_off`: bits of it that are wrong."""
    import xxhash

    magic = bytes.fromhex("04224d18")
    descriptor = bytes([flags, block])
    if flags & 8:
        descriptor += struct.pack("<Q", len(data))
    summed = magic + descriptor if broken else descriptor
    check = xxhash.xxh32(summed).intdigest() >> 8 & 255 ^ check_off
    blocks = struct.pack("<I", len(data) | 1 << 31) + data
    if flags & 16:
        blocks += struct.pack("<I", xxhash.xxh32(data).intdigest())
    end = bytes(4)
    if flags & 4:
        end += struct.pack("<I", xxhash.xxh32(data).intdigest())
    return magic + descriptor + bytes([check]) + blocks + end
