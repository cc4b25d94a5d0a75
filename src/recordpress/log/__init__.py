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

Names are those of Kafka's storage package. Files are opened, and what is being written is hidden, by `recordpress.files`.
`_sidecar` has what the files beside a log share.
"""

from recordpress._on_use import names_of

__getattr__, __dir__ = names_of(__name__)

TYPE_CHECKING = False  # as in recordpress._on_use
if TYPE_CHECKING:
    from recordpress.log._names import *  # noqa: F403 (their __all__)
    from recordpress.log._names import __all__ as __all__
