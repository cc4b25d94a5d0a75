from collections.abc import Iterable
from typing import Final

from typing_extensions import Buffer, disjoint_base

CONTROL_TYPES: Final[tuple[str, ...]]

@disjoint_base
class BatchBuilder:
    def __new__(
        cls,
        magic: int = 2,
        compression_type: str = "none",
        level: int | str | None = None,
        limit: int | None = None,
        *,
        base_offset: int = 0,
        timestamp_type: int = 0,
        log_append_time: int = -1,
        producer_id: int = -1,
        producer_epoch: int = -1,
        base_sequence: int = -1,
        partition_leader_epoch: int = -1,
        is_transactional: bool = False,
        is_control: bool = False,
        delete_horizon_ms: int | None = None,
    ) -> BatchBuilder: ...
    def append(
        self,
        value: Buffer | None,
        key: Buffer | None = None,
        timestamp: int = -1,
        headers: Iterable[tuple[str, Buffer | None]] | None = (),
        offset: int | None = None,
    ) -> bool: ...
    def append_control(
        self, type: int | str, value: Buffer, timestamp: int = -1, offset: int | None = None
    ) -> bool: ...
    def append_end_txn_marker(self, commit: bool, coordinator_epoch: int, timestamp: int = -1) -> bool: ...
    def build(self) -> bytes: ...
    def abort(self) -> None: ...
    @property
    def magic(self) -> int: ...
    @property
    def compression_type(self) -> str: ...
    @property
    def limit(self) -> int: ...
    @property
    def records_count(self) -> int: ...
    @property
    def base_offset(self) -> int: ...
    @property
    def last_offset(self) -> int | None: ...
    @last_offset.setter
    def last_offset(self, offset: int) -> None: ...
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

def empty_batch(
    base_offset: int,
    last_offset: int,
    *,
    max_timestamp: int = -1,
    timestamp_type: int = 0,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    partition_leader_epoch: int = -1,
    is_transactional: bool = False,
    is_control: bool = False,
) -> bytes: ...
