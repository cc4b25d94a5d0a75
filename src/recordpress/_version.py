"""Version and name of the distribution, for messages and manifests."""

DISTRIBUTION = "recordpress"
VERSION = "0.1.0"
