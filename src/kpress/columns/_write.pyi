from kpress.codecs import CodecTable
from kpress.columns._table import BatchTable
from kpress.typing import ArrowArray, ArrowStream, CompressionType, Integer, Level, Time

def write_columns(
    data: ArrowArray | ArrowStream,
    compression_type: CompressionType = "none",
    level: Level = None,
    *,
    magic: Integer = 2,
    base_offset: Integer | None = None,
    batch_bytes: Integer | None = 1 << 20,
    batch_records: Integer | None = None,
    timestamp_type: Integer | None = None,
    log_append_time: Time = -1,
    producer_id: Integer = -1,
    producer_epoch: Integer = -1,
    base_sequence: Integer = -1,
    partition_leader_epoch: Integer = -1,
    is_transactional: bool = False,
    delete_horizon_ms: Time | None = None,
    batches: BatchTable | None = None,
    coerce_timestamps: bool = False,
    codecs: CodecTable | None = None,
) -> bytes: ...
