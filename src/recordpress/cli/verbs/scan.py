"""``recordpress scan``: all damage in a log."""

from __future__ import annotations

from collections.abc import Sequence

from recordpress.cli._command import Sources, as_json, index_interval, paths, verb
from recordpress.cli._findings import number_of, plural, print_findings, print_lost, status_of, suggest
from recordpress.cli._output import count, print_json, print_table, say, size
from recordpress.cli._progress import Progress
from recordpress.log import ScanReport, SegmentScan, scan


@verb(
    "scan",
    ("recordpress scan /var/kafka-logs/orders-0", "Find all damage in a partition."),
    ("recordpress scan /backup --topic orders --json", "Scan all partitions of a topic, and print JSON."),
    ("recordpress scan s3://backup/kafka-logs", "Scan a log dir in an object store."),
)
@paths
@index_interval
@as_json
def command(paths: Sources, index_interval_bytes: int, as_json: bool) -> int:
    """Find all damage in a log, and predict a broker's recovery.

    Reads every byte, checks every checksum, and continues after damage. For each range of bytes without an intact
    batch, it prints the range, the offsets before and after it, and the part that a broker would keep after a crash.
    Files that are not part of the log, such as those awaiting deletion, are listed too.

    'recordpress verify' checks more: the records in the batches, and the files next to the log."""
    with Progress("scanning") as progress:
        report = scan(paths.given(), index_interval_bytes=index_interval_bytes, progress=progress)
    if as_json:
        print_json(report.to_dict())
    else:
        _print(report)
    if _damaged(report):
        suggest("repair", paths.typed(), "TARGET")
    return status_of(report.findings)


def _print(report: ScanReport) -> None:
    print_lost(report.lost)
    print_findings(report.findings)
    if damaged := _damaged(report):
        say()
        print_table(
            ("/segment", ">size", ">intact", ">batches", ">recovery keeps", ">recovery ends at"),
            (
                (
                    segment.file,
                    size(segment.size),
                    size(segment.intact_bytes),
                    count(segment.batches),
                    size(segment.recovery_bytes),
                    f"offset {segment.recovery_offset}",
                )
                for segment in damaged
            ),
        )
        say()
    say(f"{number_of(report.findings)}: {_totals(report.segments)}")


def _damaged(report: ScanReport) -> list[SegmentScan]:
    """Return the segments that a repair or a recovery would shorten."""
    return [one for one in report.segments if min(one.intact_bytes, one.recovery_bytes) < one.size]


def _totals(segments: Sequence[SegmentScan]) -> str:
    whole = sum(segment.size for segment in segments)
    intact = sum(segment.intact_bytes for segment in segments)
    batches = plural(sum(segment.batches for segment in segments), "intact batch")
    lost = f"; {size(whole - intact)} without an intact batch" if intact < whole else ""
    return f"{batches} in {plural(len(segments), 'segment')}, {size(whole)}{lost}"
