"""Files next to a segment, one module per kind (Kafka's storage.internals.log)."""

from recordpress._file_names import TopicPartition
from recordpress._lazy import publish
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
    "AbortedTxn",
    "EpochEntry",
    "OffsetIndex",
    "OffsetPosition",
    "PartitionMetadata",
    "ProducerState",
    "TimeIndex",
    "TimestampOffset",
    "TopicPartition",
    "read_leader_epochs",
    "read_offset_checkpoint",
    "read_offset_index",
    "read_partition_metadata",
    "read_snapshot",
    "read_time_index",
    "read_transaction_index",
    "write_leader_epochs",
    "write_offset_checkpoint",
    "write_offset_index",
    "write_partition_metadata",
    "write_snapshot",
    "write_time_index",
    "write_transaction_index",
]

publish(__name__, __all__, globals())
