"""Log directories: where the record sets of a broker lie, and the files beside them.

::

    <log dir>/                        _directory           list_partitions: one PartitionDirectory each
      orders-0/                       _directory           its segments in order of offset
        00000000000000012345.log        _file_records      a record set, in pieces of whole entries
                                        _tail              what may follow the last of them
                                        _transcode         the same records under another codec (_pack, _digest)
        00000000000000012345.txnindex   _transactions      aborted transactions, what read_committed leaves out
        00000000000000012345.index      .timeindex         byte positions by offset and by time: a broker rebuilds them
        leader-epoch-checkpoint         _sidecars          with partition.metadata, .snapshot: what a copy keeps
    (any of these)                  findings             what a reader must know: damage, and what was skipped or cut

Names are those of Kafka's storage package. Paths are local ones. `_files` refuses links, pipes and directories where
a file belongs; `_unfinished` hides what is being written until it is whole.
"""

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
