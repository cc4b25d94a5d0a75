"""compare: whether two logs hold the same records, in any codecs and batches, and where they first differ.

Digests decide (`recordpress.log.RecordDigest`): one per segment if both logs have the same segments, otherwise one per
partition. Only a partition that differs is read again, both sides in step, to find the first record that differs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, zip_longest
from typing import Any, TypeAlias

from recordpress._arguments import INT64_MAX
from recordpress._json_keys import JsonFields
from recordpress.columns import json_lines
from recordpress.errors import RecordpressError
from recordpress.log._log import Log
from recordpress.log.copy.tasks import manifest_of
from recordpress.log.findings import Finding
from recordpress.log.splits import LogSplit, TaskSplits, digests_of, plan

Key: TypeAlias = "tuple[str | None, int | None]"
Digests: TypeAlias = "dict[Key, list[tuple[int, int, str]]]"
Work: TypeAlias = "tuple[int, tuple[LogSplit, ...], frozenset[Key], bool]"
Done: TypeAlias = "tuple[Key, list[tuple[int, int, str]] | Finding]"

_WHOLE = 1 << 62  # bytes: one task reads the whole partition, whose digest depends on the order of its records
_TASK_BYTES = 128 << 20  # of a split; chosen, not measured: about a second of work
_ROWS_AT_ONCE = 1024  # in memory as text; chosen, not measured
_FIELDS = ("offset", "timestamp", "timestampType", "key", "value", "headers", "producerId", "producerEpoch", "sequence")


@dataclass(frozen=True)
class PartitionComparison:
    """Partition of either log; counts exclude control records, and are None if it is missing or damaged in that log."""

    topic: str | None
    partition: int | None
    is_same: bool
    records_left: int | None
    records_right: int | None
    differs_from: int | None
    by_manifest: bool
    findings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Difference(JsonFields):
    """Offset and field of the first record that differs; the field is "batches" if only leader epochs, transactional
    flags or control records differ, and "partition" if one log lacks the partition."""

    topic: str | None
    partition: int | None
    offset: int | None
    field: str


def compare_logs(
    paths: tuple[Any, Any],
    logs: tuple[Log, Log],
    by_manifest: bool,
    skip: bool,
    send: Callable[[Sequence[Work]], Iterable[list[Done]]],
    task_bytes: Callable[[int], int] = lambda total: _TASK_BYTES,
) -> list[PartitionComparison]:
    """Compare two logs partition by partition; `send` runs `digest_task` for each task."""
    bases = [_bases(log) for log in logs]
    both = bases[0].keys() & bases[1].keys()
    joined = frozenset(key for key in both if bases[0][key] != bases[1][key])
    said = [digests_from_manifest(*side) if by_manifest else {} for side in zip(paths, logs, strict=True)]
    known = (said[0].keys() & said[1].keys()) - joined
    found: list[Digests] = [{key: side[key] for key in known} for side in said]
    unknown = [log.select(lambda one: (one.topic, one.partition) not in known) for log in logs]
    work = [(side, task, joined, skip) for side, log in enumerate(unknown) for task in _tasks(log, joined, task_bytes)]
    damage: list[dict[Key, list[str]]] = [{}, {}]
    for (side, *_), done in zip(work, send(work), strict=True):
        for key, digests in done:
            if isinstance(digests, Finding):
                damage[side].setdefault(key, []).append(str(digests))
            else:
                found[side].setdefault(key, []).extend(digests)
    keys = sorted(bases[0].keys() | bases[1].keys(), key=lambda key: (key[0] or "", key[1] or 0))
    rows = []
    for key in keys:
        findings = [one for side in damage for one in side.get(key, ())]
        left, right = (None if key in bad else side.get(key) for side, bad in zip(found, damage, strict=True))
        rows.append(_row(key, left, right, key in known, findings))
    return rows


def compare_here(
    left: str, right: str, logs: tuple[Log, Log], progress: Callable[[int], object]
) -> tuple[list[PartitionComparison], Difference | None]:
    """Compare two logs in this process; return the result for each partition, and the first difference."""

    def send(work: Sequence[Work]) -> Iterator[list[Done]]:
        for one in work:
            yield digest_task(one)
            progress(sum(split.size for split in one[1]))

    rows = compare_logs((left, right), logs, True, True, send)
    first = next((row for row in rows if not row.is_same), None)
    return rows, None if first is None else _difference(first, logs)


def digest_task(work: Work) -> list[Done]:
    """Compute the digests of a task."""
    _, task, joined, skip = work
    of_partitions = groupby(task, key=lambda split: (split.topic, split.partition))
    return [(key, _digests_or_damage(tuple(splits), key in joined, skip)) for key, splits in of_partitions]


def digests_from_manifest(paths: Any, log: Log) -> Digests:
    """Return the digests in a copy's manifest, for the partitions whose segments match it."""
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


def _tasks(log: Log, joined: frozenset[Key], task_bytes: Callable[[int], int]) -> list[TaskSplits]:
    """Return tasks: segments with separate digests, or a partition whose segments share a digest."""
    total = sum(segment.size or 0 for partition in log.partitions for segment in partition.segments)
    together = log.select(lambda one: (one.topic, one.partition) in joined).partitions
    apart = log.select(lambda one: (one.topic, one.partition) not in joined).partitions
    tasks = plan(apart, task_bytes(total), whole_segments=True)
    return tasks + [task for partition in together for task in plan([partition], _WHOLE)]


def _digests_or_damage(splits: TaskSplits, joined: bool, skip: bool) -> list[tuple[int, int, str]] | Finding:
    try:
        return digests_of(splits, joined)
    except RecordpressError as error:
        if not skip:
            raise
        return Finding.of_damage(error, file=splits[0].url)


def _row(
    key: Key,
    left: list[tuple[int, int, str]] | None,
    right: list[tuple[int, int, str]] | None,
    by_manifest: bool,
    findings: list[str],
) -> PartitionComparison:
    pairs = zip(left or [], right or [], strict=left is not None and right is not None)
    return PartitionComparison(
        *key,
        is_same=left == right and not findings,
        records_left=None if left is None else sum(records for _, records, _ in left),
        records_right=None if right is None else sum(records for _, records, _ in right),
        differs_from=next((one[0] for one, other in pairs if one != other), None),
        by_manifest=by_manifest,
        findings=findings,
    )


def _difference(row: PartitionComparison, logs: tuple[Log, Log]) -> Difference:
    """Read both sides of a partition in step up to the first record that differs."""
    key = (row.topic, row.partition)
    sides = [log.select(lambda one: (one.topic, one.partition) == key) for log in logs]
    if not all(side.partitions for side in sides):
        return Difference(*key, None, "partition")
    with sides[0].read(_FIELDS, on_corrupt="skip") as one, sides[1].read(_FIELDS, on_corrupt="skip") as other:
        for left, right in zip_longest(_lines(one), _lines(other)):
            if left != right:
                return _of_records(key, left, right)
    return Difference(*key, row.differs_from, "batches")


def _of_records(key: Key, left: bytes | None, right: bytes | None) -> Difference:
    records = [json.loads(line) for line in (left, right) if line is not None]
    offset = min(record["offset"] for record in records)
    if len(records) == 1 or records[0]["offset"] != records[1]["offset"]:
        return Difference(*key, offset, "offset")
    return Difference(*key, offset, next(name for name in _FIELDS if records[0][name] != records[1][name]))


def _lines(results: Iterable[Any]) -> Iterator[bytes]:
    for columns in results:
        for start in range(0, columns.num_rows, _ROWS_AT_ONCE):
            yield from json_lines(columns.slice(start, _ROWS_AT_ONCE), "base64").splitlines()
