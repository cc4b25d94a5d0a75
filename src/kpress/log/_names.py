"""The names that `kpress.log` offers."""

from kpress._file_names import (
    INDEX_FILE_SUFFIX,
    LEADER_EPOCH_CHECKPOINT,
    LOG_FILE_SUFFIX,
    PARTITION_METADATA,
    PRODUCER_SNAPSHOT_FILE_SUFFIX,
    TIME_INDEX_FILE_SUFFIX,
    TXN_INDEX_FILE_SUFFIX,
)
from kpress.log._digest import RecordDigest
from kpress.log._directory import LogSegment, PartitionDirectory, TopicPartition, list_partitions
from kpress.log._file_records import FileRecords
from kpress.log._files import sync_directory
from kpress.log._sidecars import copy_offset_files
from kpress.log._transactions import AbortedTxn, last_stable_offset, read_transaction_index, transactions_of
from kpress.log._transcode import SegmentContent, read_content, transcode_segment
from kpress.log._unfinished import sweep_directory, unfinished_directory
from kpress.log.findings import Finding

__all__ = [
    "INDEX_FILE_SUFFIX",
    "LEADER_EPOCH_CHECKPOINT",
    "LOG_FILE_SUFFIX",
    "PARTITION_METADATA",
    "PRODUCER_SNAPSHOT_FILE_SUFFIX",
    "TIME_INDEX_FILE_SUFFIX",
    "TXN_INDEX_FILE_SUFFIX",
    "AbortedTxn",
    "FileRecords",
    "Finding",
    "LogSegment",
    "PartitionDirectory",
    "RecordDigest",
    "SegmentContent",
    "TopicPartition",
    "copy_offset_files",
    "last_stable_offset",
    "list_partitions",
    "read_content",
    "read_transaction_index",
    "sweep_directory",
    "sync_directory",
    "transactions_of",
    "transcode_segment",
    "unfinished_directory",
]
