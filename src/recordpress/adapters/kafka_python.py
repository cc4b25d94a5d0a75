"""kafka-python's record classes and codec functions on recordpress: the same names, arguments and results.

`install` puts them into the client, `uninstall` restores the client's own, and `installed` does both around a block.
They also work without being installed. kafka-python 3.0 is supported. Where kafka-python differs from Kafka, they
follow Kafka; docs/adapters.md has the table.

Examples
--------
>>> import recordpress.adapters.kafka_python as fast
>>> builder = fast.MemoryRecordsBuilder(magic=2, compression_type=4, batch_size=16384)
>>> builder.append(timestamp=1700000000000, key=b"k", value=b"v" * 100)
DefaultRecordMetadata(offset=0, size=110, timestamp=1700000000000)
>>> builder.close()
>>> batch = fast.MemoryRecords(builder.buffer()).next_batch()
>>> batch.validate_crc(), [record.key for record in batch]
(True, [b'k'])
"""

from __future__ import annotations

from collections.abc import Iterable as _Iterable
from typing import TYPE_CHECKING, Any, Literal, overload

import kafka.codec as _client_codec
import kafka.errors as _errors
from kafka.record import abc as _abc, default_records as _default, legacy_records as _legacy

from recordpress._arguments import INT64_MAX as _MOST, integer as _integer
from recordpress.adapters import _kafka_python
from recordpress.adapters._codecs import (
    calc_crc32,
    calc_crc32c,
    client_of,
    decoders,
    gzip_encode,
    has_gzip,
    has_lz4,
    has_snappy,
    has_zstd,
    lz4_encode_old_kafka,
    snappy_encode,
)
from recordpress.adapters._fetched import ColumnChoice as _ColumnChoice, refuse_functions as _refuse_functions
from recordpress.adapters._install import Adapter, calls_of, check_version
from recordpress.adapters._kafka_columns import ColumnsPoll as _ColumnsPoll, take_over as _take_over
from recordpress.adapters._kafka_python import MemoryRecordsBuilder
from recordpress.adapters._kafka_sending import SentColumns, send_table as _send_table
from recordpress.adapters._open_batch import DefaultRecordMetadata, LegacyRecordMetadata
from recordpress.adapters._packed import SentBatch, producer_table as _producer_table
from recordpress.codecs import compress
from recordpress.columns import concat as _concat

if TYPE_CHECKING:
    from kafka import (
        KafkaConsumer as _KafkaConsumer,
        KafkaProducer as _KafkaProducer,
        TopicPartition as _TopicPartition,
    )
    from typing_extensions import Buffer

    from recordpress.columns import Columns
    from recordpress.typing import ArrowArray, ArrowStream, BinaryType, Level, TimestampUnit

__all__ = [
    "ControlRecord",
    "DefaultRecord",
    "DefaultRecordBatch",
    "DefaultRecordBatchBuilder",
    "DefaultRecordMetadata",
    "LegacyRecord",
    "LegacyRecordBatch",
    "LegacyRecordBatchBuilder",
    "LegacyRecordMetadata",
    "MemoryRecords",
    "MemoryRecordsBuilder",
    "SentBatch",
    "SentColumns",
    "calc_crc32",
    "calc_crc32c",
    "gzip_decode",
    "gzip_encode",
    "has_gzip",
    "has_lz4",
    "has_snappy",
    "has_zstd",
    "install",
    "installed",
    "lz4_decode",
    "lz4_decode_old_kafka",
    "lz4_encode",
    "lz4_encode_old_kafka",
    "poll_columns",
    "send_columns",
    "snappy_decode",
    "snappy_encode",
    "uninstall",
    "zstd_decode",
    "zstd_encode",
]

check_version("kafka-python", (3, 0), (3, 1))


class DefaultRecord(_kafka_python.DefaultRecord, _abc.ABCRecord):
    """Record of a v2 batch.

    Attributes
    ----------
    size_in_bytes : int
        Size of the whole record in bytes, including its length field (DefaultRecord.sizeInBytes).
    offset, timestamp, timestamp_type : int
        Timestamp in ms; type 0 CreateTime, 1 LogAppendTime.
    key, value : bytes | None
        Created when first read.
    headers : list[tuple[str, bytes | None]]
        Created when first read; bytes of a key that are not UTF-8 become U+FFFD, as in Java.
    checksum : None
        Always None: v2 records have no checksum.

    Examples
    --------
    >>> from recordpress.adapters import kafka_python as fast
    >>> fast.DefaultRecord(9, 7, 1700000000000, 0, b"k", None, []).offset
    7
    """

    __slots__ = ()


class ControlRecord(_kafka_python.ControlRecord, DefaultRecord):
    """Record of a control batch, with its version and type.

    Attributes
    ----------
    offset, version, type : int
        Version and type from the record's key.
    abort, commit : bool
        True for type 0 and type 1, respectively.

    Examples
    --------
    >>> from recordpress.adapters import kafka_python as fast
    >>> fast.ControlRecord(9, 7, 1700000000000, 0, bytes([0, 0, 0, 1]), b"", []).commit
    True
    """

    __slots__ = ()


class LegacyRecord(_kafka_python.LegacyRecord, _abc.ABCRecord):
    """Message of v0 or v1.

    Attributes
    ----------
    magic, offset, checksum, size_in_bytes : int
    timestamp, timestamp_type : int | None
        None in v0.
    key, value : bytes | None
        Created when first read.
    headers : list
        Empty.

    Examples
    --------
    >>> from recordpress.adapters import kafka_python as fast
    >>> fast.LegacyRecord(0, 7, None, None, None, b"v", 0, b"").timestamp is None
    True
    """

    __slots__ = ()


class DefaultRecordBatch(_kafka_python.DefaultRecordBatch, _default.DefaultRecordBase, _abc.ABCRecordBatch):
    """v2 batch: header attributes, and iteration over its records.

    Attributes
    ----------
    base_offset, last_offset, next_offset, last_offset_delta, size_in_bytes, leader_epoch, magic, crc, attributes : int
    compression_type, timestamp_type : int
        Codec id and timestamp type from the attributes.
    first_timestamp, max_timestamp : int
        ms since 1970.
    producer_id, producer_epoch, base_sequence, last_sequence : int
        -1 if not set.
    records_count : int
        Number of records according to the header.
    is_transactional, is_control_batch, has_sequence : bool

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.adapters import kafka_python as fast
    >>> batch = fast.DefaultRecordBatch(recordpress.write_records([b"a", b"b"], compression_type="zstd"))
    >>> batch.validate_crc(), batch.next_offset, [record.value for record in batch]
    (True, 2, [b'a', b'b'])
    """

    __slots__ = ()


class LegacyRecordBatch(_kafka_python.LegacyRecordBatch, _abc.ABCRecordBatch, _legacy.LegacyRecordBase):
    """Message of v0 or v1: a single message, or a wrapper of compressed messages.

    Attributes
    ----------
    base_offset, size_in_bytes, magic, compression_type : int
        The base offset of a wrapper is the offset of its last message.
    timestamp_type : int | None
        None in v0.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.adapters import kafka_python as fast
    >>> batch = fast.LegacyRecordBatch(recordpress.write_records([b"a", b"b"], magic=1, compression_type="gzip"), 1)
    >>> batch.validate_crc(), [record.value for record in batch]
    (True, [b'a', b'b'])
    """

    __slots__ = ()


class MemoryRecords(_kafka_python.MemoryRecords, _abc.ABCRecords):
    """Entries of a record set, up to the first incomplete one.

    Attributes
    ----------
    owner : bytes
        The record set.
    position : int
        Position of the next entry, in bytes.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.adapters import kafka_python as fast
    >>> records = fast.MemoryRecords(recordpress.write_records([b"a", b"b"]) + b"cut")
    >>> records.size_in_bytes(), records.valid_bytes(), [len(list(batch)) for batch in records]
    (80, 77, [2])
    """

    __slots__ = ()


class DefaultRecordBatchBuilder(
    _kafka_python.DefaultRecordBatchBuilder, _default.DefaultRecordBase, _abc.ABCRecordBatchBuilder
):
    """Builder of a v2 batch: append(), then build().

    Attributes
    ----------
    producer_id, producer_epoch, base_sequence : int
        -1 if not set.

    Examples
    --------
    >>> from recordpress.adapters import kafka_python as fast
    >>> builder = fast.DefaultRecordBatchBuilder(
    ...     magic=2, compression_type=0, is_transactional=0, producer_id=-1, producer_epoch=-1, base_sequence=-1,
    ...     batch_size=100)
    >>> builder.append(0, timestamp=1700000000000, key=None, value=b"v", headers=[]).size, len(builder.build())
    (8, 69)
    """

    __slots__ = ()


class LegacyRecordBatchBuilder(
    _kafka_python.LegacyRecordBatchBuilder, _abc.ABCRecordBatchBuilder, _legacy.LegacyRecordBase
):
    """Builder of v0 or v1 messages, in a wrapper if they are compressed.

    Examples
    --------
    >>> from recordpress.adapters import kafka_python as fast
    >>> builder = fast.LegacyRecordBatchBuilder(magic=1, compression_type=0, batch_size=16384)
    >>> builder.append(0, timestamp=1700000000000, key=None, value=b"v").size, len(builder.build())
    (35, 35)
    """

    __slots__ = ()


_client = client_of(
    _errors.CorruptRecordError, _errors.UnsupportedCodecError, _client_codec, "Unrecognized compression type: {}"
)
_decoders = decoders(_client, "kafka_python")
gzip_decode, snappy_decode, zstd_decode = _decoders["gzip_decode"], _decoders["snappy_decode"], _decoders["zstd_decode"]
lz4_decode_old_kafka = _decoders["lz4_decode_old_kafka"]
_lz4_decode = _decoders["lz4_decode"]
_own_lz4_encode, _own_lz4_decode = _client_codec.lz4_encode, _client_codec.lz4_decode


def lz4_encode(payload: Buffer, **options: Any) -> bytes:
    """Compress with lz4 as Kafka's producer does. Calls with options of lz4.frame.compress use the client's own
    function.

    Examples
    --------
    >>> from recordpress.adapters import kafka_python as fast
    >>> fast.lz4_decode(fast.lz4_encode(b"records"))
    b'records'
    """
    if options:
        return bytes(_own_lz4_encode(payload, **options))
    return compress(payload, "lz4")


def lz4_decode(payload: Buffer, **options: Any) -> Any:
    """Decompress lz4. Calls with options of lz4.frame.decompress use the client's own function.

    Examples
    --------
    >>> from recordpress.adapters import kafka_python as fast
    >>> fast.lz4_decode(fast.lz4_encode(b"records"))
    b'records'
    """
    return _own_lz4_decode(payload, **options) if options else _lz4_decode(payload)


def zstd_encode(payload: Buffer) -> bytes:
    """Compress with zstd at the level of Kafka's producer, 3.

    Examples
    --------
    >>> from recordpress.adapters import kafka_python as fast
    >>> fast.zstd_decode(fast.zstd_encode(b"records"))
    b'records'
    """
    return compress(payload, "zstd")


_DEFAULT = "ControlRecord DefaultRecord DefaultRecordBatch DefaultRecordBatchBuilder DefaultRecordMetadata"
_LEGACY = "LegacyRecord LegacyRecordBatch LegacyRecordBatchBuilder LegacyRecordMetadata"
_CODECS = "has_gzip has_lz4 has_snappy has_zstd gzip_decode gzip_encode snappy_decode snappy_encode zstd_decode"
_CLASSES = {name: globals()[name] for name in f"{_DEFAULT} {_LEGACY} MemoryRecords".split()}
_kafka_python.use(_client, _CLASSES, _errors.UnsupportedVersionError, _errors.IllegalStateError)

_adapter = Adapter(
    "kafka",
    globals(),
    {
        "kafka.record.default_records": _DEFAULT,
        "kafka.record.legacy_records": _LEGACY,
        "kafka.record.memory_records": "MemoryRecords MemoryRecordsBuilder",
        "kafka.record.util": "calc_crc32 calc_crc32c",
        "kafka.codec": f"{_CODECS} zstd_encode lz4_decode lz4_decode_old_kafka lz4_encode lz4_encode_old_kafka",
    },
    [("kafka.producer.kafka", "KafkaProducer", "_COMPRESSORS")],
    ["kafka", "kafka.consumer.fetcher", "kafka.producer.record_accumulator"],
)

install, uninstall, installed = calls_of(
    _adapter,
    _client,
    name="kafka-python",
    module="kafka_python",
    libraries="python-snappy, lz4 and zstandard",
    corrupt="CorruptRecordError",
)


@overload
def poll_columns(
    consumer: _KafkaConsumer,
    timeout_ms: int = 0,
    max_bytes: int | None = None,
    *,
    columns: _Iterable[str] | None = None,
    max_records: int | None = None,
    by_partition: Literal[False] = False,
    binary_type: BinaryType = "binary",
    timestamp_unit: TimestampUnit = "ms",
) -> Columns: ...
@overload
def poll_columns(
    consumer: _KafkaConsumer,
    timeout_ms: int = 0,
    max_bytes: int | None = None,
    *,
    columns: _Iterable[str] | None = None,
    max_records: int | None = None,
    by_partition: Literal[True],
    binary_type: BinaryType = "binary",
    timestamp_unit: TimestampUnit = "ms",
) -> dict[_TopicPartition, Columns]: ...
def poll_columns(
    consumer: _KafkaConsumer,
    timeout_ms: int = 0,
    max_bytes: int | None = None,
    *,
    columns: _Iterable[str] | None = None,
    max_records: int | None = None,
    by_partition: bool = False,
    binary_type: BinaryType = "binary",
    timestamp_unit: TimestampUnit = "ms",
) -> Columns | dict[_TopicPartition, Columns]:
    """Poll a consumer for Arrow columns, without an object per record.

    This calls `consumer.poll`, so all of its rules apply: group, assignment, positions, commits, seeks, pauses,
    isolation level, `check_crcs`, metrics. Calls to `poll` and `poll_columns` can be mixed.

    Parameters
    ----------
    consumer : KafkaConsumer
        A consumer without deserializers.
    timeout_ms : int
        Milliseconds to wait for records if none have been fetched yet.
    max_bytes : int, optional
        Maximum stored size of the result's batches; at least one batch is returned. The default is unlimited.
    columns : sequence of str, optional
        Columns of the result: any columns of `recordpress.read_columns`, and ``topic`` and ``partition``, which come
        first by default.
    max_records : int, optional
        Maximum number of rows. Default: the consumer's `max_poll_records`, whose default of 500 is small for columns.
    by_partition : bool
        Return a dict of columns by TopicPartition, as `poll` returns messages.
    binary_type, timestamp_unit
        As for `recordpress.read_columns`.

    Returns
    -------
    Columns or dict of Columns by TopicPartition
        If no records arrive in time: columns without rows, or an empty dict.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        The consumer has a deserializer, or another argument is not accepted.
    KafkaError
        The errors of `poll`. A damaged batch raises CorruptRecordError after the rows before it were returned; the
        position stays at the batch, and the next call raises the error again.

    Notes
    -----
    The client's metrics count stored bytes for columns, and decompressed record bytes for messages.

    Examples
    --------
    >>> from recordpress.adapters import kafka_python as fast
    >>> def count(consumer):
    ...     rows = 0
    ...     while part := fast.poll_columns(consumer, timeout_ms=10_000, max_records=1_000_000):
    ...         rows += part.num_rows    # or part.to_polars(), pyarrow.table(part), duckdb.from_arrow(part)
    ...         consumer.commit()
    ...     return rows
    """
    _refuse_functions("consumer", {name: consumer.config[name] for name in ("key_deserializer", "value_deserializer")})
    choice = _ColumnChoice(
        columns,
        ["offset", "partitionLeaderEpoch"],
        binary_type=binary_type,
        timestamp_unit=timestamp_unit,
        max_decompressed_bytes=_client.cap,
    )
    _take_over(consumer._fetcher, MemoryRecords)
    limit = None if max_bytes is None else _integer(max_bytes, "max_bytes", 1, _MOST)
    poll = _ColumnsPoll(consumer._fetcher, _client, choice, limit)
    results = poll.run(consumer, timeout_ms, max_records)
    if by_partition:
        return {partition: _concat(parts) for partition, parts in results.items()}
    parts = [part for parts in results.values() for part in parts]
    return _concat(parts) if parts else choice.empty()


def send_columns(
    producer: _KafkaProducer,
    topic: str,
    table: ArrowArray | ArrowStream,
    partition: int | None = None,
    *,
    level: Level = None,
    batch_bytes: int | None = None,
) -> SentColumns:
    """Produce Arrow columns, without an object per record.

    The rows become record batches, compressed with the producer's codec, and go into the queue of the producer's own
    sender. The client handles order, retries, time-outs, idempotence and transactions, and splits a batch that the
    broker rejects for its size. The call returns when the last batch is in the queue. While several batches wait
    there, the call waits too, for at most the producer's `max_block_ms`.

    Parameters
    ----------
    producer : KafkaProducer
        A producer without serializers.
    topic : str
    table : object with ``__arrow_c_array__`` or ``__arrow_c_stream__``
        Columns ``key``, ``value``, ``headers`` and ``timestamp``, as for `recordpress.write_columns`. A missing
        timestamp is set to the current time. Other columns of `poll_columns` and `recordpress.read_columns`, such as
        ``offset``, are not written. Needs pyarrow.
    partition : int, optional
        The partition of all rows. By default, it is chosen by each row's key: with murmur2 as in the producer's default
        partitioner, or with the producer's own partitioner. For rows without a key, the partitioner chooses a
        partition for each batch.
    level : int, optional
        Compression level; the default is that of Kafka's producer.
    batch_bytes : int, optional
        Maximum compressed size of a batch, in bytes; the default and maximum is the producer's `max_request_size`.

    Returns
    -------
    SentColumns
        ``sent.batches()`` waits until all batches are written, and returns them with their offsets; ``sent.offsets()``
        returns the offset of each row.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        The producer has a serializer, or an argument is not accepted.
    RecordTooLargeError
        A record does not fit into a batch. Earlier rows may have been sent.
    KafkaError
        KafkaTimeoutError if the queue remains full, or another error of `send`.

    Examples
    --------
    >>> import pyarrow
    >>> from recordpress.adapters import kafka_python as fast
    >>> def send(producer):
    ...     table = pyarrow.table({"key": [b"k1", b"k2"], "value": [b"v1", b"v2"]})
    ...     return list(fast.send_columns(producer, "orders", table).offsets())
    """
    _refuse_functions("producer", {name: producer.config[name] for name in ("key_serializer", "value_serializer")})
    limit = None if batch_bytes is None else _integer(batch_bytes, "batch_bytes", 1, _MOST)
    return _send_table(producer, topic, _producer_table(table), partition, level, limit)
