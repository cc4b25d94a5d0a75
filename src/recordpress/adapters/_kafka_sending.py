"""Columns to a KafkaProducer: finished batches go into the queue of its RecordAccumulator."""

from __future__ import annotations

import contextlib
import time
from array import array
from typing import TYPE_CHECKING, Any

from kafka.errors import IllegalStateError, KafkaError, KafkaTimeoutError
from kafka.partitioner import DefaultPartitioner, StickyPartitioner
from kafka.producer.future import FutureRecordMetadata
from kafka.producer.producer_batch import ProducerBatch
from kafka.structs import TopicPartition

from recordpress.adapters._packed import (
    PackedBatch,
    QueuedBatch,
    SentBatch,
    offsets_of_rows,
    packed_batches,
    streams_of,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from kafka import KafkaProducer

    from recordpress.typing import Level

_QUEUED = 5  # maximum number of one call's batches in the client's queue, whose size the client does not limit


class _Records:
    """Stand-in for the client's MemoryRecordsBuilder, with the methods that the client calls: a full batch."""

    def __init__(self, packed: PackedBatch) -> None:
        self._packed = packed
        self.producer_id, self.producer_epoch, self.base_sequence = -1, -1, -1

    def append(self, *_: Any) -> None:
        """Return None: the batch is full."""

    def set_producer_state(
        self, producer_id: int, producer_epoch: int, base_sequence: int, is_transactional: bool
    ) -> None:
        self.producer_id, self.producer_epoch, self.base_sequence = producer_id, producer_epoch, base_sequence
        self._packed.set_producer(producer_id, producer_epoch, base_sequence, is_transactional)

    def close(self) -> None:
        """Do nothing: the batch is closed."""

    def is_full(self) -> bool:
        return True

    def next_offset(self) -> int:
        return self._packed.count

    def size_in_bytes(self) -> int:
        return len(self._packed.data)

    def compression_rate(self) -> float:
        return 1.0  # for the client's metric: the size before compression is not known

    def buffer(self) -> bytes:
        return self._packed.data


class _RecordFutures(list[Any]):
    """Futures of a batch's records; all but the first are created when the client splits the batch."""

    def __init__(self, batch: ProducerBatch) -> None:
        self._batch = batch
        super().__init__([self._future(0)])

    def _future(self, number: int) -> FutureRecordMetadata:
        return FutureRecordMetadata(self._batch.produce_future, number, -1, None, -1, -1, -1)

    def __len__(self) -> int:
        return int(self._batch.record_count)

    def __getitem__(self, number: Any) -> Any:
        for following in range(self.made(), number + 1):
            self.append(self._future(following))
        return super().__getitem__(number)

    def made(self) -> int:
        """Return the number of futures that have been created."""
        return super().__len__()


class SentColumns:
    """Columns that were passed to a producer: the result of `send_columns`.

    Examples
    --------
    >>> from recordpress.adapters import kafka_python as fast
    >>> def send(producer, table):
    ...     return [batch.offset for batch in fast.send_columns(producer, "orders", table).batches()]
    """

    def __init__(self, topic: str, num_rows: int) -> None:
        self._topic = topic
        self._num_rows = num_rows
        self._queued: list[QueuedBatch] = []

    def batches(self, timeout: float | None = None) -> list[SentBatch]:
        """Wait until all batches are written, and return them with their offsets.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait for each batch.

        Returns
        -------
        list of SentBatch
            In the order in which they were passed to the producer. A batch that the client split, because the broker
            rejected its size, has the offset of its first record.

        Raises
        ------
        KafkaError
            The client's error for the first batch that was not written; KafkaTimeoutError after `timeout`.

        Examples
        --------
        >>> def last_offset(sent):
        ...     batch = sent.batches()[-1]
        ...     return batch.offset + batch.num_rows - 1
        """
        return [
            SentBatch(self._topic, queued.partition, queued.future[0].get(timeout).offset, queued.batch.count)
            for queued in self._queued
        ]

    def offsets(self, timeout: float | None = None) -> array[int]:
        """Wait until all batches are written, and return the offsets of the rows.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait for each batch.

        Returns
        -------
        array of int64
            The offset of each row of the table; -1 if the broker does not report it (acks=0).

        Raises
        ------
        KafkaError
            The client's error for the first batch that was not written; KafkaTimeoutError after `timeout`.

        Examples
        --------
        >>> def with_offsets(sent, table):
        ...     return table.append_column("offset", [sent.offsets()])
        """
        written = zip(self._queued, self.batches(timeout), strict=True)
        return offsets_of_rows(
            self._num_rows, ((queued, _offsets(queued, one, timeout)) for queued, one in written if one.offset >= 0)
        )


def _offsets(queued: QueuedBatch, written: SentBatch, timeout: float | None) -> range | list[int]:
    """Return the offsets of a batch's records: consecutive, unless the client split the batch."""
    if queued.future.made() == 1:
        return range(written.offset, written.offset + written.num_rows)
    return [queued.future[number].get(timeout).offset for number in range(written.num_rows)]


def send_table(
    producer: KafkaProducer, topic: str, table: pa.Table, partition: int | None, level: Level, limit: int | None
) -> SentColumns:
    """Pass all batches to the producer, partition by partition."""
    partitions = sorted(producer.partitions_for(topic))
    most = producer.config["max_request_size"]
    deadline = producer.config["max_block_ms"] / 1000
    partitioner = producer.config["partitioner"]

    def partition_of(key: bytes | None) -> int:
        return int(producer._partition(topic, None, key, None, key, None))

    of_key = None if isinstance(partitioner, DefaultPartitioner) else partition_of
    sent = SentColumns(topic, table.num_rows)
    codec = producer._accumulator.config["compression_attrs"]
    for stream in streams_of(table, partition, partitions, of_key):
        first = 0
        for batch in packed_batches(stream.table, codec, level, min(limit or most, most)):
            number = (
                partition_of(None)
                if stream.partition is None
                else producer._partition(topic, stream.partition, None, None, None, None)
            )
            if len(sent._queued) >= _QUEUED:
                _wait(sent._queued[-_QUEUED], deadline)
            future = _queue(producer, TopicPartition(topic, number), batch)
            sent._queued.append(QueuedBatch(batch, stream, first, number, future))
            first += batch.count
            if stream.partition is None and isinstance(partitioner, StickyPartitioner):
                partitioner.on_new_batch(topic, producer._metadata, number)
    return sent


def _wait(queued: QueuedBatch, seconds: float) -> None:
    """Wait for an earlier batch; reading the result raises its error."""
    try:
        with contextlib.suppress(KafkaError):
            queued.future[0].get(seconds)
    finally:
        if not queued.future[0].is_done:
            raise KafkaTimeoutError(f"a batch was not written within max_block_ms ({seconds:g} s)")


def _queue(producer: Any, partition: TopicPartition, packed: PackedBatch) -> _RecordFutures:
    """Append a batch to the accumulator's queue, as its append() does."""
    accumulator = producer._accumulator
    if producer._transaction_manager and producer._transaction_manager.is_transactional():
        producer._transaction_manager.maybe_add_partition_to_transaction(partition)
    accumulator._appends_in_progress.increment()
    try:
        with accumulator._tp_lock(partition):
            if accumulator._closed:
                raise IllegalStateError("RecordAccumulator is closed")
            batch = ProducerBatch(partition, _Records(packed), now=time.monotonic())
            batch._record_futures = _RecordFutures(batch)
            accumulator._batches[partition].append(batch)
            accumulator._incomplete.add(batch)
    finally:
        accumulator._appends_in_progress.decrement()
    producer._sender.wakeup()
    futures: _RecordFutures = batch._record_futures
    return futures
