"""The limit that turns a hang into a failure. Tests wait for conditions: none reaches it on a machine that works."""

HANG = 600  # seconds; chosen, not measured
