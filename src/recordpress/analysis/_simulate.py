"""Simulation of policies for closing a producer's batches, on the same records."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from heapq import merge
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from recordpress._arguments import INT32_MAX, INT64_MAX, integer
from recordpress._json_keys import camel_keys
from recordpress._protocol_errors import Errors
from recordpress.analysis._analyze import LEAST_SAMPLE, MOST_SAMPLE, lines_at, sample_of
from recordpress.analysis._sample import Sample, sample_log
from recordpress.errors import InvalidArgumentError
from recordpress.log import Log, open_log
from recordpress.producer import BatchAccumulator, CompressionRatioEstimator, ProduceAnswer, ProducerBatch, pack
from recordpress.producer.settings import BATCH_SIZE, ESTIMATION_FACTOR
from recordpress.record import Record, read_batches

if TYPE_CHECKING:
    from recordpress.analysis._analyze import Paths
    from recordpress.codecs import CodecRegistry
    from recordpress.log import Finding
    from recordpress.typing import Integer, Level

_FRAMING = 64  # incompressible records grow by at most these bytes and a thousandth of their size, with any codec


@dataclass(frozen=True)
class Policy:
    """Result of one policy.

    Attributes
    ----------
    name : str
        ``"damped"``: the estimate of Kafka's producer up to 0.10.2, one moving average per codec for all topics.
        ``"kip-126"``: Kafka's estimate since 0.11. ``"uncompressed"``: uncompressed bytes limit batches.
        ``"packed"``: the exact compressed size limits batches, as in `recordpress.producer.pack`.
    batches : int
    splits : int
        Batches over the broker's limit, which were split; in producers up to 0.10.2 their records failed.
    bytes : int
        Total size of the batches that the broker stored.
    fill : float
        Mean size of a stored batch as a share of ``batch.size``.
    cpu_seconds : float
        CPU time to fill, compress and split the batches on one thread.

    Examples
    --------
    >>> from recordpress.analysis import simulate
    >>> [policy.name for policy in simulate("demo/logs/sessions-0").policies]
    ['damped', 'kip-126', 'uncompressed', 'packed']
    """

    name: str
    batches: int
    splits: int
    bytes: int
    fill: float
    cpu_seconds: float

    @property
    def split_share(self) -> float:
        """Splits as a share of the batches that the producer sent."""
        return self.splits / (self.batches + self.splits)


@dataclass(frozen=True)
class Simulation:
    """Result of `simulate`.

    Attributes
    ----------
    policies : tuple of Policy
    records : int
    record_bytes : int
        Size of the records in uncompressed batches of the stored depth.
    batch_size, max_message_bytes : int
    findings : tuple of Finding
        Damage; the damaged batches were omitted.

    Examples
    --------
    >>> from recordpress.analysis import simulate
    >>> found = simulate("demo/logs/sessions-0", 4096)
    >>> found.records > 0, found.batch_size, found.max_message_bytes
    (True, 4096, 4096)
    """

    policies: tuple[Policy, ...]
    records: int
    record_bytes: int
    batch_size: int
    max_message_bytes: int
    findings: tuple[Finding, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result in the form of ``docs/simulate.schema.json``."""
        policies = [camel_keys(asdict(one) | {"split_share": one.split_share}) for one in self.policies]
        names = ("records", "record_bytes", "batch_size", "max_message_bytes")
        return {
            "policies": policies,
            **camel_keys({name: getattr(self, name) for name in names}),
            "findings": [finding.to_dict() for finding in self.findings],
        }


def simulate(
    path: Paths,
    batch_size: Integer = BATCH_SIZE,
    *,
    compression_type: str = "zstd",
    level: Level = None,
    max_message_bytes: Integer | None = None,
    sample_bytes: Integer = 64 << 20,
    seed: Integer = 0,
    codecs: CodecRegistry | None = None,
) -> Simulation:
    """Fill batches with the records of a log by four policies (KIP-126), and compare the results.

    One busy producer sends the records of all partitions in the order of their timestamps. A broker rejects batches
    above its limit that have several records; the producer splits them and sends the parts. A record whose
    uncompressed size exceeds `batch_size` gets its own batch.

    Parameters
    ----------
    path : str, PathLike or several of them
        A log, as for `open_log`; or one file of lines, each of which is the value of a record.
    batch_size : int
        ``batch.size`` of the producer in bytes.
    compression_type, level
        The producer's codec, as for `BatchBuilder`.
    max_message_bytes : int, optional
        ``max.message.bytes`` of the topics; by default `batch_size`, as in the measurements of KIP-126.
    sample_bytes, seed : int
        Maximum uncompressed size of the sample in bytes, in equal shares from all partitions, and seed for its place.
    codecs : CodecRegistry, optional
        Codec plug-ins that batches and `compression_type` may name.

    Returns
    -------
    Simulation

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An invalid argument, or a path without records.
    OSError

    Examples
    --------
    >>> from recordpress.analysis import simulate
    >>> found = simulate("demo/logs/access-log-0", 16384)
    >>> packed = found.policies[-1]
    >>> packed.splits, packed.fill > 0.8
    (0, True)
    """
    size = integer(batch_size, "batch_size", 1, INT32_MAX)
    most = size if max_message_bytes is None else integer(max_message_bytes, "max_message_bytes", 1, INT32_MAX)
    limit = integer(sample_bytes, "sample_bytes", LEAST_SAMPLE, MOST_SAMPLE)
    number = integer(seed, "seed", 0, INT64_MAX)
    codec: dict[str, Any] = {"compression_type": compression_type, "level": level, "codecs": codecs}
    filled = {
        name: partial(_accumulated, BatchAccumulator(
            batch_size=size, linger_ms=1, max_request_size=INT32_MAX, split_in_half=True, estimator=estimator,
            **codec,
        ), most)
        for name, estimator in (
            ("damped", _DampedEstimator(codecs)),
            ("kip-126", CompressionRatioEstimator(codecs)),
            ("uncompressed", _NoEstimator(codecs)),
        )
    }  # fmt: skip
    samples = _samples(path, limit, number, codecs)
    streams = (_rows(place, *one) for place, one in enumerate(samples))
    rows = list(merge(*streams, key=lambda row: row.record.timestamp))
    if not rows:
        raise InvalidArgumentError("it has no intact record", field="path")
    policies = [_policy(name, policy, rows, size) for name, policy in filled.items()]
    policies.append(_policy("packed", partial(_packed, min(size, most), codec), rows, size))
    return Simulation(
        tuple(policies),
        len(rows),
        sum(len(sample.data) for _, sample in samples),
        size,
        most,
        tuple(finding for _, sample in samples for finding in sample.findings),
    )


class _Row(NamedTuple):
    topic: str
    place: int  # number of its partition in the order of all partitions
    record: Record


def _samples(path: Paths, limit: int, seed: int, codecs: CodecRegistry | None) -> list[tuple[str, Sample]]:
    """Return a sample of each partition, with its topic."""
    if lines_at(path):
        return [("", sample_of(path, limit, seed, codecs)[0])]
    log = path if isinstance(path, Log) else open_log(path, codecs=codecs)
    share = max(limit // max(len(log.partitions), 1), LEAST_SAMPLE)
    return [
        (one.topic or "", sample_log(log.select(partial(operator.is_, one)), share, seed)) for one in log.partitions
    ]


def _rows(place: int, topic: str, sample: Sample) -> Iterator[_Row]:
    for batch in read_batches(sample.data, check_crcs=False):
        yield from (_Row(topic, place, record) for record in batch)


# ---- policies


class _DampedEstimator(CompressionRatioEstimator):
    """Moving average of all batches of a codec (MemoryRecordsBuilder of Kafka 0.10.2)."""

    def __init__(self, codecs: CodecRegistry | None = None) -> None:
        self._ratio = 0.5  # CompressionType.rate of every codec
        self._of_split: float | None = None

    def estimation(self, topic: str, compression_type: str) -> float:
        """Return the average; for the parts of a split batch, return the ratio of that batch."""
        return self._ratio if self._of_split is None else self._of_split

    def update_estimation(self, topic: str, compression_type: str, observed: Any) -> float:
        """Add a batch to the average."""
        self._of_split = None
        self._ratio = 0.9 * self._ratio + 0.1 * float(observed)
        return self._ratio

    def set_estimation(self, topic: str, compression_type: str, ratio: Any) -> None:
        """Set the ratio of a split batch without adding it to the average."""
        self._of_split = float(ratio)


class _NoEstimator(CompressionRatioEstimator):
    """Estimator that expects no gain from compression, and removes the producer's reserve."""

    def estimation(self, topic: str, compression_type: str) -> float:
        """Return the inverse of the reserve."""
        return 1 / ESTIMATION_FACTOR


def _policy(name: str, fill: Callable[[Sequence[_Row]], tuple[list[int], int]], rows: list[_Row], size: int) -> Policy:
    started = time.thread_time()
    sizes, splits = fill(rows)
    seconds = time.thread_time() - started
    return Policy(name, len(sizes), splits, sum(sizes), sum(sizes) / len(sizes) / size, seconds)


def _accumulated(producer: BatchAccumulator, most: int, rows: Sequence[_Row]) -> tuple[list[int], int]:
    """Return the sizes of the batches that Kafka's producer sends while its clock stands still, and the splits."""
    sizes: list[int] = []

    def send(batch: ProducerBatch) -> ProduceAnswer:
        if len(batch.records) > most and batch.records_count > 1:
            return ProduceAnswer(Errors.MESSAGE_TOO_LARGE)
        sizes.append(len(batch.records))
        return ProduceAnswer()

    for topic, place, row in rows:
        if producer.append(row.value, row.key, row.timestamp, row.headers, topic=topic, partition=place):
            producer.run(send)
    producer.run(send, flush=True)
    return sizes, int(producer.metrics()["batch-split-total"])


def _packed(size: int, codec: dict[str, Any], rows: Sequence[_Row]) -> tuple[list[int], int]:
    """Return the sizes of batches that are packed up to `size`, and 0 splits."""
    bound = BatchAccumulator().upper_bound

    def is_large(row: Record) -> bool:
        alone = bound(row.value, row.key, row.headers)
        return alone + alone // 1000 + _FRAMING > size

    partitions: dict[int, list[Record]] = {}
    for _, place, row in rows:
        partitions.setdefault(place, []).append(row)
    sizes: list[int] = []
    for partition in partitions.values():
        for large, some in groupby(partition, is_large):
            records = list(some)
            limit = INT32_MAX if large else size
            for run in [[row] for row in records] if large else [records]:
                columns = zip(*((row.value, row.key, row.timestamp, row.headers) for row in run), strict=True)
                sizes += map(len, pack(*columns, limit=limit, **codec))
    return sizes, 0
