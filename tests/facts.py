"""What recordpress read, in the words of the vectors' expected content: a test is then a comparison of two dicts."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import recordpress

Facts = dict[str, Any]


def bytes_fact(value: bytes | None) -> Any:
    if value is None:
        return None
    if len(value) > 256:
        return {"len": len(value), "sha256": hashlib.sha256(value).hexdigest()}
    return base64.b64encode(value).decode()


TIMESTAMP_TYPES = {-1: "NoTimestampType", 0: "CreateTime", 1: "LogAppendTime"}

# expected field -> attribute of Batch
BATCH_FIELDS = {
    "position": "position",
    "size": "size",
    "magic": "magic",
    "attributes": "attributes",
    "crc": "crc",
    "last_offset": "last_offset",
    "next_offset": "next_offset",
    "max_timestamp": "max_timestamp",
}
BATCH_FIELDS_V2 = {
    "base_timestamp": "base_timestamp",
    "leader_epoch": "partition_leader_epoch",
    "producer_id": "producer_id",
    "producer_epoch": "producer_epoch",
    "base_sequence": "base_sequence",
    "last_sequence": "last_sequence",
    "is_transactional": "is_transactional",
    "is_control": "is_control",
    "delete_horizon_ms": "delete_horizon_ms",
    "count": "records_count",
}


def batch_facts(batch: recordpress.Batch) -> Facts:
    """Header fields, except those that need the records (the base offset of a wrapper)."""
    fields = BATCH_FIELDS | (BATCH_FIELDS_V2 if batch.magic == 2 else {})
    facts = {name: getattr(batch, attribute) for name, attribute in fields.items()}
    facts["timestamp_type"] = TIMESTAMP_TYPES[int(batch.timestamp_type)]
    facts["valid"] = batch.is_valid()
    return facts


def record_facts(record: recordpress.Record, magic: int, is_control: bool = False) -> Facts:
    facts = {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "size": record.size,
        "key": bytes_fact(record.key),
        "value": bytes_fact(record.value),
        "headers": [[key, bytes_fact(value)] for key, value in record.headers],
    }
    if magic == 2:
        facts["sequence"] = record.sequence
    else:
        facts["valid"] = record.is_valid()
    if is_control:
        control = recordpress.control_record(record)
        facts["control"] = {"type": control.type}
        if control.coordinator_epoch is not None:
            facts["control"]["coordinator_epoch"] = control.coordinator_epoch
    return facts


_DECOMPRESSION = ("KafkaException", "SnappyError", "BufferUnderflowException")


def error_class(error: Facts) -> type[recordpress.RecordpressError]:
    """Our exception for one of Kafka's."""
    name = error["class"].rpartition(".")[2]
    if name == "CorruptRecordException":
        return recordpress.CorruptRecordError
    if name == "InvalidRecordException":
        return recordpress.InvalidRecordError
    if name == "IllegalArgumentException":
        unknown_codec = error["message"].startswith("Unknown compression type id")
        return recordpress.UnsupportedCompressionTypeError if unknown_codec else recordpress.InvalidRecordError
    if name in _DECOMPRESSION:
        return recordpress.DecompressionError
    raise ValueError(f"no exception is known for Kafka's {error}")
