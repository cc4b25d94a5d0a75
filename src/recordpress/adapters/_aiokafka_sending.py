"""Columns to an AIOKafkaProducer, through its public send_batch()."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aiokafka import AIOKafkaProducer
from aiokafka.partitioner import DefaultPartitioner

from recordpress.adapters._packed import (
    PackedBatch,
    QueuedBatch,
    RowStream,
    SentBatch,
    offsets_of_rows,
    packed_batches,
    streams_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from recordpress.typing import Level


_SMALL = 16 << 10  # bytes of a table: packing a smaller one takes less time than starting a thread


async def _at_once(call: Callable[..., Any], *arguments: Any) -> Any:
    """Do what asyncio.to_thread() does, in this thread."""
    return call(*arguments)


class _Batch:
    """Stand-in for the client's BatchBuilder, with the methods that send_batch() calls."""

    def __init__(self, packed: PackedBatch, transactions: Any) -> None:
        self._packed = packed
        self._is_transactional = transactions is not None and transactions.transactional_id is not None

    def _set_producer_state(self, producer_id: int, producer_epoch: int, base_sequence: int) -> None:
        self._packed.set_producer(producer_id, producer_epoch, base_sequence, self._is_transactional)

    def _build(self) -> bytes:
        return self._packed.data

    def append(self, **_: Any) -> None:
        """Return None: the batch is full."""

    def close(self) -> None:
        """Do nothing: the batch is closed."""

    def closed(self) -> bool:
        return True

    def size(self) -> int:
        return len(self._packed.data)

    def record_count(self) -> int:
        return self._packed.count


class SentColumns:
    """Columns that were passed to a producer: the result of `send_columns`.

    Examples
    --------
    >>> from recordpress.adapters import aiokafka as fast
    >>> async def send(producer, table):
    ...     sent = await fast.send_columns(producer, "orders", table)
    ...     return [batch.offset for batch in await sent.batches()]
    """

    def __init__(self, topic: str, num_rows: int) -> None:
        self._topic = topic
        self._num_rows = num_rows
        self._queued: list[QueuedBatch] = []

    async def batches(self) -> list[SentBatch]:
        """Wait until all batches are written, and return them with their offsets.

        Returns
        -------
        list of SentBatch
            In the order in which they were passed to the producer.

        Raises
        ------
        KafkaError
            The client's error for the first batch that was not written.

        Examples
        --------
        >>> async def last_offset(sent):
        ...     batch = (await sent.batches())[-1]
        ...     return batch.offset + batch.num_rows - 1
        """
        futures = [queued.future for queued in self._queued]
        await asyncio.gather(*futures, return_exceptions=True)
        written = [future.result() for future in futures]
        return [
            SentBatch(self._topic, queued.partition, -1 if metadata is None else metadata.offset, queued.batch.count)
            for queued, metadata in zip(self._queued, written, strict=True)
        ]

    async def offsets(self) -> array[int]:
        """Wait until all batches are written, and return the offsets of the rows.

        Returns
        -------
        array of int64
            The offset of each row of the table; -1 if the broker does not report it (acks=0).

        Raises
        ------
        KafkaError
            The client's error for the first batch that was not written.

        Examples
        --------
        >>> async def with_offsets(sent, table):
        ...     return table.append_column("offset", [await sent.offsets()])
        """
        written = zip(self._queued, await self.batches(), strict=True)
        return offsets_of_rows(
            self._num_rows,
            ((queued, range(one.offset, one.offset + one.num_rows)) for queued, one in written if one.offset >= 0),
        )


async def send_table(
    producer: AIOKafkaProducer, topic: str, table: pa.Table, partition: int | None, level: Level, limit: int | None
) -> SentColumns:
    """Pass all batches to the producer: partitions concurrently, the batches of each partition in order."""
    client: Any = producer
    partitions = sorted(await producer.partitions_for(topic))
    available = list(client._metadata.available_partitions_for_topic(topic))

    def partition_of(key: bytes | None) -> int:
        return int(client._partitioner(key, partitions, available))

    of_key = None if isinstance(client._partitioner, DefaultPartitioner) else partition_of
    run = _at_once if table.nbytes < _SMALL else asyncio.to_thread
    streams = await run(streams_of, table, partition, partitions, of_key)
    limit = min(limit or client._max_request_size, client._max_request_size)
    sent = SentColumns(topic, table.num_rows)

    async def send(stream: RowStream) -> None:
        batches = packed_batches(stream.table, client._message_accumulator._compression_type, level, limit)
        first = 0
        while (batch := await run(next, batches, None)) is not None:
            number = partition_of(None) if stream.partition is None else stream.partition
            future = await producer.send_batch(_Batch(batch, client._txn_manager), topic, partition=number)
            sent._queued.append(QueuedBatch(batch, stream, first, number, future))
            first += batch.count

    try:
        async with asyncio.TaskGroup() as group:
            for stream in streams:
                group.create_task(send(stream))
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None  # the client's error, as send_batch() raises it
    return sent
