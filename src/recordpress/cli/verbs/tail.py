"""``recordpress tail``: the last records."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from heapq import nlargest
from typing import Any

import click

from recordpress.cli._command import Sources, codec_plugins, isolation_level, paths, verb
from recordpress.cli._findings import report_reading
from recordpress.cli._parameters import Integer
from recordpress.cli._records import Shown, shows_records
from recordpress.codecs import CodecRegistry
from recordpress.columns import Columns
from recordpress.log import Finding, Log, LogReader, Partition, end_offset

_GROWTH = 4  # factor by which a range with too few records grows; chosen, not measured
_PAUSE = 0.5  # seconds between two reads of a growing log; chosen, not measured


@verb(
    "tail",
    ("recordpress tail /var/kafka-logs/orders-0", "Print the last ten records of a partition."),
    (
        "recordpress tail -n 1 logs --topic orders --columns partition,offset,timestamp",
        "Print the end of each partition of a topic.",
    ),
    ("recordpress tail --follow /var/kafka-logs/orders-0 -f jsonl", "Continue with new records until Ctrl-C."),
)
@paths
@click.option(
    "--number",
    "-n",
    type=Integer(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="Number of records per partition.",
)
@click.option("--follow", is_flag=True, help="Continue with appended records.")
@isolation_level
@codec_plugins
@shows_records()
def command(
    paths: Sources, number: int, follow: bool, isolation_level: Any, codecs: CodecRegistry | None, **printing: Any
) -> int:
    """Print the last records of each partition.

    Reads only the end: the last headers give the end of the partition, and the offset index locates the first record to
    print."""
    shown = Shown(**printing)
    if follow and shown.format not in ("table", "jsonl", "csv"):
        raise click.UsageError(f"--follow never ends: --format must be table, jsonl or csv, not {shown.format}")
    log = paths.opened(codecs)
    schema = log.read(shown.columns).schema
    findings: list[Finding] = []
    ends: dict[str, int] = {}

    def results() -> Iterator[Columns]:
        for partition in log.partitions:
            ends[partition.url] = end_offset(partition)
            reader, found = _last(log, partition, ends[partition.url], number, shown.columns, isolation_level)
            yield from found
            findings.extend(reader.findings)
        while follow:
            sys.stdout.flush()
            time.sleep(_PAUSE)
            yield from _appended(paths, ends, shown.columns, isolation_level, codecs)

    shown.print(results(), schema)
    return report_reading(findings)


def _last(
    log: Log, partition: Partition, end: int, number: int, columns: Sequence[str], isolation_level: Any
) -> tuple[LogReader, list[Columns]]:
    """Read the last records; widen the range if offsets are missing or belong to control records."""
    only = log.select(lambda one: one == partition)
    first = partition.segments[0].base_offset
    span = number
    start: int | None = end
    while number and start is not None:
        start = end - span if end - span > first else None
        with only.read(["offset"], start_offset=start, isolation_level=isolation_level) as reader:
            offsets = nlargest(number, (offset for one in reader for offset in one["offset"]))
        if len(offsets) == number:
            start = offsets[-1]
            break
        span *= _GROWTH
    with only.read(columns, start_offset=start, isolation_level=isolation_level) as reader:
        return reader, list(reader)


def _appended(
    paths: Sources, ends: dict[str, int], columns: Sequence[str], isolation_level: Any, codecs: CodecRegistry | None
) -> Iterator[Columns]:
    log = paths.opened(codecs)
    for partition in log.partitions:
        end = end_offset(partition)
        start = ends.get(partition.url, 0)
        if end > start:
            only = log.select(lambda one, wanted=partition: one == wanted)  # type: ignore[misc]
            with only.read(columns, start_offset=start, end_offset=end, isolation_level=isolation_level) as reader:
                yield from reader
            ends[partition.url] = max(end, start)
