"""Kafka's error codes: org.apache.kafka.common.protocol.Errors."""

cdef enum:
    UNKNOWN_SERVER_ERROR = -1   # also for exceptions without a code
    CORRUPT_MESSAGE = 2
    MESSAGE_TOO_LARGE = 10
    INVALID_TIMESTAMP = 32
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43
    UNSUPPORTED_COMPRESSION_TYPE = 76
    INVALID_RECORD = 87
