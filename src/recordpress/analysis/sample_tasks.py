"""Estimate of recompression, from samples that other processes take and measure, for `recordpress.spark`.

::

    driver      placed: runs over each topic, by a seed, from names and sizes ──► tasks       TopicEstimate
                                                                                    │               ▲
    elsewhere                                measured: every run decoded, recompressed, read back ──┘

Measurements are as in `recordpress.analyze`, except that batches are compressed in one call, as in
`recordpress.transcode`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from recordpress._arguments import INT64_MAX, integer
from recordpress.analysis._analyze import LEAST_SAMPLE, MOST_SAMPLE
from recordpress.analysis._grid import Setting
from recordpress.analysis._measure import Measure, Size, sum_of
from recordpress.analysis._sample import SampleRun, placed_runs, sample_run
from recordpress.codecs import CodecRegistry
from recordpress.log import Finding, Log
from recordpress.log.copy.savings import Topic, by_topic
from recordpress.log.copy.tasks import grouped
from recordpress.typing import Integer

__all__ = ["SampleRun", "SampleTask", "TopicEstimate", "measured", "placed"]


@dataclass
class TopicEstimate:
    """Estimated result of recompression, from the measured samples."""

    size: int = 0
    stored_bytes: int = 0
    input_bytes: int = 0
    records: int = 0
    decode_seconds: float = 0.0
    sizes: list[Size] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def merge(self, other: TopicEstimate) -> None:
        """Add the measurements of another process for the same topic."""
        self.size += other.size
        self.stored_bytes += other.stored_bytes
        self.input_bytes += other.input_bytes
        self.records += other.records
        self.decode_seconds += other.decode_seconds
        pairs = zip(self.sizes, other.sizes, strict=True) if self.sizes and other.sizes else ()
        self.sizes = [sum_of(*pair) for pair in pairs] or self.sizes or other.sizes
        self.findings += other.findings

    def bytes_after(self, size: Size) -> int:
        """Return the estimated size of all segments if every batch is written with one setting."""
        return round(size.output_bytes / self.stored_bytes * self.size)

    def cpu_seconds(self, size: Size) -> float:
        """Return the estimated CPU time to recompress all segments: to decode, encode and verify them."""
        return (self.decode_seconds + size.seconds) / self.stored_bytes * self.size


class SampleTask(NamedTuple):
    """Parts of a sample that one process measures, each with its topic."""

    settings: tuple[Setting, ...]
    runs: tuple[tuple[Topic, SampleRun], ...]
    codecs: CodecRegistry | None = None


def placed(
    log: Log,
    settings: tuple[Setting, ...],
    sample_bytes: Integer,
    seed: Integer,
    task_bytes: Callable[[int], int],
    codecs: CodecRegistry | None = None,
) -> tuple[dict[Topic, TopicEstimate], list[SampleTask]]:
    """Place the samples; return an estimate with the size of each topic, and tasks that take the samples."""
    limit = integer(sample_bytes, "sample_bytes", LEAST_SAMPLE, MOST_SAMPLE)
    number = integer(seed, "seed", 0, INT64_MAX)
    topics: dict[Topic, list[SampleRun]] = {}
    found: dict[Topic, TopicEstimate] = {}
    for topic, partitions in by_topic(log.partitions).items():
        segments = [segment for partition in partitions for segment in partition.segments]
        topics[topic], size = placed_runs(segments, limit, number)
        found[topic] = TopicEstimate(size)
    runs = [(topic, run) for topic, several in topics.items() for run in several]
    most = task_bytes(sum(run.bytes for _, run in runs))
    return found, [SampleTask(settings, group, codecs) for group in grouped(runs, lambda run: run[1].bytes, most)]


def measured(task: SampleTask) -> list[tuple[Topic, TopicEstimate]]:
    """Take and measure the samples of a task; return an estimate for each topic."""
    found: dict[Topic, TopicEstimate] = {}
    for topic, run in task.runs:
        sample = sample_run(run)
        one = TopicEstimate(0, sample.stored_bytes, len(sample.data), sample.records, sample.decode_seconds)
        one.findings = sample.findings
        if sample.counts:
            one.sizes = Measure(sample, 1, at_once=True, codecs=task.codecs).sizes(None, task.settings, _ignored)
        found.setdefault(topic, TopicEstimate()).merge(one)
    return list(found.items())


def _ignored(size: int) -> None:
    pass
