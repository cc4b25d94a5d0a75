"""The names that `kpress.broker` offers."""

from kpress.broker._fetch import fetch
from kpress.broker._fetched import Fetched
from kpress.broker._partition_log import PartitionLog
from kpress.broker._reasons import Finding, Reason
from kpress.broker._validate import validate
from kpress.broker._verdict import Relation, Verdict

__all__ = [
    "Fetched",
    "Finding",
    "PartitionLog",
    "Reason",
    "Relation",
    "Verdict",
    "fetch",
    "validate",
]
