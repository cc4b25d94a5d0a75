"""Logs: directories of a broker, or copies of them anywhere, with the files next to each segment.

`open_log` finds partitions and segments, and `Log` reads them. Further work on logs has a folder each:

::

    sidecars/  the files next to a segment: indexes, snapshots, checkpoints
    check/     verify, scan, repair, reindex
    copy/      transcode, convert, compact, and the manifest of a copy
    publish/   how finished files get their names
    dump/      what Kafka's DumpLogSegments prints

Names follow Kafka's storage package.
"""

from recordpress._lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "recordpress.log.sidecars": "",
        "recordpress.log._batches": "LogBatch",
        "recordpress.log._digest": "RecordDigest",
        "recordpress.log._end_offset": "end_offset",
        "recordpress.log._file_records": "FileRecords",
        "recordpress.log._log": "Log",
        "recordpress.log._progress": "Progress",
        "recordpress.log._read": "LogReader",
        "recordpress.log._segment": "Partition Segment",
        "recordpress.log._stats": "LogStats Share stats_of",
        "recordpress.log.calls": "open_log",
        "recordpress.log.check.damage_report": "ScanReport SegmentScan scan",
        "recordpress.log.check.reindex": "ReindexReport reindex",
        "recordpress.log.copy.repair": "RepairedSegment RepairReport repair",
        "recordpress.log.check.verify": "VerifyReport verify",
        "recordpress.log.copy.calls": "compact convert transcode",
        "recordpress.log.copy.compact": "CompactedPartition",
        "recordpress.log.copy.manifest": "CopiedPartition CopiedSegment Manifest QuarantinedSegment SourceFile",
        "recordpress.log.copy.savings": "Estimate Saving TopicSavings",
        "recordpress.log.dump._dump": "DumpOptions SegmentDump",
        "recordpress.log.check.lost_records": "LostRecords",
        "recordpress.log.findings": "Finding",
    },
)
