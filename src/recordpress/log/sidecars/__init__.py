"""The files next to a segment, one module per kind (Kafka's storage.internals.log)."""
