"""The names that `kpress.broker` offers."""

from kpress.broker._reasons import Finding, Reason

__all__ = [
    "Finding",
    "Reason",
]
