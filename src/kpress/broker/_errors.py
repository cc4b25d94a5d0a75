"""Kafka's error codes with their names (org.apache.kafka.common.protocol.Errors): those of one partition's answers."""

from __future__ import annotations

from enum import IntEnum

CONNECTION_CLOSED = "CONNECTION_CLOSED"  # not Kafka's: there is no answer, the broker closes the connection


class Errors(IntEnum):
    """Codes of Produce and Fetch responses."""

    UNKNOWN_SERVER_ERROR = -1  # every exception that has no code of its own
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    MESSAGE_TOO_LARGE = 10
    INVALID_TOPIC_EXCEPTION = 17
    RECORD_LIST_TOO_LARGE = 18
    NOT_ENOUGH_REPLICAS = 19
    INVALID_TIMESTAMP = 32
    UNSUPPORTED_VERSION = 35
    INVALID_REQUEST = 42
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    DUPLICATE_SEQUENCE_NUMBER = 46
    INVALID_PRODUCER_EPOCH = 47
    INVALID_TXN_STATE = 48
    INVALID_PRODUCER_ID_MAPPING = 49
    TRANSACTION_COORDINATOR_FENCED = 52
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    KAFKA_STORAGE_ERROR = 56
    UNKNOWN_PRODUCER_ID = 59
    FENCED_LEADER_EPOCH = 74
    UNSUPPORTED_COMPRESSION_TYPE = 76
    INVALID_RECORD = 87


def name_of(code: int | None) -> str:
    """Kafka's name of a code; None is a connection that was closed."""
    return CONNECTION_CLOSED if code is None else Errors(code).name
