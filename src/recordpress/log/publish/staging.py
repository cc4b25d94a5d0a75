"""Segments that other processes write for a log. A door for `recordpress.spark`.

::

    elsewhere   batches ──► StagedPartition ──► StagedSegments in <dst>/.recordpress-staging/<job>          _staged
    driver      commit_staged: offsets ──► journal ──► offsets, indexes and names of all files       _commit_staged

A task knows neither the segments of other tasks nor the end of the log. A staged segment is read back before it counts.
Only the segments that tasks report to the driver are committed; segments of failed and duplicate attempts are deleted
with the job's directory.

The journal is the commit. Before it exists, the next job deletes the staged segments; afterwards the next job finishes
the commit.
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
