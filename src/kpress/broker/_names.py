"""The names that `kpress.broker` offers."""

from kpress.broker._explain import explain
from kpress.broker._explanation import BatchGroup, Cost, ExplainedBatch, Explanation
from kpress.broker._fetch import fetch
from kpress.broker._fetched import Fetched
from kpress.broker._partition_log import PartitionLog
from kpress.broker._reasons import Finding, Reason
from kpress.broker._validate import validate
from kpress.broker._verdict import Relation, Verdict

__all__ = [
    "BatchGroup",
    "Cost",
    "ExplainedBatch",
    "Explanation",
    "Fetched",
    "Finding",
    "PartitionLog",
    "Reason",
    "Relation",
    "Verdict",
    "explain",
    "fetch",
    "validate",
]
