from typing import Final, SupportsFloat

from typing_extensions import Buffer, disjoint_base

from kpress.codecs import CodecTable
from kpress.typing import CompressionType, Headers, Integer, Level, Time

CONTROL_TYPES: Final[tuple[str, ...]]

@disjoint_base
class BatchBuilder:
    def __new__(
        cls,
        magic: Integer = 2,
        compression_type: CompressionType = "none",
        level: Level = None,
        limit: Integer | None = None,
        *,
        base_offset: Integer = 0,
        timestamp_type: Integer = 0,
        log_append_time: Time = -1,
        producer_id: Integer = -1,
        producer_epoch: Integer = -1,
        base_sequence: Integer = -1,
        partition_leader_epoch: Integer = -1,
        is_transactional: bool = False,
        is_control: bool = False,
        delete_horizon_ms: Time | None = None,
        codecs: CodecTable | None = None,
        estimated_compression_ratio: SupportsFloat | None = None,
    ) -> BatchBuilder: ...
    def append(
        self,
        value: Buffer | None,
        key: Buffer | None = None,
        timestamp: Time = -1,
        headers: Headers | None = (),
        offset: Integer | None = None,
    ) -> bool: ...
    def append_control(
        self, type: Integer | str, value: Buffer, timestamp: Time = -1, offset: Integer | None = None
    ) -> bool: ...
    def append_end_txn_marker(self, commit: bool, coordinator_epoch: Integer, timestamp: Time = -1) -> bool: ...
    def build(self) -> bytes: ...
    def abort(self) -> None: ...
    @property
    def magic(self) -> int: ...
    @property
    def compression_type(self) -> CompressionType: ...
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
