"""A broker's answer to a fetch of one partition, in the steps of ReplicaManager and KafkaApis.handleFetchRequest.

::

    version ──► position in the log ──► bytes up to the limits ──► zstd topic? ─┬─► unchanged
    (ApiKeys)   (LogSegment.read)       (KIP-74)                   (KIP-110)    └─► in an older magic (KIP-283)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast, get_args

from recordpress._arguments import INT16_MAX, INT32_MAX, INT64_MAX, choice, integer
from recordpress._protocol_errors import Errors, name_of
from recordpress.broker._config import LogConfig, TopicConfig, fetch_max_bytes
from recordpress.broker._fetch_rules import FetchRules, fetch_rules_of
from recordpress.broker._fetched import Fetched
from recordpress.broker._lazy_conversion import DownConversion, cut_bytes_of, holds_newer
from recordpress.broker._reasons import Finding, Reason
from recordpress.broker._settings import settings_of
from recordpress.broker._versions import BrokerRules
from recordpress.codecs import DEFAULT_MAX_SIZE, CodecRegistry
from recordpress.codecs.table import CodecTable
from recordpress.errors import ArgumentTypeError, CorruptRecordError, InvalidArgumentError
from recordpress.log.partition_read import Isolation, LogRead, MemorySegment, PartitionRead, SegmentLike
from recordpress.typing import IsolationLevel

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from recordpress.log import Log, Partition
    from recordpress.typing import Integer

_HARD_LIMIT = 2  # the last version without KIP-74
_ISOLATION = 4  # the first version with an isolation level (KIP-98)
_ZSTD = 10  # the first version that supports zstd (KIP-110)


def fetch(
    log: Buffer | Iterable[Buffer] | Log | Partition,
    fetch_offset: Integer,
    *,
    fetch_version: Integer,
    broker_version: str = "3.9",
    topic_config: TopicConfig | None = None,
    max_bytes: Integer = 50 << 20,
    partition_max_bytes: Integer = 1 << 20,
    minimum_one_batch: bool = True,
    isolation_level: IsolationLevel = "read_uncommitted",
    follower: bool = False,
    log_start_offset: Integer | None = None,
    end_offset: Integer | None = None,
    helpful: bool = False,
    codecs: CodecRegistry | None = None,
    max_decompressed_bytes: Integer = DEFAULT_MAX_SIZE,
) -> Fetched:
    """Return a broker's answer to a fetch of one partition: the bytes of the response, with the reasons for them.

    Fetch 4 and later get the log's bytes. Fetch 0 and 1 know message format v0, Fetch 2 and 3 know v1: for these,
    brokers from 0.10 to 3.9 convert record by record, from 2.0 while the response is sent, and lose what the old
    format cannot store. Kafka 4 does not answer them (KIP-896). Additions of Fetch 13 and later, such as topic ids
    (KIP-516), do not change the answer to a partition.

    Parameters
    ----------
    log : bytes-like, several of them, Log or Partition
        A record set, as in a segment; one record set per segment; or a log from `recordpress.open_log` that has one
        partition. The log ends before the first entry of its last segment that is truncated or impossible. From a
        stored partition, only headers, starting where its offset index points, and the response's records are read.
    fetch_offset : int
    fetch_version : int
        Of the Fetch request.
    broker_version : str
        A release of Kafka from 0.8.2 to 4.4. The default is the last minor release that converts.
    topic_config : mapping, optional
        Settings of topic and broker, keyed by Kafka's property names. Settings with an effect: ``compression.type``,
        ``message.downconversion.enable``, ``message.format.version`` with ``inter.broker.protocol.version`` (the
        log's format before 3.0), and ``fetch.max.bytes``.
    max_bytes, partition_max_bytes : int
        Limits in the request; `max_bytes` counts from Fetch 3. The defaults are the same as in Java's consumer.
    minimum_one_batch : bool
        Assume that the partition is the first in the request with data: its first batch is sent whole, even if it is
        larger than both limits (KIP-74). Fetch 0 to 2 have no such rule.
    isolation_level : {'read_uncommitted', 'read_committed'}
        Level in the request. With ``'read_committed'``, reading ends at the last stable offset, and the answer lists
        aborted transactions; it includes their records, and the client omits them (KIP-98). Fetch 0 to 3 and
        followers have no such choice. All headers of a log are read for it, unless the log is remote.
    follower : bool
        Whether another broker sends the request.
    log_start_offset : int, optional
        First offset of the log; by default where the first segment begins, 0 for record sets.
    end_offset : int, optional
        High watermark, where reading ends; by default the end of the log.
    helpful : bool
        Avoid two mistakes of real brokers: batches that are sent twice, and responses that end too early. See the
        notes.
    codecs : CodecRegistry, optional
        Codec plug-ins in addition to Kafka's codecs; older magics do not support them.
    max_decompressed_bytes : int
        Cap on the decompressed size of one batch.

    Returns
    -------
    Fetched

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An invalid argument or setting, or a log of several partitions.
    OutputTooLargeError
        The decompressed records of a batch exceed max_decompressed_bytes.
    StorageError, OSError
        The log cannot be read.

    Notes
    -----
    Damage in the log does not raise an exception. The result is a broker's: an error code if conversion fails before
    the response begins, a closed connection if it fails during the response; `Fetched.message` describes the damage.
    Like a broker, this function does not compare checksums.

    A broker announces the size of the response before it converts all batches: at least the bytes that were read. An
    entry that claims to be longer than it is fills the rest, so that every client treats it as truncated. zstd cannot
    be converted: the answer is error 76 if a zstd batch comes first, otherwise the batches before it.

    Real brokers make two mistakes, which the answer repeats unless `helpful` is set. If the first batches convert to
    nothing, as control batches do, the first batch with a result is sent twice. If more than 128 KiB of the response
    are missing because of zstd, the connection is closed.

    gzip is compressed by a different library than Java's: the bytes differ, but the records do not.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.broker import fetch
    >>> log = b"".join(
    ...     recordpress.write_records([b"line"] * 50, base_offset=offset, compression_type=codec)
    ...     for offset, codec in ((0, "lz4"), (50, "zstd"))
    ... )
    >>> new = fetch(log, 0, fetch_version=12)
    >>> new.records == log
    True
    >>> old = fetch(log, 0, fetch_version=3)
    >>> old.magic, old.converted_records, old.size == len(log), [str(finding) for finding in old.findings]
    (1, 50, True, ['overflow_filler'])
    >>> fetch(log, 50, fetch_version=3).error
    'UNSUPPORTED_COMPRESSION_TYPE'

    The records that a consumer reads from a log with aborted transactions:

    >>> committed = fetch(log, 0, fetch_version=12, isolation_level="read_committed")
    >>> columns = recordpress.read_columns(committed.records, aborted_transactions=committed.aborted_transactions)
    >>> committed.last_stable_offset, committed.aborted_transactions, len(columns)
    (100, [], 100)
    """
    version = integer(fetch_version, "fetch_version", 0, INT16_MAX)
    offset = integer(fetch_offset, "fetch_offset", -INT64_MAX - 1, INT64_MAX)
    settings = settings_of(broker_version, topic_config, codecs)
    choice("isolation_level", isolation_level, get_args(IsolationLevel))
    request = _Request(
        rules=settings.rules,
        fetches=fetch_rules_of(settings.rules),
        config=settings.config,
        version=version,
        offset=offset,
        whole=version > _HARD_LIMIT and minimum_one_batch,
        committed=isolation_level == "read_committed" and version >= _ISOLATION and not follower,
        follower=follower,
        helpful=helpful,
        codecs=settings.codecs,
        cap=integer(max_decompressed_bytes, "max_decompressed_bytes", 1, INT32_MAX),
    )
    limit = integer(partition_max_bytes, "partition_max_bytes", -INT32_MAX - 1, INT32_MAX)
    total = integer(max_bytes, "max_bytes", -INT32_MAX - 1, INT32_MAX)
    limit = min(limit, total if version > _HARD_LIMIT else INT32_MAX)
    limit = min(limit, fetch_max_bytes(topic_config, request.fetches.default_max_bytes, settings.codecs))
    start = None if log_start_offset is None else integer(log_start_offset, "log_start_offset", 0, INT64_MAX)
    end = None if end_offset is None else integer(end_offset, "end_offset", 0, INT64_MAX)
    least, most = request.fetches.versions
    if not least <= version <= most:
        return _without_records(None, Reason.FETCH_VERSION)
    partition = PartitionRead(_segments_of(log), start)
    return request.answer(request.read(partition, limit, end))


def _segments_of(log: Any) -> Iterable[SegmentLike]:
    partitions = getattr(log, "partitions", None)
    if partitions is not None:
        if len(partitions) != 1:
            message = f"a fetch reads one partition, but the log has {len(partitions)}: choose one with Log.select"
            raise InvalidArgumentError(message, field="log")
        log = partitions[0]
    segments = getattr(log, "segments", None)
    if segments is not None:
        return tuple(segments)
    try:
        return (MemorySegment(log),)
    except TypeError:
        pass
    if isinstance(log, str) or not isinstance(log, Iterable):
        message = f"log must be bytes-like, several of them, a Log or a Partition, not {type(log).__name__}"
        raise ArgumentTypeError(message, field="log")
    try:
        return tuple(MemorySegment(data) for data in log)
    except TypeError:
        raise ArgumentTypeError("log must contain bytes-like objects, one per segment", field="log") from None


def _without_records(code: int | None, *reasons: Reason, message: str | None = None) -> Fetched:
    """Return a response without records (FetchResponse.partitionResponse), or a closed connection."""
    code = None if code is None else int(code)
    return Fetched(code, name_of(code), message=message, reasons=list(reasons))


@dataclass(frozen=True, slots=True)
class _Request:
    """A fetch of one partition, and the settings of its broker."""

    rules: BrokerRules
    fetches: FetchRules
    config: LogConfig
    version: int
    offset: int
    whole: bool
    committed: bool
    follower: bool
    helpful: bool
    codecs: CodecTable | None
    cap: int

    # --- ReplicaManager -----------------------------------------------------------------------------------------

    def read(self, partition: PartitionRead, limit: int, end_offset: int | None) -> Fetched:
        """Return a response with the bytes that were read, or with an error."""
        if not partition.start_offset <= self.offset <= partition.end_offset:
            return _without_records(Errors.OFFSET_OUT_OF_RANGE, Reason.OFFSET_OUT_OF_RANGE)
        watermark = partition.end_offset if end_offset is None else min(end_offset, partition.end_offset)
        isolation = partition.isolation(watermark) if self.committed else None
        until = watermark if isolation is None else cast(int, isolation.last_stable_offset)
        if limit < 0 and self.offset < until:
            return _without_records(Errors.UNKNOWN_SERVER_ERROR, Reason.FETCH_SIZE)
        try:
            found = partition.read(self.offset, limit, self.whole, until)
        except CorruptRecordError as error:
            return _without_records(Errors.CORRUPT_MESSAGE, Reason.DAMAGED_LOG, message=str(error))
        # since KIP-74, part of the first batch is not sent either: clients could not distinguish it from a loss
        records = b"" if self.version > _HARD_LIMIT and found.first_entry_incomplete else found.records
        return Fetched(
            0,
            name_of(0),
            records=records,
            size=len(records),
            log_start_offset=partition.start_offset,
            high_watermark=watermark,
            last_stable_offset=-1 if isolation is None else until,
            aborted_transactions=None if isolation is None else self.aborted(isolation, found, until),
            read_bytes=len(records),
        )

    def aborted(self, isolation: Isolation, found: LogRead, until: int) -> list[tuple[int, int]] | None:
        """Return aborted transactions (UnifiedLog.collectAbortedTransactions); None if the broker reads no complete
        batch."""
        if self.offset >= until:
            return []
        bound = found.upper_bound
        if bound is None or found.first_entry_incomplete:
            return None
        return [
            (transaction.producer_id, transaction.first_offset)
            for transaction in isolation.aborted
            if transaction.last_offset >= self.offset and transaction.first_offset < bound
        ]

    # --- KafkaApis ----------------------------------------------------------------------------------------------

    def answer(self, read: Fetched) -> Fetched:
        if self.fetches.gates_zstd and self.config.compression_type == "zstd" and self.version < _ZSTD:
            return _without_records(Errors.UNSUPPORTED_COMPRESSION_TYPE, Reason.ZSTD_FETCH_VERSION)
        try:
            magic = self.magic_for(read.records)
        except CorruptRecordError as error:
            return _without_records(Errors.CORRUPT_MESSAGE, Reason.DAMAGED_LOG, message=str(error))
        if magic is None:
            cut = cut_bytes_of(read.records)
            return replace(read, cut_bytes=cut, findings=[Finding.CUT_ENTRY] if cut else [])
        if self.fetches.conversion == "lazy" and not self.follower and not self.config.downconversion_enable:
            return _without_records(Errors.UNSUPPORTED_VERSION, Reason.DOWN_CONVERSION_DISABLED)
        return read if read.error_code else self.convert(read, magic)

    def magic_for(self, records: bytes) -> int | None:
        """Return the magic to which the records are converted; None if they are not converted."""
        if self.fetches.conversion == "none":
            return None
        if self.config.target_magic > 0 and self.version <= 1:
            magic = 0
        elif self.config.target_magic > 1 and self.version <= 3:
            magic = 1
        else:
            return None
        return magic if self.fetches.always_converts or holds_newer(records, magic) else None

    def convert(self, read: Fetched, magic: int) -> Fetched:
        conversion = DownConversion(
            read.records,
            magic,
            self.offset,
            conversion=self.fetches.conversion,
            keeps_unconverted=self.fetches.keeps_unconverted,
            helpful=self.helpful,
            zstd=self.rules.zstd,
            drops_headers=self.fetches.drops_headers,
            codecs=self.codecs,
            max_decompressed_bytes=self.cap,
        )
        message = None if conversion.cause is None else str(conversion.cause)
        if conversion.error_code:
            return self.refused(conversion.error_code, message)
        if conversion.closed:
            return _without_records(None, Reason.RESPONSE_UNFINISHED, message=message)
        return replace(
            read,
            records=conversion.records,
            size=conversion.size,
            magic=magic,
            converted_batches=conversion.batches,
            converted_records=conversion.converted_records,
            dropped_control_batches=conversion.control_batches,
            dropped_records=conversion.early_records,
            lost=conversion.lost,
            repeated_batches=conversion.repeated_batches,
            filler_bytes=conversion.filler_bytes,
            cut_bytes=conversion.cut_bytes,
            message=message,
            reasons=_reasons(conversion),
            findings=_findings(conversion),
        )

    def refused(self, code: int, message: str | None) -> Fetched:
        """Return the answer to a conversion that failed before the response began."""
        if code == Errors.UNSUPPORTED_COMPRESSION_TYPE:
            return _without_records(code, Reason.ZSTD_DOWN_CONVERSION, message=message)
        if code == Errors.INVALID_RECORD and not self.rules.has_invalid_record:
            code = Errors.CORRUPT_MESSAGE
        return _without_records(code, Reason.CONVERSION_FAILED, message=message)


def _reasons(conversion: DownConversion) -> list[Reason]:
    did = conversion.batches or conversion.control_batches or conversion.early_records
    found = [Reason.DOWN_CONVERSION] if did else []
    return [*found, Reason.ZSTD_DOWN_CONVERSION] if conversion.hidden else found


def _findings(conversion: DownConversion) -> list[Finding]:
    found = {
        Finding.LOST_FIELDS: conversion.lost.keys() - {"markers", "empty_batches"},
        Finding.DROPPED_MARKERS: conversion.control_batches,
        Finding.REPEATED_BATCHES: conversion.repeated_batches,
        Finding.OVERFLOW_FILLER: conversion.filler_bytes,
        Finding.CUT_ENTRY: conversion.cut_bytes,
    }
    return [finding for finding, there in found.items() if there]
