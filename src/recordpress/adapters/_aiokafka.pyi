from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self, final

from typing_extensions import Buffer, disjoint_base

from recordpress.adapters._client import Client
from recordpress.adapters._entry import Batch, Entry, LazyRecord, Message, RecordSet
from recordpress.adapters._open_batch import DefaultBuilder, DefaultRecordMetadata, LegacyBuilder, LegacyRecordMetadata

def use(used: Client) -> None: ...

class DefaultRecordBatchBuilder(DefaultBuilder):
    def __init__(
        self,
        magic: int,
        compression_type: int,
        is_transactional: int,
        producer_id: int,
        producer_epoch: int,
        base_sequence: int,
        batch_size: int,
    ) -> None: ...
    def set_producer_state(self, producer_id: int, producer_epoch: int, base_sequence: int) -> None: ...
    def append(
        self,
        offset: int,
        timestamp: int | None,
        key: Buffer | None,
        value: Buffer | None,
        headers: list[tuple[str, bytes | None]],
    ) -> DefaultRecordMetadata | None: ...
    def size_in_bytes(
        self,
        offset: int,
        timestamp: int,
        key: Buffer | None,
        value: Buffer | None,
        headers: list[tuple[str, bytes | None]],
    ) -> int: ...
    @classmethod
    def size_of(cls, key: Buffer | None, value: Buffer | None, headers: list[tuple[str, bytes | None]]) -> int: ...
    @classmethod
    def estimate_size_in_bytes(
        cls, key: Buffer | None, value: Buffer | None, headers: list[tuple[str, bytes | None]]
    ) -> int: ...

class LegacyRecordBatchBuilder(LegacyBuilder):
    CODEC_MASK: ClassVar[int]
    CODEC_GZIP: ClassVar[int]
    CODEC_SNAPPY: ClassVar[int]
    CODEC_LZ4: ClassVar[int]
    def __init__(self, magic: int, compression_type: int, batch_size: int) -> None: ...
    def append(
        self, offset: int, timestamp: int | None, key: Buffer | None, value: Buffer | None, headers: object = None
    ) -> LegacyRecordMetadata | None: ...
    def size_in_bytes(self, offset: int, timestamp: int | None, key: Buffer | None, value: Buffer | None) -> int: ...
    @staticmethod
    def record_overhead(magic: int) -> int: ...

@disjoint_base
class BatchBuilder:
    def __init__(
        self,
        batch_size: int,
        compression_type: int,
        *,
        is_transactional: bool | int = 0,
        key_serializer: Callable[[Any], bytes | None] | None = None,
        value_serializer: Callable[[Any], bytes | None] | None = None,
    ) -> None: ...
    @property
    def _builder(self) -> DefaultRecordBatchBuilder: ...
    @property
    def _relative_offset(self) -> int: ...
    @property
    def _buffer(self) -> bytearray | None: ...
    @property
    def _closed(self) -> bool: ...
    def append(
        self, *, timestamp: int | None, key: Any, value: Any, headers: list[tuple[str, bytes | None]] | None = None
    ) -> DefaultRecordMetadata | None: ...
    def close(self) -> None: ...
    def closed(self) -> bool: ...
    def size(self) -> int: ...
    def record_count(self) -> int: ...

@final
class DefaultRecord(LazyRecord):
    def __init__(
        self,
        offset: int,
        timestamp: int,
        timestamp_type: int,
        key: bytes | None,
        value: bytes | None,
        headers: list[tuple[str, bytes | None]],
    ) -> None: ...

@final
class DefaultRecordBatch(Batch):
    CODEC_NONE: ClassVar[int]
    CODEC_MASK: ClassVar[int]
    CODEC_GZIP: ClassVar[int]
    CODEC_SNAPPY: ClassVar[int]
    CODEC_LZ4: ClassVar[int]
    CODEC_ZSTD: ClassVar[int]
    def __init__(self, buffer: Buffer) -> None: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> DefaultRecord: ...

@final
class LegacyRecord(Message):
    def __init__(
        self, offset: int, timestamp: int, attributes: int, key: bytes | None, value: bytes | None, crc: int
    ) -> None: ...
    @property
    def timestamp(self) -> int | None: ...
    @property
    def timestamp_type(self) -> int | None: ...

@final
class LegacyRecordBatch(Entry):
    RECORD_OVERHEAD_V0: ClassVar[int]
    RECORD_OVERHEAD_V1: ClassVar[int]
    CODEC_MASK: ClassVar[int]
    CODEC_GZIP: ClassVar[int]
    CODEC_SNAPPY: ClassVar[int]
    CODEC_LZ4: ClassVar[int]
    is_control_batch: ClassVar[bool]
    is_transactional: ClassVar[bool]
    producer_id: ClassVar[None]
    def __init__(self, buffer: Buffer, magic: int) -> None: ...
    @property
    def next_offset(self) -> int: ...
    def validate_crc(self) -> bool: ...
    def __iter__(self) -> Iterator[LegacyRecord]: ...

class MemoryRecords(RecordSet):
    def __init__(self, bytes_data: bytes) -> None: ...
    def next_batch(self) -> DefaultRecordBatch | LegacyRecordBatch | None: ...
