"""``recordpress repair``: a copy of the intact part of a damaged log."""

from __future__ import annotations

from recordpress.cli._command import Sources, as_json, index_interval, paths, target, verb
from recordpress.cli._findings import number_of, plural, print_findings, print_lost, suggest, typed
from recordpress.cli._outcome import CLEAN, FINDINGS
from recordpress.cli._output import count, print_json, print_table, say, size
from recordpress.cli._progress import Progress
from recordpress.log import RepairReport, repair


@verb(
    "repair",
    ("recordpress repair /var/kafka-logs/orders-0 /backup/orders-0", "Copy the intact batches of a partition."),
    ("recordpress repair /var/kafka-logs /backup/kafka-logs", "Copy a log dir, with a directory for each partition."),
    ("recordpress repair /var/kafka-logs /backup/kafka-logs --topic orders", "Copy all partitions of a topic."),
)
@paths
@target
@index_interval
@as_json
def command(paths: Sources, target: str, index_interval_bytes: int, as_json: bool) -> int:
    """Copy all intact batches of a damaged log.

    The source is only read. The copy has every batch whose checksum is right, byte for byte, and fresh indexes,
    snapshots and leader epochs; a broker can start from it. TARGET gets a directory for each partition. A single
    partition is written to TARGET itself if TARGET is named like a partition, such as orders-0. Nothing is written to
    existing directories.

    First prints the records that the copy lacks; if there are any, the exit status is 1. 'recordpress scan' prints
    the same without writing anything."""
    with Progress("repairing") as progress:
        report = repair(paths.given(), target, index_interval_bytes=index_interval_bytes, progress=progress)
    if as_json:
        print_json(report.to_dict())
    else:
        _print(report)
        suggest("verify", typed([target]), "--check record")
    return FINDINGS if report.lost else CLEAN


def _print(report: RepairReport) -> None:
    print_lost(report.lost)
    print_findings(report.findings)
    if smaller := [segment for segment in report.segments if segment.size < segment.source_size]:
        say()
        print_table(
            ("/segment", ">batches", ">size", ">was"),
            ((one.file, count(one.batches), size(one.size), size(one.source_size)) for one in smaller),
        )
        say()
    batches = plural(sum(segment.batches for segment in report.segments), "intact batch")
    copied = size(sum(segment.size for segment in report.segments))
    say(f"{number_of(report.findings)}: {batches} copied, {copied} in {plural(len(report.segments), 'segment')}")
