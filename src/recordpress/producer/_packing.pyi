from collections.abc import Iterable
from typing import Self, overload

from typing_extensions import Buffer, Unpack, disjoint_base

from recordpress.codecs import CodecRegistry
from recordpress.typing import ArrowArray, ArrowStream, BatchOptions, CompressionType, Headers, Integer, Level, Time

@disjoint_base
class BatchPacker:
    @property
    def packed(self) -> int: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> bytes: ...

@overload
def pack(
    values: Iterable[Buffer | None] | ArrowArray | ArrowStream,
    keys: Iterable[Buffer | None] | None = None,
    timestamps: Time | Iterable[Time] | None = None,
    headers: Iterable[Headers | None] | None = None,
    *,
    limit: Integer,
    compression_type: CompressionType = "none",
    level: Level = None,
    offsets: Iterable[Integer] | None = None,
    base_offset: Integer | None = None,
    coerce_timestamps: bool = False,
    codecs: None = None,
    **options: Unpack[BatchOptions],
) -> BatchPacker: ...
@overload
def pack(
    values: Iterable[Buffer | None] | ArrowArray | ArrowStream,
    keys: Iterable[Buffer | None] | None = None,
    timestamps: Time | Iterable[Time] | None = None,
    headers: Iterable[Headers | None] | None = None,
    *,
    limit: Integer,
    compression_type: str = "none",
    level: Level = None,
    offsets: Iterable[Integer] | None = None,
    base_offset: Integer | None = None,
    coerce_timestamps: bool = False,
    codecs: CodecRegistry,
    **options: Unpack[BatchOptions],
) -> BatchPacker: ...
