"""Columns from an AIOKafkaConsumer.

The consumer's fetcher keeps the bytes of its fetches, because it uses recordpress's MemoryRecords. A reader takes these
bytes, decodes them to columns in a worker thread, and moves the consumer's positions as `getmany` does.
"""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, NamedTuple, Self

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.consumer.fetcher import READ_COMMITTED, FetchResult, PartitionRecords
from aiokafka.errors import ConsumerStoppedError
from aiokafka.structs import OffsetAndMetadata

from recordpress.adapters._aiokafka import MemoryRecords
from recordpress.adapters._client import Client
from recordpress.adapters._fetched import ColumnChoice, FetchedColumns, rebound
from recordpress.columns import Columns, concat
from recordpress.errors import InUseError


class _Taken(NamedTuple):
    """Records of a partition that a reader took from the fetcher."""

    partition: TopicPartition
    fetched: _Fetched
    result: Any  # aiokafka's FetchResult
    start: int
    end: int | None  # the position until the rows are returned; None: it is still at the start


class _Fetched(FetchedColumns):
    """Stand-in for PartitionRecords that is empty for other calls, so that they fetch the rest again."""

    reader: ColumnsReader
    end_offset: int | None

    @property
    def next_fetch_offset(self) -> int:
        return self.next_offset

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        raise StopIteration


class ResponseReader(asyncio.StreamReader):
    """StreamReader that writes each chunk of a large response directly to its place in the result.

    asyncio's reader copies the chunks into a buffer that grows by an eighth at a time, and pauses the transport after
    each chunk: for uncompressed records of 1 KB, this takes as much time as all the rest of fetching and decoding.
    """

    largest = 64 << 20  # asyncio's reader reads longer responses: it allocates memory only for what arrives
    _missing = 0  # bytes that are still missing from the response that is being read
    _response: io.BytesIO  # at its full length, with zeros for the missing bytes

    @classmethod
    def adopt(cls, client: Any) -> None:
        """Change the class of the readers of the client's connections to this one."""
        for connection in client._conns.values():
            if type(connection._reader) is asyncio.StreamReader:
                connection._reader.__class__ = cls

    def feed_data(self, data: Any) -> None:
        reader: Any = self
        if not self._missing:
            super().feed_data(data)
            return
        piece, rest = data[: self._missing], data[self._missing :]
        self._response.write(piece)
        self._missing -= len(piece)
        if not self._missing:
            reader._wakeup_waiter()
        super().feed_data(rest)

    async def readexactly(self, n: int) -> bytes:
        reader: Any = self
        if not 2 * reader._limit < n <= self.largest or reader._exception is not None:
            return await super().readexactly(n)
        self._response = io.BytesIO()
        self._response.seek(n - 1)
        self._response.write(b"\0")
        self._response.seek(0)
        self._response.write(reader._buffer[:n])
        del reader._buffer[:n]
        self._missing = n - self._response.tell()
        try:
            while self._missing:
                if reader._eof:
                    raise asyncio.IncompleteReadError(self._response.getvalue()[: -self._missing], n)
                await reader._wait_for_data("readexactly")
            reader._maybe_resume_transport()
            return self._response.getvalue()
        finally:
            self._missing = 0
            del self._response


class ColumnsReader(AsyncIterator[Any]):
    """Asynchronous iterator over `Columns`, returned by `columns`. Iteration can continue after an error.

    Examples
    --------
    >>> from collections.abc import AsyncIterator
    >>> from recordpress.adapters.aiokafka import ColumnsReader
    >>> issubclass(ColumnsReader, AsyncIterator)
    True
    """

    def __init__(
        self,
        consumer: AIOKafkaConsumer,
        client: Client,
        choice: ColumnChoice,
        *,
        max_bytes: int | None,
        timeout_ms: int | None,
        by_partition: bool,
    ) -> None:
        self._consumer: Any = consumer
        self._fetcher: Any = consumer._fetcher
        self._client = client
        self._choice = choice
        self._max_bytes = max_bytes
        self._max_records: int | None = self._consumer._max_poll_records
        self._timeout = None if timeout_ms is None else timeout_ms / 1000
        self._by_partition = by_partition
        self._error: Exception | None = None  # error of a partition, raised after the rows of the other partitions
        self._is_reading = False
        self._fetcher._proc_fetch_request = rebound(self._fetcher._proc_fetch_request, MemoryRecords=MemoryRecords)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Columns | dict[TopicPartition, Columns]:
        if self._is_reading:
            raise InUseError("another task is reading from the iterator")
        self._is_reading = True
        try:
            return await self._read()
        except ConsumerStoppedError:
            raise StopAsyncIteration from None
        finally:
            self._is_reading = False

    async def _read(self) -> Columns | dict[TopicPartition, Columns]:
        deadline = None if self._timeout is None else time.monotonic() + self._timeout
        while True:
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            with self._consumer._subscription.fetch_context():
                taken = await self._wait(deadline)
                if not taken:
                    raise StopAsyncIteration
                results = await self._decode(taken)
            if results and self._by_partition:
                return results
            if results:
                parts = list(results.values())
                return parts[0] if len(parts) == 1 else concat(parts)

    async def _wait(self, deadline: float | None) -> list[_Taken]:
        """Wait for records, as the consumer's getmany() does; return an empty list after the time-out."""
        subscriptions, fetcher = self._consumer._subscription, self._fetcher
        while True:
            if self._consumer._closed:
                raise ConsumerStoppedError
            self._consumer._coordinator.check_errors()
            ResponseReader.adopt(self._consumer._client)
            if subscriptions.reassignment_in_progress:
                waiter = asyncio.ensure_future(subscriptions.wait_for_assignment())
            else:
                taken = self._take()
                if taken:
                    return taken
                waiter = fetcher._create_fetch_waiter()
            try:
                remaining = None if deadline is None else max(0, deadline - time.monotonic())
                await asyncio.wait([waiter], timeout=remaining)
                if not waiter.done():
                    return []
                waiter.result()
            finally:
                waiter.cancel()

    # --- fetched records ------------------------------------------------------------------------------------

    def _take(self) -> list[_Taken]:
        """Take what the fetcher holds, up to the first error; raise the error if nothing comes before it."""
        fetcher = self._fetcher
        taken: list[_Taken] = []
        bytes_left = self._max_bytes
        for partition in list(fetcher._records):
            result = fetcher._records[partition]
            if not isinstance(result, FetchResult):
                if taken:
                    break  # the next call raises the error
                self._release(partition)
                result.check_raise()  # always raises
            fetched = self._fetched(result) if result.check_assignment(partition) else None
            if fetched is None:
                self._release(partition)
                continue
            taken.append(self._take_one(partition, result, fetched, bytes_left))
            if bytes_left is not None:
                bytes_left -= fetched.bytes_left
        return taken

    def _take_one(self, partition: TopicPartition, result: Any, fetched: _Fetched, bytes_left: int | None) -> _Taken:
        """Move the position past the whole fetch, so that the next fetch begins, unless this one may be divided."""
        start = fetched.next_offset
        may_divide = self._max_records is not None or (bytes_left is not None and fetched.bytes_left > bytes_left)
        end = None if may_divide else fetched.end_offset
        if end is not None:
            result._assignment.state_value(partition).consumed_to(end)
            _unreturned(result._assignment)[partition] = (start, end)
            self._release(partition)
        return _Taken(partition, fetched, result, start, end)

    def _fetched(self, result: Any) -> _Fetched | None:
        """Return the columns of a fetch, or None if its bytes were not kept or another call has taken records of it."""
        held = result._partition_records
        if isinstance(held, _Fetched):
            return held if held.reader is self else None
        records = held._records
        if type(held) is not PartitionRecords or not isinstance(records, MemoryRecords) or records.position:
            return None
        aborted = held._aborted_transactions if held._isolation_level == READ_COMMITTED else None
        fetched = _Fetched(records.owner, self._choice, held.next_fetch_offset, aborted, held._check_crcs, self._client)
        fetched.reader = self
        fetched.end_offset = records.end_offset()
        held._records_iterator = None  # it refers to `held`, which would keep the bytes until garbage is collected
        result._partition_records = fetched
        return fetched

    def _release(self, partition: TopicPartition) -> None:
        """Let the fetcher fetch this partition again, from its position."""
        self._fetcher._records.pop(partition, None)
        self._fetcher._notify(self._fetcher._wait_consume_future)

    # --- decoding -------------------------------------------------------------------------------------------

    async def _decode(self, taken: list[_Taken]) -> dict[TopicPartition, Columns]:
        """Decode in a worker thread; return the rows of partitions that the consumer may still return."""
        try:
            decoded = await asyncio.to_thread(self._decode_all, taken)
        except BaseException:
            for one in taken:
                self._settle(one, InterruptedError())
            raise
        return {
            one.partition: self._choice.place(rows, *one.partition)
            for one, rows in zip(taken, decoded, strict=True)
            if self._settle(one, rows) and isinstance(rows, Columns)
        }

    def _decode_all(self, taken: list[_Taken]) -> list[Columns | Exception | None]:
        decoded: list[Columns | Exception | None] = []
        bytes_left, records_left = self._max_bytes, self._max_records
        for one in taken:
            position = one.fetched.position
            rows: Columns | Exception | None = None
            try:
                if records_left != 0 and (bytes_left is None or bytes_left > 0):
                    rows = one.fetched.take(records_left, bytes_left)
            except Exception as error:
                rows = error
            decoded.append(rows)
            if bytes_left is not None:
                bytes_left -= one.fetched.position - position
            if records_left is not None and isinstance(rows, Columns):
                records_left -= len(rows)
        return decoded

    def _settle(self, one: _Taken, rows: Columns | Exception | None) -> bool:
        """Move the position to the end of the rows; return False if the rules of `getmany` forbid returning them."""
        assignment = one.result._assignment
        _unreturned(assignment).pop(one.partition, None)
        state = assignment.state_value(one.partition)
        reached = one.start if one.end is None else one.end
        if not assignment.active or not state.has_valid_position or state.position != reached:
            return False
        # the last commit of these partitions may be in progress
        is_leaving = self._consumer._closed or self._consumer._subscription.reassignment_in_progress
        if isinstance(rows, Exception) or state.paused or is_leaving:
            state.consumed_to(one.start)
            self._release(one.partition)
            if isinstance(rows, Exception) and not isinstance(rows, InterruptedError):
                self._error = self._error or rows
            return False
        state.consumed_to(one.fetched.next_offset)
        if one.fetched.is_done is (one.end is None):  # all rows are read, or fewer than expected: an error follows
            self._release(one.partition)
        return rows is not None


def _unreturned(assignment: Any) -> dict[TopicPartition, tuple[int, int]]:
    """Return start and end of the records that readers have taken but not returned: commits leave them out."""
    held: dict[TopicPartition, tuple[int, int]] | None = vars(assignment).get("recordpress_unreturned")
    if held is None:
        held = assignment.recordpress_unreturned = {}
        assignment.all_consumed_offsets = partial(_returned_offsets, assignment.all_consumed_offsets, held)
    return held


def _returned_offsets(
    consumed: Callable[[], dict[TopicPartition, OffsetAndMetadata]], held: dict[TopicPartition, tuple[int, int]]
) -> dict[TopicPartition, OffsetAndMetadata]:
    """Return Assignment.all_consumed_offsets() without the records that readers have not returned."""
    offsets = consumed()
    for partition, (start, end) in held.items():
        if partition in offsets and offsets[partition].offset == end:
            offsets[partition] = OffsetAndMetadata(start, "")
    return offsets
