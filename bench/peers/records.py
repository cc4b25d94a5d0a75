"""Record batches through aiokafka and kafka-python: their own reader and builder, as their clients use them.

Both have the same classes; a record is visited when its offset, timestamp, key and value were read.
"""

import functools
from collections.abc import Iterable, Iterator

import aiokafka.record._crecords.default_records as aiokafka_records  # fails where the compiled extension is missing
import aiokafka.record.memory_records
import kafka.record.default_records
import kafka.record.memory_records

CODEC_IDS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}


def visit(records: Iterable) -> None:
    """Read the four attributes of each record; the same loop serves every contender."""
    for record in records:
        record.offset  # noqa: B018
        record.timestamp  # noqa: B018
        record.key  # noqa: B018
        record.value  # noqa: B018


class Peer:
    """One client library: `name`, how its reader and builder are called."""

    def __init__(self, name: str, memory_records: type, builder: type):
        self.name = name
        self._memory_records = memory_records
        self._builder = builder

    def batches(self, data: bytes) -> Iterator:
        """The batches of a record set, CRC checked."""
        records = self._memory_records(data)
        while records.has_next():
            batch = records.next_batch()
            if not batch.validate_crc():
                raise ValueError(f"{self.name} finds a wrong CRC")
            yield batch

    def decode(self, data: bytes) -> None:
        """Visit every record."""
        for batch in self.batches(data):
            visit(batch)

    def encode(self, keys: list, values: list, timestamps: list, codec: str, java_level: bool = False) -> bytearray:
        """One finished batch; with `java_level` compressed as Java's client does by default (aiokafka only)."""
        builder = self._builder(
            magic=2,
            compression_type=CODEC_IDS[codec],
            is_transactional=0,
            producer_id=-1,
            producer_epoch=-1,
            base_sequence=-1,
            batch_size=1 << 30,
        )
        for i, (key, value, timestamp) in enumerate(zip(keys, values, timestamps, strict=True)):
            builder.append(i, timestamp, key, value, [])
        return _build_at_java_level(builder, codec) if java_level else builder.build()


# aiokafka writes gzip at 9 and lz4 with level 9 of the high-compression encoder, Kafka's Java client gzip at 6 and
# lz4 fast: these are the levels of aiokafka's own functions that do the same work.
AIOKAFKA_LEVELS = {"gzip": {"compresslevel": 6}, "lz4": {"level": 1}}


def _build_at_java_level(builder: object, codec: str) -> bytearray:
    name = f"{codec}_encode"
    shipped = getattr(aiokafka_records, name)
    setattr(aiokafka_records, name, functools.partial(shipped, **AIOKAFKA_LEVELS[codec]))
    try:
        return builder.build()
    finally:
        setattr(aiokafka_records, name, shipped)


AIOKAFKA = Peer("aiokafka", aiokafka.record.memory_records.MemoryRecords, aiokafka_records.DefaultRecordBatchBuilder)
KAFKA_PYTHON = Peer(
    "kafka python", kafka.record.memory_records.MemoryRecords, kafka.record.default_records.DefaultRecordBatchBuilder
)
