"""Cases for Kafka's classes and recordpress.broker, drawn from a seed: a log's settings, and the requests that it
gets."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator

import odd_sets
from kafka_classes import Case, Marker, Request
from odd_sets import CODECS, Producer, Times

KNOWN = "known to the coordinator"
NOW = 1_700_000_000_000
HOUR = 3_600_000


def cases(seed: int, requests: int, version: str) -> Iterator[Case]:
    """So many requests, in cases of one or, for logs with a history, of some."""
    draw = random.Random(f"{seed} {version}")
    index = 0
    while requests > 0:
        case = _kind(draw, version)(draw, f"{version} seed {seed} #{index}", version)
        yield case
        requests -= len(case.requests)
        index += 1


def _kind(draw: random.Random, version: str) -> Callable[[random.Random, str, str], Case]:
    if version == "3.9" and draw.random() < 0.04:
        return _several
    return _history if draw.random() < 0.06 else _single


# ---- one request


def _single(draw: random.Random, name: str, version: str) -> Case:
    settings, times = _settings(draw, version)
    magic, produce_version = _formats(draw, settings, version)
    transactional_id = ""
    if magic == 2:
        data = _v2(draw, times)
        if produce_version >= 3 and draw.random() < 0.08:
            transactional_id = draw.choice((KNOWN, KNOWN, "unknown"))
            data = _with_bits(data, draw.choice((16, 16, 0)))
    else:
        data = odd_sets.legacy(draw, magic, times, draw.choice((0, 0.5, 1)))
    if draw.random() < 0.03:
        data = _framed_oddly(draw, data, times)
    _bound_sizes(draw, settings, len(data), version)
    verified = transactional_id == KNOWN
    request = Request(data, produce_version, transactional_id, verified, times.now)
    return Case(name, [request], settings, _offset(draw), draw.choice((0, 0, 1, 7, 2**31 - 1)))


def _several(draw: random.Random, name: str, version: str) -> Case:
    """Batches of some producers in a request that may hold more than one; some in transactions, some headers cut."""
    times = Times(NOW, 2**63 - 1, 2**63 - 1)
    producers = [Producer(draw.choice((-1, 0, 1, 1)), draw.choice((0, 0, 1)), 0) for _ in range(draw.randrange(1, 5))]
    batches = [_with_bits(odd_sets.v2(draw, times, producer, 0), draw.choice((0, 16, 16))) for producer in producers]
    if draw.random() < 0.8:
        batches[0] = _with_bits(odd_sets.v2(draw, times, Producer(), 0), 0)
    if draw.random() < 0.4:
        at = draw.randrange(len(batches))
        batches[at] = _cut_header(batches[at], draw.choice((50, 51, 52, 53, 56, 57, 60)))
    data = b"".join(batches) + draw.choice((b"", b"", bytes(17)))
    return Case(name, [Request(data, draw.choice((0, 2, 2, 3)), "", False, NOW)], {}, _offset(draw), 0)


def _cut_header(data: bytes, size: int) -> bytes:
    return data[:8] + (size - 12).to_bytes(4, "big") + data[12:size]


def _v2(draw: random.Random, times: Times) -> bytes:
    if draw.random() < 0.15:
        return odd_sets.near_small(draw)
    producer = Producer()
    if draw.random() < 0.25:
        sequence = draw.choice((0, 0, 5, 2**31 - 2))
        producer = Producer(draw.choice((0, 1, 4242, 2**40)), draw.choice((0, 1, 2**15 - 1)), sequence)
    return odd_sets.v2(draw, times, producer, draw.choice((0, 0, 0.5, 1, 1)))


def _with_bits(data: bytes, bits: int) -> bytes:
    """With attribute bits."""
    return odd_sets.with_right_crc(data[:22] + bytes([data[22] | bits]) + data[23:])


def _framed_oddly(draw: random.Random, data: bytes, times: Times) -> bytes:
    """Nothing, a part, two batches, a batch and a part."""
    other = odd_sets.v2(draw, times, Producer(), 0)
    cut = data[: draw.randrange(len(data))]
    return draw.choice((b"", cut, data + other, data + data, data + other[:20], data + bytes(9), data + bytes(17)))


def _formats(draw: random.Random, settings: dict[str, str], version: str) -> tuple[int, int]:
    """Magic of the set and version of the request."""
    if version != "3.9":
        return 2 if draw.random() < 0.98 else draw.randrange(2), draw.choice((3, 5, 6, 7, 8, 9, 11, 12))
    if draw.random() < 0.5:
        return 2, draw.choice((2, 3, 6, 7, 8, 9, 11))
    return draw.choice((0, 1, 1)), draw.choice((0, 1, 2, 2, 2, 2, 3))


def _settings(draw: random.Random, version: str) -> tuple[dict[str, str], Times]:
    settings = {}
    times = Times(NOW, 2**63 - 1, 2**63 - 1 if version == "3.9" else HOUR)
    if draw.random() < 0.6:
        _compression(draw, settings)
    if draw.random() < 0.2:
        settings["message.timestamp.type"] = draw.choice(("LogAppendTime", "LogAppendTime", "CreateTime"))
    if draw.random() < 0.2:
        times.before = draw.choice((0, 1, 1000, HOUR))
        settings["message.timestamp.before.max.ms"] = str(times.before)
    if draw.random() < 0.2:
        times.after = draw.choice((0, 1, 1000, HOUR, 2**63 - 2))
        settings["message.timestamp.after.max.ms"] = str(times.after)
    if draw.random() < 0.15:
        settings["cleanup.policy"] = draw.choice(("compact", "compact,delete", "delete"))
    if version == "3.9" and draw.random() < 0.5:
        settings["inter.broker.protocol.version"] = draw.choice(("2.8", "2.8", "2.8", "2.0"))
        settings["message.format.version"] = draw.choice(("0.9.0", "0.10.0", "0.10.2", "0.11.0"))
    return settings, times


def _compression(draw: random.Random, settings: dict[str, str]) -> None:
    kind = draw.choice(("uncompressed", "producer", *CODECS[1:], *CODECS[1:]))
    settings["compression.type"] = kind
    levels = {"gzip": (1, 9, -1), "lz4": (1, 9, 12, 17), "zstd": (-5, 1, 19)}.get(kind)
    if levels and draw.random() < 0.3:
        settings[f"compression.{kind}.level"] = str(draw.choice(levels))


def _bound_sizes(draw: random.Random, settings: dict[str, str], size: int, version: str) -> None:
    if draw.random() < 0.05:
        settings["max.message.bytes"] = str(max(0, size + draw.choice((-1, 0, 1, -30, 200, size))))
    if version == "4.4" and draw.random() < 0.1:
        settings["max.decompressed.message.bytes"] = str(draw.choice((1, 10, 20, 50, 300, 2000)))
    if draw.random() < 0.05:
        name = "segment.bytes" if version == "3.9" else "internal.segment.bytes"
        settings[name] = str(max(14, size + draw.choice((-1, 0, 1, 200, size))))


def _offset(draw: random.Random) -> int:
    return draw.choice((0, 3, 3, 1000, 2**31 - 1, 2**31, 2**40, 2**62))


# ---- a log with a history


def _history(draw: random.Random, name: str, version: str) -> Case:
    """Batches of a few producers, in and out of order."""
    settings, times = _settings(draw, version)
    settings.pop("message.format.version", None)
    settings.pop("inter.broker.protocol.version", None)
    settings.pop("cleanup.policy", None)
    producers = [_Session(draw, number) for number in (1, 2)]
    requests = [draw.choice(producers).request(times, version) for _ in range(draw.choice((3, 6, 12)))]
    return Case(name, requests, settings, _offset(draw), draw.choice((0, 3)))


class _Session:
    """A producer that mostly does what it should."""

    def __init__(self, draw: random.Random, number: int) -> None:
        self.draw = draw
        self.producer = Producer(4000 + number, draw.choice((0, 0, 5, 2**15 - 2)), draw.choice((0, 0, 0, 7, 2**31 - 3)))
        self.transactional = draw.random() < 0.4
        self.sent: list[bytes] = []

    def request(self, times: Times, version: str) -> Request | Marker:
        if self.transactional and self.draw.random() < 0.3:
            return self._marker(times)
        data = self._repeated() or self._next(times)
        bits = data[22] & 16
        transactional_id = self.draw.choice((KNOWN, KNOWN, KNOWN, KNOWN, "unknown")) if bits else ""
        versions = (8, 9, 11) if version == "3.9" else (8, 9, 11, 12)
        return Request(data, self.draw.choice(versions), transactional_id, transactional_id == KNOWN, times.now)

    def _marker(self, times: Times) -> Marker:
        """Of this epoch or the next one, in which the producer then continues; mostly."""
        version = self.draw.choice((0, 1, 2, 2))
        epoch = min(
            self.producer.epoch + self.draw.choice((0, 0, 1, 1, 1) if version == 2 else (0, 0, 0, 1)), 2**15 - 1
        )
        if self.draw.random() < 0.8 and epoch != self.producer.epoch:
            self.producer.epoch, self.producer.sequence = epoch, 0
        coordinator = self.draw.choice((0, 0, 0, 0, 1))
        return Marker(self.producer.id, epoch, coordinator, version, times.now)

    def _repeated(self) -> bytes | None:
        """One of the last batches again, also those that are too old to be remembered."""
        return self.draw.choice(self.sent[-7:]) if self.sent and self.draw.random() < 0.25 else None

    def _next(self, times: Times) -> bytes:
        self._stray()
        found = [dataclasses.replace(row, timestamp=times.now) for row in odd_sets.rows(self.draw, times)][:8]
        codec = self.draw.choice((0, 0, 1, 3))
        area = b"".join(row.encode(times.now) for row in found)
        payload = odd_sets.stream(self.draw, CODECS[codec], area, 0)
        transactional = self.transactional if self.draw.random() < 0.93 else not self.transactional
        producer = self.producer if self.draw.random() < 0.95 else dataclasses.replace(self.producer, sequence=-1)
        data = odd_sets.batch(found, payload, codec, producer, 16 * transactional)
        self.sent.append(data)
        if producer is self.producer:
            self._count(len(found))
        return data

    def _count(self, records: int) -> None:
        self.producer.sequence = (self.producer.sequence + records) % 2**31

    def _stray(self) -> None:
        """A gap, a new epoch, an old one."""
        kind = self.draw.random()
        if kind < 0.03:
            self._count(self.draw.choice((1, 5, 2**31 - 1)))
        elif kind < 0.13:
            self.producer.epoch = min(self.producer.epoch + 1, 2**15 - 1)
            self.producer.sequence = self.draw.choice((0, 0, 0, self.producer.sequence))
        elif kind < 0.15:
            self.producer.epoch = max(self.producer.epoch - 1, 0)
