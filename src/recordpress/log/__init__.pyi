from recordpress._file_names import (
    INDEX_FILE_SUFFIX,
    LEADER_EPOCH_CHECKPOINT,
    LOG_FILE_SUFFIX,
    PARTITION_METADATA,
    PRODUCER_SNAPSHOT_FILE_SUFFIX,
    TIME_INDEX_FILE_SUFFIX,
    TXN_INDEX_FILE_SUFFIX,
    TopicPartition,
)
from recordpress.files import sweep_directory, sync_directory, unfinished_directory
from recordpress.log._batches import LogBatch
from recordpress.log._digest import RecordDigest
from recordpress.log._end_offset import end_offset
from recordpress.log._file_records import FileRecords
from recordpress.log._log import Log
from recordpress.log._progress import Progress
from recordpress.log._read import LogReader
from recordpress.log._segment import Partition, Segment
from recordpress.log._stats import LogStats, Share, stats_of, total_of
from recordpress.log._transactions import Isolation, isolation_of
from recordpress.log.calls import open_log
from recordpress.log.check.damage_report import ScanReport, SegmentScan, scan
from recordpress.log.check.rebuild import INDEX_INTERVAL_BYTES
from recordpress.log.check.reindex import ReindexReport, reindex
from recordpress.log.check.repair import RepairedSegment, RepairReport, repair
from recordpress.log.check.verify import VerifyReport, verify
from recordpress.log.copy._segment_copy import SegmentContent, read_content, transcode_segment
from recordpress.log.copy.calls import convert, transcode
from recordpress.log.copy.manifest import CopiedPartition, CopiedSegment, Manifest, QuarantinedSegment, SourceFile
from recordpress.log.copy.transcode import Estimate
from recordpress.log.dump._dump import DumpOptions, SegmentDump
from recordpress.log.dump._dump_sidecars import is_sidecar, sidecar_lines
from recordpress.log.findings import Finding
from recordpress.log.sidecars.checkpoints import (
    EpochEntry,
    read_leader_epochs,
    read_offset_checkpoint,
    write_leader_epochs,
    write_offset_checkpoint,
)
from recordpress.log.sidecars.offset_index import OffsetIndex, OffsetPosition, read_offset_index, write_offset_index
from recordpress.log.sidecars.partition_metadata import (
    PartitionMetadata,
    read_partition_metadata,
    write_partition_metadata,
)
from recordpress.log.sidecars.producer_snapshot import ProducerState, read_snapshot, write_snapshot
from recordpress.log.sidecars.time_index import TimeIndex, TimestampOffset, read_time_index, write_time_index
from recordpress.log.sidecars.transaction_index import AbortedTxn, read_transaction_index, write_transaction_index

__all__ = [
    "INDEX_FILE_SUFFIX",
    "INDEX_INTERVAL_BYTES",
    "LEADER_EPOCH_CHECKPOINT",
    "LOG_FILE_SUFFIX",
    "PARTITION_METADATA",
    "PRODUCER_SNAPSHOT_FILE_SUFFIX",
    "TIME_INDEX_FILE_SUFFIX",
    "TXN_INDEX_FILE_SUFFIX",
    "AbortedTxn",
    "CopiedPartition",
    "CopiedSegment",
    "DumpOptions",
    "EpochEntry",
    "Estimate",
    "FileRecords",
    "Finding",
    "Isolation",
    "Log",
    "LogBatch",
    "LogReader",
    "LogStats",
    "Manifest",
    "OffsetIndex",
    "OffsetPosition",
    "Partition",
    "PartitionMetadata",
    "ProducerState",
    "Progress",
    "QuarantinedSegment",
    "RecordDigest",
    "ReindexReport",
    "RepairReport",
    "RepairedSegment",
    "ScanReport",
    "Segment",
    "SegmentContent",
    "SegmentDump",
    "SegmentScan",
    "Share",
    "SourceFile",
    "TimeIndex",
    "TimestampOffset",
    "TopicPartition",
    "VerifyReport",
    "convert",
    "end_offset",
    "is_sidecar",
    "isolation_of",
    "open_log",
    "read_content",
    "read_leader_epochs",
    "read_offset_checkpoint",
    "read_offset_index",
    "read_partition_metadata",
    "read_snapshot",
    "read_time_index",
    "read_transaction_index",
    "reindex",
    "repair",
    "scan",
    "sidecar_lines",
    "stats_of",
    "sweep_directory",
    "sync_directory",
    "total_of",
    "transcode",
    "transcode_segment",
    "unfinished_directory",
    "verify",
    "write_leader_epochs",
    "write_offset_checkpoint",
    "write_offset_index",
    "write_partition_metadata",
    "write_snapshot",
    "write_time_index",
    "write_transaction_index",
]
