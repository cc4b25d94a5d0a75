"""The names that `kpress.broker` offers."""

from kpress.broker._reasons import Finding, Reason
from kpress.broker._verdict import Relation, Verdict

__all__ = [
    "Finding",
    "Reason",
    "Relation",
    "Verdict",
]
