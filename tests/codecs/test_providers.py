"""Providers: other implementations of Kafka's codecs, which are used only where they are named."""

from __future__ import annotations

import gzip
import importlib.util
import pickle
import random
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from samples import text

import recordpress

LINES = [b"GET /index.html HTTP/1.1 %d" % (number % 50) for number in range(2000)]
EXAMPLE = Path(__file__).parents[2] / "examples" / "gzip_isal.py"


class Zlib:
    """gzip by Python's zlib; counts its calls."""

    name = "gzip:zlib"
    levels = (1, 9, 6)

    def __init__(self) -> None:
        self.written = self.read = 0

    def compress(self, data: bytes, level: int) -> bytes:
        self.written += 1
        return gzip.compress(data, level, mtime=0)

    def decompress(self, data: bytes, max_output: int) -> bytes:
        self.read += 1
        return gzip.decompress(data)


@pytest.fixture
def provider() -> Zlib:
    return Zlib()


@pytest.fixture
def codecs(provider: Zlib) -> recordpress.CodecRegistry:
    found = recordpress.CodecRegistry()
    found.register(provider.name, provider)
    provider.written = provider.read = 0
    return found


def values(data: bytes, **codecs: Any) -> list[Any]:
    return recordpress.read_columns(data, ["value"], **codecs)["value"].to_pylist()


def test_its_batches_are_kafkas(codecs: recordpress.CodecRegistry, provider: Zlib) -> None:
    data = recordpress.write_records(LINES, compression_type="gzip:zlib", batch_records=500, codecs=codecs)
    assert provider.written == 4
    assert [batch.compression_type for batch in recordpress.read_batches(data)] == ["gzip"] * 4
    assert values(data) == LINES


def test_registration_changes_nothing(codecs: recordpress.CodecRegistry, provider: Zlib) -> None:
    data = recordpress.write_records(LINES, compression_type="gzip")
    assert recordpress.write_records(LINES, compression_type="gzip", codecs=codecs) == data
    assert values(data, codecs=codecs) == LINES
    assert provider.written == provider.read == 0


def test_reading_is_chosen_per_codec(codecs: recordpress.CodecRegistry, provider: Zlib) -> None:
    codecs.read_with("gzip:zlib")
    for codec in ("gzip", "zstd"):
        before = provider.read
        data = recordpress.write_records(LINES, compression_type=codec)  # type: ignore[arg-type]
        assert values(data, codecs=codecs) == LINES
        assert [record.value for batch in recordpress.read_batches(data, codecs=codecs) for record in batch] == LINES
        assert provider.read >= 2 if codec == "gzip" else provider.read == before
    assert values(data, codecs=codecs, lz4_header_checksum="ignore") == LINES
    codecs.read_with("gzip")
    assert values(recordpress.write_records(LINES, compression_type="gzip"), codecs=codecs) == LINES
    assert provider.read == before


def test_the_choice_is_kept(codecs: recordpress.CodecRegistry) -> None:
    """In another process, and where a checksum of LZ4 is overlooked; it ends with the registration."""
    codecs.read_with("gzip:zlib")
    damaged = bytearray(recordpress.write_records(LINES, compression_type="gzip"))
    damaged[-9:] = bytes(9)
    for again in (codecs, pickle.loads(pickle.dumps(codecs))):
        with pytest.raises(recordpress.DecompressionError, match="gzip:zlib"):
            values(bytes(damaged), check_crcs=False, lz4_header_checksum="ignore", codecs=again)
        again.unregister("gzip:zlib")
        with pytest.raises(recordpress.DecompressionError, match=r"^(?!.*gzip:zlib)"):
            values(bytes(damaged), check_crcs=False, codecs=again)


def test_old_messages_are_read_with_kafkas(codecs: recordpress.CodecRegistry, provider: Zlib) -> None:
    codecs.read_with("gzip:zlib")
    data = recordpress.write_records(LINES, compression_type="gzip", magic=1)
    assert values(data, codecs=codecs) == LINES and provider.read == 0
    with pytest.raises(recordpress.InvalidArgumentError, match="gzip:zlib"):
        recordpress.write_records(LINES, compression_type="gzip:zlib", magic=1, codecs=codecs)


def test_a_plug_ins_name_is_not_taken_for_it(codecs: recordpress.CodecRegistry) -> None:
    """A provider has no bytes before its payload, and all names begin with none."""
    codecs.register("own", Zlib())
    data = recordpress.write_records(LINES, compression_type="own", codecs=codecs)
    [batch] = recordpress.read_batches(data, codecs=codecs)
    assert batch.compression_type == "own" and values(data, codecs=codecs) == LINES


def test_damage_is_the_providers_error(codecs: recordpress.CodecRegistry) -> None:
    codecs.read_with("gzip:zlib")
    data = bytearray(recordpress.write_records(LINES, compression_type="gzip"))
    data[-9:] = bytes(9)
    with pytest.raises(recordpress.DecompressionError, match="gzip:zlib"):
        recordpress.read_columns(bytes(data), check_crcs=False, codecs=codecs)


class Broken(Zlib):
    """Writes or reads something else, or fails, from a size on."""

    def __init__(self, writes: Any = None, reads: Any = None) -> None:
        super().__init__()
        self.writes, self.reads = writes, reads

    def compress(self, data: bytes, level: int) -> bytes:
        packed = super().compress(data, level)
        return self.writes(packed) if self.writes and len(data) > 50_000 else packed

    def decompress(self, data: bytes, max_output: int) -> bytes:
        plain = super().decompress(data, max_output)
        return self.reads(plain) if self.reads and len(plain) > 50_000 else plain


def first_member(data: bytes) -> bytes:
    return zlib.decompressobj(31).decompress(data)


@pytest.mark.parametrize(
    ("provider", "message"),
    [
        (
            Broken(writes=lambda packed: packed[:-1]),
            "gzip does not read what gzip:zlib writes, with 100000 bytes at level",
        ),
        (Broken(writes=lambda packed: gzip.compress(b"")), "with 100000 bytes at level .: the output differs"),
        (Broken(writes=lambda packed: bytes(300_000)), "with 100000 bytes at level .: .*300000"),
        (
            Broken(reads=lambda plain: b"?" + plain[1:]),
            "gzip:zlib does not read what gzip writes, .*: the output differs",
        ),
        (
            Broken(reads=lambda plain: plain * 2),
            "gzip:zlib does not read what gzip writes, with 100000 bytes: .*100000",
        ),
        (Broken(reads=lambda plain: plain.no_such), "gzip:zlib does not read what gzip writes, .*no_such"),
    ],
)
def test_the_proof(provider: Broken, message: str) -> None:
    codecs = recordpress.CodecRegistry()
    with pytest.raises(recordpress.InvalidArgumentError, match=f"^not registered: .*{message}"):
        codecs.register("gzip:zlib", provider)
    assert len(codecs) == 0


@pytest.mark.parametrize(
    "meets",
    [
        lambda data: data == b"",
        lambda data: data == b"a",
        lambda data: len(set(data)) == 256 and len(data) % 256 == 0 and data[:256] == bytes(range(256)),
        lambda data: data.startswith(b"GET "),
        lambda data: len(set(data)) > 16 and len(set(data[:256])) < 256 and b"GET " not in data,
    ],
    ids=["empty", "a byte", "all bytes", "lines", "drawn"],
)
def test_the_proof_has_payloads_of_each_kind(meets: Callable[[bytes], bool]) -> None:
    class Fails(Zlib):
        def compress(self, data: bytes, level: int) -> bytes:
            return gzip.compress(data + b"?") if meets(data) else super().compress(data, level)

    with pytest.raises(recordpress.InvalidArgumentError, match="gzip does not read what gzip:zlib writes"):
        recordpress.CodecRegistry().register("gzip:zlib", Fails())


def test_memory_is_not_the_providers_error() -> None:
    def empty(plain: bytes) -> bytes:
        raise MemoryError

    with pytest.raises(MemoryError):
        recordpress.CodecRegistry().register("gzip:zlib", Broken(reads=empty))


def test_the_proof_joins_payloads() -> None:
    """A writer of ours ends a member for each part of a batch."""

    class First(Zlib):
        def decompress(self, data: bytes, max_output: int) -> bytes:
            return first_member(data)

    with pytest.raises(recordpress.InvalidArgumentError, match="gzip:first does not read what gzip writes"):
        recordpress.CodecRegistry().register("gzip:first", First())


class Ours:
    """A codec of Kafka by recordpress."""

    def __init__(self, codec: Any, joins: bool) -> None:
        self.codec, self.joins = codec, joins

    def compress(self, data: bytes) -> bytes:
        return recordpress.compress(data, self.codec)

    def decompress(self, data: bytes, max_output: int) -> bytes:
        return recordpress.decompress(data, self.codec, max_output)


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_each_codec_has_providers(codec: Any) -> None:
    codecs = recordpress.CodecRegistry()
    codecs.register(f"{codec}:ours", Ours(codec, joins=codec != "lz4"))
    codecs.read_with(f"{codec}:ours")
    data = recordpress.write_records(LINES, compression_type=f"{codec}:ours", codecs=codecs)
    assert data == recordpress.write_records(LINES, compression_type=codec)
    assert values(data, codecs=codecs) == LINES


def test_only_what_kafka_reads_is_joined() -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="lz4 does not read what lz4:ours writes"):
        recordpress.CodecRegistry().register("lz4:ours", Ours("lz4", joins=True))


def test_zstd() -> None:
    class Zstandard:
        levels = (1, 19, 3)

        def compress(self, data: bytes, level: int) -> bytes:
            return zstandard.ZstdCompressor(level).compress(data)

        def decompress(self, data: bytes, max_output: int) -> bytes:
            reader = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True)
            found: bytes = reader.read(max_output + 1)
            return found

    codecs = recordpress.CodecRegistry()
    codecs.register("zstd:zstandard", Zstandard())
    data = recordpress.write_records(LINES, compression_type="zstd:zstandard", level=9, codecs=codecs)
    assert values(data) == LINES
    with pytest.raises(recordpress.InvalidArgumentError, match="only zstd has them"):
        recordpress.compress(b"", "zstd:zstandard", recordpress.ZstdParameters(3, window_log=20), codecs=codecs)


@pytest.mark.parametrize("name", ["gzip:other", "own", 1])
def test_only_a_provider_reads(codecs: recordpress.CodecRegistry, name: Any) -> None:
    codecs.register("own", Zlib())
    with pytest.raises(recordpress.InvalidArgumentError, match="is not a registered provider"):
        codecs.read_with(name)


def test_analyze_and_the_shell(
    codecs: recordpress.CodecRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = pytest.importorskip("recordpress.cli._app", reason="click is not installed", exc_type=ImportError).program
    log = tmp_path / "t-0" / f"{0:020d}.log"
    log.parent.mkdir()
    log.write_bytes(recordpress.write_records([text(50_000)]))
    found = recordpress.analyze(log, "gzip:zlib,9/gzip,9", depths=(1,), max_seconds=0.01, codecs=codecs)
    assert [cell.compression_type for cell in found.cells] == ["gzip:zlib", "gzip"]
    assert found.recommendation["settings"]["compression.type"] == "gzip"
    monkeypatch.syspath_prepend(Path(__file__).parent)
    plugin = ["--codec-plugin", "test_providers:Zlib", "--read-with"]
    copy = ["transcode", str(log.parent), str(tmp_path / "copy"), "--codec", "gzip:zlib", *plugin, "gzip:zlib"]
    assert program.main(copy, standalone_mode=False) in (None, 0)
    [batch] = recordpress.read_batches((tmp_path / "copy" / "t-0" / log.name).read_bytes())
    assert batch.compression_type == "gzip"
    with pytest.raises(Exception, match="'gzip:none' is not a registered provider"):
        program.main(["verify", str(log.parent), *plugin, "gzip:none"], standalone_mode=False)


def test_an_option_of_spark() -> None:
    pytest.importorskip("pyspark")
    from recordpress.spark import WriteOptions

    given = {"path": "/logs", "topic": "t", "compression.type": "gzip:zlib"}
    options = WriteOptions.parse(given | {"codec.plugin": f"{__name__}:Zlib"})
    assert options.compression_type == "gzip:zlib"
    with pytest.raises(recordpress.InvalidArgumentError, match="gzip:zlib"):
        WriteOptions.parse(given)


def test_a_broker_reads_with_kafkas(codecs: recordpress.CodecRegistry, provider: Zlib) -> None:
    codecs.read_with("gzip:zlib")
    data = recordpress.write_records(LINES, compression_type="gzip")
    log = recordpress.broker.PartitionLog(
        broker_version="4.3", topic_config={"compression.type": "zstd"}, codecs=codecs
    )
    assert log.append(data).accepted and provider.read == 0


def test_a_broker_has_no_such_setting(codecs: recordpress.CodecRegistry) -> None:
    config = {"compression.type": "pluggable", "pluggable.factory.plugin": "gzip:zlib"}
    with pytest.raises(recordpress.InvalidArgumentError, match="gzip:zlib"):
        recordpress.explain(b"", topic_config=config, codecs=codecs)


def test_the_example() -> None:
    """At most a third more bytes than of gzip 6."""
    pytest.importorskip("isal")
    spec = importlib.util.spec_from_file_location("gzip_isal", EXAMPLE)
    assert spec is not None and spec.loader is not None
    example = sys.modules.setdefault("gzip_isal", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(example)
    codecs = recordpress.CodecRegistry()
    assert codecs.load("gzip_isal:Isal") == "gzip:isal"
    codecs.read_with("gzip:isal")
    data = recordpress.write_records(LINES, compression_type="gzip:isal", codecs=codecs)
    assert values(data) == values(data, codecs=codecs) == LINES
    draw = random.Random(1)
    plain = b"".join(
        b"GET /p/%d HTTP/1.1 %d\n" % (draw.randrange(1000), draw.randrange(1 << 20)) for _ in range(20_000)
    )
    sizes = [
        len(recordpress.compress(plain, codec, level, codecs=codecs))
        for codec, level in (("gzip:isal", None), ("gzip", 6))
    ]
    assert sizes[0] < 4 / 3 * sizes[1]
