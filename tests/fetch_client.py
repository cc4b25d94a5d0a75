"""Fetch requests 0 to 18 over a socket (FetchRequest.json, FetchResponse.json): one topic, partition 0."""

from __future__ import annotations

import socket
import struct
from typing import NamedTuple

FETCH = 1
NAMED_BY_ID = 13  # KIP-516


class Request(NamedTuple):
    """Fetch 13 and later ask for a topic's id."""

    topic: str
    offset: int
    version: int
    limit: int
    max_bytes: int
    committed: bool = False
    topic_id: bytes = bytes(16)


class Answer(NamedTuple):
    error_code: int | None
    high_watermark: int = -1
    log_start_offset: int = -1
    records: bytes = b""
    last_stable_offset: int = -1
    aborted_transactions: list[tuple[int, int]] | None = None


def request_of(request: Request) -> bytes:
    _, offset, version, limit, max_bytes, committed, _ = request
    flexible = version >= 12
    parts = [struct.pack(">hhihc", FETCH, version, 7, 1, b"t"), b"\0" * flexible]
    parts += [struct.pack(">i", -1)] * (version < 15)  # no replica
    parts.append(struct.pack(">ii", 0, 0))  # no waiting
    parts += [struct.pack(">i", max_bytes)] * (version >= 3) + [bytes([committed])] * (version >= 4)
    parts += [struct.pack(">ii", 0, -1)] * (version >= 7)  # no session
    parts.append(topic_of(request))
    parts.append(b"\2" if flexible else struct.pack(">i", 1))
    parts += [struct.pack(">i", 0), *[struct.pack(">i", -1)] * (version >= 9), struct.pack(">q", offset)]
    parts += [struct.pack(">i", -1)] * flexible + [struct.pack(">q", -1)] * (version >= 5)
    parts += [struct.pack(">i", limit), b"\0\0" * flexible]
    parts += [b"\1" if flexible else struct.pack(">i", 0)] * (version >= 7)
    parts += [b"\1" if flexible else struct.pack(">h", 0)] * (version >= 11)
    return b"".join([*parts, b"\0" * flexible])


def topic_of(request: Request) -> bytes:
    name = request.topic.encode()
    if request.version >= NAMED_BY_ID:
        return b"\2" + request.topic_id
    return bytes([2, len(name) + 1]) + name if request.version == 12 else struct.pack(">ih", 1, len(name)) + name


def ask(port: int, question: Request) -> Answer:
    request = request_of(question)
    with socket.create_connection(("127.0.0.1", port), 20) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        size = receive(connection, 4)
        response = size and receive(connection, struct.unpack(">i", size)[0])
    return read_answer(Reader(response), question.version) if response else Answer(None)


def receive(connection: socket.socket, size: int) -> bytes | None:
    """None if the connection is closed before."""
    found = b""
    while len(found) < size:
        piece = connection.recv(min(size - len(found), 1 << 20))
        if not piece:
            return None
        found += piece
    return found


class Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, form: str) -> int:
        [value] = struct.unpack_from(">" + form, self.data, self.at)
        self.at += struct.calcsize(">" + form)
        return int(value)

    def varint(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self.take("B")
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def length(self, flexible: bool, form: str = "i") -> int:
        return self.varint() - 1 if flexible else self.take(form)


def read_answer(r: Reader, version: int) -> Answer:
    flexible = version >= 12
    assert r.take("i") == 7
    if flexible:
        assert r.varint() == 0
    if version >= 1:
        r.take("i")
    if version >= 7:
        top = r.take("h")
        r.take("i")
        if top:
            return Answer(top)
    assert r.length(flexible) == 1
    name = 16 if version >= NAMED_BY_ID else r.length(flexible, "h")
    r.at += name
    assert r.length(flexible) == 1 and r.take("i") == 0
    code, watermark = r.take("h"), r.take("q")
    stable = r.take("q") if version >= 4 else -1
    start = r.take("q") if version >= 5 else -1
    aborted = read_aborted(r, flexible) if version >= 4 else None
    if version >= 11:
        r.take("i")
    size = r.length(flexible)
    return Answer(code, watermark, start, r.data[r.at : r.at + max(size, 0)], stable, aborted)


def read_aborted(r: Reader, flexible: bool) -> list[tuple[int, int]] | None:
    count = r.length(flexible)
    if count < 0:
        return None
    found = []
    for _ in range(count):
        found.append((r.take("q"), r.take("q")))
        r.at += flexible
    return found
