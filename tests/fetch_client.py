"""Fetch requests 0 to 12 over a socket (FetchRequest.json, FetchResponse.json): one topic, partition 0."""

from __future__ import annotations

import socket
import struct
from typing import NamedTuple

FETCH = 1


class Answer(NamedTuple):
    error_code: int | None
    high_watermark: int = -1
    log_start_offset: int = -1
    records: bytes = b""


def request_of(topic: str, offset: int, version: int, limit: int, max_bytes: int) -> bytes:
    flexible = version >= 12
    name = topic.encode()
    parts = [struct.pack(">hhihc", FETCH, version, 7, 1, b"t"), b"\0" * flexible]
    parts.append(struct.pack(">iii", -1, 0, 0))  # no replica, no waiting
    parts += [struct.pack(">i", max_bytes)] * (version >= 3) + [b"\0"] * (version >= 4)
    parts += [struct.pack(">ii", 0, -1)] * (version >= 7)  # no session
    parts.append(bytes([2, len(name) + 1]) + name if flexible else struct.pack(">ih", 1, len(name)) + name)
    parts.append(b"\2" if flexible else struct.pack(">i", 1))
    parts += [struct.pack(">i", 0), *[struct.pack(">i", -1)] * (version >= 9), struct.pack(">q", offset)]
    parts += [struct.pack(">i", -1)] * flexible + [struct.pack(">q", -1)] * (version >= 5)
    parts += [struct.pack(">i", limit), b"\0\0" * flexible]
    parts += [b"\1" if flexible else struct.pack(">i", 0)] * (version >= 7)
    parts += [b"\1" if flexible else struct.pack(">h", 0)] * (version >= 11)
    return b"".join([*parts, b"\0" * flexible])


def ask(port: int, topic: str, offset: int, version: int, limit: int, max_bytes: int) -> Answer:
    request = request_of(topic, offset, version, limit, max_bytes)
    with socket.create_connection(("127.0.0.1", port), 20) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        size = receive(connection, 4)
        response = size and receive(connection, struct.unpack(">i", size)[0])
    return read_answer(Reader(response), version) if response else Answer(None)


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
    name = r.length(flexible, "h")
    r.at += name
    assert r.length(flexible) == 1 and r.take("i") == 0
    code, watermark = r.take("h"), r.take("q")
    start = -1
    if version >= 4:
        r.take("q")
    if version >= 5:
        start = r.take("q")
    if version >= 4:
        for _ in range(max(r.length(flexible), 0)):
            r.at += 16 + flexible
    if version >= 11:
        r.take("i")
    size = r.length(flexible)
    return Answer(code, watermark, start, r.data[r.at : r.at + max(size, 0)])
