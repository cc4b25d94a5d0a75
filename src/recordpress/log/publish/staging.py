"""Segments that others make for a log: processes on other machines, say. A door for `recordpress.spark`.

::

    elsewhere   batches ──► StagedPartition ──► StagedSegments in <dst>/.recordpress-staging/<job>          _staged
    driver      publish: their offsets ──► journal ──► each gets its offsets, its indexes, its name    _publish, _stamp

Whoever makes a segment knows neither what others make for the same partition nor where the log ends. A staged segment
is read back before it counts. Only those that the driver is told of are published: what attempts left that were tried
again, or twice at once, is deleted with the job's directory.

The journal is the commit: before it is there, nothing of the job counts, and whoever publishes next deletes it; after
that, whoever publishes next finishes what the job did not.
"""

from recordpress.log.publish._commit_staged import PublishedPartition, check_target, commit_staged, withdraw
from recordpress.log.publish._staged import Stage, StagedPartition, StagedSegment, check_topic

__all__ = [
    "PublishedPartition",
    "Stage",
    "StagedPartition",
    "StagedSegment",
    "check_target",
    "check_topic",
    "commit_staged",
    "withdraw",
]
