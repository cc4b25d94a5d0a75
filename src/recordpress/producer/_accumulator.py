"""Batches of many partitions, which are filled, sent, completed, retried or split as in Kafka's producer.

Source: org.apache.kafka.clients.producer.internals: RecordAccumulator, ProducerBatch, Sender.completeBatch,
TransactionManager (sequences). KIP-126.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar, cast

from recordpress._arguments import INT16_MAX, INT32_MAX, INT64_MAX, check_flags, integer
from recordpress._protocol_errors import Errors, is_retriable
from recordpress.errors import ArgumentTypeError, InUseError, InvalidArgumentError
from recordpress.producer._answers import (
    Call,
    ProduceAnswer,
    answer_of,
    call_each,
    errors_of,
    failed,
    raise_all,
    succeeded,
)
from recordpress.producer._batch_order import (
    Partition,
    is_before,
    number_parts,
    parts_of,
    sequence_after,
    with_sequence,
)
from recordpress.producer._errors import ProduceError
from recordpress.producer._filling import BatchFiller, PartitionQueue, ProducerBatch
from recordpress.producer._metrics import ProducerMetrics
from recordpress.producer.settings import BATCH_SIZE, MAX_REQUEST_SIZE

Send = Callable[[ProducerBatch], Any]
SendLater = Callable[[ProducerBatch], Awaitable[Any]]
Method = TypeVar("Method", bound=Callable[..., Any])


def exclusive(method: Method) -> Method:
    """Reserve the accumulator for the method: other calls raise InUseError. The method must not call callbacks."""

    @functools.wraps(method)
    def called(self: BatchFiller, *args: Any, **kwargs: Any) -> Any:
        self._begin()
        try:
            return method(self, *args, **kwargs)
        finally:
            self._end()

    return cast(Method, called)


class BatchAccumulator(BatchFiller):
    """Kafka's producer without network, threads and clock: it fills batches and decides which to send next.

    `append` fills batches by Kafka's rules; `drain` closes and returns ready batches; `complete` acts on the answer to
    a batch: it calls the records' callbacks, queues the batch for another attempt, or splits it if it was too large
    (MESSAGE_TOO_LARGE) and queues the parts. `run` and `run_async` do all this around a function that sends.

    Parameters
    ----------
    batch_size : int
        ``batch.size`` in bytes; 0 means one record per batch.
    compression_type : str
    level : int | None
        ``compression.<codec>.level``
    linger_ms : int
        ``linger.ms``: milliseconds that a batch waits if it is not full.
    magic : int
        2, or 0 or 1 for old brokers.
    max_request_size : int
        ``max.request.size``: maximum uncompressed size of one record in bytes, and maximum size of the batches that one
        `drain` returns; a single batch may be larger.
    estimator : CompressionRatioEstimator | None
        None means a new estimator.
    producer_id, producer_epoch : int
        Id and epoch of an idempotent producer, or -1. Its batches get sequences when they are drained.
    is_transactional : bool
    max_in_flight : int
        Maximum number of a partition's batches that wait for answers at a time. Without a producer id, retries may
        change the order of batches if more than one is in flight.
    retries, retry_backoff_ms, retry_backoff_max_ms, delivery_timeout_ms : int
        As the producer's settings of the same names. The time between attempts doubles, without Kafka's random part.
    split_in_half : bool
        Divide the records of a batch that is too large into halves, if all of them fit `batch_size`. Kafka first sends
        such a batch again, unchanged, and then fills parts up to half its size.
    codecs : CodecRegistry | None
        Codec plug-ins in addition to Kafka's.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An argument is out of range or has the wrong type.

    Notes
    -----
    Nothing here reads a clock: each call takes `now_ms`, from the caller's clock. If all calls omit it, no time passes:
    a batch that lingers is only ready once it is full or flushed, and a batch that waits for another attempt never is.

    RECORD_LIST_TOO_LARGE (18) does not split a batch, nor does an error of a batch of one record: the callbacks are
    called with the error. A batch is split into parts of up to `batch_size`, and a part into parts of up to half its
    size, or the size of its largest record. A part that cannot become smaller is sent again after `retry_backoff_ms`,
    until its delivery time is over.

    Examples
    --------
    Check the batches by the rules of a broker that accepts batches of at most 500 bytes:

    >>> import recordpress
    >>> log = recordpress.broker.PartitionLog(broker_version="4.4", topic_config={"max.message.bytes": 500})
    >>> accumulator = recordpress.producer.BatchAccumulator(batch_size=400, compression_type="gzip")
    >>> accumulator.estimator.set_estimation("", "gzip", 0.1)
    >>> import random
    >>> stored = []
    >>> for _ in range(20):
    ...     full = accumulator.append(random.randbytes(100), callback=lambda at, error: stored.append(at.offset))
    >>> accumulator.run(lambda batch: log.append(batch.records), flush=True)
    >>> stored == list(range(20)), accumulator.metrics()["batch-split-total"] > 0
    (True, True)
    """

    def __init__(
        self,
        *,
        batch_size: int = BATCH_SIZE,
        compression_type: str = "none",
        level: Any = None,
        linger_ms: int = 0,
        magic: int = 2,
        max_request_size: int = MAX_REQUEST_SIZE,
        estimator: Any = None,
        producer_id: int = -1,
        producer_epoch: int = -1,
        is_transactional: bool = False,
        max_in_flight: int = 5,
        retries: int = INT32_MAX,
        retry_backoff_ms: int = 100,
        retry_backoff_max_ms: int = 1000,
        delivery_timeout_ms: int = 120000,
        split_in_half: bool = False,
        codecs: Any = None,
    ) -> None:
        self.linger_ms = integer(linger_ms, "linger_ms", 0, INT64_MAX)
        self.producer_id = integer(producer_id, "producer_id", -1, INT64_MAX)
        self.producer_epoch = integer(producer_epoch, "producer_epoch", -1, INT16_MAX)
        self.is_transactional = is_transactional
        self.max_in_flight = integer(max_in_flight, "max_in_flight", 1, INT32_MAX)
        self.retries = integer(retries, "retries", 0, INT32_MAX)
        self.retry_backoff_ms = integer(retry_backoff_ms, "retry_backoff_ms", 0, INT64_MAX)
        self.retry_backoff_max_ms = integer(retry_backoff_max_ms, "retry_backoff_max_ms", 0, INT64_MAX)
        self.delivery_timeout_ms = integer(delivery_timeout_ms, "delivery_timeout_ms", 0, INT64_MAX)
        self.split_in_half = split_in_half
        self._check_producer(magic)
        self._partitions: dict[tuple[str, int], Partition] = {}
        self._metrics = ProducerMetrics()
        self._drained_last = 0

    def _check_producer(self, magic: int) -> None:
        check_flags(is_transactional=self.is_transactional, split_in_half=self.split_in_half)
        if self.producer_id < 0 and self.is_transactional:
            raise InvalidArgumentError("a transactional producer needs a producer_id", field="producer_id")
        if self.producer_id >= 0 and self.producer_epoch < 0:
            raise InvalidArgumentError("a producer_id needs a producer_epoch of 0 or more", field="producer_epoch")
        if self.producer_id >= 0 and magic != 2:
            raise InvalidArgumentError("a producer_id needs magic 2", field="producer_id")

    # --- batches that wait -----------------------------------------------------------------------------------------

    @property
    def undrained(self) -> int:
        """Number of batches that wait for `drain`."""
        return sum(len(queue.batches) for queue in list(self._queues.values()))

    @property
    def in_flight(self) -> list[ProducerBatch]:
        """Drained batches without an answer."""
        return [batch for state in list(self._partitions.values()) for batch in list(state.sent)]

    @exclusive
    def ready(self, now_ms: int = 0, *, flush: bool = False) -> list[tuple[str, int]]:
        """Return the partitions that have a batch for `drain`.

        Parameters
        ----------
        now_ms : int
        flush : bool
            Treat batches that are not full as ready, too.

        Returns
        -------
        list of (str, int)
            Topic and partition.

        Examples
        --------
        >>> import recordpress
        >>> accumulator = recordpress.producer.BatchAccumulator(linger_ms=5)
        >>> accumulator.append(b"value", topic="t", now_ms=100)
        False
        >>> accumulator.ready(104), accumulator.ready(105)
        ([], [('t', 0)])
        """
        return [key for key, queue in self._queues.items() if self._is_ready(queue, now_ms, flush)]

    @exclusive
    def next_ready_ms(self, now_ms: int = 0) -> int | None:
        """Return the milliseconds until a batch is ready if nothing is appended; None if no batch waits.

        Examples
        --------
        >>> import recordpress
        >>> accumulator = recordpress.producer.BatchAccumulator(linger_ms=5)
        >>> accumulator.append(b"value", now_ms=100)
        False
        >>> accumulator.next_ready_ms(102)
        3
        """
        delays = [
            0 if self._is_ready(queue, now_ms, False) else self._wait_of(queue.batches[0], now_ms)[0]
            for queue in self._queues.values()
            if queue.batches
        ]
        return min(delays, default=None)

    def _wait_of(self, batch: ProducerBatch, now_ms: int) -> tuple[int, bool]:
        """Return the remaining wait of a batch that is not full, and whether it waits for another attempt."""
        waited = max(0, now_ms - batch._last_attempt_ms)
        backoff = 0
        if batch.attempts:
            backoff = min(self.retry_backoff_ms << min(batch.attempts - 1, 62), self.retry_backoff_max_ms)
        backing_off = waited < backoff
        return max(0, (backoff if backing_off else self.linger_ms) - waited), backing_off

    def _is_ready(self, queue: PartitionQueue, now_ms: int, flush: bool) -> bool:
        """Return whether a batch is ready (RecordAccumulator.batchReady)."""
        if not queue.batches or self._must_wait(queue):
            return False
        left, backing_off = self._wait_of(queue.batches[0], now_ms)
        if backing_off:
            return False
        return left == 0 or flush or self._closed or len(queue.batches) > 1 or queue.batches[0].is_full

    def _must_wait(self, queue: PartitionQueue) -> bool:
        """Return whether a partition must wait for answers: too many batches are in flight, or batches before a retried
        batch (shouldStopDrainBatchesForPartition)."""
        state, first = self._state_of(queue.topic, queue.partition), queue.batches[0]
        if len(state.sent) >= self.max_in_flight:
            return True
        return first.base_sequence >= 0 and bool(state.tracked) and state.tracked[0] is not first

    def _state_of(self, topic: str, partition: int) -> Partition:
        state = self._partitions.get((topic, partition))
        if state is None:
            state = self._partitions[topic, partition] = Partition()
        return state

    # --- out -------------------------------------------------------------------------------------------------------

    def drain(self, now_ms: int = 0, *, flush: bool = False) -> list[ProducerBatch]:
        """Close the ready batches and return them: at most one per partition, and `max_request_size` bytes in all.

        Each batch is in flight until `complete` receives its answer. The partitions take turns.

        Parameters
        ----------
        now_ms : int
        flush : bool
            Treat batches that are not full as ready, too.

        Returns
        -------
        list of ProducerBatch

        Examples
        --------
        >>> import recordpress
        >>> accumulator = recordpress.producer.BatchAccumulator(compression_type="zstd")
        >>> accumulator.append(b"value")
        False
        >>> [batch] = accumulator.drain()
        >>> accumulator.complete(batch, recordpress.producer.ProduceAnswer(base_offset=7))
        """
        now_ms = self._now(now_ms)
        self.expire(now_ms)
        return self._drained(now_ms, flush)

    @exclusive
    def _drained(self, now_ms: int, flush: bool) -> list[ProducerBatch]:
        given: list[ProducerBatch] = []
        size = 0
        keys = list(self._queues)
        at = first = self._drained_last  # where the previous call ended (drainBatchesForOneNode)
        for turn in range(len(keys)):
            at = (first + turn) % len(keys)
            queue = self._queues[keys[at]]
            if not self._is_ready(queue, now_ms, flush):
                continue
            if given and size + queue.batches[0].estimated_size_in_bytes > self.max_request_size:
                break
            given.append(self._send_off(queue))
            size += len(given[-1].records)
        if given:
            self._drained_last = at
        return given

    def _now(self, now_ms: int) -> int:
        if self._busy:
            raise InUseError("the accumulator is in use by another call")
        now_ms = integer(now_ms, "now_ms", 0, INT64_MAX)
        self._metrics.seen(now_ms)
        return now_ms

    def _send_off(self, queue: PartitionQueue) -> ProducerBatch:
        """Move the first batch from the queue to the batches in flight, with its sequence and bytes."""
        state = self._state_of(queue.topic, queue.partition)
        batch = queue.batches[0]
        if self.producer_id >= 0 and batch.base_sequence < 0:
            batch._set_producer(self.producer_id, self.producer_epoch, state.next_sequence, self.is_transactional)
            state.next_sequence = sequence_after(state.next_sequence, batch.records_count)
        if not batch.is_closed:
            batch._close()  # if this is interrupted, only the sequence has changed, which is set once
        if batch.base_sequence >= 0 and batch not in state.tracked:
            state.tracked.append(batch)
        state.sent.append(queue.pop_front())
        # Kafka takes the ratio of every attempt into account (ProducerBatch.close)
        self.estimator.update_estimation(batch.topic, self.compression_type, batch.compression_ratio)
        self._metrics.drained(batch)
        return batch

    # --- answers ---------------------------------------------------------------------------------------------------

    def complete(self, batch: ProducerBatch, answer: Any = None, now_ms: int = 0) -> None:
        """Complete a drained batch with an answer.

        Parameters
        ----------
        batch : ProducerBatch
        answer : ProduceAnswer | Verdict | int | None
            An object with `error_code` and, optionally, other attributes of ProduceAnswer; an error code; or None if
            the broker sends no answer (acks=0), which counts as stored.
        now_ms : int

        Raises
        ------
        InvalidArgumentError
            The batch is not in flight.
        Exception
            An error of a callback, raised after all callbacks were called; several errors in an ExceptionGroup.

        Examples
        --------
        >>> import recordpress
        >>> accumulator = recordpress.producer.BatchAccumulator()
        >>> accumulator.append(b"value", callback=lambda metadata, error: print(error))
        False
        >>> [batch] = accumulator.drain()
        >>> accumulator.complete(batch, 87)
        INVALID_RECORD: the broker rejected the batch
        """
        now_ms = self._now(now_ms)
        call_each([self._answered(batch, answer_of(answer), now_ms)])

    @exclusive
    def _answered(self, batch: ProducerBatch, answer: ProduceAnswer, now_ms: int) -> list[Call]:
        """Act on an answer; return the callbacks to call."""
        state = self._state_of(batch.topic, batch.partition) if isinstance(batch, ProducerBatch) else Partition()
        if batch not in state.sent:
            raise InvalidArgumentError(
                "the batch is not in flight: `drain` returns the batches in flight", field="batch"
            )
        code = Errors.NETWORK_EXCEPTION if answer.error_code is None else answer.error_code
        state.sent.remove(batch)
        whole = batch.magic == 2 or self.compression_type != "none"  # otherwise each record is a separate entry
        if code == Errors.MESSAGE_TOO_LARGE and batch.records_count > 1 and whole:
            self._split(batch, state, now_ms)
        elif code not in (0, Errors.DUPLICATE_SEQUENCE_NUMBER) and self._may_retry(batch, state, code, now_ms):
            self._put_back(batch, now_ms)
        elif code in (0, Errors.DUPLICATE_SEQUENCE_NUMBER):
            if batch.base_sequence >= 0:
                state.tracked.remove(batch)
                state.last_acked_sequence = sequence_after(batch.base_sequence, batch.records_count - 1)
            return succeeded(batch, answer, self.codecs)
        else:
            self._adjust_sequences(batch, state)
            return failed(batch, errors_of(batch, code, answer))
        return []

    def _may_retry(self, batch: ProducerBatch, state: Partition, code: int, now_ms: int) -> bool:
        """Return whether the batch may be retried (Sender.canRetry)."""
        if self._timed_out(batch, now_ms) or batch.attempts >= self.retries:
            return False
        if code == Errors.OUT_OF_ORDER_SEQUENCE_NUMBER and batch.base_sequence >= 0:
            # an earlier batch failed or is to be retried, so this one had to fail (TransactionManager.canRetry)
            return batch.base_sequence != sequence_after(state.last_acked_sequence, 1)
        return is_retriable(code)

    def _timed_out(self, batch: ProducerBatch, now_ms: int) -> bool:
        return self.delivery_timeout_ms <= now_ms - batch.created_ms

    def _put_back(self, batch: ProducerBatch, now_ms: int) -> None:
        """Queue a batch again (ProducerBatch.reenqueued, RecordAccumulator.reenqueue)."""
        batch.attempts += 1
        batch._last_attempt_ms = batch._last_append_ms = max(batch._last_append_ms, now_ms)
        self._insert(batch)

    def _insert(self, batch: ProducerBatch) -> None:
        """Insert a batch at the front, or after batches with earlier sequences (insertInSequenceOrder)."""
        queue = self._queues[batch.topic, batch.partition]
        at = 0
        if batch.base_sequence >= 0:
            while at < len(queue.batches) and is_before(queue.batches[at], batch):
                at += 1
        queue.push_front(at, batch)

    def _split(self, batch: ProducerBatch, state: Partition, now_ms: int) -> None:
        """Split a batch and queue its parts (RecordAccumulator.splitAndReenqueue)."""
        self.estimator.set_estimation(batch.topic, self.compression_type, max(1.0, batch.compression_ratio))
        parts = parts_of(self, batch, self.split_in_half)
        if batch.is_split and len(parts) == 1:  # Kafka sends it again and again, without a pause
            parts[0].attempts = batch.attempts + 1
            parts[0]._last_attempt_ms = now_ms
        number_parts(parts, batch)
        if batch.base_sequence >= 0:  # the parts take the batch's place among batches with sequences
            at = state.tracked.index(batch)
            state.tracked[at : at + 1] = parts
        for part in reversed(parts):
            self._insert(part)
        batch._take_thunks()
        batch._final_state = "SPLIT"
        self._metrics.split()

    def _adjust_sequences(self, failed: ProducerBatch, state: Partition) -> None:
        """Lower the sequences of the batches after a batch that was not stored (adjustSequencesDueToFailedBatch)."""
        if failed.base_sequence < 0:
            return
        state.tracked.remove(failed)
        state.next_sequence = sequence_after(state.next_sequence, -failed.records_count)
        for batch in state.tracked:
            if is_before(failed, batch):
                sequence = sequence_after(batch.base_sequence, -failed.records_count)
                batch._reset_sequence(sequence, with_sequence(batch, sequence) if batch.is_closed else None)

    # --- the end of batches without an answer -----------------------------------------------------------------------

    def expire(self, now_ms: int = 0) -> int:
        """Fail the batches that have waited for longer than `delivery_timeout_ms`; `drain` also does this.

        Returns
        -------
        int
            Number of failed batches.

        Examples
        --------
        >>> import recordpress
        >>> accumulator = recordpress.producer.BatchAccumulator(delivery_timeout_ms=1000)
        >>> accumulator.append(b"value", now_ms=5, callback=lambda metadata, error: print(error.code))
        False
        >>> accumulator.expire(1005)
        7
        1
        """
        return call_each(self._expired(now_ms))

    @exclusive
    def _expired(self, now_ms: int) -> list[list[Call]]:
        expired = []
        for queue in self._queues.values():
            while queue.batches and self._timed_out(queue.batches[0], now_ms):
                expired.append(queue.pop_front())
        why = "the batch waited for longer than delivery_timeout_ms"
        return self._drop(expired, Errors.REQUEST_TIMED_OUT, why, "FAILED")

    def abort(self) -> int:
        """Drop all batches, including those in flight: their callbacks are called with a ProduceError.

        Returns
        -------
        int
            Number of dropped batches.

        Examples
        --------
        >>> import recordpress
        >>> accumulator = recordpress.producer.BatchAccumulator()
        >>> accumulator.append(b"value")
        False
        >>> accumulator.abort()
        1
        """
        return call_each(self._aborted())

    @exclusive
    def _aborted(self) -> list[list[Call]]:
        dropped = self.in_flight
        for state in self._partitions.values():
            state.sent.clear()
            state.tracked.clear()
        for queue in self._queues.values():
            while queue.batches:
                dropped.append(queue.pop_front())
        return self._drop(dropped, None, "the producer was aborted", "ABORTED")

    def _drop(self, batches: list[ProducerBatch], code: int | None, why: str, final: str) -> list[list[Call]]:
        calls = []
        for batch in batches:
            batch._close_for_appends()
            tracked = self._state_of(batch.topic, batch.partition).tracked
            if batch in tracked:
                tracked.remove(batch)
            calls.append(failed(batch, lambda _: ProduceError(why, code=code), final))
        return calls

    def close(self) -> None:
        """Accept no more records, and make all waiting batches ready.

        Examples
        --------
        >>> import recordpress
        >>> accumulator = recordpress.producer.BatchAccumulator(linger_ms=1000)
        >>> accumulator.append(b"value")
        False
        >>> accumulator.close()
        >>> len(accumulator.drain())
        1
        """
        self._closed = True

    # --- for a function that sends ------------------------------------------------------------------------------------

    def run(self, send: Send, now_ms: int = 0, *, flush: bool = False) -> None:
        """Drain, send and complete until nothing is ready.

        Parameters
        ----------
        send : callable
            ``send(batch)`` returns an answer for `complete`.
        now_ms : int
        flush : bool
            Send batches that are not full, too.

        Raises
        ------
        Exception
            An error of `send` or a callback. The batch that `send` failed for, and later batches, are queued again.

        Examples
        --------
        >>> import recordpress
        >>> accumulator = recordpress.producer.BatchAccumulator()
        >>> accumulator.append(b"value")
        False
        >>> accumulator.run(lambda batch: print(len(batch.records)))
        73
        """
        while batches := self.drain(now_ms, flush=flush):
            while batches:
                try:
                    answer = send(batches[0])
                    if inspect.isawaitable(answer):
                        raise ArgumentTypeError("send returned an awaitable: call run_async", field="send")
                except BaseException:
                    self._take_back(batches, now_ms)
                    raise
                batch = batches.pop(0)
                try:
                    self.complete(batch, answer, now_ms)
                except BaseException:
                    self._take_back(batches, now_ms)
                    raise

    async def run_async(self, send: SendLater, now_ms: int = 0, *, flush: bool = False) -> None:
        """Run the accumulator with a coroutine function: the batches of one `drain` are sent concurrently.

        Examples
        --------
        >>> import asyncio, recordpress
        >>> accumulator = recordpress.producer.BatchAccumulator()
        >>> accumulator.append(b"value")
        False
        >>> async def send(batch):
        ...     print(len(batch.records))
        >>> asyncio.run(accumulator.run_async(send))
        73
        """
        import asyncio

        async def one(batch: ProducerBatch) -> None:
            try:
                answer = await send(batch)
            except BaseException:
                self._take_back([batch], now_ms)
                raise
            self.complete(batch, answer, now_ms)

        while batches := self.drain(now_ms, flush=flush):
            results = await asyncio.gather(*map(one, batches), return_exceptions=True)
            raise_all([result for result in results if isinstance(result, BaseException)])

    @exclusive
    def _take_back(self, batches: Iterable[ProducerBatch], now_ms: int) -> None:
        """Queue unanswered batches again, in order."""
        for batch in reversed(list(batches)):
            state = self._state_of(batch.topic, batch.partition)
            if batch in state.sent:
                state.sent.remove(batch)
                self._put_back(batch, now_ms)

    def metrics(self) -> dict[str, float]:
        """Return the counts since the start, under Kafka's names (KIP-126).

        Returns
        -------
        dict
            ``batch-split-total``; ``batch-split-rate`` per second of the time given by `now_ms`;
            ``compression-rate-avg``, compressed divided by uncompressed bytes; ``batch-size-avg`` and
            ``batch-size-max`` in bytes. NaN if nothing was counted.

        Examples
        --------
        >>> import recordpress
        >>> recordpress.producer.BatchAccumulator().metrics()["batch-split-total"]
        0
        """
        return self._metrics.values()
