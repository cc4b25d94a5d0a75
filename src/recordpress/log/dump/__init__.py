"""Output of Kafka's DumpLogSegments (4.3.1) for a segment and its sidecar files."""
