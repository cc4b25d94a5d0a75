"""Types for annotations of arguments and results.

Importing recordpress does not load this module.

Examples
--------
>>> from recordpress.typing import CompressionType
>>> def topic_codec(name: str) -> CompressionType:
...     return "zstd" if name.startswith("logs") else "none"
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, SupportsIndex, TypeAlias, TypedDict

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "ArrowArray",
    "ArrowStream",
    "BatchOptions",
    "BinaryFile",
    "BinaryType",
    "CompressionType",
    "HeaderChecksum",
    "Headers",
    "Integer",
    "IsolationLevel",
    "Level",
    "ShownAs",
    "Time",
    "TimestampUnit",
]

CompressionType: TypeAlias = Literal["none", "gzip", "snappy", "lz4", "zstd"]
"""Kafka's name of a codec."""

Integer: TypeAlias = SupportsIndex
"""An int or a NumPy integer. A bool is rejected, although type checkers accept it."""


class _ZstdParameters(Protocol):
    """Shape of `recordpress.ZstdParameters`, which this module cannot import."""

    @property
    def level(self) -> int: ...
    @property
    def window_log(self) -> int | None: ...
    @property
    def strategy(self) -> str | None: ...


Level: TypeAlias = SupportsIndex | _ZstdParameters | Literal["kafka-default"] | None
"""Level on the codec's own scale. None and "kafka-default" mean the default level of Kafka's clients.

gzip has -1 and 1 to 9 (-1, the default, is 6), and zstd -131072 to 22 (default 3). lz4 has 1 to 17, where 9, the
default, is the fast compressor and every other level is LZ4 HC. The other codecs have no levels (KIP-390).
`recordpress.ZstdParameters` is a zstd level with another window or strategy.
"""

Time: TypeAlias = SupportsIndex | datetime | str
"""Milliseconds since 1970, a datetime with a time zone, or ISO 8601 text with a time zone."""

TimestampUnit: TypeAlias = Literal["ms", "us"]
"""Unit of timestamps in columns: milliseconds, as in Kafka, or microseconds, as in Spark."""
BinaryType: TypeAlias = Literal["binary", "large_binary", "binary_view"]
"""Arrow type of keys and values; views share the memory of the decompressed batches."""

HeaderChecksum: TypeAlias = Literal["verify", "ignore"]
"""Treatment of a wrong checksum in an LZ4 frame's header in v1 and v2."""

IsolationLevel: TypeAlias = Literal["read_uncommitted", "read_committed"]
"""Kafka's isolation.level."""

ShownAs: TypeAlias = Literal["utf8", "hex", "base64", "json", "size"]
"""Encoding of keys and values as text."""

Headers: TypeAlias = Iterable["tuple[str, Buffer | None]"] | Mapping[str, "Buffer | None"]
"""Headers of one record, as pairs, or as a dict if no key occurs twice."""


class BinaryFile(Protocol):
    """File opened for reading bytes.

    Examples
    --------
    >>> import recordpress
    >>> import io
    >>> file: recordpress.typing.BinaryFile = io.BytesIO(recordpress.write_records([b"value"]))
    >>> [columns] = recordpress.iter_columns(file, ["value"])
    >>> columns["value"].to_pylist()
    [b'value']
    """

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Fill a buffer; return the number of bytes, 0 at the end of the file."""
        ...


class ArrowArray(Protocol):
    """Object that exports its data as one Arrow array.

    Examples
    --------
    >>> import recordpress
    >>> import pyarrow
    >>> array: recordpress.typing.ArrowArray = pyarrow.array([b"one", b"two"])
    >>> len(recordpress.compress_values(array, "zstd"))
    2
    """

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """Object that exports its data as a stream of Arrow arrays.

    Examples
    --------
    >>> import recordpress
    >>> stream: recordpress.typing.ArrowStream = recordpress.read_columns(recordpress.write_records([b"value"]))
    >>> [batch] = recordpress.read_batches(recordpress.write_columns(stream))
    >>> batch.records_count
    1
    """

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class BatchOptions(TypedDict, total=False):
    """Options of a batch header for BatchBuilder, write_records and write_columns.

    Attributes
    ----------
    timestamp_type : int
        0 CreateTime, 1 LogAppendTime; see `recordpress.TimestampType`.
    log_append_time : int, datetime or str
        The time of all records, with LogAppendTime.
    producer_id, producer_epoch, base_sequence : int
        Id, epoch and first sequence of an idempotent producer; -1, the default, for other producers.
    partition_leader_epoch : int
        -1, the default, is what a producer writes.
    is_transactional : bool
        Part of a transaction; needs a producer id.
    delete_horizon_ms : int, datetime or str
        The time from which compaction may remove the batch's tombstones.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.typing import BatchOptions
    >>> options: BatchOptions = {"producer_id": 4242, "producer_epoch": 0, "base_sequence": 0}
    >>> next(recordpress.read_batches(recordpress.write_records([b"value"], **options))).producer_id
    4242
    """

    timestamp_type: Integer | None
    log_append_time: Time
    producer_id: Integer
    producer_epoch: Integer
    base_sequence: Integer
    partition_leader_epoch: Integer
    is_transactional: bool
    delete_horizon_ms: Time | None
