"""Kafka's defaults of a producer's settings, and settings that fill batches to a depth."""

from __future__ import annotations

import math

BATCH_SIZE = 16384  # Kafka's default of batch.size (ProducerConfig)
MAX_REQUEST_SIZE = 1_048_576  # Kafka's default of max.request.size
BUFFER_MEMORY = 33_554_432  # Kafka's default of buffer.memory
LINGER_MS = 5  # the default since Kafka 4.0 (KIP-1030)
MAX_LINGER_MS = 1000  # chosen, not measured: few records may wait longer
ESTIMATION_FACTOR = 1.05  # MemoryRecordsBuilder.COMPRESSION_RATE_ESTIMATION_FACTOR
_KIB = 1024


def batch_size_of(stored_bytes: float, record_bytes: float, is_compressed: bool) -> int:
    """Return the batch.size for batches of this size: it limits their estimated compressed size together with the next
    record (MemoryRecordsBuilder.hasRoomFor)."""
    wanted = (ESTIMATION_FACTOR if is_compressed else 1.0) * stored_bytes + record_bytes
    return max(BATCH_SIZE, math.ceil(wanted / _KIB) * _KIB)


def linger_ms_of(records: float, records_per_second: float) -> int:
    """Return the linger.ms in which a producer sends this many records to a partition, within the usual range."""
    return max(LINGER_MS, min(math.ceil(1000 * records / records_per_second), MAX_LINGER_MS))
