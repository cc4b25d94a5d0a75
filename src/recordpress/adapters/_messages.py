"""Columns of messages that a client has already consumed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from recordpress.adapters._fetched import ColumnChoice
from recordpress.columns import Columns, concat, read_columns
from recordpress.errors import InvalidArgumentError
from recordpress.record import write_records
from recordpress.typing import BinaryType, TimestampUnit

_LOG_APPEND_TIME = 1


class _Message(NamedTuple):
    """A message of any client."""

    offset: int
    timestamp: int
    key: Any
    value: Any
    headers: Any


class _Batch(NamedTuple):
    """The fields that the messages of one batch share; the time is None unless the broker set it."""

    topic: str
    partition: int
    log_append_time: int | None


def _of_confluent(message: Any, number: int) -> tuple[_Batch, _Message]:
    if message.error() is not None:
        raise InvalidArgumentError(f"messages[{number}] has an error: {message.error()}", field="messages")
    kind, timestamp = message.timestamp()  # 0 none, 1 CreateTime, 2 LogAppendTime
    batch = _Batch(message.topic(), message.partition(), timestamp if kind == 1 + _LOG_APPEND_TIME else None)
    return batch, _Message(
        message.offset(), timestamp if kind else -1, message.key(), message.value(), message.headers()
    )


def _of_python(message: Any) -> tuple[_Batch, _Message]:
    timestamp = -1 if message.timestamp is None else message.timestamp
    batch = _Batch(message.topic, message.partition, timestamp if message.timestamp_type == _LOG_APPEND_TIME else None)
    return batch, _Message(message.offset, timestamp, message.key, message.value, message.headers)


def columns_of(
    messages: Iterable[Any],
    columns: Iterable[str] | None = None,
    *,
    binary_type: BinaryType = "binary",
    timestamp_unit: TimestampUnit = "ms",
) -> Columns:
    """Return the columns of messages that a client has consumed.

    This is for clients that do not expose the bytes of a fetch, such as confluent-kafka: the code that uses the columns
    can be the same as for `recordpress.adapters.aiokafka.columns` and `recordpress.adapters.kafka_python.poll_columns`.
    These two create no object per record; `columns_of` is not faster than the client.

    Parameters
    ----------
    messages : iterable of confluent_kafka.Message, aiokafka.ConsumerRecord or kafka's ConsumerRecord
        Messages from a consumer without deserializers. The offsets of each partition must ascend.
    columns : sequence of str, optional
        Columns of the result: any columns of `recordpress.read_columns`, and ``topic`` and ``partition``, which come
        first by default. Columns of the batch header do not have the batch's values, which messages do not contain.
    binary_type, timestamp_unit
        As for `recordpress.read_columns`.

    Returns
    -------
    Columns
        The messages, grouped by partition (and by timestamp, if the broker set it), in order.

    Raises
    ------
    InvalidArgumentError
        A message of confluent-kafka has an error, or offsets do not ascend.
    ArgumentTypeError
        A key, a value or the headers are not bytes.

    Examples
    --------
    >>> from aiokafka import ConsumerRecord
    >>> from recordpress.adapters import columns_of
    >>> messages = [ConsumerRecord("orders", 0, 42, 1700000000000, 0, b"k", b"v", None, 1, 1, ())]
    >>> columns_of(messages, ["partition", "offset", "value"]).to_pyarrow().to_pydict()
    {'partition': [0], 'offset': [42], 'value': [b'v']}
    """
    choice = ColumnChoice(columns, [], binary_type=binary_type, timestamp_unit=timestamp_unit)
    batches: dict[_Batch, list[_Message]] = {}
    for number, message in enumerate(messages):
        batch, row = _of_confluent(message, number) if callable(message.offset) else _of_python(message)
        batches.setdefault(batch, []).append(row)
    if not batches:
        return choice.empty()
    return concat([_result(choice, batch, rows) for batch, rows in batches.items()])


def _result(choice: ColumnChoice, batch: _Batch, rows: list[_Message]) -> Columns:
    given: dict[str, Any] = {}
    if batch.log_append_time is not None:
        given = {"timestamp_type": _LOG_APPEND_TIME, "log_append_time": batch.log_append_time}
    data = write_records(
        [row.value for row in rows],
        [row.key for row in rows],
        [row.timestamp for row in rows],
        [list(row.headers or ()) for row in rows],
        offsets=[row.offset for row in rows],
        **given,
    )
    return choice.place(read_columns(data, choice.decoded, **choice.decoding), batch.topic, batch.partition)
