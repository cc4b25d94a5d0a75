"""Plug-ins that lie, fail, give odd objects and call back: recordpress raises one of its errors, and goes on."""

from __future__ import annotations

import array
import contextlib
import gc
import io
import threading
import zlib
from collections.abc import Callable
from typing import Any

import pytest

import recordpress
from together import together

LINES = [b"a line of the log %d" % number for number in range(300)]


class Codec:
    """What the tests below make worse."""

    def compress(self, data: bytes) -> Any:
        return zlib.compress(data)

    def decompress(self, data: bytes, max_output: int) -> Any:
        return zlib.decompress(data)


def registry(codec: object, **options: Any) -> recordpress.CodecRegistry:
    codecs = recordpress.CodecRegistry()
    codecs.register("worse", codec, **options)  # type: ignore[arg-type]
    return codecs


DATA = recordpress.write_records(LINES, compression_type="worse", batch_records=60, codecs=registry(Codec()))
READERS: dict[str, Callable[[recordpress.CodecRegistry], Any]] = {
    "call": lambda codecs: recordpress.decompress(zlib.compress(b"data"), "worse", codecs=codecs),
    "stream": lambda codecs: recordpress.decompressor("worse", codecs=codecs).flush(),
    "objects": lambda codecs: [list(batch) for batch in recordpress.read_batches(DATA, codecs=codecs)],
    "columns": lambda codecs: recordpress.read_columns(DATA, codecs=codecs),
    "threads": lambda codecs: list(
        recordpress.iter_columns(io.BytesIO(DATA), batch_bytes=100, threads=3, codecs=codecs)
    ),
    "recompress": lambda codecs: recordpress.recompress(DATA, "lz4", codecs=codecs),
}
WRITERS: dict[str, Callable[[recordpress.CodecRegistry], Any]] = {
    "call": lambda codecs: recordpress.compress(b"data", "worse", codecs=codecs),
    "stream": lambda codecs: recordpress.compressor("worse", codecs=codecs).flush(),
    "objects": lambda codecs: recordpress.write_records(LINES, compression_type="worse", codecs=codecs),
    "columns": lambda codecs: recordpress.write_columns(
        recordpress.read_columns(recordpress.write_records(LINES)), "worse", codecs=codecs
    ),
    "recompress": lambda codecs: recordpress.recompress(recordpress.write_records(LINES), "worse", codecs=codecs),
    "pack": lambda codecs: list(recordpress.producer.pack(LINES, limit=2000, compression_type="worse", codecs=codecs)),
}


class Text:
    def __str__(self) -> str:
        raise ZeroDivisionError

    __repr__ = __str__


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ZeroDivisionError("not even this")


def raising(error: BaseException) -> Codec:
    class Raising(Codec):
        def compress(self, data: bytes) -> Any:
            raise error

        def decompress(self, data: bytes, max_output: int) -> Any:
            raise error

    return Raising()


def giving(value: Any) -> Codec:
    class Giving(Codec):
        def compress(self, data: bytes) -> Any:
            return value

        def decompress(self, data: bytes, max_output: int) -> Any:
            return value

    return Giving()


@together("error", [ValueError("x" * 9000), zlib.error("\0\ud800"), OSError(5, "x"), Unspeakable()])
@pytest.mark.parametrize("use", [*READERS.values(), *WRITERS.values()], ids=[*READERS, *(f"to {w}" for w in WRITERS)])
def test_an_exception_is_the_cause_of_ours(use: Callable[..., Any], error: Exception) -> None:
    with pytest.raises((recordpress.DecompressionError, recordpress.InvalidArgumentError), match="'worse'") as caught:
        use(registry(raising(error)))
    assert caught.value.__cause__ is error and str(caught.value)


@together("error", [KeyboardInterrupt(), SystemExit(3), GeneratorExit(), MemoryError()])
@pytest.mark.parametrize("use", [*READERS.values(), *WRITERS.values()], ids=[*READERS, *(f"to {w}" for w in WRITERS)])
def test_an_interrupt_passes(use: Callable[..., Any], error: BaseException) -> None:
    with pytest.raises(type(error)) as caught:
        use(registry(raising(error)))
    assert not isinstance(caught.value, recordpress.RecordpressError)


ODD = {
    "None": None,
    "text": "text",
    "a number": 5,
    "an object without a text": Text(),
    "every second byte": memoryview(bytes(2000))[::2],
    "a view that was released": memoryview(b""),
    "a type": bytes,
    "a list": [1, 2],
}
ODD["a view that was released"].release()  # type: ignore[attr-defined]


@together("value", ODD.values())
@pytest.mark.parametrize("use", [*READERS.values(), *WRITERS.values()], ids=[*READERS, *(f"to {w}" for w in WRITERS)])
def test_what_is_no_bytes_is_refused(use: Callable[..., Any], value: Any) -> None:
    with pytest.raises((recordpress.DecompressionError, recordpress.InvalidArgumentError), match="'worse'"):
        use(registry(giving(value)))


@pytest.mark.parametrize(
    "kind", [bytes, bytearray, memoryview, lambda data: array.array("B", data), lambda data: memoryview(data).cast("c")]
)
def test_any_buffer_will_do(kind: Callable[[bytes], Any]) -> None:
    class Other(Codec):
        def compress(self, data: bytes) -> Any:
            return kind(zlib.compress(data))

        def decompress(self, data: bytes, max_output: int) -> Any:
            return kind(zlib.decompress(data))

    codecs = registry(Other())
    assert recordpress.read_columns(DATA, codecs=codecs)["value"].to_pylist() == LINES
    assert recordpress.write_records(LINES, compression_type="worse", batch_records=60, codecs=codecs) == DATA


@pytest.mark.parametrize("use", READERS.values(), ids=READERS)
def test_more_than_the_cap(use: Callable[..., Any]) -> None:
    big = bytes((64 << 20) + 1)
    with pytest.raises(recordpress.OutputTooLargeError):
        use(registry(giving(big)))


@pytest.mark.parametrize("use", WRITERS.values(), ids=WRITERS)
def test_more_than_any_codec_needs(use: Callable[..., Any]) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="at most"):
        use(registry(giving(bytes(1 << 20))))


class Growing(Codec):
    """Another size at each call for the same payload."""

    def __init__(self, sizes: Callable[[int], int]) -> None:
        self.calls, self.sizes = 0, sizes

    def decompress(self, data: bytes, max_output: int) -> Any:
        self.calls += 1
        return bytes(self.sizes(self.calls))


@pytest.mark.parametrize("sizes", [lambda n: 1 << (17 + n), lambda n: (1 << 20) // n, lambda n: (1 << 18) * (n % 2)])
@pytest.mark.parametrize("use", READERS.values(), ids=READERS)
def test_sizes_that_change(use: Callable[..., Any], sizes: Callable[[int], int]) -> None:
    codec = Growing(sizes)
    with contextlib.suppress(recordpress.RecordpressError):
        use(registry(codec))
    assert codec.calls < 100


def test_records_that_are_none() -> None:
    for value in (b"", b"\xff" * 100, bytes(1000), b"\x02" * 500):
        for name in ("objects", "columns", "threads"):
            with pytest.raises(recordpress.InvalidRecordError):
                READERS[name](registry(giving(value)))


class Nested(Codec):
    """Calls recordpress again, with itself too, from inside of its calls."""

    codecs: recordpress.CodecRegistry

    def __init__(self) -> None:
        self.depth = threading.local()

    def again(self) -> None:
        depth = getattr(self.depth, "value", 0)
        if depth < 3:
            self.depth.value = depth + 1
            data = recordpress.write_records([b"x"], compression_type="worse", codecs=self.codecs)
            assert recordpress.read_columns(data, codecs=self.codecs).num_rows == 1
            recordpress.recompress(data, "zstd", codecs=self.codecs)
            recordpress.release_unused()
            gc.collect(0)
            self.depth.value = depth

    def compress(self, data: bytes) -> Any:
        self.again()
        return super().compress(data)

    def decompress(self, data: bytes, max_output: int) -> Any:
        self.again()
        return super().decompress(data, max_output)


@pytest.mark.parametrize("thread_safe", [True, False])
def test_calls_from_inside_of_calls(thread_safe: bool) -> None:
    codec = Nested()
    codec.codecs = codecs = registry(codec, thread_safe=thread_safe)
    assert recordpress.write_records(LINES, compression_type="worse", batch_records=60, codecs=codecs) == DATA
    assert recordpress.read_columns(DATA, codecs=codecs)["value"].to_pylist() == LINES
    pieces = recordpress.iter_columns(io.BytesIO(DATA), ["value"], batch_bytes=100, threads=3, codecs=codecs)
    assert [value for piece in pieces for value in piece["value"].to_pylist()] == LINES


def test_a_codec_that_changes_its_registry() -> None:
    class Leaving(Codec):
        def decompress(self, data: bytes, max_output: int) -> Any:
            if "worse" in codecs:
                codecs.unregister("worse")
                codecs.register("other", Codec())
            gc.collect()
            return super().decompress(data, max_output)

    codecs = registry(Leaving())
    assert recordpress.read_columns(DATA, codecs=codecs)["value"].to_pylist() == LINES
    assert codecs.names == ("other",)


def test_a_registry_that_goes_away() -> None:
    """Batches, records and builders keep the codecs that they began with."""
    codecs = registry(Codec())
    [first, *_] = recordpress.read_batches(DATA, codecs=codecs)
    builder = recordpress.BatchBuilder(compression_type="worse", codecs=codecs)
    stream = recordpress.decompressor("worse", codecs=codecs)
    pieces = recordpress.iter_columns(io.BytesIO(DATA), batch_bytes=100, codecs=codecs)
    del codecs
    gc.collect()
    assert [record.value for record in first] == LINES[:60] and first.compression_type == "worse"
    assert builder.append(b"x") and builder.build()
    assert stream.decompress(zlib.compress(b"data")) + stream.flush() == b"data"
    assert sum(piece.num_rows for piece in pieces) == 300


def test_a_writable_result_that_its_codec_keeps() -> None:
    kept = bytearray(b"\x10\x00\x00\x00\x02k\x02v\x00")

    class Keeping(Codec):
        def decompress(self, data: bytes, max_output: int) -> Any:
            return kept

    data = recordpress.write_records([b"v"], [b"k"], compression_type="worse", codecs=registry(Codec()))
    columns = recordpress.read_columns(data, ["key"], codecs=registry(Keeping()))
    kept.clear()  # no view of it is left
    assert columns["key"].to_pylist() == [b"k"]
