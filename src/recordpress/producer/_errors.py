"""Errors of records that were not stored."""

from __future__ import annotations

from recordpress._protocol_errors import Errors
from recordpress.errors import RecordpressError


class ProduceError(RecordpressError):
    """A record was not stored. `code` is Kafka's error code, or None if no broker was involved.

    Remedy
    ------
    The message begins with Kafka's name for the code, followed by what the broker or the accumulator found. Without a
    code, the batch was rejected because of other records in it, or was aborted: append the record again.

    Examples
    --------
    >>> from recordpress.producer import ProduceError
    >>> ProduceError("the broker is out of space", code=56).code
    56
    """

    def __init__(self, message: str, *, code: int | None = None, **place: object) -> None:
        super().__init__(message, **place)  # type: ignore[arg-type]
        self.code = None if code is None else int(code)


class RecordTooLargeError(ProduceError):
    """A record is larger than `max_request_size`, or a batch of it alone exceeds a limit: the record was not sent
    (Kafka's RecordTooLargeException).

    Remedy
    ------
    Make the record smaller, or raise `max_request_size` together with the topic's ``max.message.bytes``.

    Examples
    --------
    >>> import recordpress
    >>> accumulator = recordpress.producer.BatchAccumulator(max_request_size=1000)
    >>> try:
    ...     accumulator.append(bytes(1000))
    ... except recordpress.producer.RecordTooLargeError as error:
    ...     print(error.field, error.code)
    max_request_size 10
    """

    code = Errors.MESSAGE_TOO_LARGE

    def __init__(self, message: str, *, code: int | None = Errors.MESSAGE_TOO_LARGE, **place: object) -> None:
        super().__init__(message, code=code, **place)
