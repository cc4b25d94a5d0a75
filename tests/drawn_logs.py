"""Pieces of logs as a broker reads them for a fetch, drawn: batches of every format, kind and codec, the last one
perhaps cut; good ones, and ones with bytes changed, which no checksum tells, as a broker compares none for a fetch."""

from __future__ import annotations

import random
import struct
from typing import Any

import recordpress

T = 1_700_000_000_000
CODECS = ("none", "none", "gzip", "snappy", "lz4")
LINES = [f'10.0.0.{n % 256} - - "GET /a/{n * 7919 % 1000} HTTP/1.1" 200 {n * 31 % 9973}'.encode() for n in range(2000)]


def draw_log(draw: random.Random, offset: int | None = None) -> bytes:
    """Up to ten batches, from that offset on."""
    kinds = draw.choice((["v2"], ["v2", "v2", "v2", "marker"], ["v1", "v0"], ["v2", "v1", "v0"], KINDS, KINDS))
    zstd = draw.random() < 0.3
    offset, log = draw.choice((0, 0, 5, 1 << 40)) if offset is None else offset, b""
    for _ in range(draw.randrange(1, 11)):
        data, offset = draw_batch(draw, draw.choice(kinds), offset, zstd)
        log += data
        offset += draw.choice((0, 0, 0, 3))
    return log


KINDS = ["v2", "v2", "v2", "v1", "v0", "marker", "empty", "gaps", "transaction", "append time", "horizon", "large"]


def draw_batch(draw: random.Random, kind: str, offset: int, zstd: bool) -> tuple[bytes, int]:
    """A batch from that offset on, and the offset after it."""
    if kind == "marker":
        return marker(draw, offset), offset + 1
    if kind == "empty":
        return recordpress.empty_batch(offset, offset + 3), offset + 4
    count = draw.choice((1, 1, 2, 5, 30)) if kind != "large" else 1
    offsets = [offset + n for n in range(count)]
    if kind == "gaps":
        offsets = sorted(draw.sample(range(offset + 2, offset + 3 + 2 * count), count))
    magic = int(kind[1]) if kind in ("v0", "v1") else 2
    builder = recordpress.BatchBuilder(
        magic=magic,
        compression_type=draw.choice((*CODECS, "zstd", "zstd") if zstd and magic == 2 else CODECS),
        base_offset=offset if magic == 2 else offsets[0],
        **options_of(draw, kind, magic),
    )
    for one in offsets:
        headers = [("name", b"value"), ("", None)] if magic == 2 and draw.random() < 0.2 else []
        timestamp = draw.choice((T, T + one % 5, -1, 0)) if magic else -1
        builder.append(value_of(draw, kind), key=draw.choice((None, b"", b"key")), timestamp=timestamp, offset=one,
                       headers=headers)  # fmt: skip
    return builder.build(), offsets[-1] + 1


def draw_transactions(draw: random.Random) -> list[bytes]:
    """Segments in which three producers begin transactions, and commit or abort most of them."""
    segments, offset, began = [], 0, set[int]()
    for _ in range(draw.choice((1, 2, 2, 3))):
        segments.append(b"")
        for _ in range(draw.randrange(10, 40)):
            producer = draw.choice((7, 8, 9, None))
            if producer in began and draw.random() < 0.5:
                began.discard(producer)
                segments[-1] += marker(draw, offset, producer)
                offset += 1
                continue
            options: dict[str, Any] = {}
            if producer is not None:
                began.add(producer)
                options = {"producer_id": producer, "producer_epoch": 1, "base_sequence": 3, "is_transactional": True}
            lines = draw.choices(LINES, k=draw.choice((1, 3, 30)))
            segments[-1] += recordpress.write_records(lines, base_offset=offset, timestamps=T, **options)
            offset += len(lines)
    return segments


def options_of(draw: random.Random, kind: str, magic: int) -> dict[str, Any]:
    if kind == "append time" or (kind == "v1" and draw.random() < 0.3):
        return {"timestamp_type": 1, "log_append_time": T + 99}
    if kind == "transaction":
        return {"producer_id": 7, "producer_epoch": 1, "base_sequence": 3, "is_transactional": draw.random() < 0.7}
    if kind == "horizon":
        return {"delete_horizon_ms": T + 1000}
    return {"partition_leader_epoch": 4} if magic == 2 and draw.random() < 0.5 else {}


def value_of(draw: random.Random, kind: str) -> bytes | None:
    if kind == "large":
        return draw.choice((LINES[5] * 2000, draw.randbytes(draw.choice((70_000, 131_000, 140_000)))))
    return draw.choice((draw.choice(LINES), draw.choice(LINES), b"", None))


def marker(draw: random.Random, offset: int, producer: int = 7) -> bytes:
    builder = recordpress.BatchBuilder(
        base_offset=offset, is_control=True, is_transactional=True, producer_id=producer, producer_epoch=1
    )
    builder.append_end_txn_marker(draw.random() < 0.5, coordinator_epoch=3, timestamp=T)
    return builder.build()


def cut(draw: random.Random, log: bytes) -> bytes:
    """What a limit leaves of it."""
    return log[: draw.randrange(len(log) + 1)] if draw.random() < 0.3 else log


def damage(draw: random.Random, log: bytes) -> bytes:
    """With a few bytes changed, mostly in a header or the first record of a batch."""
    changed = bytearray(log)
    starts, position = [], 0
    while position + 17 <= len(log):
        starts.append(position)
        position += 12 + struct.unpack_from(">i", log, position + 8)[0]
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        at = draw.choice(starts) + draw.choice((8, 11, 16, 17, 21, 22, 26, 30, 42, 57, 60, *range(61, 80)))
        if draw.random() < 0.3:
            at = draw.randrange(len(log))
        if at < len(log):
            changed[at] = draw.choice((0, 1, 2, 255, changed[at] ^ 1 << draw.randrange(8), draw.randrange(256)))
    return bytes(changed)


# ---- what was made of them


def is_same_but_for_gzip(log: bytes, one: bytes, other: bytes, others: tuple[int, ...] = (1,)) -> bool:
    """Whether two conversions differ in nothing but what another build of zlib writes, and that only with gzip.
    `others` are the ids of the codecs of which that is so."""
    if one == other:
        return True
    if not has_codec(log, others):
        return False
    found, expected = facts(one), facts(other)
    both = min(len(found), len(expected))  # one more may have room
    return both > 0 and found[:both] == expected[:both]


def has_codec(log: bytes, ids: tuple[int, ...]) -> bool:
    """Also after a magic above 2, which a broker reads as 2."""
    position, found = 0, False
    while position + 23 <= len(log):
        found |= (log[position + 22] if log[position + 16] >= 2 else log[position + 17]) & 7 in ids
        position += 12 + max(struct.unpack_from(">i", log, position + 8)[0], 5)
    return found


def facts(data: bytes) -> list[tuple[Any, ...]]:
    """Of each whole entry; damaged ones are copied where their magic is old enough."""
    found: list[tuple[Any, ...]] = []
    try:
        for one in recordpress.read_batches(data, check_crcs=False):
            found.append((one.magic, one.last_offset, one.max_timestamp, one.attributes & ~7, codec(one), rows(one)))
    except recordpress.RecordpressError:
        found.append(("error",))
    return found


def codec(batch: recordpress.Batch) -> str:
    return ("none", "gzip", "snappy", "lz4", "zstd", "", "", "")[batch.attributes & 7]


def rows(batch: recordpress.Batch) -> list[tuple[Any, ...]]:
    try:
        return [(record.offset, record.timestamp, record.key, record.value) for record in batch]
    except recordpress.RecordpressError:
        return [("error",)]
