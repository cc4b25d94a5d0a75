"""Every call that reads bytes from outside, on record sets that are nearly right.

An input is four bytes that choose the call and its options, and the record set. All that may come out is an error of
recordpress; readers of the same bytes must agree on how many records there are.
"""

from __future__ import annotations

import ctypes
import io
import random
import struct
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import campaign
import mutate
from hostile_sets import ALL_COLUMNS, BATCH_ATTRIBUTES

import recordpress

CAP = 1 << 20
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
BINARY_TYPES = ("binary", "large_binary", "binary_view")
UNITS = ("ms", "us", "ns", "s")


class Choices:
    """Numbers out of the input's first bytes."""

    def __init__(self, data: bytes) -> None:
        self.bits = int.from_bytes(data, "little")

    def of(self, options: tuple, /):
        self.bits, index = divmod(self.bits, len(options))
        return options[index]

    def columns(self) -> list[str]:
        mask = self.bits & 0x1FFF
        return [name for i, name in enumerate(ALL_COLUMNS) if mask >> i & 1] or ["offset"]


def exact(data: bytes) -> memoryview:
    """In memory that ends with it: bytes have a hidden byte more."""
    return memoryview((ctypes.c_char * len(data)).from_buffer_copy(data)).cast("B")


def _options(choose: Choices) -> dict[str, object]:
    return {
        "check_crcs": choose.of((True, True, False)),
        "binary_type": choose.of(BINARY_TYPES),
        "control": choose.of((False, True)),
        "threads": choose.of((1, 1, 1, 1, 1, 1, 2)),
        "max_decompressed_bytes": choose.of((CAP, CAP, 100)),
        **choose.of(({}, {}, {"start_offset": 8, "end_offset": 40}, {"start_timestamp": 1, "end_timestamp": 1 << 60})),
        **choose.of(({}, {}, {"aborted_transactions": [(1, 0), (7, 3)]})),
    }


def _objects(data: memoryview, choose: Choices) -> None:
    count, failed = 0, False
    try:
        for batch in recordpress.read_batches(data, max_decompressed_bytes=CAP):
            for name in BATCH_ATTRIBUTES:
                _attempt(getattr, batch, name)
            batch.ensure_valid()
            for record in batch:
                _ = record.offset, record.timestamp, record.key, record.value, record.headers, record.sequence
                count += 1
                if batch.is_control:
                    _attempt(recordpress.control_record, record)
    except recordpress.RecordpressError:
        failed = True
    try:
        rows = len(recordpress.read_columns(data, ["offset"], control=True, max_decompressed_bytes=CAP))
    except recordpress.RecordpressError:
        return  # it reads more carefully: an error that iterating reaches later, or not at all
    if not failed and rows != count:
        raise AssertionError(f"{count} records, {rows} rows")


def _columns(data: memoryview, choose: Choices) -> None:
    options = _options(choose)
    columns = recordpress.read_columns(data, choose.columns(), **options)
    again = recordpress.write_columns(
        recordpress.read_columns(data, ["key", "value", "headers", "timestamp"], **options)
    )
    if len(recordpress.read_columns(again, ["offset"])) != len(columns):
        raise AssertionError("rows were lost in writing")


def _iterate(data: memoryview, choose: Choices) -> None:
    source = choose.of((lambda: data, lambda: io.BytesIO(data)))()
    options = _options(choose)
    for columns in recordpress.iter_columns(
        source, choose.columns(), batch_bytes=choose.of((1, 200, 1 << 20)), **options
    ):
        columns.__arrow_c_array__()


def _table(data: memoryview, choose: Choices) -> None:
    recordpress.batch_table(data).to_numpy()


def _recompress(data: memoryview, choose: Choices) -> None:
    codec = choose.of(CODECS)
    made = recordpress.recompress(data, codec, max_decompressed_bytes=CAP)
    for batch in recordpress.read_batches(made):
        batch.ensure_valid()
        sum(1 for _ in batch)


def _payload(data: memoryview, choose: Choices) -> None:
    codec, magic = choose.of(CODECS), choose.of((2, 2, 1, 0))
    payload = data[choose.of((61, 26, 34, 0)) :]
    cap = choose.of((CAP, 50, 5000))
    whole = _attempt(recordpress.decompress, payload, codec, cap)
    stream = recordpress.decompressor(codec, cap, magic=magic)
    step, out = choose.of((1, 7, 100, 1 << 20)), []
    for at in range(0, min(len(payload), 2000), step):
        out.append(stream.decompress(payload[at : at + step]))
    out.append(stream.flush())
    comparable = whole is not None and len(payload) <= 2000 and magic == 2 and stream.eof and not stream.unused_data
    if comparable and b"".join(out) != whole:
        raise AssertionError("a stream gives something else")


def _into(data: memoryview, choose: Choices) -> None:
    payload = data[choose.of((61, 26, 34, 0)) :]
    out = (ctypes.c_char * choose.of((0, 1, 100, 5000)))()
    recordpress.decompress_into(payload, out, choose.of(CODECS))


def _change(data: memoryview, choose: Choices) -> None:
    copy = bytearray(data)
    for batch in recordpress.read_batches(copy):
        _attempt(batch.set_last_offset, choose.of((0, 5, 1 << 40, (1 << 63) - 1)))
        _attempt(batch.set_max_timestamp, choose.of((0, 1)), 77)
        _attempt(batch.set_partition_leader_epoch, 3)
    _attempt(recordpress.fix_lz4_header, copy)
    _attempt(recordpress.break_lz4_header, copy)


CALLS: tuple[Callable[[memoryview, Choices], None], ...] = (
    _objects, _objects, _columns, _columns, _columns, _iterate, _iterate, _table, _recompress, _payload, _into, _change
)  # fmt: skip


def _attempt(question: Callable[..., object], *arguments: object) -> object:
    try:
        return question(*arguments)
    except recordpress.RecordpressError:
        return None


def run(data: bytes) -> None:
    choose = Choices(data[:4].ljust(4, b"\0"))
    _attempt(choose.of(CALLS), exact(data[4:]), choose)


def draw(rng: random.Random) -> bytes:
    return struct.pack("<I", rng.getrandbits(32)) + mutate.record_set(rng)


if __name__ == "__main__":
    sys.exit(campaign.main("read", draw, run))
