"""What a producer tells of records that were not stored."""

from __future__ import annotations

from kpress.errors import KpressError

# Errors of a Produce response after which the same batch may be sent again: RetriableException in Kafka's Errors.
RETRIABLE = frozenset(
    (2, 3, 5, 6, 7, 9, 13, 14, 15, 16, 19, 20, 41, 51, 56, 70, 71, 72, 74, 75, 78, 80, 83, 84, 88, 89, 100, 103, 106,
     122, 123)
)  # fmt: skip

MESSAGE_TOO_LARGE = 10
OUT_OF_ORDER_SEQUENCE_NUMBER = 45
DUPLICATE_SEQUENCE_NUMBER = 46
NETWORK_EXCEPTION = 13
REQUEST_TIMED_OUT = 7
INVALID_RECORD = 87


_NAMES = {
    -1: "UNKNOWN_SERVER_ERROR",
    2: "CORRUPT_MESSAGE",
    7: "REQUEST_TIMED_OUT",
    10: "MESSAGE_TOO_LARGE",
    13: "NETWORK_EXCEPTION",
    18: "RECORD_LIST_TOO_LARGE",
    19: "NOT_ENOUGH_REPLICAS",
    32: "INVALID_TIMESTAMP",
    43: "UNSUPPORTED_FOR_MESSAGE_FORMAT",
    45: "OUT_OF_ORDER_SEQUENCE_NUMBER",
    47: "INVALID_PRODUCER_EPOCH",
    76: "UNSUPPORTED_COMPRESSION_TYPE",
    87: "INVALID_RECORD",
}


def name_of(code: int) -> str:
    """Kafka's name of a code that brokers answer to records with."""
    return _NAMES.get(code, f"error {code}")


class ProduceError(KpressError):
    """A record was not stored. `code` is Kafka's error code, None if no broker was asked.

    Examples
    --------
    >>> from kpress.producer import ProduceError
    >>> ProduceError("the broker is out of space", code=56).code
    56
    """

    def __init__(self, message: str, *, code: int | None = None, **place: object) -> None:
        super().__init__(message, **place)  # type: ignore[arg-type]
        self.code = code


class RecordTooLargeError(ProduceError):
    """A record is larger than `max_request_size` or than a limit allows alone: nothing was sent (Kafka's
    RecordTooLargeException).

    Examples
    --------
    >>> import kpress
    >>> accumulator = kpress.producer.BatchAccumulator(max_request_size=1000)
    >>> try:
    ...     accumulator.append(bytes(1000))
    ... except kpress.producer.RecordTooLargeError as error:
    ...     print(error.field, error.code)
    max_request_size 10
    """

    def __init__(self, message: str, *, code: int | None = MESSAGE_TOO_LARGE, **place: object) -> None:
        super().__init__(message, code=code, **place)
