"""Defaults of a copy whose batches are joined, in a module that is free to import."""

DEFAULT_MAX_MESSAGE_BYTES = 1 << 20
EXPIRATION_MS = 86_400_000  # Kafka's default of producer.id.expiration.ms (KIP-854)
