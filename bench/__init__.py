"""Benchmarks: recordpress next to the C ceiling and next to its peers, in one run. How to read them: README.md."""
