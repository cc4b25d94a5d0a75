"""Benchmarks: recordpress beside the C ceiling and beside its peers, in one run. How to read them: README.md."""
