from collections.abc import Iterable
from typing import Any, Final, SupportsFloat, overload

from typing_extensions import Buffer, Unpack, disjoint_base

from recordpress.codecs import CodecRegistry
from recordpress.typing import BatchOptions, CompressionType, Headers, Integer, Level, Time

CONTROL_TYPES: Final[tuple[str, ...]]

@disjoint_base
class BatchBuilder:
    @overload
    def __new__(
        cls,
        magic: Integer = 2,
        compression_type: CompressionType = "none",
        level: Level = None,
        limit: Integer | None = None,
        *,
        base_offset: Integer = 0,
        is_control: bool = False,
        codecs: None = None,
        estimated_compression_ratio: SupportsFloat | None = None,
        **options: Unpack[BatchOptions],
    ) -> BatchBuilder: ...
    @overload
    def __new__(
        cls,
        magic: Integer = 2,
        compression_type: str = "none",
        level: Level = None,
        limit: Integer | None = None,
        *,
        base_offset: Integer = 0,
        is_control: bool = False,
        codecs: CodecRegistry,
        estimated_compression_ratio: SupportsFloat | None = None,
        **options: Unpack[BatchOptions],
    ) -> BatchBuilder: ...
    def append(
        self,
        value: Buffer | None,
        key: Buffer | None = None,
        timestamp: Time = -1,
        headers: Headers | None = (),
        offset: Integer | None = None,
    ) -> bool: ...
    def append_many(
        self,
        values: Iterable[Buffer | None],
        keys: Iterable[Buffer | None] | None = None,
        timestamps: Time | Iterable[Time] | None = None,
        headers: Iterable[Headers | None] | None = None,
        offsets: Iterable[Integer] | None = None,
    ) -> int: ...
    def append_control(
        self, type: Integer | str, value: Buffer, timestamp: Time = -1, offset: Integer | None = None
    ) -> bool: ...
    def append_end_txn_marker(self, commit: bool, coordinator_epoch: Integer, timestamp: Time = -1) -> bool: ...
    def build(self) -> bytes: ...
    def abort(self) -> None: ...
    @property
    def magic(self) -> int: ...
    @property
    def compression_type(self) -> CompressionType | Any: ...  # another name if codecs has one
    @property
    def limit(self) -> int: ...
    @property
    def records_count(self) -> int: ...
    @property
    def base_offset(self) -> int: ...
    @property
    def last_offset(self) -> int | None: ...
    @last_offset.setter
    def last_offset(self, offset: Integer) -> None: ...
    @property
    def next_offset(self) -> int: ...
    @property
    def base_timestamp(self) -> int | None: ...
    @property
    def max_timestamp(self) -> int: ...
    @property
    def offset_of_max_timestamp(self) -> int: ...
    @property
    def uncompressed_size(self) -> int: ...
    @property
    def size_in_bytes(self) -> int: ...
    @property
    def is_closed(self) -> bool: ...
