"""What the old brokers are asked: a set of a name, the topic's settings, and the Produce version it is sent with."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from sets import CODECS, ROWS, TIME, Row, batch, lz4_frame, message, messages, record, wrapper

import oracle
import recordpress

Settings = dict[str, str]
OLD_CODECS = CODECS[:4]  # what v0 and v1 know
YEARS = 365 * 86_400_000
# the newest Produce version of a release line that this client speaks
NEWEST_PRODUCE = {"0.8": 0, "0.9": 1, "0.10": 2, "0.11": 3, "1": 5, "2.0": 6, "2.1": 7, "2.2": 7, "2.3": 7}


@dataclass(frozen=True)
class Case:
    """`since`: the first release that knows the settings. `version` None: the newest that the broker and the magic
    go together with."""

    name: str
    sets: list[bytes | None]
    settings: Settings = field(default_factory=dict)
    version: int | None = None
    since: tuple[int, ...] = (0, 8)
    transactional_id: str | None = None

    def produce_version(self, broker: str) -> int:
        newest = newest_produce(broker)
        if self.version is not None:
            return self.version
        magic = self.sets[0][16] if self.sets[0] is not None and len(self.sets[0]) > 16 else 2
        return min(newest, 2) if magic < 2 else newest

    def suits(self, broker: str) -> bool:
        """Whether this broker can be asked: it knows the settings and the request."""
        numbers = release(broker)
        if numbers < self.since or self.produce_version(broker) > newest_produce(broker):
            return False
        v2 = any(data is not None and len(data) > 16 and data[16] > 1 for data in self.sets)
        return numbers >= (0, 11) or not (v2 and self.version is None)


def release(broker: str) -> tuple[int, ...]:
    """(2, 8) of "2.8.2"; (0, 10, 2) of "0.10.2.2"."""
    numbers = tuple(map(int, broker.split(".")))
    return numbers[:3] if numbers[0] == 0 else numbers[:2]


def newest_produce(broker: str) -> int:
    numbers = release(broker)
    for name in (".".join(map(str, numbers[:2])), str(numbers[0])):
        if name in NEWEST_PRODUCE:
            return NEWEST_PRODUCE[name]
    return 8


def every_case() -> list[Case]:
    kinds = (plain, large, offsets, damaged, keys, times, sizes, wrappers, v2_headers, producers, lz4, streams, gates)
    cases = [case for kind in (*kinds, formats) for case in kind()] + list(acceptance())
    assert len({case.name for case in cases}) == len(cases)
    return cases


def sets_of(codec: str) -> Iterator[tuple[int, bytes]]:
    """The good set of three records in each magic that knows the codec."""
    for magic in (0, 1):
        if codec != "zstd":
            yield magic, messages(magic) if codec == "none" else wrapper(magic, codec)
    yield 2, batch(codec)


def since(*releases: tuple[int, ...]) -> tuple[int, ...]:
    return max(releases)


def known(codec: str) -> tuple[int, ...]:
    return (2, 1) if codec == "zstd" else (0, 8)


def plain() -> Iterator[Case]:
    """Every codec on a topic of every codec, and on one of append times."""
    targets = ("producer", "uncompressed", "gzip", "snappy", "lz4", "zstd")
    for codec in CODECS:
        for magic, data in sets_of(codec):
            for target in targets:
                first = since(known(target), (0, 9))
                yield Case(f"ok-v{magic}-{codec}-to-{target}", [data], {"compression.type": target}, since=first)
            append = {"message.timestamp.type": "LogAppendTime"}
            yield Case(f"append-time-v{magic}-{codec}", [data], append, since=(0, 10))
            append = append | {"compression.type": "lz4"}
            yield Case(f"append-time-v{magic}-{codec}-to-lz4", [data], append, since=(0, 10))


def large() -> Iterator[Case]:
    """Sets of more than one block, chunk or buffer of the codecs."""
    rows: list[Row] = [(b"key-%d" % n, b"GET /page-%d.html 200 " % n * 100) for n in range(35)]
    for codec in ("none", "gzip"):
        for magic in (0, 1, 2):
            if magic == 2:
                data = batch(codec, rows=rows)
            else:
                inner = messages(magic, rows)
                data = inner if codec == "none" else wrapper(magic, codec, inner, offset=len(rows) - 1)
            for target in ("uncompressed", "snappy", "lz4"):
                settings = {"compression.type": target, "max.message.bytes": "1000000"}
                yield Case(f"large-v{magic}-{codec}-to-{target}", [data], settings, since=(0, 9))


def formats() -> Iterator[Case]:
    """Topics that store another magic than was sent."""
    for name, first in (("0.9.0", (0, 10)), ("0.10.0", (0, 10)), ("0.11.0", (0, 11))):
        form = {"message.format.version": name}
        for codec in CODECS:
            for magic, data in sets_of(codec):
                label = f"format-{name}-v{magic}-{codec}"
                yield Case(label, [data], form, since=first)
                yield Case(f"{label}-to-lz4", [data], form | {"compression.type": "lz4"}, since=first)
                append = form | {"message.timestamp.type": "LogAppendTime"}
                yield Case(f"{label}-append-time", [data], append, since=first)
        for codec in ("none", "lz4"):
            yield Case(f"format-{name}-headers-{codec}", [batch(codec, headers=[(b"h", b"1")])], form, since=first)
            yield Case(f"format-{name}-producer-{codec}", [batch(codec, producer=(4711, 0, 0))], form, since=first)
            yield Case(f"format-{name}-null-value-{codec}", [batch(codec, rows=[(b"k", None)])], form, since=first)
        yield Case(f"format-{name}-zstd-topic", [batch("none")], form | {"compression.type": "zstd"}, since=(2, 1))
        yield Case(f"format-{name}-zstd-topic-v1", [messages(1)], form | {"compression.type": "zstd"}, since=(2, 1))


def offsets() -> Iterator[Case]:
    """Offsets inside and outside a compressed set, as other clients wrote them."""
    inner = {"zero": [0, 0, 0], "gap": [0, 2, 3], "from-1": [1, 2, 3], "reversed": [2, 1, 0], "large": [70, 71, 72]}
    for name, numbers in inner.items():
        for codec in OLD_CODECS:
            for magic in (0, 1):
                data = messages(magic, offsets=numbers)
                yield Case(f"inner-{name}-v{magic}-{codec}", [data if codec == "none" else wrapper(magic, codec, data)])
        for codec in ("none", "gzip", "lz4", "zstd"):
            yield Case(f"inner-{name}-v2-{codec}", [batch(codec, deltas=numbers)])
            last = {"last_offset_delta": max(numbers[-1], 0)}
            yield Case(f"inner-{name}-last-v2-{codec}", [batch(codec, deltas=numbers, **last)])
    for at in (0, 1, 1000, -1):
        for magic in (0, 1):
            yield Case(f"wrapper-offset-{at}-v{magic}", [wrapper(magic, "gzip", offset=at)])
    for codec in ("none", "gzip"):
        for last, count in ((1, 3), (3, 3), (-1, 3), (2, 2), (2, 4), (1, 2), (3, 4), (2, 0), (-1, 0), (2, -1), (0, 3)):
            yield Case(f"last-{last}-count-{count}-{codec}", [batch(codec, last_offset_delta=last, count=count)])
        yield Case(f"base-offset-5-{codec}", [batch(codec, base_offset=5)])
        yield Case(f"base-offset-minus-{codec}", [batch(codec, base_offset=-1)])


def damaged() -> Iterator[Case]:
    """Checksums, sizes, and what follows a set."""
    for codec in CODECS:
        for magic, data in sets_of(codec):
            where = f"v{magic}-{codec}"
            off = 12 if magic < 2 else 17
            flipped = bytearray(data)
            flipped[off] ^= 1
            yield Case(f"crc-{where}", [bytes(flipped)])
            yield Case(f"cut-{where}", [data[:-1]])
            yield Case(f"twice-{where}", [data + data])
            yield Case(f"tail-{where}", [data + data[:20]])
            yield Case(f"tail-zeros-{where}", [data + bytes(40)])
            if magic < 2:
                yield Case(f"magic-3-{where}", [data[:16] + b"\3" + data[17:]])
    for magic in (0, 1):
        small = message(magic, b"k", b"v")
        for size in (0, 5, 13, 14, -1):
            yield Case(f"size-{size}-v{magic}", [small[:8] + struct.pack(">i", size) + small[12:]])
        yield Case(f"key-size-v{magic}", [_resummed(small, -7, b"\x7f")])
        yield Case(f"value-size-v{magic}", [_resummed(small, -2, b"\x7f")])
        yield Case(f"value-size-minus-v{magic}", [_resummed(small, -5, b"\xff\xff\xff\xfe")])
        yield Case(f"unknown-attributes-v{magic}", [message(magic, b"k", b"v", attributes=0xF0)])
        for codec in OLD_CODECS[1:]:
            inner = messages(magic)
            broken = bytearray(inner)
            broken[12] ^= 1
            yield Case(f"inner-crc-v{magic}-{codec}", [wrapper(magic, codec, bytes(broken))])
            yield Case(f"inner-cut-v{magic}-{codec}", [wrapper(magic, codec, inner[:-1])])
            yield Case(f"inner-tail-v{magic}-{codec}", [wrapper(magic, codec, inner + bytes(5))])
    yield Case("empty-set", [b""], version=None)
    yield Case("empty-set-produce-0", [b""], version=0)
    yield Case("null-set-produce-0", [None], version=0)
    yield Case("short-set-produce-0", [messages(0)[:11]], version=0)


def _resummed(entry: bytes, at: int, piece: bytes) -> bytes:
    """The v0/v1 message with other bytes at `at` (from the end), and the CRC of that."""
    changed = bytearray(entry)
    start = len(entry) + at
    changed[start : start + len(piece)] = piece
    changed[12:16] = struct.pack(">I", recordpress.crc32(changed[16:]))
    return bytes(changed)


def keys() -> Iterator[Case]:
    """Compacted topics."""
    mixed = [ROWS[0], (None, b"no key"), ROWS[2]]
    choices = {"key": ROWS, "no-key": [(None, b"no key")], "mixed": mixed, "empty-key": [(b"", b"v")]}
    choices["tombstone"] = [(b"k", None)]
    for name, rows in choices.items():
        for codec in ("none", "gzip", "lz4"):
            for magic in (0, 1):
                data = messages(magic, rows)
                data = data if codec == "none" else wrapper(magic, codec, data, offset=len(rows) - 1)
                yield Case(f"compacted-{name}-v{magic}-{codec}", [data], {"cleanup.policy": "compact"})
            yield Case(f"compacted-{name}-v2-{codec}", [batch(codec, rows=rows)], {"cleanup.policy": "compact"})
    for codec in ("gzip", "snappy", "lz4"):  # a record that fails, and then the stream
        for magic in (0, 1, 2):
            if magic == 2:
                rows = b"".join(record(n, key, value, n, []) for n, (key, value) in enumerate([(None, b"v"), *ROWS]))
                data = batch(codec, rows=[(None, b"v"), *ROWS], payload=recordpress.compress(rows, codec)[:-9])
            else:
                inner = messages(magic, [(None, b"v"), *ROWS])
                payload = recordpress.compress(inner, codec, magic=magic)[:-9]
                data = wrapper(magic, codec, payload=payload, offset=3)
            yield Case(f"keys-damaged-v{magic}-{codec}", [data], {"cleanup.policy": "compact"})
    both = {"cleanup.policy": "compact,delete"}
    yield Case("compacted-deleted-v1", [messages(1, mixed)], both, since=(0, 10, 1))
    yield Case("compacted-deleted-v2", [batch(rows=mixed)], both, since=(0, 11))


def times() -> Iterator[Case]:
    """Timestamps without and with bounds, and of a type that the client has chosen."""
    for name, stamp in (("none", -1), ("minus-2", -2), ("zero", 0), ("future", TIME + 30 * YEARS)):
        for codec in ("none", "gzip", "lz4"):
            data = messages(1, timestamp=stamp)
            yield Case(f"time-{name}-v1-{codec}", [_v1(codec, data, timestamp=stamp)])
            yield Case(f"time-{name}-v2-{codec}", [batch(codec, base_timestamp=stamp)])
    bounds = {"message.timestamp.difference.max.ms": str(20 * YEARS)}
    for name, stamp in (("in", TIME), ("old", TIME - 40 * YEARS), ("future", TIME + 40 * YEARS)):
        for codec in ("none", "gzip", "lz4"):
            data = messages(1, timestamp=stamp)
            for label, settings in (("", bounds), ("-append", bounds | {"message.timestamp.type": "LogAppendTime"})):
                v1 = _v1(codec, data, timestamp=stamp)
                yield Case(f"bounds-{name}{label}-v1-{codec}", [v1], settings, since=(0, 10))
                v2 = batch(codec, base_timestamp=stamp)
                yield Case(f"bounds-{name}{label}-v2-{codec}", [v2], settings, since=(0, 11))
    for codec in ("none", "gzip"):
        inner = messages(1, ROWS[:2]) + message(1, b"k", b"v", offset=2, timestamp=TIME - 40 * YEARS)
        yield Case(f"bounds-one-old-v1-{codec}", [_v1(codec, inner)], bounds, since=(0, 10))
        inner = message(1, b"k", b"v", attributes=8)
        for label, settings in (("create", {}), ("append", {"message.timestamp.type": "LogAppendTime"})):
            data = inner if codec == "none" else wrapper(1, codec, message(1, b"k", b"v"), offset=0, attributes=8)
            yield Case(f"append-bit-{label}-v1-{codec}", [data], settings, since=(0, 10))
            yield Case(f"append-bit-{label}-v2-{codec}", [batch(codec, attributes=8)], settings, since=(0, 11))
            minus = batch(codec, attributes=8, base_timestamp=-1)
            yield Case(f"append-bit-no-time-{label}-v2-{codec}", [minus], settings, since=(0, 11))
        for label, newest in (("low", TIME), ("high", TIME + 1000), ("minus", -1)):
            yield Case(f"max-time-{label}-v2-{codec}", [batch(codec, max_timestamp=newest)])
    for label, stamp in (("low", TIME), ("high", TIME + 1000), ("minus", -1)):
        yield Case(f"wrapper-time-{label}-v1", [wrapper(1, "gzip", timestamp=stamp)])


def _v1(codec: str, inner: bytes, timestamp: int = TIME + 2) -> bytes:
    return inner if codec == "none" else wrapper(1, codec, inner, timestamp=timestamp)


def sizes() -> Iterator[Case]:
    """Around max.message.bytes, before and after a rebuild."""
    rows = [(b"k%d" % n, b"GET /index.html " * 40) for n in range(4)]
    for codec in ("none", "gzip", "lz4"):
        for magic in (0, 1, 2):
            if magic == 2:
                data = batch(codec, rows=rows)
            else:
                inner = messages(magic, rows)
                data = inner if codec == "none" else wrapper(magic, codec, inner, offset=3)
            first = (struct.unpack_from(">i", data, 8)[0] if codec == "none" else len(data) - 12) + 12
            for label, limit in (("exact", first), ("one-less", first - 1)):
                yield Case(f"size-{label}-v{magic}-{codec}", [data], {"max.message.bytes": str(limit)})
            grown = {"max.message.bytes": str(first + 30), "compression.type": "uncompressed"}
            yield Case(f"size-inflated-v{magic}-{codec}", [data], grown, since=(0, 9))
            shrunk = {"max.message.bytes": str(first - 30), "compression.type": "gzip"}
            yield Case(f"size-deflated-v{magic}-{codec}", [data], shrunk, since=(0, 9))


def wrappers() -> Iterator[Case]:
    """Compressed sets of v0 and v1 that no client should build."""
    for magic in (0, 1):
        good = wrapper(magic, "gzip")
        yield Case(f"wrapper-nested-v{magic}", [wrapper(magic, "gzip", good, offset=0)])
        yield Case(f"wrapper-nested-same-count-v{magic}", [wrapper(magic, "gzip", messages(magic) + good, offset=3)])
        null = message(magic, None, None, attributes=1)
        yield Case(f"wrapper-null-v{magic}", [null])
        yield Case(f"wrapper-empty-payload-v{magic}", [wrapper(magic, "gzip", payload=b"")])
        yield Case(f"wrapper-no-messages-v{magic}", [wrapper(magic, "gzip", b"")])
        yield Case(f"wrapper-with-key-v{magic}", [wrapper(magic, "gzip", key=b"key")])
        yield Case(f"wrapper-then-plain-v{magic}", [good + messages(magic)])
        yield Case(f"plain-then-wrapper-v{magic}", [messages(magic) + good])
        yield Case(f"wrapper-other-codec-v{magic}", [good + wrapper(magic, "snappy")])
        other = messages(1 - magic)
        yield Case(f"wrapper-other-magic-inside-v{magic}", [wrapper(magic, "gzip", other)])
        yield Case(f"mixed-magic-v{magic}", [messages(magic) + other])
        yield Case(f"wrapper-then-other-magic-v{magic}", [good + wrapper(1 - magic, "gzip")])
        for number in (4, 5, 7):
            yield Case(f"codec-{number}-v{magic}", [wrapper(magic, "gzip", codec_id=number)])
        yield Case(f"codec-on-plain-v{magic}", [message(magic, b"k", b"not compressed", attributes=1)])


def v2_headers() -> Iterator[Case]:
    for codec in ("none", "gzip"):
        yield Case(f"control-{codec}", [batch(codec, attributes=0x20)])
        yield Case(f"leader-epoch-{codec}", [batch(codec, leader_epoch=77)])
        yield Case(f"high-attributes-{codec}", [batch(codec, attributes=0xFF00)])
        yield Case(f"attribute-6-{codec}", [batch(codec, attributes=0x40)])
        yield Case(f"headers-{codec}", [batch(codec, headers=[(b"a", b""), (b"b", b"2")])])
        yield Case(f"v2-then-v1-{codec}", [batch(codec) + messages(1)])
    for number in (4, 5, 6, 7):
        yield Case(f"codec-{number}-v2", [batch("gzip", codec_id=number)])
    yield Case("magic-3-v2", [batch(magic=3)])
    yield Case("magic-minus-v2", [batch(magic=-1)], version=3)


def producers() -> Iterator[Case]:
    """Idempotent and transactional batches."""
    for codec in ("none", "gzip"):

        def sent(epoch: int, sequence: int, codec: str = codec, **more: object) -> bytes:
            return batch(codec, producer=(4711, epoch, sequence), **more)

        yield Case(f"producer-first-{codec}", [sent(0, 0), sent(0, 3)])
        yield Case(f"producer-starts-late-{codec}", [sent(0, 17), sent(0, 20)])
        yield Case(f"producer-again-{codec}", [sent(0, 0), sent(0, 0)])
        yield Case(f"producer-gap-{codec}", [sent(0, 0), sent(0, 5)])
        yield Case(f"producer-overlap-{codec}", [sent(0, 0), sent(0, 2)])
        yield Case(f"producer-new-epoch-{codec}", [sent(0, 0), sent(1, 0)])
        yield Case(f"producer-new-epoch-late-{codec}", [sent(0, 0), sent(1, 5)])
        yield Case(f"producer-old-epoch-{codec}", [sent(3, 0), sent(2, 3)])
        yield Case(f"producer-no-sequence-{codec}", [sent(0, -1)])
        yield Case(f"producer-no-epoch-{codec}", [sent(-1, 0)])
        yield Case(f"producer-wraps-{codec}", [sent(0, 2**31 - 2), sent(0, 1)])
        yield Case(f"producer-around-{codec}", [sent(0, 2**31 - 3), sent(0, 0)])
        six = [sent(0, 3 * n) for n in range(7)]
        for back in (1, 4, 5, 6):
            yield Case(f"producer-{back}-back-{codec}", [*six, six[6 - back]])
        yield Case(f"transactional-without-id-{codec}", [sent(0, 0, attributes=0x10)])
        yield Case(f"transactional-unknown-id-{codec}", [sent(0, 0, attributes=0x10)], transactional_id="nobody")


def lz4() -> Iterator[Case]:
    """LZ4 frames by what KIP-57 is about: their flags, and both kinds of header checksum."""
    flags = {
        "plain": 0x60,
        "content-size": 0x68,
        "content-checksum": 0x64,
        "block-checksum": 0x70,
        "all": 0x7C,
        "linked": 0x40,
        "reserved": 0x62,
        "dictionary": 0x61,
        "version-0": 0x20,
    }
    blocks = {"256k": 0x50, "1m": 0x60, "4m": 0x70, "small": 0x30, "reserved-bit": 0xC0, "low-bit": 0x41}
    for magic in (0, 1):
        inner = messages(magic)
        for broken in (False, True):
            kind = "broken" if broken else "correct"
            for name, flag in flags.items():
                frame = lz4_frame(inner, flags=flag, broken=broken)
                yield Case(f"lz4-{name}-{kind}-v{magic}", [wrapper(magic, "lz4", payload=frame)])
            for name, block in blocks.items():
                frame = lz4_frame(inner, block=block, broken=broken)
                yield Case(f"lz4-{name}-{kind}-v{magic}", [wrapper(magic, "lz4", payload=frame)])
            for name, cut in (("no-end", 4), ("cut", 9)):
                frame = lz4_frame(inner, broken=broken)[:-cut]
                yield Case(f"lz4-{name}-{kind}-v{magic}", [wrapper(magic, "lz4", payload=frame)])
            frame = lz4_frame(inner, broken=broken) + b"more"
            yield Case(f"lz4-trailing-{kind}-v{magic}", [wrapper(magic, "lz4", payload=frame)])
            settings = {"compression.type": "gzip"}
            yield Case(f"lz4-to-gzip-{kind}-v{magic}", [wrapper(magic, "lz4", payload=frame)], settings, since=(0, 9))
        frame = lz4_frame(inner, check_off=1)
        yield Case(f"lz4-neither-v{magic}", [wrapper(magic, "lz4", payload=frame)])
    inner = b"".join(record(n, key, value, n, []) for n, (key, value) in enumerate(ROWS))
    for broken in (False, True):
        kind = "broken" if broken else "correct"
        for name, flag in flags.items():
            yield Case(f"lz4-{name}-{kind}-v2", [batch("lz4", payload=lz4_frame(inner, flags=flag, broken=broken))])


def streams() -> Iterator[Case]:
    """Odd streams of the other codecs."""
    for magic in (0, 1, 2):

        def case(name: str, codec: str, payload: bytes, magic: int = magic) -> Case:
            data = batch(codec, payload=payload) if magic == 2 else wrapper(magic, codec, payload=payload)
            return Case(f"stream-{name}-{codec}-v{magic}", [data])

        inner = _payload(magic)
        for codec in CODECS[1:4] if magic < 2 else CODECS[1:]:
            whole = recordpress.compress(inner, codec, magic=magic)
            yield case("cut", codec, whole[:-9])
            yield case("garbage", codec, b"not a stream of anything " * 3)
            yield case("uncompressed", codec, inner)
            yield case("trailing-1", codec, whole + b"\0")
            yield case("trailing-20", codec, whole + b"trailing " * 2 + b"..")
            yield case("twice", codec, whole + whole)
            damaged = bytearray(whole)
            damaged[len(whole) // 2] ^= 0x55
            yield case("flipped", codec, bytes(damaged))
        yield case("raw", "snappy", recordpress.compress(inner, "snappy", raw=True))
        wrong_crc = bytearray(recordpress.compress(inner, "gzip"))
        wrong_crc[-8] ^= 1
        yield case("crc", "gzip", bytes(wrong_crc))


def _payload(magic: int) -> bytes:
    if magic < 2:
        return messages(magic)
    return b"".join(record(n, key, value, n, []) for n, (key, value) in enumerate(ROWS))


def gates() -> Iterator[Case]:
    """Sets in requests of other versions than their magic goes with."""
    for codec in ("none", "gzip", "zstd"):
        for magic, data in sets_of(codec):
            for version in range(9):
                yield Case(f"produce-{version}-v{magic}-{codec}", [data], version=version)
    zstd = {"compression.type": "zstd"}
    for version in (3, 7):
        yield Case(f"produce-{version}-to-zstd", [batch("gzip")], zstd, version=version, since=(2, 1))


def acceptance() -> Iterator[Case]:
    """The small ones that 3.9.2 and 4.3.1 were asked in another place, for the releases between."""
    entries = json.loads(oracle.read_shipped("acceptance-small.json"))
    sent = {entry["name"]: [_sent(request) for request in entry["requests"]] for entry in entries}
    for entry in entries:
        sets = [
            sent[request["sent_same_as"]][0] if "sent_same_as" in request else data
            for request, data in zip(entry["requests"], sent[entry["name"]], strict=True)
        ]
        if all(data is not None and len(data) < 2000 for data in sets):
            version = entry["produce_version"]
            first = since((0, 11), known(entry["topic_config"].get("compression.type", "none")))
            name, transaction = "acceptance-" + entry["name"], entry["transactional_id"]
            # 8: the newest that the broker knows
            yield Case(name, sets, entry["topic_config"], None if version == 8 else version, first, transaction)


def _sent(request: dict[str, str]) -> bytes | None:
    if "sent_file" in request:
        return oracle.read_shipped(request["sent_file"].removesuffix(".gz"))
    text = request.get("sent")
    if text is None:
        return None
    data = base64.b64decode(text)
    return zlib.decompress(data) if request.get("sent_encoding") == "zlib" else data
