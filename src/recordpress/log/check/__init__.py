"""Verify, scan and reindex a log, and predict what a broker would keep of a damaged one."""
