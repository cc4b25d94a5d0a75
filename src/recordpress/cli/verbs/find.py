"""``recordpress find``: records by key, value or header."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from recordpress.cli._command import Sources, codec_plugins, isolation_level, paths, threads, verb
from recordpress.cli._findings import plural, print_skipped, report_reading
from recordpress.cli._output import note
from recordpress.cli._parameters import TIMESTAMP, Bounds, Integer, Range
from recordpress.cli._progress import Progress
from recordpress.cli._records import Shown, head_of, shows_records
from recordpress.codecs import CodecRegistry
from recordpress.columns import Columns, matching_rows, with_constants
from recordpress.log import Log
from recordpress.producer import partition_for_key

_EVERYTHING = Bounds(None, None)


@verb(
    "find",
    ("recordpress find logs --topic orders --key customer-17", "Find all records with a key."),
    (
        "recordpress find logs --topic orders --key customer-17 --partitions 12",
        "Search only the partition that the key hashes to.",
    ),
    (
        "recordpress find orders-0 --value-contains '\"status\": 500' --time -1d",
        "Search values of the last day for a text.",
    ),
    ("recordpress find orders-0 --header trace-id=4bf92f35 -f jsonl", "Find records by a header and its value."),
)
@paths
@click.option("--key", help="Exact key.")
@click.option("--value-contains", metavar="TEXT", help="Text that the value contains.")
@click.option("--header", metavar="NAME[=VALUE]", help="Header name, optionally with a value.")
@click.option(
    "--partitions",
    type=Integer(min=1),
    metavar="N",
    help="Number of partitions of the topic: search only the partition that the default partitioner of Kafka's Java "
    "producer (murmur2) chooses for the key.",
)
@click.option(
    "--time", metavar="FROM[..TO]", type=Range(TIMESTAMP), default=_EVERYTHING, help="Time range, as for dump."
)
@click.option("--head", type=Integer(min=0), metavar="N", help="Number of records to print.")
@isolation_level
@threads("Number of decoding threads.")
@codec_plugins
@shows_records()
def command(
    paths: Sources,
    key: str | None,
    value_contains: str | None,
    header: str | None,
    partitions: int | None,
    time: Bounds,
    head: int | None,
    isolation_level: Any,
    threads: int,
    codecs: CodecRegistry | None,
    **printing: Any,
) -> int:
    """Find records by key, value or header.

    All conditions must match. Keys, values and header values are compared as UTF-8. The counts of found and searched
    records go to stderr."""
    if key is None and value_contains is None and header is None:
        raise click.UsageError("missing condition: pass --key, --value-contains or --header")
    if partitions is not None and key is None:
        raise click.UsageError("--partitions needs --key")
    shown = Shown(**printing)
    log = paths.opened(codecs)
    print_skipped(log.skipped)
    if partitions is not None and key is not None:
        log = _narrowed(log, key, partitions)
    name, equals, value = (header or "").partition("=")
    search: dict[str, Any] = {
        "key": None if key is None else key.encode("utf-8", "surrogateescape"),
        "value_contains": None if value_contains is None else value_contains.encode("utf-8", "surrogateescape"),
        "header": name if header is not None else None,
        "header_value": value.encode("utf-8", "surrogateescape") if equals else None,
    }
    given = {"key": key, "value": value_contains, "headers": header}
    looked_at = [column for column, wanted in given.items() if wanted is not None]
    reader = log.read(
        [*shown.columns, *(column for column in looked_at if column not in shown.columns)],
        start_timestamp=time.start,
        end_timestamp=time.end,
        isolation_level=isolation_level,
        threads=threads,
    )
    schema = tuple(field for field in reader.schema if field.name in shown.columns)
    rows = found = 0
    size = sum(segment.size or 0 for partition in log.partitions for segment in partition.segments)
    with reader, Progress("searching", size) as progress:

        def results() -> Iterator[Columns]:
            nonlocal rows
            for columns in reader:
                rows += columns.num_rows
                for start, number in matching_rows(columns, **search):
                    yield with_constants(columns.slice(start, number), shown.columns, {})
                progress.at(reader.position)

        def counted() -> Iterator[Columns]:
            nonlocal found
            for columns in head_of(results(), head):
                found += columns.num_rows
                yield columns

        shown.print(counted(), schema)
    if partitions is not None and not found:
        note("clients other than Kafka's Java producer may map keys to other partitions: try without --partitions")
    note(f"{plural(found, 'record')} found; {plural(rows, 'record')} searched")
    return report_reading(reader.findings)


def _narrowed(log: Log, key: str, partitions: int) -> Log:
    """Return the log with only the partition of the key."""
    wanted = partition_for_key(key.encode("utf-8", "surrogateescape"), partitions)
    topics = sorted({partition.topic for partition in log.partitions if partition.topic is not None})
    note(f"murmur2 maps this key to partition {wanted} of {partitions}")
    narrowed = log.select(lambda partition: partition.partition == wanted)
    if not narrowed.partitions:
        here = ", ".join(str(partition.partition) for partition in log.partitions)
        raise click.UsageError(f"partition {wanted} of {', '.join(topics) or 'the topic'} was not found; found: {here}")
    return narrowed
