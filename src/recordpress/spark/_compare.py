"""compare: whether two logs hold the same records, by digests that executors compute."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from recordpress._arguments import INT64_MAX, choice
from recordpress.errors import RecordpressError
from recordpress.log import Finding, Log
from recordpress.log.copy.tasks import manifest_of
from recordpress.log.splits import LogSplit, TaskSplits, digests_of, plan
from recordpress.spark._codecs import Codecs
from recordpress.spark._jobs import OnCorrupt, Paths, opened, schema_of, task_bytes
from recordpress.spark._run import run, table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Damage: TypeAlias = "dict[Key, list[str]]"
By: TypeAlias = Literal["manifests", "records"]
Key: TypeAlias = "tuple[str | None, int | None]"
Digests: TypeAlias = "dict[Key, list[tuple[int, int, str]]]"
Work: TypeAlias = "tuple[int, tuple[LogSplit, ...], frozenset[Key], bool]"
Done: TypeAlias = "tuple[Key, list[tuple[int, int, str]] | Finding]"

_RESULT = schema_of(
    "topic string, partition int, isSame boolean, recordsLeft long, recordsRight long, differsFrom long, "
    "byManifest boolean, findings array<string>"
)
_WHOLE = 1 << 62  # bytes: a partition's digest is that of its records one after another


def compare(
    spark: SparkSession,
    left: Paths,
    right: Paths,
    *,
    by: By = "manifests",
    on_corrupt: OnCorrupt = "raise",
    codecs: Codecs = None,
) -> DataFrame:
    """Compare the records of two logs, partition by partition, regardless of codecs and batches.

    Compared are `recordpress.log.RecordDigest`: offset, timestamp and its type, key, value and headers of every record,
    and what the batches say of their producers and transactions. Where both have the same segments, each segment is
    read by itself; otherwise a partition is read by one task. Where both have manifests
    (``recordpress-manifest.jsonl``) and the same segments, nothing is read.

    Parameters
    ----------
    spark : SparkSession
        Its executors see both under these paths.
    left, right : path, URL, pattern, or several
        As `recordpress.open_log` takes them.
    by : {'manifests', 'records'}
        With 'manifests', a manifest in a directory given as `left` or `right` counts for the partitions whose files are
        the listed ones, with the listed sizes. With 'records' every record is read.
    on_corrupt : {'raise', 'skip'}
        If a segment is damaged, the job fails; or its partition is reported, and the others are compared.
    codecs : CodecRegistry, str or several, optional
        Codec plug-ins, as for `recordpress.spark.transcode`.

    Returns
    -------
    DataFrame
        One row per partition of either: topic, partition, isSame (false if either is damaged), recordsLeft,
        recordsRight (null where it is not there, or damaged; without control records), differsFrom (the base offset of
        the first segment that differs), byManifest (whether nothing was read of it), findings (damage, as text).

    Raises
    ------
    InvalidArgumentError
        No partition was found; `by` or `on_corrupt` is something else.
    pyspark.errors.PySparkException
        A task failed: damage, or a file that cannot be read.

    Examples
    --------
    >>> import tempfile, recordpress
    >>> target = tempfile.mkdtemp() + "/copy"
    >>> manifest = recordpress.transcode("demo/logs/sessions-0", target, "zstd")
    >>> recordpress.spark.compare(spark, "demo/logs/sessions-0", target).where("NOT isSame").count()
    0
    """
    choice("by", by, get_args(By))
    choice("on_corrupt", on_corrupt, get_args(OnCorrupt))
    logs = opened(left, codecs, "left"), opened(right, codecs, "right")
    bases = [_bases(log) for log in logs]
    both = bases[0].keys() & bases[1].keys()
    joined = frozenset(key for key in both if bases[0][key] != bases[1][key])
    said: list[Digests] = [
        digests_from_manifest(*side) if by == "manifests" else {} for side in zip((left, right), logs, strict=True)
    ]
    known = (said[0].keys() & said[1].keys()) - joined
    found: tuple[Digests, Digests] = tuple({key: side[key] for key in known} for side in said)  # type: ignore[assignment]
    unknown = [log.select(lambda one: (one.topic, one.partition) not in known) for log in logs]
    work = [
        (side, task, joined, on_corrupt == "skip")
        for side, log in enumerate(unknown)
        for task in _tasks(spark, log, joined)
    ]
    damage: tuple[Damage, Damage] = {}, {}
    for (side, *_), done in zip(work, run(spark, "compare", _digests, work), strict=True):
        for key, digests in done:
            if isinstance(digests, Finding):
                damage[side].setdefault(key, []).append(str(digests))
            else:
                found[side].setdefault(key, []).extend(digests)
    keys = sorted(bases[0].keys() | bases[1].keys(), key=lambda key: (key[0] or "", key[1] or 0))
    rows = []
    for key in keys:
        findings = [one for side in damage for one in side.get(key, ())]
        intact = [None if key in bad else side.get(key) for side, bad in zip(found, damage, strict=True)]
        row = _row(key, intact[0], intact[1], key in known) | {"findings": findings}
        rows.append(row | {"isSame": False} if findings else row)
    return table(spark, rows, _RESULT)


def digests_from_manifest(paths: Paths, log: Log) -> Digests:
    """Return the digests in a manifest of the partitions whose files it lists."""
    manifest = manifest_of(paths)
    found: Digests = {}
    for place in manifest.partitions if manifest is not None and manifest.complete else ():
        listed = [(one.base_offset, one.bytes) for one in place.segments]
        for partition in log.partitions:
            there = [(one.base_offset, one.size) for one in partition.segments]
            is_same = (partition.topic, partition.partition) == (place.topic, place.partition) and listed == there
            if is_same and all(0 <= one.records <= INT64_MAX for one in place.segments):
                found[place.topic, place.partition] = [
                    (one.base_offset, one.records, one.digest) for one in place.segments
                ]
    return found


def _bases(log: Log) -> dict[Key, list[int]]:
    return {
        (partition.topic, partition.partition): [segment.base_offset for segment in partition.segments]
        for partition in log.partitions
    }


def _tasks(spark: SparkSession, log: Log, joined: frozenset[Key]) -> list[TaskSplits]:
    """Return tasks: segments with separate digests, or a partition whose segments share a digest."""
    total = sum(segment.size or 0 for partition in log.partitions for segment in partition.segments)
    together = log.select(lambda one: (one.topic, one.partition) in joined).partitions
    apart = log.select(lambda one: (one.topic, one.partition) not in joined).partitions
    tasks = plan(apart, task_bytes(spark, total), whole_segments=True)
    return tasks + [task for partition in together for task in plan([partition], _WHOLE)]


def _digests(work: Work) -> list[Done]:
    _, task, joined, skip = work
    of_partitions = groupby(task, key=lambda split: (split.topic, split.partition))
    return [(key, _digests_or_damage(tuple(splits), key in joined, skip)) for key, splits in of_partitions]


def _digests_or_damage(splits: TaskSplits, joined: bool, skip: bool) -> list[tuple[int, int, str]] | Finding:
    try:
        return digests_of(splits, joined)
    except RecordpressError as error:
        if not skip:
            raise
        return Finding.of_damage(error, file=splits[0].url)


def _row(
    key: Key, left: list[tuple[int, int, str]] | None, right: list[tuple[int, int, str]] | None, by_manifest: bool
) -> dict[str, Any]:
    pairs = zip(left or [], right or [], strict=left is not None and right is not None)
    return {
        "topic": key[0],
        "partition": key[1],
        "isSame": left == right,
        "recordsLeft": None if left is None else sum(records for _, records, _ in left),
        "recordsRight": None if right is None else sum(records for _, records, _ in right),
        "differsFrom": next((one[0] for one, other in pairs if one != other), None),
        "byManifest": by_manifest,
    }
