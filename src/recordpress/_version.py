"""Version and name of the distribution, for messages and manifests; and the newest Kafka whose rules it knows."""

DISTRIBUTION = "recordpress"
VERSION = "0.1.0"
NEWEST_KAFKA = "4.4"  # the default of broker_version
