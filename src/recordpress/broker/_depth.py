"""Depth of the batches in a log, and the settings with which its producers would fill deeper batches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from recordpress._json_keys import JsonFields
from recordpress.log.copy.defaults import JOINED_BYTES
from recordpress.producer.settings import MAX_LINGER_MS, batch_size_of, linger_ms_of

_MOST_PAIRS = 10_000  # of partition and producer, whose rates are kept; chosen, not measured
_SHALLOW = 0.5  # batches with less than this share of a deep batch's records are shallow; a judgement
_WORTHWHILE = 1.5  # times the depth today; a judgement


@dataclass(frozen=True, slots=True)
class DepthAdvice(JsonFields):
    """Settings with which producers of a topic fill batches as deep as `recordpress.transcode` would join them.

    Attributes
    ----------
    topic : str | None
    batch_records : float
        Mean records per batch in the log.
    deep_records : int
        Records of a deep batch: the number that 256 KiB hold before compression.
    records_per_second : float | None
        Mean rate of one producer to one partition, by timestamps; None if they do not show a rate: all are equal,
        or batches hold the records of more than a second.
    has_ids : bool
        Whether batches have a producer id; otherwise one producer per partition is assumed.
    batch_size, linger_ms : int | None
        ``batch.size`` and ``linger.ms``. `linger_ms` is None if the rate is. Both are None if a producer sends too few
        records within a second to fill much deeper batches.
    reached_records : float | None
        Records per batch with these settings; None if the rate or the settings are None.

    Examples
    --------
    >>> import pathlib, tempfile, recordpress
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "00000000000000000000.log"
    >>> _ = path.write_bytes(b"".join(
    ...     recordpress.write_records([b"a line of text"] * 10, base_offset=at, timestamps=1700000000000 + at)
    ...     for at in range(0, 5000, 10)))
    >>> [advice] = recordpress.explain(path).depths
    >>> advice.batch_records, advice.deep_records, advice.batch_size, advice.linger_ms
    (10.0, 12483, 27648, 1000)
    """

    topic: str | None
    batch_records: float
    deep_records: int
    records_per_second: float | None
    has_ids: bool
    batch_size: int | None
    linger_ms: int | None
    reached_records: float | None


@dataclass(slots=True)
class _Pair:
    """Batches of one producer in one partition."""

    batches: int = 0
    records: int = 0
    first: int = -1
    last: int = -1


@dataclass(slots=True)
class TopicDepth:
    """A topic's batches of magic 2: counts from all headers, and the records of opened batches."""

    topic: str | None
    batches: int = 0
    records: int = 0
    bytes: int = 0
    opened_records: int = 0
    opened_bytes: int = 0
    is_compressed: bool = False
    has_ids: bool = True
    pairs: dict[tuple[int | None, int], _Pair] = field(default_factory=dict)

    def add(self, partition: int | None, header: Any) -> None:
        """Count a batch by its header."""
        self.batches += 1
        self.records += header.records_count
        self.bytes += header.size
        self.is_compressed |= header.is_compressed
        self.has_ids &= header.producer_id >= 0
        key = partition, header.producer_id
        pair = self.pairs.get(key)
        if pair is None:
            if len(self.pairs) >= _MOST_PAIRS:
                return
            pair = self.pairs[key] = _Pair()
        timestamp = header.max_timestamp
        if timestamp >= 0:
            pair.batches += 1
            pair.records += header.records_count
            pair.first = timestamp if pair.first < 0 else min(pair.first, timestamp)
            pair.last = max(pair.last, timestamp)

    def add_opened(self, records: int, size: int) -> None:
        """Count the records of a batch, and their bytes before compression."""
        self.opened_records += records
        self.opened_bytes += size

    def advice(self) -> DepthAdvice | None:
        """Return the advice; None if batches are already deep, or no records were read."""
        if not self.opened_records or not self.opened_bytes:
            return None
        now, record_bytes = self.records / self.batches, self.opened_bytes / self.opened_records
        deep = max(int(JOINED_BYTES / record_bytes), 1)
        if now > _SHALLOW * deep:
            return None
        rate = self._rate()
        if rate is not None and now > max(_WORTHWHILE, rate * MAX_LINGER_MS / 1000):
            rate = None  # timestamps are not the times of sending
        linger = None if rate is None else linger_ms_of(deep, rate)
        reached = None if rate is None or linger is None else min(rate * linger / 1000, float(deep))
        stored = (deep if reached is None else reached) * self.bytes / self.records
        size: int | None = batch_size_of(stored, record_bytes, self.is_compressed)
        if reached is not None and reached < _WORTHWHILE * now:
            size = linger = reached = None
        return DepthAdvice(self.topic, now, deep, rate, self.has_ids, size, linger, reached)

    def _rate(self) -> float | None:
        """Return the records that a producer sends to a partition between its first and last batch, per second."""
        records = seconds = 0.0
        for pair in self.pairs.values():
            if pair.last > pair.first:
                records += pair.records * (1 - 1 / pair.batches)
                seconds += (pair.last - pair.first) / 1000
        return records / seconds if seconds else None
