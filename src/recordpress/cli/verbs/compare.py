"""``recordpress compare``: whether two logs hold the same records."""

from __future__ import annotations

from dataclasses import asdict, replace

import click

from recordpress._json_keys import camel_keys
from recordpress.cli._command import Sources, as_json, codec_plugins, two_paths, verb
from recordpress.cli._findings import plural, print_findings
from recordpress.cli._outcome import CLEAN, FINDINGS
from recordpress.cli._output import count, print_json, print_table, say, say_finding
from recordpress.cli._progress import Progress
from recordpress.codecs import CodecRegistry
from recordpress.log.copy.compare import Difference, PartitionComparison, compare_here


@verb(
    "compare",
    ("recordpress compare /var/kafka-logs /backup/kafka-logs", "Compare a log dir with its copy."),
    ("recordpress compare orders-0 s3://archive/orders-0 --json", "Compare a partition, and print JSON."),
    ("recordpress compare /var/kafka-logs /backup --topic orders", "Compare the partitions of a topic."),
)
@two_paths
@codec_plugins
@as_json
def command(paths: Sources, codecs: CodecRegistry | None, as_json: bool) -> int:
    """Check whether two logs hold the same records.

    Codecs and batch boundaries do not matter. Compares offset, timestamp, key, value and headers of every record, and
    its batch's fields for producer, transaction and leader epoch. Exit status 0: both hold the same records; 1: they
    differ, and the first line says where. Partitions whose digests recordpress-manifest.jsonl lists on both sides are
    not read."""
    if len(paths.paths) != 2:
        raise click.UsageError(f"compare takes two logs, LEFT and RIGHT, not {len(paths.paths)}")
    left, right = paths.paths
    logs = replace(paths, paths=(left,)).opened(codecs), replace(paths, paths=(right,)).opened(codecs)
    total = sum(segment.size or 0 for log in logs for one in log.partitions for segment in one.segments)
    with Progress("comparing", total) as progress:
        found, first = compare_here(left, right, logs, progress.advance)
    if as_json:
        partitions = [camel_keys(asdict(one)) for one in found]
        print_json({"isSame": first is None, "firstDifference": first and first.to_dict(), "partitions": partitions})
    else:
        _print(found, first)
    return CLEAN if first is None else FINDINGS


def _print(found: list[PartitionComparison], first: Difference | None) -> None:
    if first is None:
        say(f"no difference: {plural(len(found), 'partition')}, "
            f"{plural(sum(one.records_left or 0 for one in found), 'record')}")  # fmt: skip
        return
    place = f", offset {first.offset}" if first.offset is not None else ""
    what = "only on one side" if first.field == "partition" else f"{first.field} differs"
    say_finding(f"{_name(first.topic, first.partition)}{place}: {what}")
    print_findings([finding for one in found for finding in one.findings])
    different = [one for one in found if not one.is_same]
    say(f"{plural(len(different), 'partition')} of {count(len(found))} differ\n")
    print_table(
        ("partition", ">records left", ">records right"),
        [(_name(one.topic, one.partition), *map(_shown, (one.records_left, one.records_right))) for one in different],
    )


def _name(topic: str | None, partition: int | None) -> str:
    return "log" if topic is None else f"{topic}-{partition}"


def _shown(records: int | None) -> str:
    return "-" if records is None else count(records)
