"""Record sets and records: from the bytes of a log to batches and records, and back.

::

    entries        _batch    by header alone; header has the fields in one table
    payload        decode    checksum, decompression, where the records lie
    records        _records  Python objects, lazily, over include/recordpress/record.h
                   fields    builds their keys, values and headers; _control those of control batches

and back::

    builder         records appended one by one       ─┐
    _write_records  sequences, as rows                 ├─► encode      one batch: records, header, checksum
                                                       ─┘   open_batch  that batch while it is filled
                                                            set_writer  as many batches as rows need
    recompress_batch  an entry under another codec, or all entries of a record set
    change_magic    records in another magic
    in_place        what a broker changes in a header

`decode`, `encode`, `fields`, `open_batch`, `set_writer`, `rows`, `recompress_batch`, `change_magic` and `in_place` are
also open to other packages of recordpress.
"""

from recordpress._lazy import publish
from recordpress.record._batch import Batch, BatchIterator, read_batches
from recordpress.record._control import ControlRecord, control_record
from recordpress.record._records import Record, summarize_records as summarize_records
from recordpress.record._types import TimestampType
from recordpress.record._write_records import empty_batch, write_records
from recordpress.record.builder import BatchBuilder
from recordpress.record.recompress_batch import recompress

__all__ = [
    "Batch",
    "BatchBuilder",
    "BatchIterator",
    "ControlRecord",
    "Record",
    "TimestampType",
    "control_record",
    "empty_batch",
    "read_batches",
    "recompress",
    "write_records",
]

publish(__name__, __all__, globals())
