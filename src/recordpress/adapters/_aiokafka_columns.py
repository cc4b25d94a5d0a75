"""Columns out of an AIOKafkaConsumer.

The consumer's fetcher keeps the bytes of its fetches, because its MemoryRecords are recordpress's. A reader takes what
was fetched as columns, decodes it in a worker thread, and moves the consumer's positions as `getmany` does.
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
    end: int | None  # where the position is meanwhile; None: it is still at the start


class _Fetched(FetchedColumns):
    """Stand-in for PartitionRecords, in which other calls find no records, so that they fetch the rest again."""

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
    """StreamReader that puts each piece of a large response in its place.

    asyncio's own copies them into a buffer that grows by an eighth at a time, and stops the transport after each: for
    records of 1 KB without a codec, this takes as much time as all the rest of fetching and decoding.
    """

    largest = 64 << 20  # a length is not believed beyond it: asyncio's reader takes what arrives
    _missing = 0  # bytes of the response that is being read
    _response: io.BytesIO  # in full length, with zeros for the missing bytes

    @classmethod
    def adopt(cls, client: Any) -> None:
        """Make the readers of the client's connections ones of this class."""
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
    """Asynchronous iterator over `Columns`, which `columns` returns. After an error it can be continued.

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
        self._error: Exception | None = None  # of a partition, after the rows of the others
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
        """Wait for records, as the consumer's getmany() does; an empty list after the time-out."""
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

    # --- what was fetched -----------------------------------------------------------------------------------

    def _take(self) -> list[_Taken]:
        """Take what the fetcher holds, until there is enough."""
        fetcher = self._fetcher
        taken: list[_Taken] = []
        bytes_left = self._max_bytes
        for partition in list(fetcher._records):
            result = fetcher._records[partition]
            if not isinstance(result, FetchResult):
                if taken:
                    break  # the error comes next time
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
        """Move the position over all of the fetch, so that the next one begins, unless it may have to be divided."""
        start = fetched.next_offset
        may_divide = self._max_records is not None or (bytes_left is not None and fetched.bytes_left > bytes_left)
        end = None if may_divide else fetched.end_offset
        if end is not None:
            result._assignment.state_value(partition).consumed_to(end)
            _unreturned(result._assignment)[partition] = (start, end)
            self._release(partition)
        return _Taken(partition, fetched, result, start, end)

    def _fetched(self, result: Any) -> _Fetched | None:
        """Return the columns of a fetch; None if its bytes were not kept, or records of it were taken otherwise."""
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
        """Move the position to the end of the rows; False if the rows may not be returned, as for `getmany`."""
        assignment = one.result._assignment
        _unreturned(assignment).pop(one.partition, None)
        state = assignment.state_value(one.partition)
        reached = one.start if one.end is None else one.end
        if not assignment.active or not state.has_valid_position or state.position != reached:
            return False
        # the last commit of these partitions may be on its way
        is_leaving = self._consumer._closed or self._consumer._subscription.reassignment_in_progress
        if isinstance(rows, Exception) or state.paused or is_leaving:
            state.consumed_to(one.start)
            self._release(one.partition)
            if isinstance(rows, Exception) and not isinstance(rows, InterruptedError):
                self._error = self._error or rows
            return False
        state.consumed_to(one.fetched.next_offset)
        if one.fetched.is_done is (one.end is None):  # all of it now, or less than was expected: an error follows
            self._release(one.partition)
        return rows is not None


def _unreturned(assignment: Any) -> dict[TopicPartition, tuple[int, int]]:
    """Start and end of what readers took and have not returned yet: a commit of positions leaves it out."""
    held: dict[TopicPartition, tuple[int, int]] | None = vars(assignment).get("recordpress_unreturned")
    if held is None:
        held = assignment.recordpress_unreturned = {}
        assignment.all_consumed_offsets = partial(_returned_offsets, assignment.all_consumed_offsets, held)
    return held


def _returned_offsets(
    consumed: Callable[[], dict[TopicPartition, OffsetAndMetadata]], held: dict[TopicPartition, tuple[int, int]]
) -> dict[TopicPartition, OffsetAndMetadata]:
    """Take the place of Assignment.all_consumed_offsets()."""
    offsets = consumed()
    for partition, (start, end) in held.items():
        if partition in offsets and offsets[partition].offset == end:
            offsets[partition] = OffsetAndMetadata(start, "")
    return offsets
