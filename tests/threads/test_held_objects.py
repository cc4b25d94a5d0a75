"""An object that a call of another thread holds, which is in code of the caller's: others get an InUseError at once,
and the call goes on as if nothing had been. Each wait has an end, so a test fails and does not hang."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import recordpress
from patience import HANG
from recordpress.log import RecordDigest
from recordpress.producer import BatchAccumulator, pack


class Gate:
    """Code of the caller's, in which every thread stays until it is let go."""

    def __init__(self) -> None:
        self.reached, self.go = threading.Event(), threading.Event()

    def pass_through(self) -> None:
        self.reached.set()
        assert self.go.wait(HANG)


class Headers(list[tuple[str, bytes]]):
    def __init__(self, gate: Gate) -> None:
        super().__init__([("h", b"x")])
        self.gate = gate

    def __iter__(self) -> Iterator[Any]:
        self.gate.pass_through()
        return super().__iter__()


class Codec:
    """Reading is behind the gate."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate

    def compress(self, data: bytes) -> bytes:
        return data

    def decompress(self, data: bytes, max_output: int) -> bytes:
        self.gate.pass_through()
        return data


class Packed(Codec):
    """Writing is."""

    def compress(self, data: bytes) -> bytes:
        self.gate.pass_through()
        return data


def records(gate: Gate) -> tuple[bytes, recordpress.CodecRegistry]:
    codecs = recordpress.CodecRegistry()
    codecs.register("held", Codec(gate), thread_safe=True)
    return recordpress.write_records([b"a", b"b"], batch_records=1, compression_type="held", codecs=codecs), codecs


def meanwhile(gate: Gate, call: Callable[[], Any], *others: Callable[[], Any]) -> Any:
    """What the call gives, while which the others are refused."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(call()), daemon=True)
    thread.start()
    assert gate.reached.wait(HANG)
    try:
        for other in others:
            with pytest.raises(recordpress.InUseError):
                other()
    finally:
        gate.go.set()
        thread.join(HANG)
    [result] = results
    return result


def values_of(data: bytes) -> list[bytes | None]:
    return [record.value for batch in recordpress.read_batches(data) for record in batch]


def test_a_builder() -> None:
    gate, builder = Gate(), recordpress.BatchBuilder()
    held = Headers(gate)
    assert meanwhile(gate, lambda: builder.append(b"a", headers=held), lambda: builder.append(b"b"), builder.build)
    assert builder.append(b"c")
    assert values_of(builder.build()) == [b"a", b"c"]


def test_an_accumulator() -> None:
    gate, accumulator = Gate(), BatchAccumulator(linger_ms=0)
    others = [lambda: accumulator.append(b"b"), accumulator.drain, lambda: accumulator.ready(0)]
    meanwhile(gate, lambda: accumulator.append(b"a", headers=Headers(gate)), *others)
    accumulator.append(b"c")
    [batch] = accumulator.drain()
    assert values_of(batch.records) == [b"a", b"c"]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_iterator_of_columns(threads: int) -> None:
    gate = Gate()
    data, codecs = records(gate)
    parts = recordpress.iter_columns(data, ["value"], batch_bytes=1, codecs=codecs, threads=threads)
    first = meanwhile(gate, lambda: next(parts), lambda: next(parts), parts.close)
    assert [columns["value"].to_pylist() for columns in (first, *parts)] == [[b"a"], [b"b"]]


def test_a_digest() -> None:
    gate = Gate()
    data, codecs = records(gate)
    digest, alone = RecordDigest(), RecordDigest()

    def update() -> None:
        digest.update(data, codecs=codecs)

    meanwhile(gate, update, update, digest.hexdigest)
    alone.update(data, codecs=codecs)
    assert (digest.hexdigest(), digest.records) == (alone.hexdigest(), 2)


def test_a_packing_iterator() -> None:
    gate = Gate()
    codecs = recordpress.CodecRegistry()
    codecs.register("held", Packed(gate))
    packed = pack([b"a", b"b"], limit=1000, compression_type="held", codecs=codecs)
    data = meanwhile(gate, lambda: next(packed), lambda: next(packed))
    assert [record.value for batch in recordpress.read_batches(data, codecs=codecs) for record in batch] == [b"a", b"b"]
    assert list(packed) == []
