"""Produce requests 0 to 8 and Metadata 0 over a socket: sets of any bytes, which no client library would send."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

PRODUCE, METADATA = 0, 3
TIMED_OUT = "no answer"
NO_TOPICS = "an answer without the topic"
NO_PARTITIONS = "an answer without the partition"


@dataclass(frozen=True)
class Response:
    """What a broker says about the one partition; error None: it closed the connection."""

    error: int | None
    base_offset: int = -1
    log_append_time: int = -1
    record_errors: list[tuple[int, str | None]] = field(default_factory=list)
    message: str | None = None


class Client:
    """A connection, inside a ``with`` statement; it is opened again after a broker closed it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._requests = 0
        self._socket: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def produce(self, topic: str, records: bytes | None, version: int, transactional_id: str | None = None) -> Response:
        """`records` sent to partition 0 with acks = -1."""
        body = _string(transactional_id) if version >= 3 else b""
        body += struct.pack(">hi", -1, 30_000) + _array(_string(topic) + _array(bytes(4) + _bytes(records)))
        try:
            answer = _Reader(self._call(PRODUCE, version, body))
        except (ConnectionError, TimeoutError) as error:
            self._close()
            return Response(None, message=TIMED_OUT if isinstance(error, TimeoutError) else None)
        return _produce_response(answer, version)

    def leaders(self, topics: list[str]) -> set[str]:
        """Those of `topics` whose partition has a leader."""
        answer = _Reader(self._call(METADATA, 0, struct.pack(">i", len(topics)) + b"".join(map(_string, topics))))
        for _ in range(answer.take(">i")):
            answer.take(">i"), answer.string(), answer.take(">i")
        led = set()
        for _ in range(answer.take(">i")):
            answer.take(">h")
            name = answer.string()
            for _ in range(answer.take(">i")):
                error, _, leader = answer.take(">h"), answer.take(">i"), answer.take(">i")
                for _ in range(2):  # replicas and isr
                    for _ in range(answer.take(">i")):
                        answer.take(">i")
                if error == 0 and leader >= 0:
                    led.add(name)
        return led

    def _call(self, api: int, version: int, body: bytes) -> bytes:
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=120)  # chosen, not measured
        self._requests += 1
        self._socket.sendall(_bytes(struct.pack(">hhi", api, version, self._requests) + _string("recordpress") + body))
        while True:
            answer = self._exactly(*struct.unpack(">i", self._exactly(4)))
            number = int.from_bytes(answer[:4], "big")
            if len(answer) >= 4 and number == self._requests:
                return answer[4:]
            # 2.8.2 was seen to answer a request twice: with what became of the records, and then with no topic
            if len(answer) < 4 or not 0 < number < self._requests:
                raise RuntimeError(f"an answer to another request, of {len(answer)} bytes: {answer[:64].hex()}")

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self._socket.recv(size - len(data)) if self._socket else b""
            if not piece:
                raise ConnectionResetError("closed")
            data += piece
        return data

    def _close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None


def _produce_response(answer: _Reader, version: int) -> Response:
    if answer.take(">i") == 0:
        return Response(None, message=NO_TOPICS)
    answer.string()
    if answer.take(">i") == 0:
        return Response(None, message=NO_PARTITIONS)
    answer.take(">i")
    error, base_offset = answer.take(">h"), answer.take(">q")
    append_time = answer.take(">q") if version >= 2 else -1
    if version >= 5:
        answer.take(">q")  # log start offset
    record_errors: list[tuple[int, str | None]] = []
    message = None
    if version >= 8:
        record_errors = [(answer.take(">i"), answer.string()) for _ in range(answer.take(">i"))]
        message = answer.string()
    return Response(error, base_offset, append_time, record_errors, message)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, form: str) -> int:
        try:
            values = struct.unpack_from(form, self._data, self._at)
        except struct.error:
            data = self._data[:256].hex()
            raise RuntimeError(f"an answer of {len(self._data)} bytes that ends at {self._at}: {data}") from None
        self._at += struct.calcsize(form)
        return int(values[0])

    def string(self) -> str | None:
        size = self.take(">h")
        if size < 0:
            return None
        self._at += size
        return self._data[self._at - size : self._at].decode()


def _array(element: bytes) -> bytes:
    return struct.pack(">i", 1) + element


def _string(text: str | None) -> bytes:
    return struct.pack(">h", -1) if text is None else struct.pack(">h", len(text)) + text.encode()


def _bytes(data: bytes | None) -> bytes:
    return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data
