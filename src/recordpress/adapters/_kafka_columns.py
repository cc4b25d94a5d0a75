"""Columns from a KafkaConsumer.

recordpress replaces the class that the consumer's fetcher uses for fetched partitions. In a call to `poll_columns`, the
new class returns columns to the client's own poll(), which does the rest: positions, pauses, rebalances, metrics. In
other calls, it returns messages.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from kafka import KafkaConsumer
from kafka.consumer.fetcher import Fetcher, IsolationLevel

from recordpress.adapters._client import Client
from recordpress.adapters._fetched import ColumnChoice, FetchedColumns, rebound
from recordpress.columns import Columns


class ColumnsPoll:
    """One call to `poll_columns`: its columns, and how many more bytes it may return."""

    def __init__(self, fetcher: Any, client: Client, choice: ColumnChoice, max_bytes: int | None) -> None:
        before: ColumnsPoll | None = vars(fetcher).get("recordpress_poll")
        self.client = client
        self.choice: ColumnChoice = before.choice if before is not None and before.choice.is_as(choice) else choice
        self.bytes_left = max_bytes
        self.is_running = False

    def run(self, consumer: KafkaConsumer, timeout_ms: int, max_records: int | None) -> dict[Any, list[Columns]]:
        """Return the results by TopicPartition."""
        consumer._fetcher.recordpress_poll = self
        self.is_running = True
        try:
            results: dict[Any, list[Columns]] = consumer.poll(timeout_ms, max_records)
        finally:
            self.is_running = False
        return results


def take_over(fetcher: Any, memory_records: type[Any]) -> None:
    """Make this fetcher, and no other, keep the bytes that it receives, in FetchedPartition objects."""
    if not isinstance(fetcher.PartitionRecords, partial):
        fetcher._parse_fetched_data = rebound(fetcher._parse_fetched_data, MemoryRecords=memory_records)
        fetcher.PartitionRecords = partial(FetchedPartition, fetcher)
        for records in (fetcher._next_partition_records, *fetcher._paused_partition_records.values()):
            if records is not None:
                records.drain()  # the fetcher fetches them again, from the position


class _Results(list[Columns]):
    """Results whose length is the number that the client counts: rows, as it counts messages."""

    def __init__(self, results: list[Columns], counted: int) -> None:
        super().__init__(results)
        self._counted = counted

    def __len__(self) -> int:
        return self._counted


class FetchedPartition(Fetcher.PartitionRecords):  # type: ignore[misc]
    """Records of one partition from one fetch: messages, or columns in a call of `poll_columns`."""

    next_fetch_offset: int

    def __init__(self, fetcher: Any, fetch_offset: int, partition: Any, records: Any, **options: Any) -> None:
        super().__init__(fetch_offset, partition, records, **options)
        self._fetcher = fetcher
        self._records = records
        self._aborted = [(one.producer_id, one.first_offset) for one in self.aborted_transactions]
        self._fetched: FetchedColumns | None = None
        self._choice: ColumnChoice | None = None  # of the columns in `_fetched`

    def take(self, n: int | None = None) -> list[Any]:
        """Return messages or results; return none after a take of the other kind, so that the rest is fetched again."""
        poll: ColumnsPoll = self._fetcher.recordpress_poll
        if not poll.is_running and self._fetched is None:
            messages: list[Any] = super().take(n)
            return messages
        if not poll.is_running or self._records.position or self._choice not in (None, poll.choice):
            self.drain()
            return []
        return self._take_columns(poll, n)

    def _take_columns(self, poll: ColumnsPoll, n: int | None) -> list[Columns]:
        if self._fetched is None:
            aborted = self._aborted if self.isolation_level == IsolationLevel.READ_COMMITTED else None
            self._choice = poll.choice
            self._fetched = FetchedColumns(
                self._records.owner, poll.choice, self.next_fetch_offset, aborted, self.check_crcs, poll.client
            )
        fetched = self._fetched
        position = fetched.position
        rows = fetched.take(n, None if poll.bytes_left is None else max(poll.bytes_left, 1))
        self.next_fetch_offset = fetched.next_offset
        self.bytes_read += fetched.position - position
        if poll.bytes_left is not None:
            poll.bytes_left -= fetched.position - position
        if rows is not None:
            self.records_read += len(rows)
            self.leader_epoch = rows["partitionLeaderEpoch"][len(rows) - 1]
        if fetched.is_done:
            self.drain()
        if rows is None:
            return []
        counted = n if n is not None and poll.bytes_left is not None and poll.bytes_left <= 0 else len(rows)
        return _Results([poll.choice.place(rows, *self.topic_partition)], counted)
