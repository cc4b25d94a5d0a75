"""Copies of a log with another codec or magic: each segment is checked against its source, with a manifest."""
