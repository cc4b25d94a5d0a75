from collections.abc import Iterable

from typing_extensions import Buffer

from kpress.codecs import CodecTable
from kpress.typing import CompressionType, Headers, Integer, Level, Time

def write_records(
    values: Iterable[Buffer | None],
    keys: Iterable[Buffer | None] | None = None,
    timestamps: Time | Iterable[Time] | None = None,
    headers: Iterable[Headers | None] | None = None,
    *,
    offsets: Iterable[Integer] | None = None,
    compression_type: CompressionType = "none",
    level: Level = None,
    magic: Integer = 2,
    base_offset: Integer | None = None,
    batch_bytes: Integer | None = None,
    batch_records: Integer | None = None,
    timestamp_type: Integer = 0,
    log_append_time: Time = -1,
    producer_id: Integer = -1,
    producer_epoch: Integer = -1,
    base_sequence: Integer = -1,
    partition_leader_epoch: Integer = -1,
    is_transactional: bool = False,
    delete_horizon_ms: Time | None = None,
    codecs: CodecTable | None = None,
) -> bytes: ...
def empty_batch(
    base_offset: Integer,
    last_offset: Integer,
    *,
    max_timestamp: Time = -1,
    timestamp_type: Integer = 0,
    producer_id: Integer = -1,
    producer_epoch: Integer = -1,
    base_sequence: Integer = -1,
    partition_leader_epoch: Integer = -1,
    is_transactional: bool = False,
    is_control: bool = False,
) -> bytes: ...
