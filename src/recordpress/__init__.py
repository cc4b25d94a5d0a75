"""Kafka's record batches, log segments and codecs at the speed of the C libraries underneath.

::

    fetched bytes, .log files ──► record set ──► batches ──► records area ──► columns ──► Arrow arrays ──► Spark
                    log/                         record/       codecs/    │   columns/                     spark/
                                                                          └─► Record objects
                                                                              record/

    Writers go the other way: write_columns, write_records and BatchBuilder build record sets.

Importing recordpress loads no third-party package. Arrow arrays come and go through the Arrow PyCapsule interface, so
any of pyarrow, polars, duckdb and pandas will do, or none. `recordpress.broker`, `recordpress.log` and
`recordpress.spark` are loaded on first use.
"""

from recordpress import (
    _extension_finder as _extension_finder,
    broker as broker,
    dictionaries as dictionaries,
    log as log,
    producer as producer,
)
from recordpress._buffers import pool_bytes, release_unused
from recordpress._lazy import UnloadedPackage, publish
from recordpress._version import VERSION
from recordpress.analysis.calls import analyze, fits, train
from recordpress.broker.calls import explain
from recordpress.checksum import crc32, crc32_combine, crc32_patch, crc32c, crc32c_combine, crc32c_patch, crc32c_path
from recordpress.codecs import (
    DEFAULT_MAX_SIZE,
    CodecRegistry,
    Compressor,
    Decompressor,
    ZstdParameters,
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
from recordpress.columns import (
    BatchTable,
    Column,
    Columns,
    ColumnsIterator,
    batch_table,
    compress_values,
    crc32c_values,
    decompress_values,
    iter_columns,
    read_columns,
    write_columns,
)
from recordpress.errors import (
    ArgumentTypeError,
    ClosedError,
    CorruptRecordError,
    DecompressionError,
    InUseError,
    InvalidArgumentError,
    InvalidRecordError,
    NotFoundError,
    OutputTooLargeError,
    RecordpressError,
    StorageError,
    UnsupportedCompressionTypeError,
)
from recordpress.log.calls import open_log
from recordpress.log.copy.calls import convert, transcode
from recordpress.record import (
    Batch,
    BatchBuilder,
    BatchIterator,
    ControlRecord,
    Record,
    TimestampType,
    control_record,
    empty_batch,
    read_batches,
    recompress,
    write_records,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recordpress import spark as spark
else:
    spark = UnloadedPackage("recordpress.spark")  # its import checks the packages that Spark needs

__version__ = VERSION

__all__ = [
    "DEFAULT_MAX_SIZE",
    "ArgumentTypeError",
    "Batch",
    "BatchBuilder",
    "BatchIterator",
    "BatchTable",
    "ClosedError",
    "CodecRegistry",
    "Column",
    "Columns",
    "ColumnsIterator",
    "Compressor",
    "ControlRecord",
    "CorruptRecordError",
    "DecompressionError",
    "Decompressor",
    "InUseError",
    "InvalidArgumentError",
    "InvalidRecordError",
    "NotFoundError",
    "OutputTooLargeError",
    "Record",
    "RecordpressError",
    "StorageError",
    "TimestampType",
    "UnsupportedCompressionTypeError",
    "ZstdParameters",
    "analyze",
    "batch_table",
    "break_lz4_header",
    "compress",
    "compress_bound",
    "compress_into",
    "compress_values",
    "compressor",
    "control_record",
    "convert",
    "crc32",
    "crc32_combine",
    "crc32_patch",
    "crc32c",
    "crc32c_combine",
    "crc32c_patch",
    "crc32c_path",
    "crc32c_values",
    "decompress",
    "decompress_into",
    "decompress_values",
    "decompressor",
    "empty_batch",
    "explain",
    "fits",
    "fix_lz4_header",
    "iter_columns",
    "open_log",
    "pool_bytes",
    "read_batches",
    "read_columns",
    "recompress",
    "release_unused",
    "train",
    "transcode",
    "write_columns",
    "write_records",
]

publish(__name__, __all__, globals())
