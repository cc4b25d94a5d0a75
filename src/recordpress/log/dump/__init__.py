"""What Kafka's DumpLogSegments (4.3.1) prints of a segment and of the files next to it."""
