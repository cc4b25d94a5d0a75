"""Both clients and their adapters, in parallel: what each reads and builds, as plain values."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from types import ModuleType
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import aiokafka.codec
    import aiokafka.record.default_records
    import aiokafka.record.legacy_records
    import aiokafka.record.memory_records
    import kafka.codec
    import kafka.record.default_records
    import kafka.record.legacy_records
    import kafka.record.memory_records

    import recordpress.adapters.aiokafka
    import recordpress.adapters.kafka_python

import recordpress

Outcome = list[Any]
# its arguments are those that the adapter has since 0.14; before, aiokafka keeps its own
HAS_BATCH_BUILDER = "aiokafka.producer.message_accumulator" in recordpress.adapters.aiokafka._NAMES
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@dataclass(frozen=True)
class Client:
    name: str
    default: Any
    legacy: Any
    memory: Any
    codec: Any
    adapter: ModuleType
    corrupt: type[Exception]

    def __str__(self) -> str:
        return self.name


AIOKAFKA = Client(
    "aiokafka",
    aiokafka.record.default_records,
    aiokafka.record.legacy_records,
    aiokafka.record.memory_records,
    aiokafka.codec,
    recordpress.adapters.aiokafka,
    aiokafka.errors.CorruptRecordException,
)
KAFKA_PYTHON = Client(
    "kafka-python",
    kafka.record.default_records,
    kafka.record.legacy_records,
    kafka.record.memory_records,
    kafka.codec,
    recordpress.adapters.kafka_python,
    kafka.errors.CorruptRecordError,
)
CLIENTS = (AIOKAFKA, KAFKA_PYTHON)

HEADER = [
    "base_offset", "magic", "crc", "attributes", "last_offset_delta", "first_timestamp",
    "max_timestamp", "producer_id", "producer_epoch", "base_sequence", "timestamp_type", "compression_type",
    "is_transactional", "is_control_batch", "next_offset", "size_in_bytes", "leader_epoch", "last_offset",
    "has_sequence", "last_sequence", "records_count",
]  # fmt: skip


def record_facts(record: Any) -> Outcome:
    return [
        record.offset, record.timestamp, record.timestamp_type, record.key, record.value, list(record.headers),
        record.checksum, record.validate_crc() if hasattr(record, "validate_crc") else True,
    ]  # fmt: skip


def header_facts(batch: Any) -> Outcome:
    """Each attribute that the client's class has; the adapter's may have no fewer."""
    return [(name, getattr(batch, name)) for name in HEADER if hasattr(batch, name)]


def read(memory_records: Any, data: bytes) -> Outcome:
    """Everything that a record set gives, up to an error; its class stands for it."""
    out: Outcome = []
    try:
        records = memory_records(data)
        out.append(records.size_in_bytes())
        while records.has_next():
            batch = records.next_batch()
            rows: Outcome = []
            out += [batch.validate_crc(), header_facts(batch), rows]
            try:
                for record in batch:
                    rows.append(record_facts(record))
            except Exception as error:
                rows.append(type(error))
        assert records.next_batch() is None
    except Exception as error:
        out.append(type(error))
    return out


def read_by_recordpress(data: bytes) -> Outcome:
    """Read offsets, timestamps, keys, values and headers with recordpress; RecordpressError for any of its errors."""
    out: Outcome = []
    try:
        for batch in recordpress.read_batches(data, check_crcs=False):
            rows: Outcome = []
            out.append(rows)
            try:
                for record in batch:
                    rows.append([record.offset, record.timestamp, record.key, record.value, record.headers])
            except recordpress.RecordpressError:
                rows.append(recordpress.RecordpressError)
    except recordpress.RecordpressError:
        out.append(recordpress.RecordpressError)
    return out


def as_recordpress(outcome: Outcome) -> Outcome:
    """What read() gave, in the form of read_by_recordpress()."""
    out: Outcome = []
    for part in outcome[1:]:
        if isinstance(part, type):
            out.append(recordpress.RecordpressError)
        elif isinstance(part, list) and not (part and isinstance(part[0], tuple)):
            out.append([recordpress.RecordpressError if isinstance(row, type) else _without_none(row) for row in part])
    return out


def _without_none(row: Outcome) -> Outcome:
    """A record of read() with Kafka's -1 for no timestamp."""
    return [row[0], -1 if row[1] is None else row[1], *row[3:6]]
