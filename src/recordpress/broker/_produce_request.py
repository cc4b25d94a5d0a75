"""Captured Produce requests, and their record sets with positions.

::

    [size]  [api key, version, correlation id, client id, (tags)]  body      any number of times
     size and header are optional; tags exist since Produce 9 (KIP-482)

    Produce 0-2    acks  timeout  topics[ name  partitions[ index  records ] ]
            3-8    transactional id, then the same
            9-12   the same with compact lengths and tags
            13     topic ids instead of names (KIP-516)

Without a header, the layout that fits to the last byte is used. The message definition is Kafka's ProduceRequest.json.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from recordpress.errors import CorruptRecordError

PRODUCE = 0  # ApiKeys.PRODUCE
LAST_VERSION = 13
_TRANSACTIONAL, _FLEXIBLE, _TOPIC_IDS = 3, 9, 13  # first version with each feature
_BODIES = (12, 13, 8, 2)  # without a header: the last version of each layout
_ACKS = (-1, 0, 1)
_MOST_API_KEYS = 256  # Kafka has about 90
_VARINT_BYTES = 5


@dataclass(frozen=True, slots=True)
class ProducedPartition:
    """One partition's records in a request."""

    topic: str
    partition: int
    records: memoryview | None
    position: int


@dataclass(frozen=True, slots=True)
class ProduceRequest:
    """One request."""

    version: int
    has_header: bool
    client_id: str | None
    transactional_id: str | None
    acks: int
    timeout_ms: int
    partitions: list[ProducedPartition]


@dataclass(frozen=True, slots=True)
class Captured:
    """Captured data: Produce requests, and the number of other requests."""

    requests: list[ProduceRequest]
    others: int = 0


def read_captured(data: memoryview) -> Captured | None:
    """Return the Produce requests in captured data; None if the data is not Produce requests."""
    frames = _frames(data)
    if frames is None:
        request = _read_one(data, 0)
        return None if request is None else Captured([request])
    requests, others = [], 0
    for start, end in frames:
        if _Fields(data[:end], start).i16("api key") != PRODUCE:
            others += 1
        elif (request := _read_one(data[:end], start)) is None:
            return None
        else:
            requests.append(request)
    return Captured(requests, others) if requests else None


def _frames(data: memoryview) -> list[tuple[int, int]] | None:
    """Return start and end of size-prefixed requests; None if the sizes do not add up to the whole data."""
    frames, at = [], 0
    while at < len(data):
        start = at + 4  # a slice that ends early gives a size that is refused
        size = int.from_bytes(data[at:start], "big", signed=True)
        key = int.from_bytes(data[start : start + 2], "big")
        if size < 8 or start + size > len(data) or key >= _MOST_API_KEYS:
            return None
        at = start + size
        frames.append((start, at))
    return frames or None


def _read_one(data: memoryview, start: int) -> ProduceRequest | None:
    header = _header(data, start)
    if header is not None:
        fields, version, client_id = header
        try:
            return _body(fields, version, client_id, True)
        except CorruptRecordError:
            if client_id:  # only a request has a client id
                raise
    for version in _BODIES:
        try:
            return _body(_Fields(data, start), version, None, False)
        except CorruptRecordError:
            continue
    return None


def _header(data: memoryview, start: int) -> tuple[_Fields, int, str | None] | None:
    fields = _Fields(data, start)
    try:
        key, version = fields.i16("api key"), fields.i16("version")
        fields.i32("correlation id")
        client_id = fields.string("client id", compact=False)
        if key != PRODUCE or not 0 <= version <= LAST_VERSION or not (client_id or "").isprintable():
            return None
        if version >= _FLEXIBLE:
            fields.tags()
    except CorruptRecordError:
        return None
    return fields, version, client_id


def _body(fields: _Fields, version: int, client_id: str | None, has_header: bool) -> ProduceRequest:
    compact = version >= _FLEXIBLE
    transactional_id = fields.string("transactional id", compact) if version >= _TRANSACTIONAL else None
    acks, timeout_ms = fields.i16("acks"), fields.i32("timeout")
    if acks not in _ACKS or timeout_ms < 0:
        raise fields.error(f"acks must be -1, 0 or 1 and the timeout 0 or more, not {acks} and {timeout_ms} ms", "acks")
    partitions: list[ProducedPartition] = []
    for _ in range(fields.count("topics", compact)):
        topic = fields.topic_id() if version >= _TOPIC_IDS else fields.string("topic", compact) or ""
        for _ in range(fields.count("partitions", compact)):
            index = fields.i32("partition")
            records = fields.blob("records", compact)
            partitions.append(ProducedPartition(topic, index, records, fields.at - len(records or b"")))
            if compact:
                fields.tags()
        if compact:
            fields.tags()
    if compact:
        fields.tags()
    if fields.at != len(fields.data) or not partitions:
        found = f"{len(partitions)} partitions and {len(fields.data) - fields.at} bytes after them"
        raise fields.error(f"expected 1 partition or more and no bytes after them, not {found}", "topics")
    return ProduceRequest(version, has_header, client_id, transactional_id, acks, timeout_ms, partitions)


class _Fields:
    """Reader of the protocol's types in sequence, never beyond the end of the data."""

    # log.dump has another reader, Message, which follows schemas and has the texts of Kafka's exceptions.

    def __init__(self, data: memoryview, at: int) -> None:
        self.data = data
        self.at = at

    def take(self, size: int, field: str) -> memoryview:
        if not 0 <= size <= len(self.data) - self.at:
            raise self.error(f"expected {size} bytes, found {len(self.data) - self.at}", field)
        self.at += size
        return self.data[self.at - size : self.at]

    def error(self, what: str, field: str) -> CorruptRecordError:
        message = f"not a complete Produce request: {field}: {what}"
        return CorruptRecordError(message, field=field, field_position=self.at, rule="Produce request")

    def i16(self, field: str) -> int:
        return int.from_bytes(self.take(2, field), "big", signed=True)

    def i32(self, field: str) -> int:
        return int.from_bytes(self.take(4, field), "big", signed=True)

    def varint(self, field: str) -> int:
        """Read an unsigned varint, which encodes lengths."""
        value = 0
        for shift in range(0, 7 * _VARINT_BYTES, 7):
            byte = self.take(1, field)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise self.error("the length has more than five bytes", field)

    def _size(self, field: str, compact: bool, read: Callable[[str], int]) -> int | None:
        size = self.varint(field) - 1 if compact else read(field)
        return None if size == -1 else size

    def string(self, field: str, compact: bool) -> str | None:
        size = self._size(field, compact, self.i16)
        if size is None:
            return None
        try:
            return str(self.take(size, field), "utf-8")
        except UnicodeDecodeError:
            raise self.error("not valid UTF-8", field) from None

    def blob(self, field: str, compact: bool) -> memoryview | None:
        size = self._size(field, compact, self.i32)
        return None if size is None else self.take(size, field)

    def count(self, field: str, compact: bool) -> int:
        """Read the number of elements of an array; each element has four bytes or more."""
        number = self._size(field, compact, self.i32) or 0
        if not 0 <= number <= (len(self.data) - self.at) // 4:
            raise self.error(f"{number} elements do not fit into the rest of the request", field)
        return number

    def topic_id(self) -> str:
        return str(UUID(bytes=bytes(self.take(16, "topic id"))))

    def tags(self) -> None:
        """Skip tagged fields, which a reader may ignore (KIP-482)."""
        for _ in range(self.varint("tags")):
            self.varint("tag")
            self.take(self.varint("tag"), "tag")
