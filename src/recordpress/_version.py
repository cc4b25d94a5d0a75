"""The version and the distribution's name, for messages and manifests."""

DISTRIBUTION = "recordpress"
VERSION = "0.1.0"
