"""The names that `kpress.log` offers, and the modules that have them: each is imported when it is first used.

A command that reads records does without the modules that copy logs, and starts in half the time. Type checkers read
the names in `_names.pyi`.
"""

from importlib import import_module

TYPE_CHECKING = False  # as in kpress._on_use
if TYPE_CHECKING:
    from typing import Any

MODULES = {
    "kpress._file_names": (
        "INDEX_FILE_SUFFIX LEADER_EPOCH_CHECKPOINT LOG_FILE_SUFFIX PARTITION_METADATA "
        "PRODUCER_SNAPSHOT_FILE_SUFFIX TIME_INDEX_FILE_SUFFIX TXN_INDEX_FILE_SUFFIX"
    ),
    "kpress.files": "sweep_directory sync_directory unfinished_directory",
    "kpress.log._batches": "LogBatch",
    "kpress.log._checkpoints": (
        "EpochEntry read_leader_epochs read_offset_checkpoint write_leader_epochs write_offset_checkpoint"
    ),
    "kpress.log._convert": "convert",
    "kpress.log._digest": "RecordDigest",
    "kpress.log._directory": "LogSegment PartitionDirectory list_partitions",
    "kpress.log._dump": "DumpOptions SegmentDump",
    "kpress.log._dump_sidecars": "is_sidecar sidecar_lines",
    "kpress.log._end": "end_offset",
    "kpress.log._file_records": "FileRecords",
    "kpress.log._log": "Log open_log",
    "kpress.log._manifest": "CopiedPartition CopiedSegment Manifest QuarantinedSegment SourceFile",
    "kpress.log._offset_index": "OffsetIndex OffsetPosition read_offset_index write_offset_index",
    "kpress.log._partition_metadata": "PartitionMetadata read_partition_metadata write_partition_metadata",
    "kpress.log._producer_snapshot": "ProducerState read_snapshot write_snapshot",
    "kpress.log._progress": "Progress",
    "kpress.log._read": "LogReader",
    "kpress.log._rebuild": "INDEX_INTERVAL_BYTES",
    "kpress.log._reindex": "ReindexReport reindex",
    "kpress.log._salvage": "SalvagedSegment SalvageReport salvage",
    "kpress.log._scan": "ScanReport SegmentScan scan",
    "kpress.log._segment": "Partition Segment TopicPartition",
    "kpress.log._segment_copy": "SegmentContent read_content transcode_segment",
    "kpress.log._sidecars": "copy_offset_files",
    "kpress.log._stats": "LogStats Share stats_of total_of",
    "kpress.log._time_index": "TimeIndex TimestampOffset read_time_index write_time_index",
    "kpress.log._transaction_index": "AbortedTxn read_transaction_index write_transaction_index",
    "kpress.log._transactions": "Isolation isolation_of last_stable_offset transactions_of",
    "kpress.log._transcode": "Estimate transcode",
    "kpress.log._verify": "VerifyReport verify",
    "kpress.log.findings": "Finding",
}

_MODULE_OF = {name: module for module, names in MODULES.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> "Any":
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULE_OF[name]), name)
    return value
