"""Log directories: a broker's record sets, and the files beside them.

::

    <log dir>/                        _directory           list_partitions: one PartitionDirectory each
      orders-0/                       _directory           its segments in order of offset
        00000000000000012345.log        _file_records      a record set, in pieces of whole entries
                                        _dump              what Kafka's DumpLogSegments prints of it
                                                           (_kraft_records: of a quorum's own records;
                                                           _internal_records: of internal topics, by _messages
                                                           and _internal_schemas;
                                                           _dump_sidecars: of the files beside it)
                                        _stats             what is stored in it: codecs, depths, ratios
                                        _batches           its batches by their headers (_batch_table: as Arrow)
                                        _end               where the last of them ends
                                        _tail              what may follow the last of them (_segment_tail: as a
                                                           finding)
                                        _copy_log          all of it under another codec (_transcode) or in another
                                                           magic (_convert), with a _manifest, in its _target
                                                           (_lease: one call at a time in an object store);
                                                           _segment_copy does a segment
        00000000000000012345.index      _offset_index      byte positions by offset
        00000000000000012345.timeindex  _time_index        offsets by time
        00000000000000012345.txnindex   _transaction_index aborted transactions (_transactions: what read_committed
                                                           leaves out)
        00000000000000012345.snapshot   _producer_snapshot producers at the segment's beginning
        leader-epoch-checkpoint         _checkpoints       the first offset of each leader; offsets of a log dir
        partition.metadata              _partition_metadata
                                        _sidecars          which of these files a copy keeps
                                        _rebuild           all of them made again from the log (_producer_state,
                                                           _sidecar_files; _reindex writes them)
    s3://.../orders-0/, backup/       _layout            the same, wherever it lies: _open finds partitions, _segment is
                                                           what they are, _tiered reads copies in Aiven's tiered storage
    (any of these)                    findings           what a reader must know: damage, and what was skipped or cut

    _hop: from header to header ─┬─► _seek      an offset or a time ──► the batch; indexes are hints
                                 ├─► _scanner   what is intact, and the bytes between ──► _scan, _salvage (_chain)
                                 │              _recovery: what a broker would keep of it
                                 ├─► _entry     its bytes: a large one only if it is sound
                                 └─► _verify    files, batches (_order), records (_record_checks, _index_checks)

    splits, copy_tasks: a log, or a copy of one, as many pieces of work (doors for `recordpress.spark`), cut by _part;
    _part_isolation is read_committed of one of them

    partition_read: what a broker reads of it for a fetch (a door for `recordpress.broker`)

    _recoder: entries, side by side ──► _recode    decoded, encoded, joined (_pack), in another magic (_convert_entry),
                                                   proven, digested (_digest)

Names are those of Kafka's storage package. Files are opened, and what is being written is hidden, by
`recordpress.files`. `_sidecar` has what the files beside a log share.
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
        "recordpress.log.copy._convert": "convert",
        "recordpress.log._digest": "RecordDigest",
        "recordpress.log._directory": "LogSegment PartitionDirectory list_partitions",
        "recordpress.log.dump._dump": "DumpOptions SegmentDump",
        "recordpress.log.dump._dump_sidecars": "is_sidecar sidecar_lines",
        "recordpress.log._end_offset": "end_offset",
        "recordpress.log._file_records": "FileRecords",
        "recordpress.log._log": "Log open_log",
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
        "recordpress.log.copy._copy_sidecars": "copy_offset_files",
        "recordpress.log._stats": "LogStats Share stats_of total_of",
        "recordpress.log.sidecars.time_index": "TimeIndex TimestampOffset read_time_index write_time_index",
        "recordpress.log.sidecars.transaction_index": "AbortedTxn read_transaction_index write_transaction_index",
        "recordpress.log._transactions": "Isolation isolation_of last_stable_offset transactions_of",
        "recordpress.log.copy._transcode": "Estimate transcode",
        "recordpress.log.check.verify": "VerifyReport verify",
        "recordpress.log.findings": "Finding",
    },
)
