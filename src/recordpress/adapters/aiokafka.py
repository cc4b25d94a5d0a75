"""aiokafka's record classes and codec functions on recordpress: the same names, arguments and results.

`install` puts them into the client, `uninstall` restores the client's own, and `installed` does both around a block.
They also work without being installed. aiokafka 0.12 to 0.14 are supported. Where aiokafka differs from Kafka, they
follow Kafka; docs/adapters.md has the table.

Examples
--------
>>> import recordpress.adapters.aiokafka as fast
>>> builder = fast.DefaultRecordBatchBuilder(2, 4, 0, -1, -1, -1, 16384)
>>> builder.append(0, timestamp=1700000000000, key=b"k", value=b"v", headers=[])
DefaultRecordMetadata(offset=0, size=9, timestamp=1700000000000)
>>> [batch] = [fast.MemoryRecords(bytes(builder.build())).next_batch()]
>>> batch.validate_crc(), [record.value for record in batch]
(True, [b'v'])
"""

from __future__ import annotations

from collections.abc import Iterable as _Iterable
from typing import TYPE_CHECKING

import aiokafka.codec as _client_codec
import aiokafka.errors as _errors
from aiokafka.record import control_record as _control

from recordpress._arguments import INT64_MAX as _MOST, integer as _integer
from recordpress.adapters import _aiokafka
from recordpress.adapters._aiokafka import (
    BatchBuilder,
    DefaultRecord,
    DefaultRecordBatch,
    DefaultRecordBatchBuilder,
    LegacyRecord,
    LegacyRecordBatch,
    LegacyRecordBatchBuilder,
    MemoryRecords,
)
from recordpress.adapters._aiokafka_columns import ColumnsReader
from recordpress.adapters._aiokafka_sending import SentColumns, send_table as _send_table
from recordpress.adapters._codecs import (
    calc_crc32c,
    client_of,
    decoders,
    gzip_encode,
    has_gzip,
    has_lz4,
    has_snappy,
    has_zstd,
    lz4_encode,
    snappy_encode,
    zstd_encode,
)
from recordpress.adapters._fetched import ColumnChoice as _ColumnChoice, refuse_functions as _refuse_functions
from recordpress.adapters._install import Adapter, calls_of, check_version
from recordpress.adapters._open_batch import DefaultRecordMetadata, LegacyRecordMetadata
from recordpress.adapters._packed import SentBatch, producer_table as _producer_table
from recordpress.errors import InvalidArgumentError as _InvalidArgumentError

if TYPE_CHECKING:
    from aiokafka import AIOKafkaConsumer as _AIOKafkaConsumer, AIOKafkaProducer as _AIOKafkaProducer

    from recordpress.typing import ArrowArray, ArrowStream, BinaryType, Level, TimestampUnit

__all__ = [
    "ABORT_MARKER",
    "COMMIT_MARKER",
    "BatchBuilder",
    "ColumnsReader",
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
    "SentBatch",
    "SentColumns",
    "calc_crc32c",
    "columns",
    "gzip_decode",
    "gzip_encode",
    "has_gzip",
    "has_lz4",
    "has_snappy",
    "has_zstd",
    "install",
    "installed",
    "lz4_decode",
    "lz4_encode",
    "send_columns",
    "snappy_decode",
    "snappy_encode",
    "uninstall",
    "zstd_decode",
    "zstd_encode",
]

ControlRecord = _control.ControlRecord
"""Version and type of a control record, from its key; aiokafka's own class."""

ABORT_MARKER = _control.ABORT_MARKER
"""Control record of an aborted transaction; aiokafka's own class."""

COMMIT_MARKER = _control.COMMIT_MARKER
"""Control record of a committed transaction; aiokafka's own class."""

_VERSION = check_version("aiokafka", (0, 12), (0, 15))
_client = client_of(
    _errors.CorruptRecordException, _errors.UnsupportedCodecError, _client_codec, "Unknown compression codec {:#04x}"
)
_decoders = decoders(_client, "aiokafka")
gzip_decode, snappy_decode = _decoders["gzip_decode"], _decoders["snappy_decode"]
lz4_decode, zstd_decode = _decoders["lz4_decode"], _decoders["zstd_decode"]
_aiokafka.use(_client)

_CODECS = "has_gzip has_lz4 has_snappy has_zstd gzip_decode gzip_encode lz4_decode lz4_encode"
_NAMES = {
    "aiokafka.record.default_records": (
        "DefaultRecord DefaultRecordBatch DefaultRecordBatchBuilder DefaultRecordMetadata"
    ),
    "aiokafka.record.legacy_records": "LegacyRecord LegacyRecordBatch LegacyRecordBatchBuilder LegacyRecordMetadata",
    "aiokafka.record.memory_records": "MemoryRecords",
    "aiokafka.record.util": "calc_crc32c",
    "aiokafka.codec": f"{_CODECS} snappy_decode snappy_encode zstd_decode zstd_encode",
}
if _VERSION >= (0, 14):  # before, its first argument was the magic
    _NAMES["aiokafka.producer.message_accumulator"] = "BatchBuilder"

_adapter = Adapter(
    "aiokafka",
    globals(),
    _NAMES,
    [("aiokafka.producer.producer", "AIOKafkaProducer", "_COMPRESSORS")],
    ["aiokafka", "aiokafka.consumer.fetcher", "aiokafka.producer.message_accumulator", "aiokafka.protocol.message"],
)

install, uninstall, installed = calls_of(
    _adapter, _client, name="aiokafka", module="aiokafka", libraries="cramjam", corrupt="CorruptRecordException"
)


def columns(
    consumer: _AIOKafkaConsumer,
    columns: _Iterable[str] | None = None,
    *,
    max_bytes: int | None = None,
    timeout_ms: int | None = None,
    by_partition: bool = False,
    binary_type: BinaryType = "binary",
    timestamp_unit: TimestampUnit = "ms",
) -> ColumnsReader:
    """Consume records as Arrow columns, without an object per record.

    The consumer works as before: its group, assignment, positions, seeks, pauses, isolation level, `check_crcs` and
    `max_poll_records` apply as for `getmany`. Its position moves when an item is returned, and a commit includes the
    items that were returned. A worker thread decodes records while the consumer fetches more. Reading items can
    alternate with calls to `getone` or `getmany` on the same consumer.

    Parameters
    ----------
    consumer : AIOKafkaConsumer
        A started consumer without deserializers.
    columns : sequence of str, optional
        Columns of the items: any columns of `recordpress.read_columns`, and ``topic`` and ``partition``, which come
        first by default.
    max_bytes : int, optional
        Maximum stored size of the batches in one item; at least one batch is returned. By default, an item has all
        records that were fetched.
    timeout_ms : int, optional
        Milliseconds without records after which the iteration ends. By default, it waits for records.
    by_partition : bool
        Return items as dicts of columns by TopicPartition, as `getmany` returns messages.
    binary_type, timestamp_unit
        As for `recordpress.read_columns`.

    Returns
    -------
    ColumnsReader
        An asynchronous iterator over `recordpress.Columns` that have rows. It ends when the consumer is stopped.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        The consumer has a deserializer, or another argument is not accepted.
    KafkaError
        From the iterator: the errors of `getmany`. A damaged batch raises CorruptRecordException after the rows before
        it were returned; the position stays at the batch, and the next item raises the error again.

    Examples
    --------
    >>> from recordpress.adapters import aiokafka as fast
    >>> async def count(consumer):
    ...     rows = 0
    ...     async for part in fast.columns(consumer, ["offset", "value"], timeout_ms=1000):
    ...         rows += part.num_rows    # or part.to_polars(), pyarrow.table(part), duckdb.from_arrow(part)
    ...         await consumer.commit()
    ...     return rows
    """
    _refuse_functions(
        "consumer", {"key_deserializer": consumer._key_deserializer, "value_deserializer": consumer._value_deserializer}
    )
    if consumer._fetcher is None:
        raise _InvalidArgumentError("the consumer is not started: await consumer.start()", field="consumer")
    choice = _ColumnChoice(
        columns, ["offset"], binary_type=binary_type, timestamp_unit=timestamp_unit, max_decompressed_bytes=_client.cap
    )
    return ColumnsReader(
        consumer,
        _client,
        choice,
        max_bytes=None if max_bytes is None else _integer(max_bytes, "max_bytes", 1, _MOST),
        timeout_ms=None if timeout_ms is None else _integer(timeout_ms, "timeout_ms", 0, _MOST),
        by_partition=by_partition,
    )


async def send_columns(
    producer: _AIOKafkaProducer,
    topic: str,
    table: ArrowArray | ArrowStream,
    partition: int | None = None,
    *,
    level: Level = None,
    batch_bytes: int | None = None,
) -> SentColumns:
    """Produce Arrow columns, without an object per record.

    The rows become record batches, compressed in worker threads with the producer's codec; `send_batch` passes them to
    the producer's own sender. The client handles order, retries, request time-outs, idempotence and transactions. The
    call returns when the producer has accepted all batches; while a partition's previous batch waits to be sent, the
    call waits too.

    Parameters
    ----------
    producer : AIOKafkaProducer
        A started producer without serializers.
    topic : str
    table : object with ``__arrow_c_array__`` or ``__arrow_c_stream__``
        Columns ``key``, ``value``, ``headers`` and ``timestamp``, as for `recordpress.write_columns`. A missing
        timestamp is set to the current time. Other columns of `columns()` and `recordpress.read_columns`, such as
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
        ``await sent.batches()`` waits until all batches are written, and returns them with their offsets; ``await
        sent.offsets()`` returns the offset of each row.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        The producer has a serializer, or an argument is not accepted.
    RecordTooLargeError
        A record does not fit into a batch. Earlier rows may have been sent.
    KafkaError
        The errors of `send_batch`, such as KafkaTimeoutError if the queue remains full. Earlier rows may have been
        sent.

    Examples
    --------
    >>> import pyarrow
    >>> from recordpress.adapters import aiokafka as fast
    >>> async def send(producer):
    ...     table = pyarrow.table({"key": [b"k1", b"k2"], "value": [b"v1", b"v2"]})
    ...     sent = await fast.send_columns(producer, "orders", table)
    ...     return list(await sent.offsets())
    """
    _refuse_functions(
        "producer", {"key_serializer": producer._key_serializer, "value_serializer": producer._value_serializer}
    )
    limit = None if batch_bytes is None else _integer(batch_bytes, "batch_bytes", 1, _MOST)
    return await _send_table(producer, topic, _producer_table(table), partition, level, limit)
