"""Small record sets of each format and codec to be broken, and the two ways to read whatever comes out of it."""

from __future__ import annotations

import ctypes
import mmap
import struct
import zlib
from collections.abc import Callable

import crc32c

import recordpress
from strategies import FORMATS

T = 1_700_000_000_000
V2_HEADER = 61
ALL_COLUMNS = (
    "offset",
    "timestamp",
    "timestampType",
    "key",
    "value",
    "headers",
    "producerId",
    "producerEpoch",
    "sequence",
    "partitionLeaderEpoch",
    "isTransactional",
    "isControl",
    "baseOffset",
)


def small_set(magic: int, codec: str) -> bytes:
    """Three records, one with headers where the format has them."""
    builder = recordpress.BatchBuilder(magic=magic, compression_type=codec, base_offset=7)
    headers = [("h", b"x"), ("n", None)] if magic == 2 else []
    for key, value in ((b"k", b"value"), (None, b""), (b"", None)):
        builder.append(value, key=key, timestamp=T if magic else -1, headers=headers)
        headers = []
    return builder.build()


SMALL_SETS = {f"v{magic}-{codec}": small_set(magic, codec) for magic, codec in FORMATS}


def with_right_crc(data: bytes) -> bytes:
    """The first entry with the checksum that its bytes ask for, so that no CRC check hides what comes after it."""
    end = 12 + struct.unpack_from(">i", data, 8)[0]
    if not 17 <= end <= len(data):
        end = len(data)
    if data[16] == 2:
        return data[:17] + struct.pack(">I", crc32c.crc32c(data[21:end])) + data[21:]
    return data[:12] + struct.pack(">I", zlib.crc32(data[16:end])) + data[16:]


def exact(data: bytes) -> memoryview:
    """The bytes in memory whose next byte cannot be read: a read past the end ends the process, sanitizer or not."""
    room = -(-len(data) // mmap.PAGESIZE) * mmap.PAGESIZE
    pages = mmap.mmap(-1, room + mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(address + room), ctypes.c_size_t(mmap.PAGESIZE), 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    pages[room - len(data) : room] = data
    return memoryview(pages)[room - len(data) : room]


BATCH_ATTRIBUTES = (
    "position",
    "size",
    "magic",
    "attributes",
    "compression_type",
    "timestamp_type",
    "crc",
    "base_offset",
    "last_offset",
    "next_offset",
    "base_timestamp",
    "max_timestamp",
    "partition_leader_epoch",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "last_sequence",
    "is_transactional",
    "is_control",
    "delete_horizon_ms",
    "records_count",
    "last_offset_delta",
    "has_producer_id",
)


class Errors(list[recordpress.RecordpressError]):
    """The errors of questions that may have one."""

    def of(self, question: Callable[..., object], *arguments: object) -> None:
        try:
            question(*arguments)
        except recordpress.RecordpressError as error:
            self.append(error)


def _read_record(record: recordpress.Record) -> None:
    _ = record.offset, record.timestamp, record.timestamp_type, record.sequence, record.size, record.attributes
    _ = record.key, record.value, record.headers, record.is_valid()


def _read_records(batch: recordpress.Batch) -> None:
    for record in batch:
        _read_record(record)


def _read_control_records(batch: recordpress.Batch) -> None:
    for record in batch:
        recordpress.control_record(record)


def _read_batches(data: bytes | memoryview, cap: int, errors: Errors) -> None:
    for batch in recordpress.read_batches(data, max_decompressed_bytes=cap):
        for name in BATCH_ATTRIBUTES:
            errors.of(getattr, batch, name)
        errors.of(batch.ensure_valid)
        errors.of(_read_records, batch)
        if batch.is_control:
            errors.of(_read_control_records, batch)


def read_objects(data: bytes | memoryview, cap: int = 1 << 20) -> Errors:
    """Touch everything that objects can be asked for; the errors on the way."""
    errors = Errors()
    errors.of(_read_batches, data, cap, errors)
    return errors


def read_columns(data: bytes | memoryview, **options: object) -> recordpress.RecordpressError | None:
    """The error of reading every column, if there is one."""
    options = {"max_decompressed_bytes": 1 << 20, "control": True, "columns": ALL_COLUMNS} | options
    try:
        columns = recordpress.read_columns(data, **options)  # type: ignore[arg-type]
        assert columns.num_rows >= 0
    except recordpress.RecordpressError as error:
        return error
    return None
