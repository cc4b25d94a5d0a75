from collections import deque
from collections.abc import Callable
from typing import Any

from typing_extensions import Buffer, disjoint_base

from recordpress.codecs import CodecRegistry
from recordpress.producer._errors import ProduceError
from recordpress.producer._estimator import CompressionRatioEstimator
from recordpress.record import Record
from recordpress.typing import Headers, Integer, Level, Time

@disjoint_base
class ProducerBatch:
    topic: str
    partition: int
    created_ms: int
    is_split: bool
    _max_record_size: int
    appends_closed: bool
    attempts: int
    _last_attempt_ms: int
    _last_append_ms: int
    _final_state: str | None
    @property
    def magic(self) -> int: ...
    @property
    def compression_type(self) -> str: ...
    @property
    def records_count(self) -> int: ...
    @property
    def is_full(self) -> bool: ...
    @property
    def is_closed(self) -> bool: ...
    @property
    def is_done(self) -> bool: ...
    @property
    def producer_id(self) -> int: ...
    @property
    def producer_epoch(self) -> int: ...
    @property
    def base_sequence(self) -> int: ...
    @property
    def is_transactional(self) -> bool: ...
    @property
    def estimated_size_in_bytes(self) -> int: ...
    @property
    def uncompressed_size(self) -> int: ...
    @property
    def compression_ratio(self) -> float: ...
    @property
    def records(self) -> bytes: ...
    def _close_for_appends(self) -> None: ...
    def _set_producer(
        self, producer_id: int, producer_epoch: int, base_sequence: int, is_transactional: bool
    ) -> None: ...
    def _close(self) -> float: ...
    def _reset_sequence(self, base_sequence: int, built: bytes | None) -> None: ...
    def _take_thunks(self) -> list[Any] | None: ...
    def _give_thunks(self, thunks: list[Any] | None) -> None: ...

@disjoint_base
class PartitionQueue:
    topic: str
    partition: int
    batches: deque[ProducerBatch]
    def push_back(self, batch: ProducerBatch) -> None: ...
    def push_front(self, at: int, batch: ProducerBatch) -> None: ...
    def pop_front(self) -> ProducerBatch: ...

@disjoint_base
class BatchFiller:
    batch_size: int
    max_request_size: int
    compression_type: str
    estimator: CompressionRatioEstimator
    codecs: Any  # the CodecTable
    _queues: dict[tuple[str, int], PartitionQueue]
    _busy: bool
    _closed: bool
    def _begin(self) -> None: ...
    def _end(self) -> None: ...
    def __new__(
        cls,
        *,
        batch_size: Integer = 16384,
        compression_type: str = "none",
        level: Level = None,
        magic: Integer = 2,
        max_request_size: Integer = 1048576,
        estimator: CompressionRatioEstimator | None = None,
        codecs: CodecRegistry | None = None,
        **others: Any,
    ) -> BatchFiller: ...
    def append(
        self,
        value: Buffer | None,
        key: Buffer | None = None,
        timestamp: Time = -1,
        headers: Headers | None = (),
        *,
        topic: str = "",
        partition: Integer = 0,
        callback: Callable[[Any, ProduceError | None], object] | None = None,
        now_ms: Integer = 0,
    ) -> bool: ...
    def upper_bound(self, value: Buffer | None, key: Buffer | None = None, headers: Headers | None = ()) -> int: ...
    def _part(self, topic: str, partition: int, created_ms: int, batch_size: int) -> ProducerBatch: ...
    def _take(self, batch: ProducerBatch, record: Record, callback: Any) -> bool: ...
