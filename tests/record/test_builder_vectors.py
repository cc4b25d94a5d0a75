"""The batches that Kafka's encoders wrote, written again from their records.

Where Kafka's encoder is deterministic the bytes are the same: uncompressed entries of every magic, lz4, and snappy in
the chunks of today's clients. For gzip and zstd, and for what older clients compressed, the header fields and the
decompressed records are the same; how the codec packed them is its own.
"""

from __future__ import annotations

from typing import Any

import oracle
import recordpress
from oracle import Vector

SETS = [
    vector for vector in oracle.RECORD_SETS if not vector.entry.get("crafted") and not vector.entry.get("has_error")
]
V2_HEADER = 61

# The first Kafka whose codec library gives the bytes of today's: lz4-java's since 1.0, snappy-java's since 3.6.
SAME_BYTES_SINCE = {"none": (0,), "lz4": (1, 0), "snappy": (3, 6)}
# liblz4 1.10 compresses at these levels with its own algorithm.
LZ4_LEVELS_THAT_CHANGED = (1, 2)


def _has_same_bytes(vector: Vector, compression_type: str) -> bool:
    if compression_type == "lz4" and vector.entry.get("level") in LZ4_LEVELS_THAT_CHANGED:
        return False
    group = vector.file.split("/")[1]  # such as clients-4.3.1
    version = tuple(int(number) for number in group.rpartition("-")[2].split("."))
    return compression_type in SAME_BYTES_SINCE and version >= SAME_BYTES_SINCE[compression_type]


def _entry(data: bytes, batch: recordpress.Batch) -> bytes:
    return data[batch.position : batch.position + batch.size]


def _as_create_time(entry: bytes, magic: int) -> bytes:
    """LogAppendTime hides the timestamps that the records were written with; without its bit they show."""
    position = 22 if magic == 2 else 17
    return entry[:position] + bytes([entry[position] & ~0x08]) + entry[position + 1 :]


def _arguments(batch: recordpress.Batch) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "magic": batch.magic,
        "compression_type": batch.compression_type,
        "base_offset": batch.base_offset,
    }
    if int(batch.timestamp_type) == 1:
        arguments |= {"timestamp_type": 1, "log_append_time": batch.max_timestamp}
    if batch.magic == 2:
        arguments |= {
            "producer_id": batch.producer_id,
            "producer_epoch": batch.producer_epoch,
            "base_sequence": batch.base_sequence,
            "partition_leader_epoch": batch.partition_leader_epoch,
            "is_transactional": batch.is_transactional,
            "is_control": batch.is_control,
            "delete_horizon_ms": batch.delete_horizon_ms,
        }
    return arguments


def _append(builder: recordpress.BatchBuilder, record: recordpress.Record, is_control: bool) -> None:
    if is_control:
        control = recordpress.control_record(record)
        builder.append_control(control.type, record.value, timestamp=record.timestamp, offset=record.offset)
    else:
        builder.append(
            record.value, key=record.key, timestamp=record.timestamp, headers=record.headers, offset=record.offset
        )


def _rebuild(entry: bytes, batch: recordpress.Batch, level: int | None) -> bytes:
    builder = recordpress.BatchBuilder(level=level, **_arguments(batch))
    (as_written,) = recordpress.read_batches(_as_create_time(entry, batch.magic), check_crcs=False)
    for record in as_written:
        _append(builder, record, batch.is_control)
    builder.last_offset = batch.last_offset
    return builder.build()


def _payload(entry: bytes, batch: recordpress.Batch) -> bytes:
    if batch.magic == 2:
        return entry[V2_HEADER:]
    value = 26 if batch.magic == 0 else 34
    return entry[value:]


def _header(entry: bytes, batch: recordpress.Batch) -> bytes:
    """All of the entry's header but its size and CRC, which follow the compressed bytes."""
    if batch.magic == 2:
        return entry[:8] + entry[12:17] + entry[21:V2_HEADER]
    return entry[:8] + entry[16 : 22 if batch.magic == 0 else 30]


def _records_area(entry: bytes, batch: recordpress.Batch) -> bytes:
    return recordpress.decompress(_payload(entry, batch), batch.compression_type, magic=batch.magic)


@oracle.each("vector", SETS)
def test_written_again(vector: Vector) -> None:
    data = vector.data
    for batch in recordpress.read_batches(data):
        if not batch.is_valid() or batch.records_count == 0:
            continue
        entry = _entry(data, batch)
        again = _rebuild(entry, batch, vector.entry.get("level"))
        assert _header(again, batch) == _header(entry, batch)
        if _has_same_bytes(vector, batch.compression_type):
            assert again.hex() == entry.hex()
        else:
            assert _records_area(again, batch) == _records_area(entry, batch)
