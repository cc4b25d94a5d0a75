from recordpress.broker._depth import DepthAdvice as DepthAdvice
from recordpress.broker._explanation import (
    BatchGroup as BatchGroup,
    Cost as Cost,
    ExplainedBatch as ExplainedBatch,
    Explanation as Explanation,
)
from recordpress.broker._fetch import fetch as fetch
from recordpress.broker._fetched import Fetched as Fetched
from recordpress.broker._partition_log import PartitionLog as PartitionLog
from recordpress.broker._reasons import Finding as Finding, Reason as Reason
from recordpress.broker._validate import validate as validate
from recordpress.broker._verdict import Relation as Relation, Verdict as Verdict
from recordpress.broker.calls import explain as explain
