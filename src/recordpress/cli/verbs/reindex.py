"""``recordpress reindex``: rebuilt indexes and other files."""

from __future__ import annotations

import click

from recordpress.cli._command import Sources, as_json, index_interval, paths, verb
from recordpress.cli._findings import number_of, plural, print_findings, status_of
from recordpress.cli._output import print_json, say
from recordpress.cli._parameters import Paths
from recordpress.cli._progress import Progress
from recordpress.log import reindex


@verb(
    "reindex",
    ("recordpress reindex /backup/orders-0", "Rebuild the indexes of a partition."),
    ("recordpress reindex /backup/kafka-logs", "Rebuild the files of all partitions of a log dir."),
    (
        "recordpress reindex s3://tier/orders-0 --target indexes",
        "Write the indexes of a remote partition to a local directory.",
    ),
)
@paths
@click.option("--target", metavar="DIRECTORY", type=Paths(), help="Output directory; default: next to the segments.")
@index_interval
@as_json
def command(paths: Sources, target: str | None, index_interval_bytes: int, as_json: bool) -> int:
    """Rebuild the indexes and the other files next to a log.

    Writes .index, .timeindex, .txnindex and .snapshot files and the leader-epoch-checkpoint, from the headers of the
    batches, as a broker without these files does. Correct files and segments stay unchanged. Each file gets its name
    when it is complete. A damaged log is refused, and so is a log whose broker is running.

    Missing and wrong files are findings, so the exit status is 1 if any file was written next to the log."""
    with Progress("indexing") as progress:
        report = reindex(paths.given(), target, index_interval_bytes=index_interval_bytes, progress=progress)
    if as_json:
        print_json(report.to_dict())
    else:
        print_findings(report.findings)
        written = f"{plural(len(report.files), 'file')} written" if report.files else "every file is correct"
        say(f"{number_of(report.findings)}: {written}")
    return status_of(report.findings)
