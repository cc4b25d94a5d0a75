"""What a topic is in ZooKeeper, where brokers up to 3.9 keep it: two nodes, which the controller watches.

Brokers before 0.10.1 have no CreateTopics request. The wire form is that of ZooKeeper's Jute records.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Mapping
from types import TracebackType
from typing import Self

CREATE = 1
NODE_EXISTS = -110


class ZooKeeper:
    """A session, inside a ``with`` statement."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=20)  # chosen, not measured
        # protocol version, last zxid, timeout, session id, password
        self._send(struct.pack(">iqiq", 0, 0, 30_000, 0) + _buffer(bytes(16)))
        self._receive()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def create(self, path: str, data: bytes = b"") -> None:
        """A lasting node that everyone may change; nothing if there is one."""
        acl = struct.pack(">ii", 1, 31) + _buffer(b"world") + _buffer(b"anyone")
        self._send(struct.pack(">ii", 1, CREATE) + _buffer(path.encode()) + _buffer(data) + acl + bytes(4))
        _, _, code = struct.unpack_from(">iqi", self._receive())
        if code not in (0, NODE_EXISTS):
            raise RuntimeError(f"ZooKeeper: error {code} for {path}")

    def create_topic(self, name: str, settings: Mapping[str, str], broker_id: int) -> None:
        """One partition on one broker. The settings come first: the controller acts when it sees the second node."""
        self.create(f"/config/topics/{name}", json.dumps({"version": 1, "config": dict(settings)}).encode())
        self.create(f"/brokers/topics/{name}", json.dumps({"version": 1, "partitions": {"0": [broker_id]}}).encode())

    def _send(self, request: bytes) -> None:
        self._socket.sendall(_buffer(request))

    def _receive(self) -> bytes:
        return _exactly(self._socket, *struct.unpack(">i", _exactly(self._socket, 4)))


def _buffer(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def _exactly(stream: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = stream.recv(size - len(data))
        if not piece:
            raise ConnectionError("closed")
        data += piece
    return data
