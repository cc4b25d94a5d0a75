from collections.abc import Iterator
from typing import ClassVar, Self, final

from typing_extensions import Buffer

from recordpress.adapters._client import Client
from recordpress.adapters._entry import Batch, Entry, LazyRecord, Message, RecordSet

def use(used: Client) -> None: ...

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
