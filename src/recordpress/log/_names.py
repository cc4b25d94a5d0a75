"""The names that `recordpress.log` offers, and the modules that have them: each is imported when it is first used.

A command that reads records does without the modules that copy logs, and starts in half the time. Type checkers read
the names in `_names.pyi`.
"""

from importlib import import_module

TYPE_CHECKING = False  # as in recordpress._on_use
if TYPE_CHECKING:
    from typing import Any

MODULES = {
    "recordpress._file_names": (
        "INDEX_FILE_SUFFIX LEADER_EPOCH_CHECKPOINT LOG_FILE_SUFFIX PARTITION_METADATA "
        "PRODUCER_SNAPSHOT_FILE_SUFFIX TIME_INDEX_FILE_SUFFIX TXN_INDEX_FILE_SUFFIX"
    ),
    "recordpress.files": "sweep_directory sync_directory unfinished_directory",
    "recordpress.log._batches": "LogBatch",
    "recordpress.log._checkpoints": (
        "EpochEntry read_leader_epochs read_offset_checkpoint write_leader_epochs write_offset_checkpoint"
    ),
    "recordpress.log._convert": "convert",
    "recordpress.log._digest": "RecordDigest",
    "recordpress.log._directory": "LogSegment PartitionDirectory list_partitions",
    "recordpress.log._dump": "DumpOptions SegmentDump",
    "recordpress.log._dump_sidecars": "is_sidecar sidecar_lines",
    "recordpress.log._end": "end_offset",
    "recordpress.log._file_records": "FileRecords",
    "recordpress.log._log": "Log open_log",
    "recordpress.log._manifest": "CopiedPartition CopiedSegment Manifest QuarantinedSegment SourceFile",
    "recordpress.log._offset_index": "OffsetIndex OffsetPosition read_offset_index write_offset_index",
    "recordpress.log._partition_metadata": "PartitionMetadata read_partition_metadata write_partition_metadata",
    "recordpress.log._producer_snapshot": "ProducerState read_snapshot write_snapshot",
    "recordpress.log._progress": "Progress",
    "recordpress.log._read": "LogReader",
    "recordpress.log._rebuild": "INDEX_INTERVAL_BYTES",
    "recordpress.log._reindex": "ReindexReport reindex",
    "recordpress.log._salvage": "SalvagedSegment SalvageReport salvage",
    "recordpress.log._scan": "ScanReport SegmentScan scan",
    "recordpress.log._segment": "Partition Segment TopicPartition",
    "recordpress.log._segment_copy": "SegmentContent read_content transcode_segment",
    "recordpress.log._sidecars": "copy_offset_files",
    "recordpress.log._stats": "LogStats Share stats_of total_of",
    "recordpress.log._time_index": "TimeIndex TimestampOffset read_time_index write_time_index",
    "recordpress.log._transaction_index": "AbortedTxn read_transaction_index write_transaction_index",
    "recordpress.log._transactions": "Isolation isolation_of last_stable_offset transactions_of",
    "recordpress.log._transcode": "Estimate transcode",
    "recordpress.log._verify": "VerifyReport verify",
    "recordpress.log.findings": "Finding",
}

_MODULE_OF = {name: module for module, names in MODULES.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> "Any":
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULE_OF[name]), name)
    return value
