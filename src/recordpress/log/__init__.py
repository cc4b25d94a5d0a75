"""Logs: directories of a broker, or copies of them anywhere, with the files next to each segment.

`open_log` finds partitions and segments, and `Log` reads them. Further work on logs has a folder each:

::

    sidecars/  the files next to a segment: indexes, snapshots, checkpoints
    check/     verify, scan, repair, reindex
    copy/      transcode, convert, and the manifest of a copy
    publish/   how finished files get their names
    dump/      what Kafka's DumpLogSegments prints

Names follow Kafka's storage package.
"""

from recordpress._lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "recordpress._file_names": (
            "INDEX_FILE_SUFFIX LEADER_EPOCH_CHECKPOINT LOG_FILE_SUFFIX PARTITION_METADATA "
            "PRODUCER_SNAPSHOT_FILE_SUFFIX TIME_INDEX_FILE_SUFFIX TXN_INDEX_FILE_SUFFIX TopicPartition"
        ),
        "recordpress.files": "sweep_directory sync_directory unfinished_directory",
        "recordpress.log._batches": "LogBatch",
        "recordpress.log.sidecars.checkpoints": (
            "EpochEntry read_leader_epochs read_offset_checkpoint write_leader_epochs write_offset_checkpoint"
        ),
        "recordpress.log.calls": "open_log",
        "recordpress.log.copy.calls": "convert transcode",
        "recordpress.log._digest": "RecordDigest",
        "recordpress.log.dump._dump": "DumpOptions SegmentDump",
        "recordpress.log.dump._dump_sidecars": "is_sidecar sidecar_lines",
        "recordpress.log._end_offset": "end_offset",
        "recordpress.log._file_records": "FileRecords",
        "recordpress.log._log": "Log",
        "recordpress.log.copy.manifest": "CopiedPartition CopiedSegment Manifest QuarantinedSegment SourceFile",
        "recordpress.log.sidecars.offset_index": "OffsetIndex OffsetPosition read_offset_index write_offset_index",
        "recordpress.log.sidecars.partition_metadata": (
            "PartitionMetadata read_partition_metadata write_partition_metadata"
        ),
        "recordpress.log.sidecars.producer_snapshot": "ProducerState read_snapshot write_snapshot",
        "recordpress.log._progress": "Progress",
        "recordpress.log._read": "LogReader",
        "recordpress.log.check.rebuild": "INDEX_INTERVAL_BYTES",
        "recordpress.log.check.reindex": "ReindexReport reindex",
        "recordpress.log.check.repair": "RepairedSegment RepairReport repair",
        "recordpress.log.check.damage_report": "ScanReport SegmentScan scan",
        "recordpress.log._segment": "Partition Segment",
        "recordpress.log.copy._segment_copy": "SegmentContent read_content transcode_segment",
        "recordpress.log._stats": "LogStats Share stats_of total_of",
        "recordpress.log.sidecars.time_index": "TimeIndex TimestampOffset read_time_index write_time_index",
        "recordpress.log.sidecars.transaction_index": "AbortedTxn read_transaction_index write_transaction_index",
        "recordpress.log._transactions": "Isolation isolation_of",
        "recordpress.log.copy.transcode": "Estimate",
        "recordpress.log.check.verify": "VerifyReport verify",
        "recordpress.log.findings": "Finding",
    },
)
