"""Defaults of a copy whose batches are joined, in a module that is free to import."""

DEFAULT_MAX_MESSAGE_BYTES = 1 << 20
JOINED_BYTES = 256 << 10  # of batches in estimates, where no size is named: deeper ones save little more
EXPIRATION_MS = 86_400_000  # Kafka's default of producer.id.expiration.ms (KIP-854)
