"""Answers of a broker to a batch, and their effect on each of its records (Sender.completeBatch)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from recordpress._protocol_errors import Errors, name_of
from recordpress.errors import ArgumentTypeError
from recordpress.producer._errors import ProduceError
from recordpress.record import read_batches

if TYPE_CHECKING:
    from recordpress.producer._filling import ProducerBatch


class RecordMetadata(NamedTuple):
    """Place of a stored record.

    Attributes
    ----------
    topic : str
    partition : int
    offset : int
        -1 if the answer has no offset.
    timestamp : int
        In ms: the record's timestamp, or the broker's append time.

    Examples
    --------
    >>> from recordpress.producer import RecordMetadata
    >>> RecordMetadata("orders", 0, 42, 1700000000000).offset
    42
    """

    topic: str
    partition: int
    offset: int
    timestamp: int


class ProduceAnswer(NamedTuple):
    """The fields that a producer uses of a broker's answer to a batch.

    Attributes
    ----------
    error_code : int | None
        Kafka's code: 0 if the batch was stored. None if the connection was closed.
    base_offset : int
    log_append_time : int
        In ms; -1 unless the topic uses LogAppendTime.
    record_errors : sequence of (int, str | None)
        Index in the batch, and message, of each rejected record.
    error_message : str | None

    Examples
    --------
    >>> from recordpress.producer import ProduceAnswer
    >>> ProduceAnswer(base_offset=40).error_code
    0
    """

    error_code: int | None = 0
    base_offset: int = -1
    log_append_time: int = -1
    record_errors: Sequence[tuple[int, str | None]] = ()
    error_message: str | None = None


def answer_of(answer: Any) -> ProduceAnswer:
    """Return a caller's answer as a ProduceAnswer."""
    if answer is None:
        return ProduceAnswer()
    if isinstance(answer, ProduceAnswer):
        return answer
    if isinstance(answer, int) and not isinstance(answer, bool):
        return ProduceAnswer(int(answer))
    try:
        code = answer.error_code
    except AttributeError:
        raise ArgumentTypeError(
            f"an answer must be a ProduceAnswer, an error code or None, not {type(answer).__name__}", field="answer"
        ) from None
    return ProduceAnswer(
        code,
        getattr(answer, "base_offset", -1),
        getattr(answer, "log_append_time", -1),
        getattr(answer, "record_errors", ()) or (),
        getattr(answer, "error_message", None),
    )


def errors_of(batch: ProducerBatch, code: int, answer: ProduceAnswer) -> Callable[[int], ProduceError]:
    """Return a function that returns the error of a record, by its index in the batch (Sender.failBatch)."""
    whole = f"{name_of(code)}: {answer.error_message or 'the broker rejected the batch'}"
    named = dict(answer.record_errors)
    if not named:
        return lambda _: ProduceError(whole, code=code)

    def error_of(index: int) -> ProduceError:
        if index not in named:
            return ProduceError("the batch was rejected because of other records in it")
        message = named[index] or answer.error_message or whole
        return ProduceError(message, code=code if len(named) == 1 else Errors.INVALID_RECORD)

    return error_of


def timestamps_of(batch: ProducerBatch, log_append_time: int, codecs: Any) -> Sequence[int]:
    """Return the stored timestamp of each record."""
    if log_append_time >= 0:
        return [log_append_time] * batch.records_count
    batches = read_batches(batch.records, check_crcs=False, codecs=codecs)
    return [record.timestamp for entry in batches for record in entry]


Call = tuple[Callable[..., Any], RecordMetadata | None, ProduceError | None]  # a record's callback, its arguments


def succeeded(batch: ProducerBatch, answer: ProduceAnswer, codecs: Any) -> list[Call]:
    """Mark a batch as stored; return the callbacks to call."""
    batch._final_state = "SUCCEEDED"
    thunks = batch._take_thunks()
    if thunks is None:
        return []
    times = timestamps_of(batch, answer.log_append_time, codecs)
    base = -1 if answer.error_code else answer.base_offset
    return [
        (callback, RecordMetadata(batch.topic, batch.partition, base + i if base >= 0 else -1, times[i]), None)
        for i, callback in enumerate(thunks)
        if callback is not None
    ]


def failed(batch: ProducerBatch, error_of: Callable[[int], ProduceError], state: str = "FAILED") -> list[Call]:
    """Mark a batch as failed; return the callbacks to call."""
    batch._final_state = state
    thunks = batch._take_thunks() or ()
    return [(callback, None, error_of(i)) for i, callback in enumerate(thunks) if callback is not None]


def call_all(calls: Iterable[Call]) -> None:
    """Call all callbacks, even if one of them raises an error."""
    failures: list[BaseException] = []
    for callback, metadata, error in calls:
        try:
            callback(metadata, error)
        except BaseException as failure:
            failures.append(failure)
    raise_all(failures)


def call_each(batches: Sequence[list[Call]]) -> int:
    """Call the callbacks of each batch, and then raise their errors; return the number of batches."""
    failures: list[BaseException] = []
    for calls in batches:
        try:
            call_all(calls)
        except BaseException as failure:
            failures.append(failure)
    raise_all(failures)
    return len(batches)


def raise_all(failures: list[BaseException]) -> None:
    """Raise the collected errors."""
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise BaseExceptionGroup("several callbacks or sends raised errors", failures)
