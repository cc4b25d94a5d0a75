"""Types for annotations of what kpress's functions accept.

Importing kpress does not load this module.

Examples
--------
>>> from kpress.typing import CompressionType
>>> def topic_codec(name: str) -> CompressionType:
...     return "zstd" if name.startswith("logs") else "none"
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, SupportsIndex, TypeAlias, TypedDict

from kpress.codecs import Dictionary

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "ArrowArray",
    "ArrowStream",
    "BatchOptions",
    "BinaryFile",
    "BinaryType",
    "CompressionType",
    "Dictionaries",
    "DictionariesById",
    "HeaderChecksum",
    "Headers",
    "Integer",
    "Level",
    "ShownAs",
    "Time",
    "TimestampUnit",
]

CompressionType: TypeAlias = Literal["none", "gzip", "snappy", "lz4", "zstd"]
"""Kafka's names of its codecs.

Examples
--------
>>> import kpress
>>> codec: kpress.typing.CompressionType = "zstd"
>>> kpress.decompress(kpress.compress(b"data", codec), codec)
b'data'
"""

Integer: TypeAlias = SupportsIndex
"""An int or a NumPy integer. A bool is refused, although type checkers accept it.

Examples
--------
>>> import kpress
>>> level: kpress.typing.Integer = 9
>>> len(kpress.compress(bytes(1000), "zstd", level)) < 30
True
"""

Level: TypeAlias = SupportsIndex | Literal["kafka-default"] | None
"""A level on the codec's own scale. None and "kafka-default" stand for the level that Kafka's clients use.

Examples
--------
>>> import kpress
>>> level: kpress.typing.Level = "kafka-default"
>>> kpress.compress(b"data", "gzip", level) == kpress.compress(b"data", "gzip")
True
"""

Time: TypeAlias = SupportsIndex | datetime | str
"""Milliseconds since 1970, a datetime with a time zone, or ISO 8601 text with a time zone.

Examples
--------
>>> import kpress
>>> time: kpress.typing.Time = "2023-11-14T22:13:20Z"
>>> data = kpress.write_records([b"value"], timestamps=[time])
>>> next(kpress.read_batches(data)).max_timestamp
1700000000000
"""

TimestampUnit: TypeAlias = Literal["ms", "us"]
"""The unit of timestamps in columns: Kafka's milliseconds, or the microseconds that Spark has.

Examples
--------
>>> import kpress
>>> unit: kpress.typing.TimestampUnit = "us"
>>> data = kpress.write_records([b"value"], timestamps=[1700000000000])
>>> str(kpress.read_columns(data, ["timestamp"], timestamp_unit=unit).to_pyarrow().schema.field(0).type)
'timestamp[us, tz=UTC]'
"""
BinaryType: TypeAlias = Literal["binary", "large_binary", "binary_view"]
"""The Arrow type of keys and values; that of views shares the memory of the decompressed batches.

Examples
--------
>>> import kpress
>>> kind: kpress.typing.BinaryType = "large_binary"
>>> data = kpress.write_records([b"value"])
>>> str(kpress.read_columns(data, ["value"], binary_type=kind).to_pyarrow().schema.field(0).type)
'large_binary'
"""

HeaderChecksum: TypeAlias = Literal["verify", "ignore"]
"""What to do about a wrong checksum of an LZ4 frame's header in v1 and v2.

Examples
--------
>>> import kpress
>>> data = kpress.write_records([b"value"], compression_type="lz4")
>>> choice: kpress.typing.HeaderChecksum = "ignore"
>>> len(kpress.read_columns(data, lz4_header_checksum=choice))
1
"""

ShownAs: TypeAlias = Literal["utf8", "hex", "base64", "json", "size"]
"""How the bytes of keys and values are shown as text.

Examples
--------
>>> import kpress
>>> shown: kpress.typing.ShownAs = "hex"
>>> kpress.log.DumpOptions(values=shown).values
'hex'
"""

Headers: TypeAlias = Iterable["tuple[str, Buffer | None]"] | Mapping[str, "Buffer | None"]
"""The headers of one record, as pairs, or as a dict if no key occurs twice.

Examples
--------
>>> import kpress
>>> headers: kpress.typing.Headers = {"trace": b"1f"}
>>> data = kpress.write_records([b"value"], headers=[headers])
>>> next(iter(next(kpress.read_batches(data)))).headers
[('trace', b'1f')]
"""


class DictionariesById(Protocol):
    """A dict of dictionaries by id, or a `kpress.dictionaries.DictionaryStore`.

    Examples
    --------
    >>> import kpress
    >>> lines = [b'{"user": %d, "city": "Paris"}' % number for number in range(1000)]
    >>> dictionary = kpress.dictionaries.train(lines, 1024)
    >>> known: kpress.typing.DictionariesById = {dictionary.id: dictionary}
    >>> small = kpress.compress(lines[7], "zstd", dictionary=dictionary)
    >>> kpress.decompress(small, "zstd", dictionaries=known) == lines[7]
    True
    """

    def get(self, key: int, /) -> Dictionary | None:
        """The dictionary of an id, or None."""
        ...


Dictionaries: TypeAlias = Dictionary | DictionariesById
"""What frames of zstd may name: one dictionary, or several by id.

Examples
--------
>>> import kpress
>>> lines = [b'{"user": %d, "city": "Paris"}' % number for number in range(1000)]
>>> known: kpress.typing.Dictionaries = kpress.dictionaries.train(lines, 1024)
>>> kpress.decompress(kpress.compress(lines[0], "zstd", dictionary=known), "zstd", dictionaries=known) == lines[0]
True
"""


class BinaryFile(Protocol):
    """A file opened for reading bytes.

    Examples
    --------
    >>> import kpress
    >>> import io
    >>> file: kpress.typing.BinaryFile = io.BytesIO(kpress.write_records([b"value"]))
    >>> [columns] = kpress.iter_columns(file, ["value"])
    >>> columns["value"].to_pylist()
    [b'value']
    """

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Fill a buffer; the number of bytes, 0 at the end of the file."""
        ...


class ArrowArray(Protocol):
    """Anything that gives its data as one Arrow array.

    Examples
    --------
    >>> import kpress
    >>> import pyarrow
    >>> array: kpress.typing.ArrowArray = pyarrow.array([b"one", b"two"])
    >>> len(kpress.compress_values(array, "zstd"))
    2
    """

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """Anything that gives its data as a stream of Arrow arrays.

    Examples
    --------
    >>> import kpress
    >>> stream: kpress.typing.ArrowStream = kpress.read_columns(kpress.write_records([b"value"]))
    >>> [batch] = kpress.read_batches(kpress.write_columns(stream))
    >>> batch.records_count
    1
    """

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class BatchOptions(TypedDict, total=False):
    """Options for a batch's header, shared by BatchBuilder, write_records and write_columns.

    Attributes
    ----------
    timestamp_type : int
        0 CreateTime, 1 LogAppendTime; `kpress.TimestampType`.
    log_append_time : int, datetime or str
        The time of all records, with LogAppendTime.
    producer_id, producer_epoch, base_sequence : int
        Of an idempotent producer; -1, the default, is none.
    partition_leader_epoch : int
        -1, the default, is what a producer writes.
    is_transactional : bool
        Part of a transaction; needs a producer id.
    delete_horizon_ms : int, datetime or str
        The time from which compaction may remove the batch's tombstones.

    Examples
    --------
    >>> import kpress
    >>> from kpress.typing import BatchOptions
    >>> options: BatchOptions = {"producer_id": 4242, "producer_epoch": 0, "base_sequence": 0}
    >>> next(kpress.read_batches(kpress.write_records([b"value"], **options))).producer_id
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
