"""``recordpress verify``: checks of a log and its files."""

from __future__ import annotations

from typing import get_args

import click

from recordpress._file_names import LOG_FILE_SUFFIX
from recordpress.cli._command import Sources, as_json, codec_plugins, paths, verb
from recordpress.cli._findings import number_of, plural, print_findings, print_lost, status_of, suggest
from recordpress.cli._output import print_json, say, size
from recordpress.cli._progress import Progress
from recordpress.codecs import CodecRegistry
from recordpress.log import Log, VerifyReport, verify
from recordpress.log.check.verify import Check


@verb(
    "verify",
    ("recordpress verify /var/kafka-logs/orders-0", "Check all batches of a partition, and the files next to them."),
    ("recordpress verify /backup/kafka-logs --check record", "Also check every record of a log dir."),
    (
        "recordpress verify s3://backup/kafka-logs --check file --json",
        "Check only indexes and checkpoints, and print JSON.",
    ),
)
@paths
@click.option(
    "--check",
    type=click.Choice(get_args(Check)),
    default="batch",
    show_default=True,
    help="file: names, sizes, indexes, checkpoints. batch: also every byte: headers, checksums, order of offsets and "
    "leader epochs. record: also every record, the sequences of producers, and the entries of indexes.",
)
@codec_plugins
@as_json
def command(paths: Sources, check: Check, codecs: CodecRegistry | None, as_json: bool) -> int:
    """Check whether a log is as a broker would have left it.

    Changes nothing. The log may be in use: an entry that is being appended may then be a finding.

    'recordpress scan' also finds damage, and predicts a broker's recovery."""
    if len(paths.paths) > 1:
        _refuse_two_trees(paths.opened(codecs))
    with Progress("verifying") as progress:
        report = verify(paths.given(), check, codecs=codecs, progress=progress)
    if as_json:
        print_json(report.to_dict())
    else:
        print_lost(report.lost)
        print_findings(report.findings)
        say(f"{number_of(report.findings)}: {_totals(report)}")
    _suggest(report, paths)
    return status_of(report.findings)


def _refuse_two_trees(log: Log) -> None:
    """Raise an error if several directories have a segment of one partition with the same base offset."""
    for partition in log.partitions:
        found: dict[int, str] = {}
        for segment in partition.segments:
            other = found.setdefault(segment.base_offset, segment.url)
            if other != segment.url:
                raise click.UsageError(
                    f"{partition} is in {other} and in {segment.url}: verify checks one log; "
                    "recordpress compare LEFT RIGHT compares two"
                )


def _totals(report: VerifyReport) -> str:
    whole = f"{plural(report.segments, 'segment')}, {size(report.size)}"
    batches = f", {plural(report.batches, 'intact batch')}" if report.check != "file" else ""
    records = f", {plural(report.records, 'record')}" if report.check == "record" else ""
    return whole + batches + records


def _suggest(report: VerifyReport, paths: Sources) -> None:
    """Suggest reindex, or scan if the log itself is damaged."""
    placed = [finding for finding in report.findings if finding.position is not None]
    if any(finding.file.endswith(LOG_FILE_SUFFIX) for finding in placed):
        suggest("scan", paths.typed())
    elif report.findings:
        suggest("reindex", paths.typed())
