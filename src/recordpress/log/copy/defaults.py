"""Defaults of copies whose batches or segments are joined, in a module that is cheap to import."""

DEFAULT_MAX_MESSAGE_BYTES = 1 << 20  # Kafka's default of max.message.bytes, without its 12 bytes of overhead
JOINED_BYTES = 256 << 10  # of joined batches in estimates, if no size is given: larger batches save little more
EXPIRATION_MS = 86_400_000  # Kafka's default of producer.id.expiration.ms (KIP-854)
SEGMENT_BYTES = 1 << 30  # Kafka's default of segment.bytes
BATCH_BYTES = 1 << 20  # of the Spark sink, too
