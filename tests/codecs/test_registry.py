"""Plug-ins: which names there are, what a batch says, and that a name is a key of the registry and nothing else."""

from __future__ import annotations

import copy
import ctypes
import io
import pickle
import random
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recordpress
from patience import HANG
from recordpress.producer import BatchAccumulator, CompressionRatioEstimator, split
from together import together

# The bytes of KIP-984's layout, with the length of the name as one byte: header, 4, "demo", one record.
DEMO = bytes.fromhex(
    "00 00 00 00 00 00 00 00 00 00 00 3f ff ff ff ff 02 fd 58 76 c5 00 05 00 00 00 00 00 00 01 8b cf e5 68 00 00 00 01"
    "8b cf e5 68 00 ff ff ff ff ff ff ff ff ff ff ff ff ff ff 00 00 00 01 04 64 65 6d 6f 10 00 00 00 02 6b 02 76 00"
)
LONGEST = "org.example/" + "x" * 115
LINES = [b"GET /index.html HTTP/1.1 %d" % (number % 7) for number in range(400)]


class Identity:
    def compress(self, data: bytes) -> bytes:
        return data

    def decompress(self, data: bytes, max_output: int) -> bytes:
        return data


class Zlib:
    def compress(self, data: bytes) -> bytes:
        return zlib.compress(data)

    def decompress(self, data: bytes, max_output: int) -> bytes:
        return zlib.decompressobj().decompress(data, max_output + 1)


def registry(**codecs: Any) -> recordpress.CodecRegistry:
    found = recordpress.CodecRegistry()
    for name, codec in codecs.items():
        found.register(name, codec)
    return found


ZLIB = registry(zlib=Zlib(), demo=Identity())
ZLIB.register(LONGEST, Zlib())


def renamed(name: bytes, batch: bytes = DEMO) -> bytes:
    """The batch with these bytes where its plug-in's length and name are."""
    at = 62 + batch[61]
    return resized(batch[:61] + name + batch[at:])


def resized(batch: bytes) -> bytes:
    changed = bytearray(batch)
    changed[8:12] = (len(batch) - 12).to_bytes(4, "big")
    changed[17:21] = recordpress.crc32c(batch[21:]).to_bytes(4, "big")
    return bytes(changed)


READERS: dict[str, Callable[..., Any]] = {
    "iterate": lambda data, **codecs: [list(batch) for batch in recordpress.read_batches(data, **codecs)],
    "read_columns": lambda data, **codecs: recordpress.read_columns(data, **codecs),
    "iter_columns": lambda data, **codecs: list(recordpress.iter_columns(io.BytesIO(data), threads=2, **codecs)),
    "recompress": lambda data, **codecs: recordpress.recompress(data, "lz4", **codecs),
}


# ---- what is written


def test_the_bytes_are_those_of_the_kip() -> None:
    builder = recordpress.BatchBuilder(compression_type="demo", codecs=ZLIB)
    builder.append(b"v", b"k", timestamp=1700000000000)
    assert builder.build() == DEMO
    [batch] = recordpress.read_batches(DEMO, codecs=ZLIB)
    assert (batch.compression_type, batch.plugin_name, batch.attributes, batch.records_count) == ("demo", "demo", 5, 1)
    assert bytes(batch.payload) == DEMO[66:]
    assert [(record.key, record.value) for record in batch] == [(b"k", b"v")]


@pytest.mark.parametrize("name", ["zlib", LONGEST])
def test_every_way_to_write_and_read(name: str) -> None:
    data = recordpress.write_records(LINES, compression_type=name, batch_records=100, timestamps=5, codecs=ZLIB)
    assert data[61 : 62 + len(name)] == bytes([len(name)]) + name.encode()
    columns = recordpress.read_columns(data, codecs=ZLIB)
    assert columns["value"].to_pylist() == LINES
    assert recordpress.write_columns(columns, name, batch_records=100, codecs=ZLIB) == data
    builder = recordpress.BatchBuilder(compression_type=name, codecs=ZLIB)
    for line in LINES[:100]:
        assert builder.append(line, timestamp=5)
    assert builder.build() == next(recordpress.read_batches(data)).data
    plain = recordpress.recompress(data, "none", codecs=ZLIB)
    assert recordpress.recompress(plain, name, codecs=ZLIB) == data
    assert recordpress.recompress(data, name, codecs=ZLIB) == data
    other = recordpress.recompress(data, "demo", codecs=ZLIB)
    assert {batch.plugin_name for batch in recordpress.read_batches(other)} == {"demo"}
    assert recordpress.recompress(other, name, codecs=ZLIB) == data
    payload = recordpress.compress(b"line" * 99, name, codecs=ZLIB)
    assert payload == zlib.compress(b"line" * 99)
    assert recordpress.decompress(payload, name, codecs=ZLIB) == b"line" * 99


def test_neither_bytes_nor_a_result_of_bytes_are_copied() -> None:
    """And a result that is much larger than its input takes one call."""

    class Grows(Identity):
        calls = 0

        def decompress(self, data: bytes, max_output: int) -> bytes | memoryview:  # type: ignore[override]
            self.calls += 1
            return large if data is small else memoryview(huge) if data == b"huge" else data

    small, large, codec = b"".join(LINES), bytes(1 << 20), Grows()
    codecs = registry(grows=codec)
    assert recordpress.compress(small, "grows", codecs=codecs) is small
    assert recordpress.decompress(small, "grows", codecs=codecs) is large and codec.calls == 1
    with pytest.raises(recordpress.OutputTooLargeError):
        recordpress.decompress(small, "grows", len(large) - 1, codecs=codecs)
    byte = ctypes.c_char()
    huge = (ctypes.c_char * (1 << 46)).from_address(ctypes.addressof(byte))  # its copy would need more than there is
    with pytest.raises(recordpress.OutputTooLargeError):
        recordpress.decompress(b"huge", "grows", codecs=codecs)
    for data in (bytearray(small), memoryview(small)):
        assert (
            recordpress.decompress(recordpress.compress(data, "grows", codecs=codecs), "grows", codecs=codecs) == small
        )


def test_a_limit_counts_the_name() -> None:
    for name in ("zlib", LONGEST):
        builder = recordpress.BatchBuilder(compression_type=name, limit=2000, codecs=ZLIB)
        taken = 0
        while builder.append(random.Random(taken).randbytes(40)):
            taken += 1
        assert 1900 < len(builder.build()) <= 2000


def test_batches_as_a_table_says() -> None:
    data = b"".join(
        recordpress.write_records([b"line"] * 9, base_offset=at, compression_type=name, codecs=ZLIB)
        for at, name in ((0, "zlib"), (9, "none"), (18, "demo"), (27, "lz4"))
    )
    table = recordpress.batch_table(data, codecs=ZLIB)
    assert table["compressionType"].to_pylist() == ["zlib", "none", "demo", "lz4"]
    assert recordpress.write_columns(recordpress.read_columns(data, codecs=ZLIB), batches=table, codecs=ZLIB) == data
    with pytest.raises(recordpress.InvalidArgumentError, match="pluggable"):
        recordpress.write_columns(recordpress.read_columns(data, codecs=ZLIB), batches=table)
    long = recordpress.write_records([b"line"], compression_type=LONGEST, codecs=ZLIB)
    assert recordpress.batch_table(long, codecs=ZLIB)["compressionType"].to_pylist() == ["pluggable"]


@pytest.mark.parametrize("magic", [0, 1])
def test_only_magic_2_has_it(magic: int) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="only magic 2"):
        recordpress.write_records([b"x"], magic=magic, compression_type="zlib", codecs=ZLIB)
    wrapper = bytearray(recordpress.write_records([b"x"], magic=magic, compression_type="gzip"))
    wrapper[17] = 5
    wrapper[12:16] = recordpress.crc32(wrapper[16:]).to_bytes(4, "big")
    for codecs in (ZLIB, None):
        with pytest.raises(recordpress.InvalidRecordError, match="cannot use compression type id 5"):
            list(next(recordpress.read_batches(bytes(wrapper), codecs=codecs)))


# ---- names


@pytest.mark.parametrize("name", ["a", "A.b_c$D:e/f-0", "../../etc/passwd", "__import__", "os.system", LONGEST])
def test_names_that_can_be_registered(name: str) -> None:
    codecs = recordpress.CodecRegistry()
    codecs.register(name, Identity())
    assert codecs.names == (name,) and name in codecs and len(codecs) == 1
    data = recordpress.write_records([b"x"], compression_type=name, codecs=codecs)
    assert [batch.plugin_name for batch in recordpress.read_batches(data)] == [name]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("", "1 to 127"), ("x" * 128, "1 to 127"), ("two words", "1 to 127"), ("caf\u00e9", "1 to 127"),
        ("a\0", "1 to 127"), ("a\n", "1 to 127"), ("\ud800", "1 to 127"), ("none", "compression.type"),
        ("zstd", "compression.type"), ("GZIP", "compression.type"), ("pluggable", "compression.type"),
        ("producer", "compression.type"), ("Uncompressed", "compression.type"), ("demo", "already registered"),
    ],
)  # fmt: skip
def test_names_that_cannot(name: str, error: str) -> None:
    codecs = registry(demo=Identity())
    with pytest.raises(recordpress.InvalidArgumentError, match=error):
        codecs.register(name, Identity())
    assert codecs.names == ("demo",)


class Str(str):
    """What could lie about itself."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError

    def __hash__(self) -> int:
        raise ZeroDivisionError


def test_a_name_is_taken_as_its_text() -> None:
    codecs = recordpress.CodecRegistry()
    codecs.register(Str("demo"), Identity())
    assert type(codecs.names[0]) is str and Str("demo") in codecs
    codecs.unregister(Str("demo"))
    assert codecs.names == ()
    for wrong in (b"demo", None, 5):
        with pytest.raises(recordpress.ArgumentTypeError):
            codecs.register(wrong, Identity())  # type: ignore[arg-type]


HOSTILE = {
    "a path": b"../../../../etc/passwd",
    "a dunder": b"__import__",
    "a module": b"os",
    "a call": b"os.system",
    "a URL": b"http://127.0.0.1/x",
    "127 bytes": b"x" * 127,
    "a codec of Kafka's": b"zstd",
    "upper case": b"DEMO",
}


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_an_unknown_name_is_unsupported_and_told(name: bytes, read: Callable[..., Any]) -> None:
    data = renamed(bytes([len(name)]) + name)
    before = set(sys.modules)
    for codecs in ({}, {"codecs": recordpress.CodecRegistry()}, {"codecs": ZLIB}):
        with pytest.raises(recordpress.UnsupportedCompressionTypeError, match=repr(name.decode())) as caught:
            read(data, **codecs)
        assert (caught.value.code, caught.value.field_position, caught.value.offset) == (76, 62, 0)
    [batch] = recordpress.read_batches(data)
    assert (batch.plugin_name, batch.compression_type, batch.records_count, batch.is_valid()) == (
        name.decode(), "pluggable", 1, True,
    )  # fmt: skip
    assert set(sys.modules) == before


CORRUPT = {
    "no length": b"",
    "length 0": b"\0",
    "a negative length": b"\x80demo",
    "length -1": b"\xffdemo",
    "a length beyond the batch": b"\x7fdemo",
    "invalid UTF-8": b"\x04d\xc3\x28o",
    "valid UTF-8": b"\x05caf\xc3\xa9",
    "a zero": b"\x05demo\0",
    "a blank": b"\x05de mo",
    "a backslash": b"\x05de\\mo",
}


@together("name", CORRUPT.values())
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_name_that_is_none_is_corrupt(name: bytes, read: Callable[..., Any]) -> None:
    data = resized(DEMO[:61] + name)
    with pytest.raises(recordpress.CorruptRecordError, match="name") as caught:
        read(data, codecs=ZLIB)
    assert caught.value.rule == "KIP-984" and caught.value.field_position in range(61, 68)
    with pytest.raises(recordpress.UnsupportedCompressionTypeError, match="5"):  # as Kafka, which knows no names
        read(data)
    for codecs in ({}, {"codecs": ZLIB}):
        [batch] = recordpress.read_batches(data, **codecs)  # type: ignore[call-overload]
        assert (batch.compression_type, batch.records_count, batch.is_valid()) == ("pluggable", 1, True)
        for value in ("plugin_name", "payload"):
            with pytest.raises(recordpress.CorruptRecordError):
                getattr(batch, value)


def test_an_error_tells_how_long_a_name_may_be() -> None:
    data = resized(DEMO[:61] + CORRUPT["a length beyond the batch"])
    with pytest.raises(recordpress.CorruptRecordError, match="length 127 is not between 1 and 4 "):
        recordpress.read_columns(data, codecs=ZLIB)


def test_headers_are_read_without_the_codec() -> None:
    data = recordpress.write_records(LINES, compression_type="zlib", batch_records=150, base_offset=7, codecs=ZLIB)
    table = recordpress.batch_table(data)
    assert table["recordsCount"].to_pylist() == [150, 150, 100] and table["baseOffset"].to_pylist() == [7, 157, 307]
    batches = list(recordpress.read_batches(data))
    assert [len(batch) for batch in batches] == [150, 150, 100] and all(batch.is_valid() for batch in batches)
    batches = list(recordpress.read_batches(bytearray(data)))
    batches[0].set_last_offset(1149)
    assert (batches[0].base_offset, batches[0].is_valid()) == (1000, True)


def test_a_batch_without_records() -> None:
    """It has a name, too; nothing is decompressed."""
    data = bytearray(DEMO[:66])
    data[57:61] = bytes(4)
    for name in (b"\x04demo", b"\x05other"):
        empty = renamed(name, resized(bytes(data)))
        for read in READERS.values():
            read(empty, codecs=ZLIB)
        assert recordpress.recompress(empty, "zstd", codecs=ZLIB) == empty


def test_a_cut_name_in_a_stream() -> None:
    """The end of an entry that is not there is not looked at."""
    data = renamed(b"\x7f" + b"x" * 127)
    for size in range(62, len(data)):
        assert recordpress.read_columns(data[:size], codecs=ZLIB).trailing_bytes == size
        pieces = recordpress.iter_columns(io.BytesIO(data[:size]), codecs=ZLIB)
        assert [piece.num_rows for piece in pieces] in ([], [0])


# ---- the registry


def test_replace_and_unregister() -> None:
    codecs = registry(demo=Identity())
    data = recordpress.write_records(LINES, compression_type="demo", codecs=codecs)
    reading = recordpress.read_batches(data, codecs=codecs)
    codecs.register("demo", Zlib(), replace=True)
    assert [record.value for record in next(reading)] == LINES  # what it began with
    with pytest.raises(recordpress.DecompressionError, match="'demo'"):
        READERS["iterate"](data, codecs=codecs)
    codecs.unregister("demo")
    with pytest.raises(recordpress.UnsupportedCompressionTypeError):
        READERS["iterate"](data, codecs=codecs)
    for name in ("demo", "zstd", None, 5):
        with pytest.raises(recordpress.InvalidArgumentError, match="is not registered"):
            codecs.unregister(name)  # type: ignore[arg-type]
    assert repr(codecs) == "<recordpress.CodecRegistry: empty>"


@pytest.mark.parametrize("copied", [lambda one: pickle.loads(pickle.dumps(one)), copy.copy, copy.deepcopy])
def test_a_registry_goes_to_other_processes(copied: Callable[[Any], Any]) -> None:
    codecs = registry(demo=Zlib())
    codecs.load(f"{__name__}:Identity", "loaded")
    again = copied(codecs)
    assert type(again) is recordpress.CodecRegistry and again.names == codecs.names
    data = recordpress.write_records(LINES, compression_type="demo", codecs=codecs)
    assert recordpress.read_columns(data, ["value"], codecs=again)["value"].to_pylist() == LINES
    again.unregister("demo")
    assert "demo" in codecs


def test_a_loaded_codec_is_imported_where_it_arrives(module: str) -> None:
    codecs = recordpress.CodecRegistry()
    codecs.load(f"{module}:Named")
    sent = pickle.dumps(codecs)
    assert b"a_module_with_codecs:Named" in sent
    del sys.modules[module]
    assert pickle.loads(sent).names == ("com.example.Named",) and module in sys.modules


def test_whether_calls_may_overlap_is_sent_too() -> None:
    codecs = recordpress.CodecRegistry()
    codec = Alone()
    codecs.register("alone", codec, thread_safe=False)
    assert codecs.__reduce__()[1] == ([("register", ("alone", codec), {"thread_safe": False})],)


def test_a_registry_holds_56() -> None:
    codecs = recordpress.CodecRegistry()
    names = [f"codec-{number}" for number in range(56)]
    for name in names:
        codecs.register(name, Zlib())
    with pytest.raises(recordpress.InvalidArgumentError, match="at most 56"):
        codecs.register("one-more", Zlib())
    codecs.register(names[0], Zlib(), replace=True)
    data = b"".join(
        recordpress.write_records([name.encode()], base_offset=at, compression_type=name, codecs=codecs)
        for at, name in enumerate(names)
    )
    assert recordpress.read_columns(data, ["value"], codecs=codecs)["value"].to_pylist() == [
        name.encode() for name in names
    ]
    assert recordpress.batch_table(data, codecs=codecs)["compressionType"].to_pylist() == names


class Half:
    def compress(self, data: bytes) -> bytes:
        return data


@pytest.mark.parametrize("codec", [None, object(), Half(), Identity, "zlib:compress"])
def test_what_is_no_codec(codec: Any) -> None:
    with pytest.raises(recordpress.ArgumentTypeError, match="a codec must be an object"):
        recordpress.CodecRegistry().register("demo", codec)


@pytest.mark.parametrize(
    ("attribute", "value", "error"),
    [
        ("levels", 3, recordpress.ArgumentTypeError),
        ("levels", (3, 1, 2), recordpress.InvalidArgumentError),
        ("levels", (1, 3, 2.0), recordpress.ArgumentTypeError),
        ("joins", 1, recordpress.ArgumentTypeError),
        ("thread_safe", "no", recordpress.ArgumentTypeError),
    ],
)
def test_attributes_are_checked(attribute: str, value: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        recordpress.CodecRegistry().register("demo", type("Wrong", (Identity,), {attribute: value})())


def test_codecs_takes_a_registry() -> None:
    for wrong in (Identity(), {"demo": Identity()}, recordpress.CodecRegistry, "demo"):
        with pytest.raises(recordpress.ArgumentTypeError, match=r"codecs must be a recordpress\.CodecRegistry"):
            recordpress.compress(b"", "none", codecs=wrong)  # type: ignore[call-overload]


# ---- loading


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name = "a_module_with_codecs"
    (tmp_path / f"{name}.py").write_text("""
class Codec:
    def compress(self, data): return data
    def decompress(self, data, max_output): return data
class Named(Codec):
    name = "com.example.Named"
class Fails:
    def __init__(self): raise ZeroDivisionError("by hand")
codec = Codec()
def factory(): return Named()
number = 3
""")
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)


def test_a_codec_is_loaded_by_its_users_word(module: str) -> None:
    codecs = recordpress.CodecRegistry()
    assert codecs.load(f"{module}:codec") == "codec"
    assert codecs.load(f"{module}:Named") == "com.example.Named"
    assert codecs.load(f"{module}:factory", "made") == "made"
    assert codecs.names == ("codec", "com.example.Named", "made")
    assert recordpress.read_columns(DEMO.replace(b"", b""), codecs=registry(demo=Identity())).num_rows == 1


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("", "form"), ("json", "form"), ("json:", "form"), (":dumps", "form"), ("a b:c", "form"), ("../x:y", "form"),
        ("/tmp/x.py:y", "form"), ("json.:x", "form"), ("json:JSONEncoder()", "form"),
        ("no.such.module:x", "ModuleNotFoundError"), ("json:nothing", "AttributeError"),
        ("a_module_with_codecs:Fails", "ZeroDivisionError: by hand"),
    ],
)  # fmt: skip
def test_what_cannot_be_loaded(path: str, error: str, module: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=error):
        recordpress.CodecRegistry().load(path)
    for wrong in (None, b"json:dumps", 5):
        with pytest.raises(recordpress.ArgumentTypeError):
            recordpress.CodecRegistry().load(wrong)  # type: ignore[arg-type]
    with pytest.raises(recordpress.ArgumentTypeError, match="a codec must be"):
        recordpress.CodecRegistry().load(f"{module}:number")


# ---- producers


def test_each_name_has_an_estimate_of_its_own() -> None:
    estimator = CompressionRatioEstimator(ZLIB)
    assert estimator.update_estimation("logs", "zlib", 0.5) == pytest.approx(0.995)
    assert estimator.estimation("logs", "demo") == 1.0
    estimator.set_estimation("logs", LONGEST, 0.25)
    assert [estimator.estimation("logs", name) for name in ("zstd", "demo", LONGEST)] == [1.0, 1.0, 0.25]
    assert estimator.estimation("other", LONGEST) == 1.0
    estimator.reset_estimation("logs")
    assert estimator.estimation("logs", "zlib") == 1.0
    for name in ("pluggable", "unknown"):
        with pytest.raises(recordpress.InvalidArgumentError):
            estimator.estimation("logs", name)
    with pytest.raises(recordpress.InvalidArgumentError):
        CompressionRatioEstimator().estimation("logs", "zlib")


def test_an_estimate_outlives_changes_of_the_registry() -> None:
    codecs = registry(one=Zlib(), two=Zlib())
    estimator = CompressionRatioEstimator(codecs)
    estimator.set_estimation("logs", "two", 0.25)
    codecs.unregister("one")
    codecs.register("three", Zlib())
    assert [estimator.estimation("logs", name) for name in ("two", "three")] == [0.25, 1.0]


@pytest.mark.parametrize("name", ["zlib", LONGEST])
def test_a_producer_fills_and_splits(name: str) -> None:
    accumulator = BatchAccumulator(batch_size=1000, compression_type=name, codecs=ZLIB)
    accumulator.estimator.set_estimation("", name, 0.1)
    log = recordpress.broker.PartitionLog(broker_version="4.3", topic_config={"max.message.bytes": 1100}, codecs=ZLIB)
    sent = [random.Random(number).randbytes(90) for number in range(60)]
    stored: list[bytes] = []

    def send(batch: Any) -> Any:
        verdict = log.append(batch.records)
        if verdict.accepted:
            [one] = recordpress.read_batches(verdict.records, codecs=ZLIB)
            assert one.plugin_name == name
            assert batch.compression_ratio == pytest.approx(len(one.payload) / batch.uncompressed_size)
            stored.extend(record.value or b"" for record in one)
        return verdict

    placed: list[Any] = []
    for number, value in enumerate(sent):
        accumulator.append(value, timestamp=number, callback=lambda at, error: placed.append(at))
    accumulator.run(send, flush=True)
    assert stored == sent
    assert [(at.offset, at.timestamp) for at in placed] == [(number, number) for number in range(len(sent))]
    assert accumulator.metrics()["batch-split-total"] > 0
    parts = split(recordpress.write_records(sent, compression_type=name, codecs=ZLIB), 1000, codecs=ZLIB)
    assert len(parts) > 5
    assert [r.value for part in parts for b in recordpress.read_batches(part, codecs=ZLIB) for r in b] == sent
    with pytest.raises(recordpress.UnsupportedCompressionTypeError):
        split(recordpress.write_records(sent, compression_type=name, codecs=ZLIB), 1000)


# ---- threads


class Alone(Identity):
    """Notes whether two calls ever overlap."""

    thread_safe = False

    def __init__(self) -> None:
        self.inside = self.most = 0

    def compress(self, data: bytes) -> bytes:
        self.inside += 1
        self.most = max(self.most, self.inside)
        threading.Event().wait(0.002)
        self.inside -= 1
        return data

    def decompress(self, data: bytes, max_output: int) -> bytes:
        return self.compress(data)


@pytest.mark.parametrize("declared", [None, False])
def test_a_codec_that_is_not_thread_safe_is_called_by_one_thread_at_a_time(declared: bool | None) -> None:
    codec = Alone()
    codecs = recordpress.CodecRegistry()
    codecs.register("alone", codec, thread_safe=declared)
    data = recordpress.write_records(LINES, compression_type="alone", batch_records=20, codecs=codecs)
    for _ in recordpress.iter_columns(io.BytesIO(data), batch_bytes=600, threads=4, codecs=codecs):
        pass
    threads = [
        threading.Thread(target=recordpress.compress, args=(b"x", "alone"), kwargs={"codecs": codecs}) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codec.most == 1


def test_one_that_is_thread_safe_is_called_by_several() -> None:
    codec = Alone()
    codecs = recordpress.CodecRegistry()
    codecs.register("alone", codec, thread_safe=True)
    both = threading.Barrier(2, timeout=HANG)
    codec.compress = lambda data: (both.wait(), data)[1]  # type: ignore[method-assign,assignment]
    codecs.register("both", codec, thread_safe=True)
    threads = [
        threading.Thread(target=recordpress.compress, args=(b"x", "both"), kwargs={"codecs": codecs}) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not both.broken


def test_the_page_runs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "codec-plugins.md").read_text(encoding="utf-8")
    scope: dict[str, Any] = {}
    exec(page.split("```python\n")[1].split("```")[0], scope)
    assert scope["columns"]["value"].to_pylist() == [b"a line"] * 1000
    assert recordpress.decompress(scope["bz2"].compress(bytes(999)), "com.example.bzip2", 999, codecs=scope["codecs"])
    with pytest.raises(recordpress.RecordpressError):
        recordpress.decompress(scope["bz2"].compress(bytes(999)), "com.example.bzip2", 998, codecs=scope["codecs"])
