"""``recordpress reindex``: the files beside a log made again."""

from __future__ import annotations

from collections.abc import Sequence

import click

from recordpress.cli._command import as_json, index_interval, paths, verb
from recordpress.cli._findings import number_of, plural, print_findings, status_of
from recordpress.cli._output import print_json
from recordpress.cli._parameters import Paths
from recordpress.cli._progress import Progress
from recordpress.log import reindex


@verb(
    "reindex",
    ("recordpress reindex /backup/orders-0", "Make the indexes of a partition again."),
    ("recordpress reindex /backup/kafka-logs", "Of all partitions of a log dir."),
    ("recordpress reindex s3://tier/orders-0 --target indexes", "Of a partition elsewhere, into a directory here."),
)
@paths()
@click.option(
    "--target", metavar="DIRECTORY", type=Paths(), help="Write to this directory; by default beside the segments."
)
@index_interval
@as_json
def command(paths: Sequence[str], target: str | None, index_interval_bytes: int, as_json: bool) -> int:
    """Make the indexes of a log again, and the other files beside it.

    Writes .index, .timeindex, .txnindex and .snapshot files and the leader-epoch-checkpoint, from the headers of the
    batches, as a broker does that finds none. Files that are right stay as they are, and so do the segments. Each file
    gets its name when it is whole. A log that is damaged is refused, and one whose broker is running.

    Files that were missing or wrong are findings, so the exit status is 1 if anything was written beside the log."""
    with Progress("indexing") as progress:
        report = reindex(list(paths), target, index_interval_bytes=index_interval_bytes, progress=progress)
    if as_json:
        print_json(report.to_dict())
    else:
        print_findings(report.findings)
        written = f"{plural(len(report.files), 'file')} written" if report.files else "every file is as it should be"
        print(f"{number_of(report.findings)}: {written}")
    return status_of(report.findings)
