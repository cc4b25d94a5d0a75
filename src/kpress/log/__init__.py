"""Log directories: where the record sets of a broker lie, and the files beside them.

::

    <log dir>/                        _directory           list_partitions: one PartitionDirectory each
      orders-0/                       _directory           its segments in order of offset, its other files
        00000000000000012345.log        one LogSegment     a record set, read by kpress.record
        00000000000000012345.txnindex   _transactions      aborted transactions, what read_committed leaves out
        00000000000000012345.index      .timeindex         byte positions by offset and by time: a broker rebuilds them

Names are those of Kafka's storage package. Paths are local ones here; indexes, seeking by offset or time, the
examination of damaged tails and object stores are further files of this folder.
"""

from kpress.log._directory import LogSegment, PartitionDirectory, TopicPartition, list_partitions
from kpress.log._transactions import AbortedTxn, last_stable_offset, read_transaction_index, transactions_of

__all__ = [
    "AbortedTxn",
    "LogSegment",
    "PartitionDirectory",
    "TopicPartition",
    "last_stable_offset",
    "list_partitions",
    "read_transaction_index",
    "transactions_of",
]
