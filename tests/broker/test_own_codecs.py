"""A broker with plug-ins: the codec of a batch is its id and its name (KIP-984)."""

from __future__ import annotations

import lzma
import zlib
from typing import Any

import pytest

import recordpress
from recordpress.broker import PartitionLog, Reason, fetch, validate

NOW = 1700000000000


class Zlib:
    def compress(self, data: bytes) -> bytes:
        return zlib.compress(data)

    def decompress(self, data: bytes, max_output: int) -> bytes:
        inflate = zlib.decompressobj()
        return inflate.decompress(data, max_output)


class Lzma:
    def compress(self, data: bytes) -> bytes:
        return lzma.compress(data)

    def decompress(self, data: bytes, max_output: int) -> bytes:
        return lzma.LZMADecompressor().decompress(data, max_output)


TABLE = recordpress.CodecRegistry()
TABLE.register("zlib", Zlib())
TABLE.register("org.example.Lzma", Lzma())


def pluggable(name: str) -> dict[str, Any]:
    return {"compression.type": "pluggable", "pluggable.factory.plugin": name}


def log_of(config: dict[str, Any] | None = None, codecs: recordpress.CodecRegistry | None = TABLE) -> PartitionLog:
    return PartitionLog(broker_version="4.3", topic_config=config, codecs=codecs)


def sent(compression_type: str, values: int = 50) -> bytes:
    lines = [b"GET /index.html HTTP/1.1"] * values
    return recordpress.write_records(lines, timestamps=NOW, compression_type=compression_type, codecs=TABLE)


def lines_of(data: bytes) -> list[bytes | None]:
    return [record.value for batch in recordpress.read_batches(data, codecs=TABLE) for record in batch]


def test_a_batch_is_kept() -> None:
    verdict = log_of().append(sent("zlib"), now_ms=NOW)
    assert (verdict.error, verdict.relation) == ("NONE", "kept")
    assert verdict.records[61:] == sent("zlib")[61:]


@pytest.mark.parametrize("codec", ["none", "gzip", "lz4", "zstd", "org.example.Lzma"])
def test_a_topic_may_ask_for_it(codec: str) -> None:
    verdict = log_of(pluggable("zlib")).append(sent(codec), now_ms=NOW)
    assert (verdict.relation, verdict.reasons) == ("rebuilt", [Reason.CODEC_DIFFERS])
    (batch,) = recordpress.read_batches(verdict.records, codecs=TABLE)
    assert (batch.compression_type, batch.plugin_name, batch.attributes & 7) == ("zlib", "zlib", 5)
    assert lines_of(verdict.records) == lines_of(sent("none"))
    assert verdict.records[61:] == sent("zlib")[61:]


def test_it_is_kept_where_the_topic_has_its_name() -> None:
    for name in ("zlib", "org.example.Lzma"):
        assert log_of(pluggable(name)).append(sent(name), now_ms=NOW).relation == "kept"


def test_another_name_is_unsupported() -> None:
    others = recordpress.CodecRegistry()
    others.register("org.example.Lzma", Lzma())
    for config in (None, pluggable("org.example.Lzma"), {"compression.type": "uncompressed"}):
        verdict = log_of(config, others).append(sent("zlib"), now_ms=NOW)
        assert (verdict.error_code, verdict.reasons) == (76, [Reason.UNKNOWN_CODEC])


@pytest.mark.parametrize("name", [b"", b"\0", b"\x80zlib", b"\xffzlib", b"\x04zl b", b"\x02\xc3\xa9", b"\x7fzlib"])
def test_a_name_that_is_none_is_corrupt(name: bytes) -> None:
    data = bytearray(sent("zlib")[:61] + name)
    data[8:12] = (len(data) - 12).to_bytes(4, "big")
    data[17:21] = recordpress.crc32c(memoryview(data)[21:]).to_bytes(4, "big")
    verdict = log_of().append(data, now_ms=NOW)
    assert (verdict.error_code, verdict.reasons) == (2, [Reason.PLUGIN_NAME])
    assert log_of(codecs=None).append(data, now_ms=NOW).error_code == -1


def test_a_log_keeps_the_codecs_it_began_with() -> None:
    codecs = recordpress.CodecRegistry()
    codecs.register("zlib", Zlib())
    log = log_of(pluggable("zlib"), codecs)
    codecs.unregister("zlib")
    assert log.append(sent("zlib"), now_ms=NOW).relation == "kept"


def test_it_is_never_converted_down() -> None:
    for codecs, code in ((TABLE, 76), (recordpress.CodecRegistry(), 76), (None, -1)):
        assert fetch(sent("zlib"), 0, fetch_version=3, codecs=codecs).error_code == code


def test_explain_and_validate_know_it() -> None:
    plain = {"compression.type": "uncompressed"}
    assert validate(sent("zlib"), topic_config=plain, now_ms=NOW, codecs=TABLE).relation == "rebuilt"
    [batch] = recordpress.explain(sent("zlib"), topic_config=pluggable("org.example.Lzma"), codecs=TABLE).batches
    assert (batch.verdict, batch.compression_type, batch.reasons) == ("recompressed", "zlib", [Reason.CODEC_DIFFERS])
    assert batch.cost.decompress_seconds > 0 and batch.cost.compress_seconds > 0
    [batch] = recordpress.explain(sent("zlib")).batches
    assert (batch.error_code, batch.compression_type) == (-1, "pluggable")


def test_a_topic_may_ask_for_another() -> None:
    verdict = log_of({"compression.type": "uncompressed"}).append(sent("zlib"), now_ms=NOW)
    assert verdict.relation == "rebuilt"
    assert verdict.records[17:] == sent("none")[17:]


def test_without_the_table_it_is_unknown() -> None:
    assert log_of(codecs=None).append(sent("zlib"), now_ms=NOW).error_code == -1
    helpful = PartitionLog(broker_version="4.3", helpful=True).append(sent("zlib"), now_ms=NOW)
    assert (helpful.error_code, helpful.reasons) == (76, [Reason.UNKNOWN_CODEC])


@pytest.mark.parametrize(("version", "code"), [(3, 76), (6, 76), (7, 0)])
def test_it_needs_the_request_that_zstd_needs(version: int, code: int) -> None:
    assert log_of().append(sent("zlib"), produce_version=version, now_ms=NOW).error_code == code


def test_a_stream_that_it_cannot_read() -> None:
    data = bytearray(sent("zlib"))
    data[70:90] = bytes(20)
    data[17:21] = recordpress.crc32c(memoryview(data)[21:]).to_bytes(4, "big")
    assert (verdict := log_of().append(data, now_ms=NOW)).error_code == -1
    assert verdict.reasons == [Reason.DECOMPRESSION]
