"""Copies of a log that is nearly right, with joined batches, kept and settled producers: they hold what the source
does, and their batches are as the issue of marks says."""
