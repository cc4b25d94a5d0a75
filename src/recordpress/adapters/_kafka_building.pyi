from collections.abc import Iterable
from typing import Any, ClassVar

from typing_extensions import Buffer, disjoint_base

from recordpress.adapters._client import Client
from recordpress.adapters._open_batch import DefaultBuilder, DefaultRecordMetadata, LegacyBuilder, LegacyRecordMetadata

def use(used: Client, records: type, unsupported_version: type[Exception], illegal_state: type[Exception]) -> None: ...

class DefaultRecordBatchBuilder(DefaultBuilder):
    MAX_RECORD_OVERHEAD: ClassVar[int]
    def __init__(
        self,
        magic: int,
        compression_type: int,
        is_transactional: bool | int,
        producer_id: int,
        producer_epoch: int,
        base_sequence: int,
        batch_size: int,
    ) -> None: ...
    def set_producer_state(
        self, producer_id: int, producer_epoch: int, base_sequence: int, is_transactional: bool
    ) -> None: ...
    def append(
        self,
        offset: int,
        timestamp: int | None,
        key: Buffer | None,
        value: Buffer | None,
        headers: Iterable[tuple[str, Buffer | None]],
    ) -> DefaultRecordMetadata | None: ...
    @classmethod
    def header_size_in_bytes(cls) -> int: ...
    @classmethod
    def size_in_bytes(
        cls,
        offset_delta: int,
        timestamp_delta: int,
        key: Buffer | None,
        value: Buffer | None,
        headers: Iterable[tuple[str, Buffer | None]],
    ) -> int: ...
    @classmethod
    def size_of(cls, key: Buffer | None, value: Buffer | None, headers: Iterable[tuple[str, Buffer | None]]) -> int: ...
    @classmethod
    def estimate_size_in_bytes(
        cls, key: Buffer | None, value: Buffer | None, headers: Iterable[tuple[str, Buffer | None]]
    ) -> int: ...

class LegacyRecordBatchBuilder(LegacyBuilder):
    def __init__(self, magic: int, compression_type: int, batch_size: int) -> None: ...
    def append(
        self, offset: int, timestamp: int | None, key: Buffer | None, value: Buffer | None, headers: object = None
    ) -> LegacyRecordMetadata | None: ...
    def size_in_bytes(
        self, offset: int, timestamp: int | None, key: Buffer | None, value: Buffer | None, headers: object = None
    ) -> int: ...
    @classmethod
    def record_size(cls, magic: int, key: Buffer | None, value: Buffer | None) -> int: ...
    @classmethod
    def record_overhead(cls, magic: int) -> int: ...
    @classmethod
    def estimate_size_in_bytes(
        cls, magic: int, compression_type: int | None, key: Buffer | None, value: Buffer | None
    ) -> int: ...

@disjoint_base
class MemoryRecordsBuilder:
    def __init__(
        self,
        magic: int,
        compression_type: int,
        batch_size: int,
        offset: int = 0,
        transactional: bool = False,
        producer_id: int = -1,
        producer_epoch: int = -1,
        base_sequence: int = -1,
    ) -> None: ...
    @property
    def producer_id(self) -> int | None: ...
    @property
    def producer_epoch(self) -> int | None: ...
    @property
    def base_sequence(self) -> int | None: ...
    def skip(self, offsets_to_skip: int) -> None: ...
    def append(
        self,
        timestamp: int | None,
        key: Buffer | None,
        value: Buffer | None,
        headers: Iterable[tuple[str, Buffer | None]] | None = None,
    ) -> DefaultRecordMetadata | LegacyRecordMetadata | None: ...
    def set_producer_state(
        self, producer_id: int, producer_epoch: int, base_sequence: int, is_transactional: bool
    ) -> None: ...
    def records(self) -> Any: ...
    def close(self) -> None: ...
    def size_in_bytes(self) -> int: ...
    def compression_rate(self) -> float: ...
    def is_full(self) -> bool: ...
    def next_offset(self) -> int: ...
    def buffer(self) -> bytearray: ...
