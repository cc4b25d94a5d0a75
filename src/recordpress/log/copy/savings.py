"""Estimated size of a copy: with another codec alone, with joined batches, and with settled producers.

::

    segments of a topic ──► ranges, each as large as what a thread joins at a time ──► a random sample of them
                                                                                              │
                  ratio of sizes for each way, and its variation ◄── recompressed each way ───┘

A log that is not larger than the sample is recompressed as `transcode` does it, so its figures are exact.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from random import Random
from statistics import NormalDist
from typing import Any, NamedTuple, TypeAlias

from recordpress._arguments import INT64_MAX
from recordpress._file_names import INDEX_FILE_SUFFIX
from recordpress._json_keys import camel_keys
from recordpress.errors import CorruptRecordError
from recordpress.log._extent import is_checked
from recordpress.log._file_records import CHUNK_BYTES
from recordpress.log._part import part_between, part_of
from recordpress.log._segment import Partition, Segment, size_of
from recordpress.log.copy._copy_log import CopyJob, marks_by_segment, scan_partitions
from recordpress.log.copy._recompress_threads import RecompressThreads
from recordpress.log.copy._segment_copy import discard
from recordpress.log.copy._settle_marks import NO_MARKS, Marks
from recordpress.log.findings import DAMAGE, Finding

SAMPLE_BYTES = 64 << 20  # of a log: an estimate takes seconds
_LEAST_RANGES = 12  # of a stratum: its interval allows for their skew, which fewer do not show; chosen, not measured
_LEAST_RANGE_BYTES = 128 << 10  # holds some joined batches
_LIKELY = NormalDist().inv_cdf(0.975)

Topic: TypeAlias = tuple[str | None, str]
Ways: TypeAlias = tuple[CopyJob, CopyJob, CopyJob]  # another codec alone, joined batches, settled producers


class Saving(NamedTuple):
    """Size of a copy.

    Attributes
    ----------
    bytes_after : int
    least_bytes, most_bytes : int
        The 95 % confidence interval. If everything was measured, both are `bytes_after`.
    cpu_seconds : float
        Estimated CPU time of the copy.

    Examples
    --------
    >>> import recordpress
    >>> estimate = recordpress.transcode("demo/logs/access-log-0", "/copy", "zstd", dry_run=True)
    >>> [topic] = estimate.topics
    >>> topic.codec_alone.bytes_after > 2 * topic.keep.bytes_after, topic.keep.least_bytes == topic.keep.bytes_after
    (True, True)
    """

    bytes_after: int
    least_bytes: int
    most_bytes: int
    cpu_seconds: float

    def change(self, before: int) -> tuple[float, float]:
        """Return the relative change in size, and the half-width of its 95 % confidence interval."""
        return self.bytes_after / before - 1, (self.most_bytes - self.bytes_after) / before

    def to_dict(self) -> dict[str, int | float]:
        """Return the figures for JSON."""
        return camel_keys(self._asdict())


class TopicSavings(NamedTuple):
    """Sizes of copies of a topic.

    Attributes
    ----------
    topic : str | None
        None for a flat directory of segments.
    bytes_before : int
    sampled_bytes : int
        Bytes of the topic on which the figures are based.
    codec_alone : Saving
        Copy with another codec and level only.
    keep : Saving
        Copy with joined batches that keep their producers.
    settle : Saving | None
        Copy with joined batches and settled producers; None if the log is out of order, so that this is impossible.

    Examples
    --------
    >>> import recordpress
    >>> estimate = recordpress.transcode("demo/logs/sessions-0", "/copy", "zstd", dry_run=True)
    >>> [topic] = estimate.topics
    >>> topic.topic, topic.bytes_before == topic.sampled_bytes
    ('sessions', True)
    """

    topic: str | None
    bytes_before: int
    sampled_bytes: int
    codec_alone: Saving
    keep: Saving
    settle: Saving | None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        savings = {name: one.to_dict() for name, one in self._asdict().items() if isinstance(one, Saving)}
        return camel_keys(self._asdict() | savings)


class Estimate(NamedTuple):
    """Estimate of `recordpress.transcode` with ``dry_run``: exact for a log of up to 64 MiB, otherwise from a sample.

    Attributes
    ----------
    bytes_before, bytes_after : int
        Size of all segments, now and in the requested copy.
    least_bytes, most_bytes : int
        The 95 % confidence interval of `bytes_after`.
    cpu_seconds : float
        Estimated CPU time of the copy.
    sampled_bytes : int
        Bytes of the source on which the estimate is based.
    segments, sampled_segments : int
    batch_bytes, batch_records : int | None
        Limits of joined batches: the requested ones, or 256 KiB.
    topics : tuple of TopicSavings
        Each topic has the sizes without and with joined batches, whichever was requested.

    Examples
    --------
    >>> import recordpress
    >>> estimate = recordpress.transcode("demo/logs/nginx-status-0", "/copy", "zstd", dry_run=True)
    >>> estimate.segments, estimate.bytes_before, estimate.bytes_after < estimate.bytes_before / 10
    (3, 2790398, True)
    """

    bytes_before: int
    bytes_after: int
    least_bytes: int
    most_bytes: int
    cpu_seconds: float
    sampled_bytes: int
    segments: int
    sampled_segments: int
    batch_bytes: int | None
    batch_records: int | None
    topics: tuple[TopicSavings, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate in the form of ``docs/estimate.schema.json``."""
        return camel_keys(self._asdict() | {"topics": [topic.to_dict() for topic in self.topics]})


class _Range(NamedTuple):
    """Bytes of a segment; the batches that begin there are measured."""

    segment: Segment
    start: int
    end: int | None
    size: int


class _Plan(NamedTuple):
    """Jobs of the three ways, whether the last way must be possible, and how the sample is taken."""

    jobs: Ways
    must_settle: bool
    share: float
    seed: int
    is_quick: bool


class _Way(NamedTuple):
    job: CopyJob
    marks: dict[str, Marks]
    others: Marks = NO_MARKS  # of segments without marks

    def recompressor(self, segment: Segment, file: str) -> RecompressThreads:
        return self.job.recompressor(1, file, self.marks.get(segment.url, self.others))


class _Measured(NamedTuple):
    """Size of a range, and its new size and CPU time for each way."""

    size: int
    after: list[int]
    seconds: list[float]


@dataclass(frozen=True)
class _Stratum:
    """Number and size of the ranges of one kind, and measurements of some of them."""

    ranges: int
    size: int
    measured: list[_Measured]

    @property
    def is_whole(self) -> bool:
        return len(self.measured) == self.ranges

    @property
    def filled(self) -> int:
        """Measured ranges in which a batch begins; the others, inside a larger batch, do not show how sizes vary."""
        return sum(one.size > 0 for one in self.measured)

    @property
    def is_most_of_a_few(self) -> bool:
        """Whether few ranges are left unmeasured, one of which could differ from all others."""
        return self.filled <= 2 * _LEAST_RANGES and self.ranges < 2 * len(self.measured)

    def saving(self, way: int) -> tuple[float, float, float, float]:
        """Return the size that a way yields, its variance and third moment, and the CPU time."""
        size, number = sum(one.size for one in self.measured), self.filled
        after = sum(one.after[way] for one in self.measured)
        seconds = sum(one.seconds[way] for one in self.measured)
        if self.is_whole or not size:
            return after, 0.0, 0.0, seconds
        ratio, scale = after / size, self.size / size
        errors = [scale * (one.after[way] - ratio * one.size) for one in self.measured]
        unknown = number / (number - 1) * (1 - len(self.measured) / self.ranges)
        variance = unknown * sum(error**2 for error in errors)
        skew = unknown * number / (number - 2) * sum(error**3 for error in errors)
        return ratio * self.size, variance, skew, seconds * scale


def estimate(
    jobs: Ways,
    asked: int,
    limits: tuple[int | None, int | None],
    partitions: Sequence[Partition],
    *,
    sample_bytes: int,
    seed: int,
    is_quick: bool,
    findings: list[Finding] | None,
) -> Estimate:
    """Estimate the copies that three jobs would make, of which one was requested; see `TranscodeJob.estimate`."""
    size = _bytes_of(partitions)
    plan = _Plan(jobs, asked == 2, min(1.0, sample_bytes / size) if size else 1.0, seed, is_quick)
    topics: list[TopicSavings] = []
    sampled: set[str] = set()
    for (topic, _), several in by_topic(partitions).items():
        try:
            found, segments = _topic_savings(topic, several, plan)
        except DAMAGE as error:
            if findings is None:
                raise
            damage = Finding.of_error(error)
            if (damage.file, damage.position) not in {(one.file, one.position) for one in findings}:
                findings.append(damage)
            continue
        topics.append(found)
        sampled |= segments
    whole = sum_of([(topic.codec_alone, topic.keep, topic.settle)[asked] for topic in topics])
    return Estimate(
        sum(topic.bytes_before for topic in topics),
        *(whole or Saving(0, 0, 0, 0.0)),
        sum(topic.sampled_bytes for topic in topics),
        sum(len(partition.segments) for partition in partitions),
        len(sampled),
        *limits,
        tuple(topics),
    )


def by_topic(partitions: Sequence[Partition]) -> dict[Topic, list[Partition]]:
    """Group partitions by topic; a partition without a topic name is a separate group."""
    found: dict[Topic, list[Partition]] = {}
    for partition in partitions:
        found.setdefault((partition.topic, partition.url if partition.topic is None else ""), []).append(partition)
    return found


def savings_by_topic(estimate: Estimate) -> list[tuple[str | None, int, tuple[Saving | None, ...]]]:
    """Return rows of topic, bytes before and savings of the three ways; a sum follows if there are several topics."""
    rows = [(one.topic, one.bytes_before, (one.codec_alone, one.keep, one.settle)) for one in estimate.topics]
    if len(rows) < 2:
        return rows  # type: ignore[return-value]
    ways = zip(*(savings for _, _, savings in rows), strict=True)
    return [*rows, ("(all)", estimate.bytes_before, tuple(map(sum_of, ways)))]


def sum_of(savings: Sequence[Saving | None]) -> Saving | None:
    """Return the total size of independently measured copies; None if any size is unknown."""
    known = [one for one in savings if one is not None]
    if len(known) < len(savings):
        return None
    after = sum(one.bytes_after for one in known)
    likely = round(sqrt(sum((one.most_bytes - one.bytes_after) ** 2 for one in known)))
    return Saving(after, max(after - likely, 0), after + likely, sum(one.cpu_seconds for one in known))


def _bytes_of(partitions: Sequence[Partition]) -> int:
    return sum(size_of(segment) for partition in partitions for segment in partition.segments)


def _topic_savings(topic: str | None, partitions: list[Partition], plan: _Plan) -> tuple[TopicSavings, set[str]]:
    """Return the figures of a topic, and the URLs of its sampled segments."""
    size, random = _bytes_of(partitions), Random(plan.seed)
    run_bytes = plan.jobs[-1].recompressor().run_bytes
    # a joined batch ends with its range, so small ranges would understate the saving
    least_bytes = max(_LEAST_RANGE_BYTES, 0 if plan.is_quick else run_bytes // 4)
    range_bytes = min(run_bytes, max(int(plan.share * size / _LEAST_RANGES), least_bytes))
    is_whole = plan.share == 1 or size <= _LEAST_RANGES * range_bytes
    ways = _ways(partitions, plan, is_whole)
    ranges = [
        [one for segment in partition.segments for one in _ranges(segment, None if is_whole else range_bytes)]
        for partition in partitions
    ]
    # producers that are not expired have their last batches at the ends of partitions
    ends = [one for several in ranges for one in several[-1:]]
    others = [one for several in ranges for one in several[:-1]]
    number = max(round(plan.share * (len(ends) + len(others))), _LEAST_RANGES)
    of_ends = min(len(ends), max(number // 4, _LEAST_RANGES))
    strata: list[_Stratum] = []
    sampled: set[str] = set()
    for several, least in ((ends, of_ends), (others, max(number - of_ends, _LEAST_RANGES))):
        wanted = len(several) if is_whole else least
        stratum = _Stratum(len(several), sum(one.size for one in several), [])
        left = random.sample(several, len(several))
        while left and (missing := wanted - stratum.filled):
            chosen, left = left[:missing], left[missing:]
            stratum.measured.extend(_measure(part, segment, ways) for part, segment in _parts(chosen))
            sampled |= {one.segment.url for one in chosen}
        strata.append(stratum)
    if not is_whole and all(stratum.is_most_of_a_few for stratum in strata):
        return _topic_savings(topic, partitions, plan._replace(share=1.0))
    # batches begin in one range, and end in another
    moved = sum(one.size - sum(each.size for each in one.measured) for one in strata if one.is_whole)
    strata = [one if one.is_whole else replace(one, size=one.size + moved) for one in strata]
    alone, keep, *settle = (_saving(strata, way) for way in range(len(ways)))
    sampled_bytes = sum(one.size for stratum in strata for one in stratum.measured)
    return TopicSavings(topic, size, sampled_bytes, alone, keep, settle[0] if settle else None), sampled


def _saving(strata: Sequence[_Stratum], way: int) -> Saving:
    found = [stratum.saving(way) for stratum in strata]
    after, variance, skew, seconds = (sum(one[place] for one in found) for place in range(4))
    freedom = sum(one.filled - 1 for one in strata if not one.is_whole)
    likely = round(_half_interval(_quantile(freedom), variance, skew)) if variance else 0
    return Saving(round(after), max(round(after) - likely, 0), round(after) + likely, seconds)


def _half_interval(quantile: float, variance: float, skew: float) -> float:
    """Return half of the interval, plus what skewed ranges add to one side (Johnson 1978, modified t tests)."""
    return quantile * sqrt(variance) + abs(skew) * (1 + 2 * quantile**2) / (6 * variance)


def _quantile(freedom: int) -> float:
    """Return Student's t at 97.5 %, by the first terms of its expansion (Abramowitz and Stegun 26.7.5)."""
    z = _LIKELY
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def _ways(partitions: list[Partition], plan: _Plan, is_whole: bool) -> list[_Way]:
    """Return the three ways, or only the first two if producers cannot be settled."""
    alone, keep, settle = plan.jobs
    is_near = all(is_checked(segment) for partition in partitions for segment in partition.segments)
    if plan.is_quick or not (is_whole or is_near):
        return [_Way(alone, {}), _Way(keep, {}), _Way(settle, {}, Marks(settle_below=INT64_MAX))]
    try:
        scanned = scan_partitions(partitions, True)
        settled = [_Way(settle, marks_by_segment(partitions, scanned, settle.expiry))]
    except CorruptRecordError:
        if plan.must_settle:
            raise
        scanned, settled = scan_partitions(partitions, False), []
    return [_Way(alone, {}), _Way(keep, marks_by_segment(partitions, scanned, keep.expiry)), *settled]


def _ranges(segment: Segment, range_bytes: int | None) -> Iterator[_Range]:
    """Yield ranges of this size, cut where chunks end; if it is None, the whole segment as one range."""
    size = size_of(segment)
    if range_bytes is None:
        yield _Range(segment, 0, None, size)
        return
    starts = [
        start
        for chunk in range(0, size, CHUNK_BYTES)
        for start in range(chunk, min(chunk + CHUNK_BYTES, size), range_bytes)
    ]
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        yield _Range(segment, start, end, (size if end is None else end) - start)


def _parts(chosen: list[_Range]) -> Iterator[tuple[Segment, Segment]]:
    """Yield a part of a segment with the batches of each range, and that segment."""
    by_segment: dict[str, list[_Range]] = {}
    for one in chosen:
        by_segment.setdefault(one.segment.url, []).append(one)
    for several in by_segment.values():
        segment = several[0].segment
        if INDEX_FILE_SUFFIX in segment.suffixes or not is_checked(segment) or len(several) == 1:
            yield from ((part_of(segment, one.start, one.end), segment) for one in several)
            continue
        with segment.records() as file:  # one walk instead of a walk from the beginning to each range
            walk = file.headers()
            for one in sorted(several, key=lambda each: each.start):
                walk.pass_over(one.start)
                start, end = walk.position, file.size
                if one.end is not None:
                    walk.pass_over(one.end)
                    end = walk.position
                is_last = segment.is_last and end == file.size
                yield replace(part_between(segment, start, end), is_last=is_last), segment


def _measure(part: Segment, segment: Segment, ways: Sequence[_Way]) -> _Measured:
    """Recompress a part of a segment in each way, in this thread, and discard the results."""
    with part.records() as file:
        recompressors = [way.recompressor(segment, file.path) for way in ways]
        seconds = [0.0] * len(ways)

        def timed(number: int, call: Callable[..., None], *arguments: Any) -> None:
            started = time.thread_time()
            call(*arguments, discard)
            seconds[number] += time.thread_time() - started

        try:
            for position, chunk in file.chunks():
                for number, each in enumerate(recompressors):
                    timed(number, each.feed, chunk, position)
            for number, each in enumerate(recompressors):
                timed(number, each.finish)
        finally:
            for each in recompressors:
                each.close()
        return _Measured(file.size - file.file.start, [each.after.bytes for each in recompressors], seconds)
