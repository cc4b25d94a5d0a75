"""A broker that knows codecs of the caller's own: they are rows like Kafka's (KIP-984)."""

from __future__ import annotations

import zlib
from typing import Any

import pytest

import kpress
from kpress.broker import PartitionLog, Reason

NOW = 1700000000000


class Zlib:
    id, name, levels = 5, "zlib", (1, 9, 6)

    def __init__(self) -> None:
        self.used: list[int] = []

    def compress(self, data: bytes, level: int) -> bytes:
        self.used.append(level)
        return zlib.compress(data, level)

    def decompress(self, data: bytes, max_output: int) -> bytes:
        inflate = zlib.decompressobj()
        return inflate.decompress(data, max_output)


CODEC = Zlib()
TABLE = kpress.CodecTable(CODEC)


def log_of(config: dict[str, Any] | None = None, codecs: kpress.CodecTable | None = TABLE) -> PartitionLog:
    return PartitionLog(broker_version="4.3", topic_config=config, codecs=codecs)


def sent(compression_type: str, values: int = 50) -> bytes:
    lines = [b"GET /index.html HTTP/1.1"] * values
    return kpress.write_records(lines, timestamps=NOW, compression_type=compression_type, codecs=TABLE)


def lines_of(data: bytes) -> list[bytes | None]:
    return [record.value for batch in kpress.read_batches(data, codecs=TABLE) for record in batch]


def test_a_batch_is_kept() -> None:
    verdict = log_of().append(sent("zlib"), now_ms=NOW)
    assert (verdict.error, verdict.relation) == ("NONE", "kept")
    assert verdict.records[61:] == sent("zlib")[61:]


@pytest.mark.parametrize("codec", ["none", "gzip", "lz4", "zstd"])
def test_a_topic_may_ask_for_it_at_a_level(codec: str) -> None:
    CODEC.used.clear()
    verdict = log_of({"compression.type": "zlib", "compression.zlib.level": 9}).append(sent(codec), now_ms=NOW)
    assert (verdict.relation, verdict.reasons) == ("rebuilt", [Reason.CODEC_DIFFERS])
    (batch,) = kpress.read_batches(verdict.records, codecs=TABLE)
    assert batch.compression_type == "zlib"
    assert lines_of(verdict.records) == lines_of(sent("none"))
    assert set(CODEC.used) == {9}


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
    data[17:21] = kpress.crc32c(memoryview(data)[21:]).to_bytes(4, "big")
    assert (verdict := log_of().append(data, now_ms=NOW)).error_code == -1
    assert verdict.reasons == [Reason.DECOMPRESSION]
