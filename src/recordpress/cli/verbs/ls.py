"""``recordpress ls``: partitions and segments, from names and sizes."""

from __future__ import annotations

from typing import Any

import click

from recordpress.cli._command import Sources, as_json, paths, verb
from recordpress.cli._findings import plural, print_skipped
from recordpress.cli._output import count, print_json, print_table, say, size
from recordpress.log import Log, Partition


@verb(
    "ls",
    ("recordpress ls /var/kafka-logs", "List all partitions of a log dir."),
    ("recordpress ls --segments /var/kafka-logs/orders-0", "List the segments of a partition and their files."),
    ("recordpress ls s3://backup/kafka-logs --topic orders --json", "List a topic in an object store as JSON."),
)
@paths
@click.option("--segments", "-s", is_flag=True, help="Print a line per segment.")
@as_json
def command(paths: Sources, segments: bool, as_json: bool) -> None:
    """List partitions and their segments.

    Reads names and sizes only and opens no segment; 'recordpress stats' shows their contents. Directories and files
    that are not part of the log, for example those awaiting deletion, are listed on stderr."""
    log = paths.opened()
    if as_json:
        print_json(_result(log))
        return
    _print_segments(log) if segments else _print_partitions(log)
    number = sum(len(partition.segments) for partition in log.partitions)
    total = sum(_size(partition) for partition in log.partitions)
    say(f"{plural(len(log.partitions), 'partition')}, {plural(number, 'segment')}, {size(total)}")
    print_skipped(log.skipped)


def _print_partitions(log: Log) -> None:
    print_table(
        ("partition", ">segments", ">size", ">first offset", ">last segment at", "/path"),
        (
            (
                _name(partition),
                count(len(partition.segments)),
                size(_size(partition)),
                partition.segments[0].base_offset,
                partition.segments[-1].base_offset,
                partition.url,
            )
            for partition in log.partitions
        ),
    )


def _print_segments(log: Log) -> None:
    print_table(
        ("partition", ">base offset", ">size", "other files", "/path"),
        (
            (
                _name(partition),
                segment.base_offset,
                size(segment.size),
                " ".join(segment.suffixes),
                segment.url,
            )
            for partition in log.partitions
            for segment in partition.segments
        ),
    )


def _name(partition: Partition) -> str:
    return "-" if partition.topic is None else f"{partition.topic}-{partition.partition}"


def _size(partition: Partition) -> int:
    return sum(segment.size or 0 for segment in partition.segments)


def _result(log: Log) -> dict[str, Any]:
    """Return the result in the form of docs/ls.schema.json."""
    return {
        "partitions": [
            {
                "topic": partition.topic,
                "partition": partition.partition,
                "path": partition.url,
                "size": _size(partition),
                "segments": [
                    {
                        "path": segment.url,
                        "baseOffset": segment.base_offset,
                        "size": segment.size,
                        "files": dict(zip(segment.suffixes, segment.sizes, strict=True)),
                    }
                    for segment in partition.segments
                ],
            }
            for partition in log.partitions
        ],
        "skipped": [finding.to_dict() for finding in log.skipped],
    }
