"""Implementation of `recordpress.train`, from a path to a dictionary and its evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from recordpress._arguments import INT64_MAX, integer
from recordpress._json_keys import camel_keys
from recordpress._libraries import library_versions
from recordpress._version import VERSION
from recordpress.analysis._analyze import (
    LEAST_SAMPLE,
    MOST_SAMPLE,
    Meter,
    Paths,
    checked_progress,
    facts_of,
    sample_of,
    skipped_in,
)
from recordpress.analysis._dictionary import DictionaryDepth, Evaluation, evaluate, held_out_bytes
from recordpress.codecs import CodecRegistry, Dictionary
from recordpress.codecs.choice import DICTIONARY_IDS, DICTIONARY_SIZES, ZSTD_LEVELS
from recordpress.codecs.table import codecs_given
from recordpress.errors import ArgumentTypeError
from recordpress.log import Finding, Progress
from recordpress.typing import Integer

_MOST_DEPTH = 1_000_000  # records of a batch: far more than producers send


@dataclass(frozen=True)
class DictionaryTraining:
    """Result of `recordpress.train`.

    Attributes
    ----------
    evaluation : Evaluation
        This object repeats its main results: ``dictionary``, ``pays``, ``saves``, ``depths``, ``summary``.
    sample : dict
        What was measured, and its share of the data.
    versions : dict of str to str
    findings : tuple of Finding
        Damage; the damaged batches were omitted.

    Examples
    --------
    >>> from recordpress._version import VERSION
    >>> import recordpress
    >>> found = recordpress.train("demo/logs/access-log-0", 4096, depths=(8,), sample_bytes=200_000)
    >>> found.dictionary.id > 0, found.pays, len(found.depths)
    (True, True, 1)
    """

    evaluation: Evaluation
    sample: dict[str, Any]
    versions: dict[str, str]
    findings: tuple[Finding, ...]

    @property
    def dictionary(self) -> Dictionary:
        """Trained dictionary."""
        return self.evaluation.dictionary

    @property
    def pays(self) -> bool:
        """Whether the saving at the stored depth is at least a twentieth."""
        return self.evaluation.pays

    @property
    def saves(self) -> float:
        """Saving at the stored depth as a share of the bytes; negative if the dictionary costs space."""
        return self.evaluation.stored.saves

    @property
    def depths(self) -> tuple[DictionaryDepth, ...]:
        """Effect of the dictionary on batches of each depth."""
        return self.evaluation.depths

    @property
    def summary(self) -> str:
        """Result in one sentence."""
        return self.evaluation.summary

    def to_dict(self) -> dict[str, Any]:
        """Return the result for JSON."""
        return {**self.evaluation.to_dict(), "sample": camel_keys(self.sample), "versions": dict(self.versions)}


def train_on_log(
    path: Paths,
    size: Integer | None,
    level: Integer,
    depths: Sequence[Integer],
    sample_bytes: Integer,
    seed: Integer,
    dictionary_id: Integer | None,
    codecs: CodecRegistry | None,
    progress: Callable[[Progress], object] | None,
) -> DictionaryTraining:
    """Train and measure, as `recordpress.train` describes."""
    if not isinstance(depths, list | tuple | range):
        raise ArgumentTypeError(f"depths must be a list of ints, not {type(depths).__name__}", field="depths")
    wanted = [integer(depth, "depths", 1, _MOST_DEPTH) for depth in depths]
    most = None if size is None else integer(size, "size", *DICTIONARY_SIZES)
    level = integer(level, "level", *ZSTD_LEVELS[:2])
    limit = integer(sample_bytes, "sample_bytes", LEAST_SAMPLE, MOST_SAMPLE)
    number = integer(seed, "seed", 0, INT64_MAX)
    id = None if dictionary_id is None else integer(dictionary_id, "dictionary_id", *DICTIONARY_IDS)
    codecs_given(codecs)
    checked_progress(progress)

    sample, log = sample_of(path, limit, number, codecs)
    meter = Meter(progress, held_out_bytes(sample) * (len(wanted) + 1))
    evaluation = evaluate(sample, size=most, level=level, depths=wanted, dictionary_id=id, done=meter.advance)
    return DictionaryTraining(
        evaluation=evaluation,
        sample={**facts_of(sample, number), "skipped": skipped_in(log)},
        versions={"recordpress": VERSION, **library_versions()},
        findings=tuple(sample.findings),
    )
