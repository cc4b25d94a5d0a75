"""``recordpress explain``: a broker's treatment of batches, and its reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

import recordpress
from recordpress.broker import BatchGroup, DepthAdvice, ExplainedBatch, Explanation, Finding
from recordpress.cli._command import Sources, broker_version, codec_plugins, paths, verb
from recordpress.cli._findings import plural, print_findings
from recordpress.cli._outcome import CLEAN, FINDINGS
from recordpress.cli._output import count, duration, note, print_json, print_table, say, shown, size
from recordpress.cli._parameters import TIMESTAMP, Integer, LocalPath, Setting
from recordpress.cli._progress import Progress
from recordpress.log.copy.defaults import JOINED_BYTES

_MOST_LISTED = 3  # producers of a group: the JSON has all


@verb(
    "explain",
    ("recordpress explain produce.bin --topic-config compression.type=lz4",
     "Explain a captured Produce request to a topic with lz4."),
    ("recordpress explain /var/kafka-logs/orders-0 --topic-config compression.type=zstd",
     "Find the batches that a broker would recompress if the topic's codec were zstd, and the cost."),
    ("recordpress explain batch.bin --broker-version 3.9 --config server.properties --json",
     "Explain a record set with a broker's settings, and print JSON."),
)  # fmt: skip
@paths
@click.option(
    "--topic-config", "-t", metavar="NAME=VALUE", multiple=True, type=Setting(),
    help="Topic setting, named as in Kafka. Repeatable.",
)  # fmt: skip
@click.option("--config", metavar="FILE", type=LocalPath(), help="The broker's server.properties.")
@broker_version
@click.option(
    "--produce-version",
    metavar="N",
    type=Integer(0, 13),
    help="Produce version to assume; default: the one in the request.",
)
@click.option("--transactional-id", metavar="ID", help="Transactional id to assume for a record set.")
@click.option(
    "--now", "now_ms", metavar="TIME", type=TIMESTAMP, help="The broker's clock: ISO 8601, milliseconds or -2h."
)
@click.option("--helpful", is_flag=True, help="Print precise error codes where a broker answers only -1.")
@click.option("--full", is_flag=True, help="Open every batch of a large log instead of samples.")
@codec_plugins
@click.option(
    "--json", "as_json", is_flag=True, help="Print a JSON array with an object per batch; for a log, per group."
)
def command(paths: Sources, topic_config: Sequence[tuple[str, str]], as_json: bool, **options: Any) -> int:
    """Explain how a broker would treat batches.

    PATH is a file with a record set or a captured Produce request, or a log: a .log file, a partition directory, a log
    dir. Batches of a log are explained as if they were sent as they are stored. No broker is contacted.

    Prints whether each batch is rejected, recompressed, rewritten or kept, every reason with its source and a remedy,
    and the cost of the work, measured on this machine. A batch is a finding if it is rejected or recompressed, or if no
    consumer can read its records."""
    with Progress("explaining") as progress:
        found = recordpress.explain(paths.given(), topic_config=dict(topic_config), **options, progress=progress)
    if as_json:
        print_json(found.to_list())  # as in docs/explain.schema.json
    else:
        _print(found)
    for message in found.notes:
        note(shown(message))
    return FINDINGS if found.has_findings else CLEAN


def _print(found: Explanation) -> None:
    print_findings(found.findings)
    _print_summary(found)
    for depth in found.depths:
        _print_depth(depth)
    if not found.groups:
        return
    say()
    _print_groups(found)
    for number, group in enumerate(found.groups, 1):
        _print_details(number, group, found.kind == "log")
    for reason in found.reasons:
        say(f"\n{reason} ({reason.rule}; {reason.source})")
        say(f"  {reason.message}")
        say(f"  To avoid it: {reason.advice[0].lower()}{reason.advice[1:]}")


def _print_summary(found: Explanation) -> None:
    settings = ", ".join(f"{name}={value}" for name, value in found.topic_config.items())
    say(shown(f"{found.kind}; a broker of Kafka {found.broker_version}{f' with {settings}' if settings else ''}"))
    batches, total = sum(group.batches for group in found.groups), sum(group.bytes for group in found.groups)
    for verdict, groups in _by_verdict(found).items():
        number, of_bytes = sum(group.batches for group in groups), sum(group.bytes for group in groups)
        share = f", {100 * of_bytes / total:.1f} % of the bytes" if total and number < batches else ""
        say(f"{verdict}: {plural(number, 'batch')}, {size(of_bytes)}{share}{_work(groups)}")
    for finding in Finding:
        number = sum(group.batches for group in found.groups if finding in group.first.findings)
        if number:
            say(f"{finding}: {plural(number, 'batch')} of these")
    if found.control_batches:
        say(f"skipped: {_of(found.control_batches, 'control batch')} which brokers wrote")
    if found.compacted_batches:
        say(f"skipped: {_of(found.compacted_batches, 'batch')} that the log cleaner has changed")


def _print_depth(depth: DepthAdvice) -> None:
    """Print how deep the batches of a topic are, and the settings that make them deeper."""
    name = "batches" if depth.topic is None else shown(depth.topic)
    deep = f"{size(JOINED_BYTES)} would hold {count(depth.deep_records)}"
    say(f"{name}: {depth.batch_records:,.1f} records per batch; {deep}")
    sender, rate = "a producer" if depth.has_ids else "one producer", depth.records_per_second
    if rate is None:
        deep = f"{count(depth.deep_records)} records"
        say(f"   batch.size={depth.batch_size}, and a linger.ms that lets {sender} send {deep}")
    elif depth.batch_size is None:
        say(f"   {sender} sends {_rate(rate)} to a partition: too few for deeper batches")
    else:
        settings = f"batch.size={depth.batch_size} linger.ms={depth.linger_ms}"
        say(f"   {settings}: {count(round(depth.reached_records or 0))}; {sender} sends {_rate(rate)}")


def _rate(records: float) -> str:
    return f"{records:.3g} records/s" if records < 1000 else f"{records:,.0f} records/s"


def _of(number: int, what: str) -> str:
    return plural(number, what) + ("," if what.startswith("control") else "")


def _by_verdict(found: Explanation) -> dict[str, list[BatchGroup]]:
    by_verdict: dict[str, list[BatchGroup]] = {}
    for group in found.groups:
        by_verdict.setdefault(group.first.verdict, []).append(group)
    return by_verdict


def _work(groups: Sequence[BatchGroup]) -> str:
    decompress, compress = (sum(group.cpu_seconds[which] for group in groups) for which in (0, 1))
    if not compress:
        return ""
    after = sum(group.bytes_after for group in groups)
    return (
        f"; {size(after)} afterwards, about {_time(decompress + compress)} of CPU time here: decompression "
        f"{_time(decompress)}, compression {_time(compress)}"
    )


def _time(seconds: float) -> str:
    return f"{1e6 * seconds:.0f} µs" if seconds < 0.001 else duration(seconds)


def _print_groups(found: Explanation) -> None:
    print_table(
        ("", "verdict", ">batches", ">size", ">afterwards", "magic", "codec", "error", "reasons"),
        (
            (
                number,
                group.first.verdict,
                count(group.batches),
                size(group.bytes),
                size(group.bytes_after) if group.bytes_after else "-",
                group.first.magic,
                group.first.compression_type,
                "-" if group.first.error_code == 0 else _error(group.first),
                " ".join([*group.first.reasons, *group.first.findings]) or "-",
            )
            for number, group in enumerate(found.groups, 1)
        ),
    )


def _error(batch: ExplainedBatch) -> str:
    return batch.error if batch.error_code is None else f"{batch.error_code} {batch.error}"


def _print_details(number: int, group: BatchGroup, is_log: bool) -> None:
    batch = group.first
    say(f"\n{number}: {'the first of them' if group.batches > 1 else 'it'} is {_place(batch)}")
    if batch.error_message:
        say(f"   the broker says: {shown(batch.error_message)}")
    if batch.record_errors:
        index, message = batch.record_errors[0]
        say(f"   {plural(len(batch.record_errors), 'record')} at fault, first record {index}{_because(message)}")
    if batch.diagnosis:
        say(f"   offsets inside: {batch.inner_offsets}; {batch.diagnosis}")
    if batch.verdict == "rewritten":
        say(f"   {plural(batch.cost.bytes_changed, 'byte')} of its header will change")
    if is_log:
        _print_origin(group)


def _because(message: str | None) -> str:
    return f": {shown(message)}" if message else ""


def _place(batch: ExplainedBatch) -> str:
    where = f"{batch.topic}-{batch.partition}" if batch.topic is not None else ""
    return ", ".join(shown(part) for part in (batch.file, where, f"byte {batch.position}") if part)


def _print_origin(group: BatchGroup) -> None:
    """Print the clients, producers and topics of a group."""
    producers = {_producer(one): batches for one, (batches, _) in group.producers.items()}
    topics = {topic: batches for topic, batches in group.topics.items() if topic is not None}
    say(f"   written as: {_most(group.clients)}")
    say(f"   sent by: {_most(producers)}")
    if len(topics) > 1:
        say(f"   topics: {_most(topics)}")


def _most(numbers: Mapping[str, int]) -> str:
    """Return the few names with the most batches, as text."""
    ordered = sorted(numbers.items(), key=lambda item: -item[1])
    named = [f"{shown(name)} ({plural(number, 'batch')})" for name, number in ordered[:_MOST_LISTED]]
    more = f"; and {count(len(ordered) - _MOST_LISTED)} more" if len(ordered) > _MOST_LISTED else ""
    return "; ".join(named) + more


def _producer(producer: int | None) -> str:
    if producer is None:
        return "other producers"
    return "producers without an id" if producer < 0 else f"producer {producer}"
