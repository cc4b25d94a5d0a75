"""Consumers of both clients whose fetches are answered from memory: no broker, no network."""

from __future__ import annotations

import asyncio
import bisect
import types
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from unittest import mock

import aiokafka.consumer.fetcher
import kafka.consumer.fetcher
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.consumer.group_coordinator import NoGroupCoordinator
from aiokafka.consumer.subscription_state import SubscriptionState
from kafka import KafkaConsumer

import recordpress

Row = tuple[str, int, int, bytes | None, bytes | None]


class ScriptedLog:
    """Batches of partitions. As by a broker, a fetch is answered from the batch with its offset, and cut at a size."""

    def __init__(self, max_bytes: int = 1 << 20) -> None:
        self.batches: dict[Any, list[tuple[int, bytes]]] = {}
        self.aborted: dict[Any, list[tuple[int, int]]] = {}
        self.fetches: list[tuple[Any, int]] = []
        self.max_bytes = max_bytes
        self.errors: dict[Any, int] = {}

    def write(self, partition: Any, values: list[bytes | None], **options: Any) -> int:
        """Append a batch; return its first offset."""
        first = options.pop("base_offset", self.end(partition))
        data = recordpress.write_records(values, base_offset=first, **options)
        self.batches.setdefault(partition, []).append((first + len(values), data))
        return int(first)

    def mark(self, partition: Any, commit: bool, producer_id: int) -> None:
        """Append a transaction marker."""
        end = self.end(partition)
        builder = recordpress.BatchBuilder(
            base_offset=end, is_transactional=True, is_control=True, producer_id=producer_id, producer_epoch=0
        )
        builder.append_end_txn_marker(commit, 0)
        self.batches[partition].append((end + 1, builder.build()))

    def end(self, partition: Any) -> int:
        return self.batches[partition][-1][0] if self.batches.get(partition) else 0

    def fetch(self, partition: Any, offset: int) -> tuple[bytes, int, list[tuple[int, int]]]:
        """Records, high watermark and aborted transactions."""
        self.fetches.append((partition, offset))
        batches = self.batches.get(partition, [])
        at = bisect.bisect_right([end for end, _ in batches], offset)
        data = b"".join(data for _, data in batches[at:])
        return (
            data[: max(self.max_bytes, *(len(one) for _, one in batches[at : at + 1]), 0)],
            self.end(partition),
            self.aborted.get(partition, []),
        )


class _Client:
    """Stands for AIOKafkaClient."""

    _metadata_max_age_ms = 300_000
    api_version = (2, 6)  # for aiokafka 0.12

    def __init__(self, log: ScriptedLog) -> None:
        self._loop = asyncio.get_running_loop()
        self._conns: dict[Any, Any] = {}
        self.cluster = types.SimpleNamespace(
            leader_for_partition=lambda partition: 0, broker_metadata=lambda node: object()
        )
        self.log = log
        self.more = asyncio.Event()

    def force_metadata_update(self) -> Any:
        return self._loop.create_future()

    async def send(self, node: int, request: Any) -> Any:
        await asyncio.sleep(0)
        topics: dict[str, list[Any]] = {}
        for topic, partitions in request._topics if hasattr(request, "_topics") else request.topics:
            for number, offset, _ in partitions:
                partition = TopicPartition(topic, number)
                data, end, aborted = self.log.fetch(partition, offset)
                error = self.log.errors.pop(partition, 0)
                topics.setdefault(topic, []).append((number, error, end, end, aborted, b"" if error else data))
        if not any(part[-1] or part[1] for parts in topics.values() for part in parts):
            await asyncio.sleep(0.01)
        return types.SimpleNamespace(API_VERSION=4, topics=list(topics.items()))


@asynccontextmanager
async def aiokafka_consumer(log: ScriptedLog, *partitions: TopicPartition, **options: Any) -> AsyncIterator[Any]:
    """A consumer that has these partitions, from their beginning."""
    fetching = {name: options.pop(name) for name in ("isolation_level", "check_crcs") if name in options}
    consumer: Any = AIOKafkaConsumer(**options)
    consumer._subscription = SubscriptionState(loop=asyncio.get_running_loop())
    consumer._client = client = _Client(log)
    consumer._fetcher = aiokafka.consumer.fetcher.Fetcher(client, consumer._subscription, **fetching)
    consumer._coordinator = NoGroupCoordinator.__new__(NoGroupCoordinator)
    consumer._coordinator.check_errors = lambda: None
    consumer.committed_offsets = {}
    assign(consumer, *partitions)
    try:
        yield consumer
    finally:
        consumer._closed = True
        await consumer._fetcher.close()


def assign(consumer: Any, *partitions: TopicPartition) -> None:
    consumer._subscription._subscription = None
    consumer._subscription._subscription_type = type(consumer._subscription._subscription_type)(1)
    consumer._subscription.assign_from_user(set(partitions))
    for partition in partitions:
        consumer._subscription.seek(partition, 0)


@contextmanager
def kafka_python_consumer(log: ScriptedLog, *partitions: Any, **options: Any) -> Iterator[Any]:
    """A KafkaConsumer that has these partitions, from their beginning."""
    with mock.patch("kafka.net.manager.KafkaConnectionManager._do_bootstrap", _no_bootstrap):
        yield from _scripted(log, partitions, options)


async def _no_bootstrap(*_: Any) -> None:
    """Do not connect."""


def _scripted(log: ScriptedLog, partitions: tuple[Any, ...], options: dict[str, Any]) -> Iterator[Any]:
    consumer = KafkaConsumer(
        bootstrap_servers="127.0.0.1:9", group_id=None, enable_auto_commit=False, api_version=(2, 6), **options
    )
    fetcher = consumer._fetcher

    def send_fetches() -> list[Any]:
        held = {one.topic_partition for one in fetcher._completed_fetches} | set(fetcher._paused_completed_fetches)
        held |= set(fetcher._paused_partition_records)
        if fetcher._next_partition_records:
            held.add(fetcher._next_partition_records.topic_partition)
        for partition in partitions:
            if partition in held or not consumer._subscription.is_fetchable(partition):
                continue
            offset = consumer._subscription.position(partition).offset
            data, end, aborted = log.fetch(partition, offset)
            if not data:
                continue
            answer = types.SimpleNamespace(
                error_code=log.errors.pop(partition, 0), high_watermark=end, records=data, diverging_epoch=None,
                preferred_read_replica=-1, current_leader=None,
                aborted_transactions=[types.SimpleNamespace(producer_id=a, first_offset=b) for a, b in aborted],
            )  # fmt: skip
            metrics = kafka.consumer.fetcher.FetchResponseMetricAggregator(fetcher._sensors, {partition})
            fetcher._completed_fetches.append(
                kafka.consumer.fetcher.CompletedFetch(partition, offset, 11, answer, metrics)
            )
        return []

    fetcher.send_fetches = send_fetches
    consumer._coordinator.poll = lambda timeout_ms=None: True  # which would connect
    fetcher.validate_offsets_if_needed = fetcher.reset_offsets_if_needed = lambda **_: None
    consumer.position = lambda partition: consumer._subscription.position(partition).offset
    consumer.assign(list(partitions))
    for partition in partitions:
        consumer.seek(partition, 0)
    try:
        yield consumer
    finally:
        consumer.close()


def rows_of(columns: Any) -> list[Row]:
    """Rows of a result with the columns topic, partition, offset, key, value."""
    names = ["topic", "partition", "offset", "key", "value"]
    return list(zip(*(columns[name].to_pylist() for name in names), strict=True))


def rows_of_messages(messages: dict[Any, list[Any]]) -> list[Row]:
    return [(m.topic, m.partition, m.offset, m.key, m.value) for part in messages.values() for m in part]
