"""The work that must leak nothing. As a program: repeat one of it, and print by how much the process grew."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hostile_sets import SMALL_SETS, read_columns, read_objects

import recordpress

TIMES = 20 if __name__ == "__main__" else 4  # the size of a process shows large leaks alone, the pool a byte
LARGE = b"".join(SMALL_SETS.values()) * TIMES
BROKEN = [data[:-3] + b"\xff\xff\xff" for data in SMALL_SETS.values()]


def _read_arrow() -> None:
    for binary_type in ("binary", "large_binary", "binary_view"):
        table = pa.table(recordpress.read_columns(LARGE, binary_type=binary_type, threads=2))
        assert table.num_rows == recordpress.read_columns(LARGE, columns=("offset",)).num_rows


def _read_half() -> None:
    """Iterators and records that are dropped before their end."""
    for batch in recordpress.read_batches(LARGE):
        record = next(iter(batch))
        _ = record.key, record.headers
        break


def _refuse() -> None:
    for data in BROKEN:
        read_objects(data)
        read_columns(data, check_crcs=False)
        read_columns(data)


def _write() -> None:
    for magic, codec in ((0, "snappy"), (1, "lz4"), (2, "gzip"), (2, "zstd")):
        builder = recordpress.BatchBuilder(magic=magic, compression_type=codec)
        for _ in range(50):
            builder.append(b"value" * 20, key=b"key")
        builder.append_many([b"value", bytearray(b"value")] * 200)
        builder.build()
        recordpress.BatchBuilder(magic=magic, compression_type=codec).append(b"never built")


def _write_columns() -> None:
    table = pa.table({"value": pa.array([b"value"] * 500, pa.binary())})
    recordpress.write_columns(table, compression_type="zstd", batch_records=100)
    recordpress.write_columns(recordpress.read_columns(LARGE, ["key", "value"]), compression_type="lz4")


ROWS = {"values": [b"value" * 9] * 600, "keys": [b"key"] * 600, "headers": [[("name", b"header" * 99)]] * 600}


def _write_records() -> None:
    for codec in ("none", "lz4"):
        recordpress.write_records(**ROWS, compression_type=codec)
        with pytest.raises(recordpress.InvalidArgumentError, match="record 500"):
            recordpress.write_records(**ROWS, compression_type=codec, timestamps=[0] * 500 + [-5] * 100)


def _write_headers() -> None:
    headers = [[{"key": key, "value": value} for key, value in row] for row in ROWS["headers"]]
    columns = {"value": ROWS["values"], "headers": pa.array(headers)}
    wrong = {"timestamp": [0] * 500 + [-5] * 100}
    for codec in ("none", "lz4"):
        recordpress.write_columns(pa.table(columns), compression_type=codec)
        with pytest.raises(recordpress.InvalidArgumentError, match="record 500"):
            recordpress.write_columns(pa.table(columns | wrong), compression_type=codec)


def _recompress() -> None:
    recordpress.recompress(COMPRESSED, "gzip")
    for broken in (COMPRESSED[:-1], COMPRESSED + BAD_CRC):
        with pytest.raises(recordpress.CorruptRecordError):
            recordpress.recompress(broken, "gzip")


def _limits() -> None:
    """Builders that try, join and refuse."""
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        builder = recordpress.BatchBuilder(compression_type=codec, limit=900)
        while builder.append(os.urandom(60)):
            pass
        builder.build()


def _half_streams() -> None:
    """Streams that are dropped before their end."""
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        recordpress.compressor(codec).compress(LARGE)
        payload = recordpress.compress(LARGE, codec)
        recordpress.decompressor(codec).decompress(payload[: len(payload) // 2])


def _release() -> None:
    """Contexts that are made and freed again."""
    for codec in ("gzip", "lz4", "zstd"):
        recordpress.decompress(recordpress.compress(LARGE, codec), codec)
    for _ in range(200):
        recordpress.compress(b"", "snappy")
        recordpress.release_unused()


def _produce() -> None:
    """Sets that a broker keeps, rebuilds and refuses."""
    from recordpress.broker._validator import validate_records

    for keys, codes in ((ROWS["keys"], {0}), (None, {87})):
        data = recordpress.write_records(**ROWS | {"keys": keys}, compression_type="lz4")
        for target in (0, 3, 4):
            answer = validate_records(data, source_codec=3, target_codec=target, now_ms=0, compacted=True)
            assert answer.error_code in codes


COMPRESSED = recordpress.write_records(**ROWS, compression_type="zstd", batch_records=200)
BAD_CRC = COMPRESSED[:-1] + bytes([COMPRESSED[-1] ^ 1])

WORK: dict[str, Callable[[], object]] = {
    "objects": lambda: read_objects(LARGE),
    "columns": _read_arrow,
    "half read": _read_half,
    "refused": _refuse,
    "builder": _write,
    "write_columns": _write_columns,
    "batch_table": lambda: recordpress.batch_table(LARGE).to_numpy(),
    "write_records": _write_records,
    "headers": _write_headers,
    "recompress": _recompress,
    "limits": _limits,
    "half streams": _half_streams,
    "release_unused": _release,
    "produce": _produce,
}


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _repeat(work: Callable[[], object], times: int) -> int:
    for _ in range(times):
        work()
    gc.collect()
    return _resident_bytes()


if __name__ == "__main__":
    before = _repeat(WORK[sys.argv[1]], 20)
    print(_repeat(WORK[sys.argv[1]], 100) - before)
