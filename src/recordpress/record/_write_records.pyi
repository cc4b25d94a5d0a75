from collections.abc import Iterable
from typing import overload

from typing_extensions import Buffer, Unpack

from recordpress.codecs import CodecRegistry
from recordpress.typing import BatchOptions, CompressionType, Headers, Integer, Level, Time

@overload
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
    codecs: None = None,
    **options: Unpack[BatchOptions],
) -> bytes: ...
@overload
def write_records(
    values: Iterable[Buffer | None],
    keys: Iterable[Buffer | None] | None = None,
    timestamps: Time | Iterable[Time] | None = None,
    headers: Iterable[Headers | None] | None = None,
    *,
    offsets: Iterable[Integer] | None = None,
    compression_type: str = "none",
    level: Level = None,
    magic: Integer = 2,
    base_offset: Integer | None = None,
    batch_bytes: Integer | None = None,
    batch_records: Integer | None = None,
    codecs: CodecRegistry,
    **options: Unpack[BatchOptions],
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
