"""A codec is a row of one table: no other file names one, and a codec of one's own goes through the same door."""

import io
import re
from pathlib import Path
from typing import Any, get_args

import pytest

import recordpress
from other_thread import MOST_TRIES, another_thread
from recordpress.codecs.table import CodecTable
from recordpress.typing import CompressionType

ROOMS = Path(recordpress.__file__).parent
OWN = {"_gzip.pyx", "_snappy.pyx", "_lz4.pyx", "_zstd.pyx", "choice.py", "table.pxd", "table.pyx"}
OPTION = r"lz4_header_(?:checksum|errors?)\b"  # as callers name it
NAMES = re.compile(rf"gzip|snappy|(?!{OPTION})lz4|zstd|xerial", re.IGNORECASE)
RECORDS = [b"record %d" % i for i in range(300)]


def code(path: Path) -> list[str]:
    """The lines of a file without comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r'"""(?:.|\n)*?"""', "", text)
    return [line.split("#")[0] for line in text.splitlines()]


@pytest.mark.parametrize("room", ["codecs", "record", "columns"])
def test_no_file_but_its_own_names_a_codec(room: str) -> None:
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted((ROOMS / room).glob("*.p*"))
        if path.suffix in (".pyx", ".pxd", ".py") and path.name not in OWN and path.name != "__init__.py"
        for line in code(path)
        if NAMES.search(line) and not path.stem.startswith(("_gzip", "_snappy", "_lz4", "_zstd"))
    ]
    assert found == []


def test_the_table_and_its_type_list_the_codecs() -> None:
    """But for Parquet's codecs, those of brokers before 0.11, and the marks of each codec's clients."""
    assert get_args(CompressionType) == tuple(CodecTable().ids)
    exempt = {"typing.py", "spark/_parquet.py", "broker/_old_streams.py", "broker/_client.py"}
    one = "[\"'](?:gzip|snappy|lz4|zstd)[\"']"
    found = [
        f"{path.relative_to(ROOMS)}: {line.strip()}"
        for path in sorted(ROOMS.rglob("*.p*"))
        if path.suffix in (".py", ".pyx", ".pxd") and str(path.relative_to(ROOMS)) not in exempt
        for line in code(path)
        if re.search(f"{one}.*{one}", line)
    ]
    assert found == []


class Toy:
    """Every bit turned, after a mark."""

    def compress(self, data: bytes) -> bytes:
        return b"toy:" + data.translate(TURNED)

    def decompress(self, data: bytes, max_output: int) -> bytes:
        if data[:4] != b"toy:":
            raise ValueError("no mark")
        return data[4:].translate(TURNED)


TURNED = bytes(255 - i for i in range(256))


def registry(name: str, codec: object, **options: object) -> recordpress.CodecRegistry:
    codecs = recordpress.CodecRegistry()
    codecs.register(name, codec, **options)  # type: ignore[arg-type]
    return codecs


TOY = registry("toy", Toy())


def toy_set() -> bytes:
    return recordpress.write_records(RECORDS, compression_type="toy", batch_records=100, codecs=TOY)


def test_a_sixth_codec_compresses_and_decompresses() -> None:
    payload = recordpress.compress(b"data", "toy", codecs=TOY)
    assert payload == Toy().compress(b"data")
    assert recordpress.decompress(payload, "toy", codecs=TOY) == b"data"
    room = bytearray(recordpress.compress_bound(4, "toy", codecs=TOY))
    size = recordpress.compress_into(b"data", room, "toy", codecs=TOY)
    assert bytes(room[:size]) == payload
    assert recordpress.decompress_into(payload, room, "toy", codecs=TOY) == 4 and room[:4] == b"data"
    packer, unpacker = recordpress.compressor("toy", codecs=TOY), recordpress.decompressor("toy", codecs=TOY)
    assert packer.compress(b"da") + packer.compress(b"ta") + packer.flush() == payload
    assert unpacker.decompress(payload[:3]) + unpacker.decompress(payload[3:]) + unpacker.flush() == b"data"
    for size in (0, 1, 70_000, 3_000_000):
        data = bytes(size)
        assert recordpress.decompress(recordpress.compress(data, "toy", codecs=TOY), "toy", codecs=TOY) == data


def test_a_sixth_codec_is_written_and_read() -> None:
    data = toy_set()
    batches = list(recordpress.read_batches(data, codecs=TOY))
    assert [batch.compression_type for batch in batches] == ["toy"] * 3
    assert [record.value for batch in batches for record in batch] == RECORDS
    assert recordpress.read_columns(data, ["value"], codecs=TOY)["value"].to_pylist() == RECORDS
    for threads in (1, 3):
        pieces = recordpress.iter_columns(io.BytesIO(data), ["value"], batch_bytes=1500, threads=threads, codecs=TOY)
        assert [value for piece in pieces for value in piece["value"].to_pylist()] == RECORDS
    assert set(recordpress.batch_table(data, codecs=TOY).to_numpy()["compressionType"].tolist()) == {b"toy"}
    columns = recordpress.read_columns(data, ["offset", "value"], codecs=TOY)
    written = recordpress.write_columns(columns, compression_type="toy", codecs=TOY)
    assert recordpress.read_columns(written, ["value"], codecs=TOY)["value"].to_pylist() == RECORDS


def test_a_sixth_codec_is_built_within_a_limit() -> None:
    builder = recordpress.BatchBuilder(compression_type="toy", limit=3000, codecs=TOY)
    taken = 0
    while builder.append(RECORDS[taken]):
        taken += 1
    data = builder.build()
    assert 2980 < len(data) <= 3000
    [batch] = recordpress.read_batches(data, codecs=TOY)
    assert batch.is_valid() and [record.value for record in batch] == RECORDS[:taken]


def test_a_sixth_codec_is_recompressed() -> None:
    data = toy_set()
    plain = recordpress.recompress(data, "lz4", codecs=TOY)
    assert [record.value for batch in recordpress.read_batches(plain) for record in batch] == RECORDS
    assert recordpress.recompress(plain, "toy", codecs=TOY) == data


def test_without_the_table_its_bytes_are_unsupported() -> None:
    data = toy_set()
    assert {batch.compression_type for batch in recordpress.read_batches(data)} == {"pluggable"}
    assert {batch.plugin_name for batch in recordpress.read_batches(data)} == {"toy"}
    assert set(recordpress.batch_table(data).to_numpy()["compressionType"].tolist()) == {b"pluggable"}
    for read in (
        lambda: [list(batch) for batch in recordpress.read_batches(data)],
        lambda: recordpress.read_columns(data),
        lambda: list(recordpress.iter_columns(data)),
        lambda: recordpress.recompress(data, "none"),
    ):
        with pytest.raises(recordpress.UnsupportedCompressionTypeError, match="'toy'") as caught:
            read()
        assert (caught.value.code, caught.value.field_position, caught.value.field) == (76, 62, "pluginClassName")
    with pytest.raises(recordpress.InvalidArgumentError, match="compression_type must be"):
        recordpress.compress(b"", "toy")  # type: ignore[call-overload]


def test_only_record_batches_may_use_it() -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="only magic 2"):
        recordpress.write_records([b"x"], compression_type="toy", magic=1, codecs=TOY)
    with pytest.raises(recordpress.UnsupportedCompressionTypeError, match="magic 2"):
        recordpress.recompress(recordpress.write_records([b"x"], magic=1, compression_type="gzip"), "toy", codecs=TOY)


class Failing(Toy):
    error: BaseException

    def compress(self, data: bytes) -> bytes:
        raise self.error

    def decompress(self, data: bytes, max_output: int) -> bytes:
        raise self.error


def test_a_stream_ends_in_what_a_sixth_codec_raises() -> None:
    stream = recordpress.decompressor("toy", codecs=TOY)
    stream.decompress(b"something else")
    with pytest.raises(recordpress.DecompressionError, match="ValueError: no mark"):
        stream.flush()


def test_what_it_raises_is_the_cause() -> None:
    codec = Failing()
    codecs = registry("toy", codec)
    codec.error = ZeroDivisionError("by hand")
    data = toy_set()
    for read in (
        lambda: recordpress.decompress(b"", "toy", codecs=codecs),
        lambda: recordpress.read_columns(data, codecs=codecs),
        lambda: [list(batch) for batch in recordpress.read_batches(data, codecs=codecs)],
    ):
        with pytest.raises(recordpress.DecompressionError, match="'toy': ZeroDivisionError: by hand") as caught:
            read()
        assert caught.value.__cause__ is codec.error
    with pytest.raises(recordpress.InvalidArgumentError, match="by hand"):
        recordpress.write_records([b"x"], compression_type="toy", codecs=codecs)
    codec.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        recordpress.decompress(b"", "toy", codecs=codecs)
    codec.error = MemoryError()
    with pytest.raises(MemoryError):
        recordpress.compress(b"", "toy", codecs=codecs)


class Giving(Toy):
    given: object = b""

    def compress(self, data: bytes) -> bytes:
        return self.given  # type: ignore[return-value]

    def decompress(self, data: bytes, max_output: int) -> bytes:
        return self.given  # type: ignore[return-value]


def test_what_it_gives_is_measured() -> None:
    codec = Giving()
    codecs = registry("toy", codec)
    codec.given = bytes(101)
    with pytest.raises(recordpress.OutputTooLargeError):
        recordpress.decompress(b"", "toy", 100, codecs=codecs)
    with pytest.raises(recordpress.OutputTooLargeError):
        recordpress.decompressor("toy", 100, codecs=codecs).flush()
    with pytest.raises(recordpress.OutputTooLargeError):
        recordpress.read_columns(toy_set(), max_decompressed_bytes=100, codecs=codecs)
    assert recordpress.decompress(b"", "toy", 101, codecs=codecs) == codec.given
    codec.given = bytes(1025)
    with pytest.raises(recordpress.InvalidArgumentError, match="returned 1025 bytes; at most 1024"):
        recordpress.compress(b"", "toy", codecs=codecs)
    codec.given = "text"
    with pytest.raises(recordpress.DecompressionError, match="bytes-like"):
        recordpress.decompress(b"", "toy", codecs=codecs)


class Levelled:
    levels, joins = (1, 3, 2), True

    def compress(self, data: bytes, level: int) -> bytes:
        return bytes([level]) + data[::-1]

    def decompress(self, data: bytes, max_output: int) -> bytes:
        return data[:0:-1]


def test_levels_of_its_own() -> None:
    codecs = registry("toy", Toy())
    codecs.register("levelled", Levelled())
    assert recordpress.compress(b"abc", "levelled", codecs=codecs) == b"\x02cba"
    assert recordpress.compress(b"abc", "levelled", 3, codecs=codecs) == b"\x03cba"
    with pytest.raises(recordpress.InvalidArgumentError, match="between 1 and 3, not 4"):
        recordpress.compress(b"abc", "levelled", 4, codecs=codecs)
    with pytest.raises(recordpress.InvalidArgumentError, match="toy has no levels"):
        recordpress.compress(b"abc", "toy", 1, codecs=codecs)


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_another_thread_goes_on_during_a_call(codec: Any) -> None:
    data = bytes(range(256)) * 40_000
    payload = recordpress.compress(data, codec)
    with another_thread() as goes_on:
        assert goes_on(lambda: recordpress.compress(data, codec))
        assert goes_on(lambda: recordpress.decompress(payload, codec))


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_another_thread_goes_on_while_a_stream_is_fed(codec: Any) -> None:
    data = bytes(range(256)) * 40_000
    payload = recordpress.compress(data, codec)
    compressors = [recordpress.compressor(codec) for _ in range(MOST_TRIES)]
    decompressors = [recordpress.decompressor(codec) for _ in range(MOST_TRIES)]
    with another_thread() as goes_on:
        assert goes_on(lambda: compressors.pop().compress(data))
        assert goes_on(lambda: decompressors.pop().decompress(payload))
