"""Check of records against all size limits of producer and broker, before they are sent."""

from __future__ import annotations

import operator
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from recordpress._arguments import integer
from recordpress._json_keys import camel_keys
from recordpress.analysis._lines import is_lines, lines_of
from recordpress.broker import PartitionLog, Verdict
from recordpress.columns import write_columns
from recordpress.errors import ArgumentTypeError, InvalidArgumentError
from recordpress.files import resolve
from recordpress.log import Finding, Log, open_log
from recordpress.producer import BatchAccumulator, CompressionRatioEstimator, ProduceAnswer, ProduceError, ProducerBatch
from recordpress.record import Record, read_batches, write_records

MOST_LISTED = 100  # rejections; `Fits.rejected` counts all of them
LONGEST_LINE = 1 << 30  # bytes: half of the maximum of an int32 length; a line is in memory as a whole
LINES_AT_ONCE = 1 << 22  # bytes; chosen, not measured

_TIMED_OUT, _TOO_LARGE, _LIST_TOO_LARGE = 7, 10, 18  # error codes of Produce
_NEVER = 1 << 62  # ms: the clock of the trial does not move
_COLUMNS = ["offset", "timestamp", "key", "value", "headers"]

# For each limit: who checks it, what is checked, and the method in Kafka.
LIMITS = {
    "batch.size": ("producer", "record", "RecordAccumulator.append"),
    "max.request.size": ("producer", "record", "KafkaProducer.ensureValidRecordSize"),
    "buffer.memory": ("producer", "record", "KafkaProducer.ensureValidRecordSize"),
    "max.message.bytes": ("broker", "batch", "UnifiedLog.analyzeAndValidateRecords"),
    "segment.bytes": ("broker", "batch", "UnifiedLog.append"),
}


@dataclass
class Limit:
    """Size limit, with the largest value compared with it.

    Attributes
    ----------
    name : str
        Kafka's name.
    value : int
        Limit in bytes.
    checked_by : str
        ``"producer"`` or ``"broker"``.
    checked : str
        ``"record"``: the upper bound of the size of an uncompressed batch with only this record
        (AbstractRecords.estimateSizeInBytesUpperBound). ``"batch"``: the size of a compressed batch.
    source : str
        Kafka's method.
    largest : int
        Largest size that was checked; 0 if nothing reached this limit.
    over : int
        Records or batches that are larger than `value`. A record over ``batch.size`` gets its own batch; a batch over
        ``max.message.bytes`` is split if it has several records.
    rejected : int
        Records that this limit rejects.

    Examples
    --------
    >>> import recordpress
    >>> found = recordpress.fits([b"small", bytes(2_000_000)])
    >>> [limit.name for limit in found.limits if limit.rejected]
    ['max.request.size']
    """

    name: str
    value: int
    checked_by: str
    checked: str
    source: str
    largest: int = 0
    over: int = 0
    rejected: int = 0

    def see(self, size: int) -> bool:
        """Compare a size with the limit; return whether it fits."""
        self.largest = max(self.largest, size)
        self.over += size > self.value
        return size <= self.value


@dataclass(frozen=True)
class Rejection:
    """Rejected record.

    Attributes
    ----------
    record : int
        Number of the record, from 0.
    topic, partition, offset : str | int | None
        Place of the record in a log.
    limit : str | None
        Kafka's name of the limit; None if the broker rejects the record for another reason, which `error` names.
    size : int
        Size that was compared with the limit, in bytes.
    error : str
        Kafka's name of the error.

    Examples
    --------
    >>> import recordpress
    >>> found = recordpress.fits([b"small", bytes(2_000_000)])
    >>> found.rejections[0].record, found.rejections[0].limit
    (1, 'max.request.size')
    """

    record: int
    topic: str | None
    partition: int | None
    offset: int | None
    limit: str | None
    size: int
    error: str


@dataclass
class Fits:
    """Result of `recordpress.fits`.

    Attributes
    ----------
    records, batches : int
        Number of all records, and of the batches that the broker accepts.
    bytes : int
        Total size of these batches.
    splits : int
        Batches that the broker rejects at first, and that the producer then splits (KIP-126).
    rejected : int
        Records that are not stored.
    limits : tuple of Limit
        Limits in the order in which they are checked.
    rejections : list of Rejection
        The first 100 rejections.
    findings : list of Finding
        Damage in the log; the damaged batches were skipped.

    Examples
    --------
    >>> import recordpress
    >>> found = recordpress.fits([b"small", bytes(2_000_000)])
    >>> bool(found), found.records, found.rejected
    (False, 2, 1)
    """

    limits: tuple[Limit, ...]
    records: int = 0
    batches: int = 0
    bytes: int = 0
    splits: int = 0
    rejected: int = 0
    rejections: list[Rejection] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def fits(self) -> bool:
        """Whether all records are stored."""
        return self.rejected == 0

    def __bool__(self) -> bool:
        return self.fits

    def to_dict(self) -> dict[str, Any]:
        """Return the result in the form of ``docs/fits.schema.json``."""
        found = {name: getattr(self, name) for name in ("fits", "records", "batches", "bytes", "splits", "rejected")}
        return {
            **found,
            "limits": [camel_keys(vars(limit)) for limit in self.limits],
            "rejections": [camel_keys(vars(rejection)) for rejection in self.rejections],
            "findings": [finding.to_dict() for finding in self.findings],
        }


def check_records(
    rows: tuple[Any, Any, Any, Any], producer: dict[str, Any], buffer_memory: Any, broker: dict[str, Any], codecs: Any
) -> Fits:
    """Check records against all limits, as `recordpress.fits` describes."""
    memory = integer(buffer_memory, "buffer_memory", 0, 2**63 - 1)
    estimator = CompressionRatioEstimator(codecs)  # shared by all partitions, as in a producer to one topic

    def accumulator() -> BatchAccumulator:
        # the clock stands still: batches linger until they are full
        return BatchAccumulator(**producer, linger_ms=1, estimator=estimator, delivery_timeout_ms=_NEVER, codecs=codecs)

    def log() -> PartitionLog:
        return PartitionLog(**broker, codecs=codecs)

    first, stored = accumulator(), log()
    values = (first.batch_size, first.max_request_size, memory, stored.max_message_bytes, stored.segment_bytes)
    limits = tuple(Limit(name, value, *LIMITS[name]) for name, value in zip(LIMITS, values, strict=True))
    found = Fits(limits)
    for source in _sources(*rows, found.findings, codecs):
        _Trial(found, accumulator(), log(), source).take()
    return found


# ---- sources


class _Source(NamedTuple):
    """Records that share batches."""

    rows: Iterable[Record]
    topic: str | None = None
    partition: int | None = None
    is_log: bool = False


def _sources(
    records: Any, keys: Any, timestamps: Any, headers: Any, findings: list[Finding], codecs: Any
) -> Iterator[_Source]:
    if isinstance(records, str | os.PathLike | Log):
        for name, given in (("keys", keys), ("timestamps", timestamps), ("headers", headers)):
            if given is not None:
                raise ArgumentTypeError(f"records is a path: {name} must be None", field=name)
        yield from _of_path(records, findings, codecs)
    elif hasattr(type(records), "__arrow_c_stream__") or hasattr(type(records), "__arrow_c_array__"):
        for name, given in (("keys", keys), ("timestamps", timestamps), ("headers", headers)):
            if given is not None:
                raise ArgumentTypeError(f"records are Arrow columns: {name} must be one of them", field=name)
        with _named():
            record_set = write_columns(records)
        yield _Source(_rows(record_set))
    else:
        with _named():
            record_set = write_records(records, keys, timestamps, headers)
        yield _Source(_rows(record_set))


@contextmanager
def _named() -> Iterator[None]:
    """Rename the argument in errors of inner calls to the argument of this call."""
    try:
        yield
    except (InvalidArgumentError, ArgumentTypeError) as error:
        if error.field not in ("keys", "timestamps", "headers"):
            error.field = "records"
        raise


def _rows(record_set: bytes) -> Iterator[Record]:
    for batch in read_batches(record_set, check_crcs=False):
        yield from batch


def _of_path(path: str | os.PathLike[str] | Log, findings: list[Finding], codecs: Any) -> Iterator[_Source]:
    if isinstance(path, Log):
        yield from _of_partitions(path, findings)
        return
    with _named():
        files, name = resolve(path, None)
        lines = is_lines(files, name)
    if lines:
        with files.open(name) as file:
            yield _Source(_of_lines(line for _, _, line in lines_of(file, 0, LONGEST_LINE)))
        return
    with _named():
        log = open_log(path, codecs=codecs)
    yield from _of_partitions(log, findings)


def _of_partitions(log: Log, findings: list[Finding]) -> Iterator[_Source]:
    for one in log.partitions:
        yield _Source(_of_log(log.select(partial(operator.is_, one)), findings), one.topic, one.partition, True)


def _of_lines(lines: Iterable[bytes]) -> Iterator[Record]:
    some: list[bytes] = []
    size = 0
    for line in lines:
        some.append(line)
        size += len(line)
        if size >= LINES_AT_ONCE:
            yield from _rows(write_records(some))
            some, size = [], 0
    yield from _rows(write_records(some))


def _of_log(log: Log, findings: list[Finding]) -> Iterator[Record]:
    reader = log.read(_COLUMNS, on_corrupt="skip")
    for columns in reader:
        yield from _rows(write_columns(columns))
    findings += reader.findings


# ---- producer and broker


class _Trial:
    """Trial of one partition: a busy producer sends batches to a broker."""

    def __init__(self, found: Fits, producer: BatchAccumulator, broker: PartitionLog, source: _Source) -> None:
        self.found, self.producer, self.broker, self.source = found, producer, broker, source
        self.sent = 0  # bytes of the batch that the broker is answering
        self.error = ""
        self.alone, self.request, self.memory, self.message, self.segment = found.limits

    def take(self) -> None:
        for row in self.source.rows:
            self._append(self.found.records, row)
            self.found.records += 1
        self.producer.run(self._send, flush=True)
        self.producer.expire(_NEVER)  # parts that cannot become smaller

    def _append(self, number: int, row: Record) -> None:
        size = self.producer.upper_bound(row.value, row.key, row.headers)
        self.alone.see(size)
        offset = row.offset if self.source.is_log else None
        fits_request, fits_memory = self.request.see(size), self.memory.see(size)
        if not fits_request or not fits_memory:
            self._reject(number, offset, self.memory if fits_request else self.request, size, "MESSAGE_TOO_LARGE")
            return
        stored = partial(self._answered, number, offset)
        if self.producer.append(row.value, row.key, row.timestamp, row.headers, callback=stored):
            self.producer.run(self._send)

    def _send(self, batch: ProducerBatch) -> Verdict | ProduceAnswer:
        self.sent = len(batch.records)
        if self.message.see(self.sent):
            self.segment.see(self.sent)
        [entry] = read_batches(batch.records, check_crcs=False)
        now_ms = max(int(time.time() * 1000), entry.max_timestamp)  # only sizes count, not the broker's clock
        verdict = self.broker.append(batch.records, now_ms=now_ms)
        self.error = verdict.error
        if verdict.error_code == 0:
            self.found.batches += 1
            self.found.bytes += self.sent
        elif verdict.error_code == _TOO_LARGE:
            self.found.splits += batch.records_count > 1
        return ProduceAnswer(-1) if verdict.error_code is None else verdict  # a closed connection is not an answer

    def _answered(self, number: int, offset: int | None, metadata: Any, error: ProduceError | None) -> None:
        if error is not None:
            limit = {_TIMED_OUT: self.message, _TOO_LARGE: self.message, _LIST_TOO_LARGE: self.segment}.get(
                error.code or 0
            )
            self._reject(number, offset, limit, self.sent, self.error)

    def _reject(self, number: int, offset: int | None, limit: Limit | None, size: int, error: str) -> None:
        self.found.rejected += 1
        if limit is not None:
            limit.rejected += 1
        if len(self.found.rejections) < MOST_LISTED:
            name = limit.name if limit else None
            topic, partition = self.source.topic, self.source.partition
            self.found.rejections.append(Rejection(number, topic, partition, offset, name, size, error))
