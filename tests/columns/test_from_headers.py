"""Columns that the headers of batches tell: nothing is decompressed for them, and their checksums are compared."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

import recordpress

T = 1_700_000_000_000
LAST_OFFSET_DELTA, COUNT = 23, 57


def sealed(batch: bytearray) -> bytes:
    struct.pack_into(">I", batch, 17, recordpress.crc32c(batch[21:]))
    return bytes(batch)


def batch_of(count: int = 10, damaged: bool = True, **options: Any) -> bytes:
    """A batch whose payload is zeros."""
    options = {"compression_type": "zstd", "base_offset": 100, "timestamps": T} | options
    batch = bytearray(recordpress.write_records([b"value"] * count, **options))
    if damaged:
        batch[61:] = bytes(len(batch) - 61)
    return sealed(batch)


def read(data: bytes, columns: list[str], **options: Any) -> list[tuple[Any, ...]]:
    table = recordpress.read_columns(data, columns, **options).to_pyarrow()
    return [tuple(row.values()) for row in table.to_pylist()]


def test_offsets() -> None:
    assert read(batch_of(3), ["offset", "timestampType", "isControl"]) == [(n, 0, False) for n in (100, 101, 102)]
    assert read(batch_of(10), ["offset"], start_offset=103, end_offset=105) == [(103,), (104,)]
    assert read(batch_of(3, base_offset=7) + batch_of(2, base_offset=10), ["offset"]) == [(n,) for n in range(7, 12)]


def test_times_of_the_broker() -> None:
    batch = batch_of(2, timestamp_type=1, log_append_time=T)
    found = recordpress.read_columns(batch, ["timestamp"], timestamp_unit="us")["timestamp"]
    assert [time.timestamp() for time in found] == [T / 1000] * 2
    assert read(batch, ["offset"], start_timestamp=T, end_timestamp=T + 1) == [(100,), (101,)]
    assert read(batch, ["offset"], start_timestamp=T + 1) == []


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        (["offset", "timestamp"], {}),
        (["offset"], {"start_timestamp": T}),
        (["offset"], {"end_timestamp": T + 1}),
        *((["offset", name], {}) for name in ("key", "value", "headers", "sequence", "baseOffset")),
    ],
)
def test_what_headers_do_not_tell(columns: list[str], options: dict[str, Any]) -> None:
    with pytest.raises(recordpress.DecompressionError):
        recordpress.read_columns(batch_of(), columns, **options)


def test_logs_and_lazy_frames(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    from recordpress.polars import scan_log

    (tmp_path / "t-0").mkdir()
    (tmp_path / "t-0" / f"{100:020}.log").write_bytes(batch_of(3))
    rows = [("t", 0, n) for n in (100, 101, 102)]
    chunks = list(recordpress.open_log(tmp_path).read(columns=["topic", "partition", "offset"]))
    assert [tuple(row.values()) for chunk in chunks for row in chunk.to_pyarrow().to_pylist()] == rows
    frame = scan_log(tmp_path)
    assert frame.select("topic", "partition", "offset").collect().rows() == rows
    with pytest.raises(recordpress.DecompressionError):
        list(recordpress.open_log(tmp_path).read(columns=["value"]))


def test_a_wrong_checksum() -> None:
    batch = batch_of()[:-1] + b"\x01"
    with pytest.raises(recordpress.CorruptRecordError, match="checksum"):
        recordpress.read_columns(batch, ["offset"])
    assert len(read(batch, ["offset"], check_crcs=False)) == 10


def test_offsets_with_gaps_are_those_of_the_records() -> None:
    builder = recordpress.BatchBuilder(base_offset=5, compression_type="lz4")
    for offset in (5, 7, 8):
        builder.append(b"value", offset=offset)
    batch = builder.build()
    assert read(batch, ["offset"]) == [(5,), (7,), (8,)]
    with pytest.raises(recordpress.RecordpressError):
        read(sealed(bytearray(batch[:61] + bytes(len(batch) - 61))), ["offset"])


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_a_false_count_costs_no_memory(codec: Any) -> None:
    batch = bytearray(batch_of(damaged=False, compression_type=codec))
    struct.pack_into(">i", batch, LAST_OFFSET_DELTA, (1 << 31) - 2)
    struct.pack_into(">i", batch, COUNT, (1 << 31) - 1)
    with pytest.raises(recordpress.RecordpressError):
        recordpress.read_columns(sealed(batch), ["offset"])


def test_the_last_offset() -> None:
    """Offsets do not wrap."""
    last = (1 << 63) - 1
    assert read(batch_of(2, base_offset=last - 2), ["offset"]) == [(last - 2,), (last - 1,)]


def test_a_codec_that_is_not_known() -> None:
    batch = bytearray(batch_of())
    batch[22] = batch[22] & ~7 | 6
    with pytest.raises(recordpress.UnsupportedCompressionTypeError):
        recordpress.read_columns(sealed(batch), ["offset"])
