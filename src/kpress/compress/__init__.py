"""Payload <-> record bytes: one file a codec."""

DEFAULT_MAX_SIZE = 64 << 20
