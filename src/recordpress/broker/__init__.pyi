from recordpress.broker._explanation import BatchGroup, Cost, ExplainedBatch, Explanation
from recordpress.broker._fetch import fetch
from recordpress.broker._fetched import Fetched
from recordpress.broker._partition_log import PartitionLog
from recordpress.broker._reasons import Finding, Reason
from recordpress.broker._validate import validate
from recordpress.broker._verdict import Relation, Verdict
from recordpress.broker.calls import explain

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
