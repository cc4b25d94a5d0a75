"""``recordpress convert``: a copy of a log in another message format."""

from __future__ import annotations

from typing import Any

import click

import recordpress
from recordpress._json_keys import camel_keys
from recordpress.cli._command import Sources, copy_options, paths, target, verb
from recordpress.cli._findings import plural, print_copy
from recordpress.cli._outcome import CLEAN
from recordpress.cli._output import count, print_json, print_table, say, shown, size
from recordpress.cli._parameters import Integer
from recordpress.cli._progress import Progress
from recordpress.log import Manifest


@verb(
    "convert",
    ("recordpress convert /backup/orders-0 /new/orders-0 --magic 2", "Convert a partition of v0 or v1 to format v2."),
    ("recordpress convert /backup/orders-0 /old/orders-0 --magic 1 --dry-run", "Count losses in v1."),
    ("recordpress convert /backup/orders-0 /old/orders-0 --magic 1 --codec lz4 --allow-loss headers "
     "--allow-loss leader_epochs", "Convert it, and accept these losses."),
)  # fmt: skip
@paths
@target
@click.option("--magic", type=Integer(0, 2), required=True, help="Message format of the copy.")
@copy_options("Target codec; default: the codec of each batch.", "Count losses; write nothing.", codec_required=False)
@click.option(
    "--allow-loss", metavar="KIND", multiple=True, help="Loss to allow, as --dry-run names it, or all. Repeatable."
)
def command(paths: Sources, target: str, as_json: bool, **options: Any) -> int:
    """Copy a log in another message format, with the same offsets.

    Formats 0 and 1 have no headers, producers, transactions or leader epochs; format 0 has no timestamps. Losses are
    counted first, and refused unless --allow-loss names them. Without transaction markers, every consumer gets the
    records of aborted transactions.

    Each batch is read back and compared with its source, except for allowed losses. The source is only read, and must
    not be in use by a broker. Indexes, producer snapshots and leader epochs are rebuilt from the copy.

    TARGET is the same as for transcode; repeat the command to resume an interrupted run. recordpress-manifest.jsonl in
    TARGET lists the losses; --json prints it."""
    with Progress("converting") as progress:
        result = recordpress.convert(paths.given(), target, **options, progress=progress)
    if not isinstance(result, Manifest):
        print_json(camel_keys(result)) if as_json else _print_lost(result, "nothing would be lost")
        return CLEAN
    return print_copy(result, target, as_json, _print)


def _print(copy: Manifest, target: str) -> None:
    totals = copy.totals
    say(f"{shown(target)}: {plural(totals['records'], 'record')}, {size(totals['source_bytes'])} before, "
          f"{size(totals['bytes'])} after")  # fmt: skip
    _print_lost(copy.lost, "nothing was lost")


def _print_lost(lost: dict[str, int], nothing: str) -> None:
    if not lost:
        say(nothing)
        return
    print_table(("lost", ">count"), [(kind, count(number)) for kind, number in lost.items()])
