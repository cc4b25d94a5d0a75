"""Kafka's record batches, log segments and codecs at the speed of the C libraries underneath.

::

     .log file / fetch bytes
            │
     record set ──► batches ──► payload ──► record bytes ──► columns ──► Arrow ──► Spark
                    record/     compress/                └─► records ──► Python objects
     producer side ◄── the same, read from right to left ◄──┘

Importing this package loads no third-party package; Arrow arrays are made and taken through the PyCapsule
interface, so pyarrow, polars, duckdb, pandas or none of them may be there.
"""

from kpress._buffers import pool_bytes, release_unused
from kpress.checksum import crc32, crc32_combine, crc32_patch, crc32c, crc32c_combine, crc32c_patch, crc32c_path
from kpress.compress import (
    DEFAULT_MAX_SIZE,
    Compressor,
    Decompressor,
    break_lz4_header,
    compress,
    compress_bound,
    compress_into,
    compressor,
    decompress,
    decompress_into,
    decompressor,
    fix_lz4_header,
)
from kpress.errors import (
    ArgumentTypeError,
    ClosedError,
    CorruptRecordError,
    DecompressionError,
    InvalidArgumentError,
    InvalidRecordError,
    KpressError,
    OutputTooLargeError,
    UnsupportedCompressionTypeError,
)
from kpress.record._arrow import Columns
from kpress.record._batch import Batch, BatchIterator, read_batches
from kpress.record._builder import BatchBuilder, empty_batch
from kpress.record._columns import iter_columns, read_columns
from kpress.record._control import ControlRecord, control_record
from kpress.record._recompress import recompress
from kpress.record._records import Record
from kpress.record._table import BatchTable, batch_table
from kpress.record._types import TimestampType
from kpress.record._write_columns import write_columns
from kpress.record._write_records import write_records

__version__ = "0.1.0"

__all__ = [
    "DEFAULT_MAX_SIZE",
    "ArgumentTypeError",
    "Batch",
    "BatchBuilder",
    "BatchIterator",
    "BatchTable",
    "ClosedError",
    "Columns",
    "Compressor",
    "ControlRecord",
    "CorruptRecordError",
    "DecompressionError",
    "Decompressor",
    "InvalidArgumentError",
    "InvalidRecordError",
    "KpressError",
    "OutputTooLargeError",
    "Record",
    "TimestampType",
    "UnsupportedCompressionTypeError",
    "batch_table",
    "break_lz4_header",
    "compress",
    "compress_bound",
    "compress_into",
    "compressor",
    "control_record",
    "crc32",
    "crc32_combine",
    "crc32_patch",
    "crc32c",
    "crc32c_combine",
    "crc32c_patch",
    "crc32c_path",
    "decompress",
    "decompress_into",
    "decompressor",
    "empty_batch",
    "fix_lz4_header",
    "iter_columns",
    "pool_bytes",
    "read_batches",
    "read_columns",
    "recompress",
    "release_unused",
    "write_columns",
    "write_records",
]
