"""The client that asks old brokers: an answer that is none of a broker is told, and not read as one."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable

import pytest
from old_broker import _free_ports
from produce_client import NO_PARTITIONS, Client, Response

from patience import HANG


def answered(answer: Callable[[bytes], bytes], version: int = 3, requests: int = 1) -> Response:
    """What the client makes of the answer to a Produce request, the last of several."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                for _ in range(requests):
                    size = struct.unpack(">i", connection.recv(4, socket.MSG_WAITALL))[0]
                    request = connection.recv(size, socket.MSG_WAITALL)
                    reply = answer(request)
                    connection.sendall((struct.pack(">i", len(reply)) + reply) * requests)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            with Client(server.getsockname()[1]) as client:
                return [client.produce("topic", b"records", version) for _ in range(requests)][-1]
        finally:
            thread.join(HANG)


def number_of(request: bytes) -> bytes:
    return request[4:8]


TOPIC = struct.pack(">ih", 1, 5) + b"topic"
STORED = TOPIC + struct.pack(">iihqqi", 1, 0, 0, 42, -1, 0)


def test_an_answer() -> None:
    assert answered(lambda request: number_of(request) + STORED) == Response(0, 42)
    assert answered(lambda request: number_of(request) + TOPIC + bytes(8)) == Response(None, message=NO_PARTITIONS)


def test_a_second_answer_to_a_request_is_passed_over() -> None:
    def answer(request: bytes) -> bytes:
        number = number_of(request)
        return number + TOPIC + struct.pack(">iihqqi", 1, 0, 0, int.from_bytes(number, "big"), -1, 0)

    assert answered(answer, requests=2) == Response(0, 2)


def test_an_answer_of_somebody_else() -> None:
    for answer in (lambda request: request, lambda request: bytes(4) + STORED, lambda request: b""):
        with pytest.raises(RuntimeError, match="an answer to another request"):
            answered(answer)


def test_an_answer_that_is_cut() -> None:
    for size in range(len(STORED) - 4):  # the throttle time is not read
        with pytest.raises(RuntimeError, match=f"an answer of {size} bytes that ends at"):
            answered(lambda request, size=size: number_of(request) + STORED[:size])  # type: ignore[misc]


def test_ports_are_two_and_no_clients() -> None:
    for _ in range(50):
        one, other = _free_ports()
        assert one != other and max(one, other) < 32768
