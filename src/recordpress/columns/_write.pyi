from typing import overload

from typing_extensions import Unpack

from recordpress.codecs import CodecRegistry
from recordpress.columns.header_table import BatchTable
from recordpress.typing import ArrowArray, ArrowStream, BatchOptions, CompressionType, Integer, Level

@overload
def write_columns(
    data: ArrowArray | ArrowStream,
    compression_type: CompressionType = "none",
    level: Level = None,
    *,
    magic: Integer = 2,
    base_offset: Integer | None = None,
    batch_bytes: Integer | None = 1 << 20,
    batch_records: Integer | None = None,
    batches: BatchTable | None = None,
    coerce_timestamps: bool = False,
    codecs: None = None,
    **options: Unpack[BatchOptions],
) -> bytes: ...
@overload
def write_columns(
    data: ArrowArray | ArrowStream,
    compression_type: str = "none",
    level: Level = None,
    *,
    magic: Integer = 2,
    base_offset: Integer | None = None,
    batch_bytes: Integer | None = 1 << 20,
    batch_records: Integer | None = None,
    batches: BatchTable | None = None,
    coerce_timestamps: bool = False,
    codecs: CodecRegistry,
    **options: Unpack[BatchOptions],
) -> bytes: ...
