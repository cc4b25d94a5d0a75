"""``recordpress convert``: a copy of a log in another message format."""

from __future__ import annotations

from collections.abc import Sequence

import click

import recordpress
from recordpress.cli._command import as_json, codec_plugins, paths, target, verb
from recordpress.cli._findings import plural, print_findings, status_of
from recordpress.cli._output import count, note, print_json, print_table, shown, size
from recordpress.cli._parameters import Codec, one_or_several
from recordpress.cli._progress import Progress
from recordpress.codecs import CodecRegistry
from recordpress.log import Manifest


@verb(
    "convert",
    ("recordpress convert /backup/orders-0 /new/orders-0 --magic 2", "Convert a partition of v0 or v1 to format v2."),
    ("recordpress convert /backup/orders-0 /old/orders-0 --magic 1 --dry-run", "Count what v1 cannot say."),
    ("recordpress convert /backup/orders-0 /old/orders-0 --magic 1 --codec lz4 --allow-loss headers "
     "--allow-loss leader_epochs", "Convert it, and let that go."),
)  # fmt: skip
@paths()
@target
@click.option("--magic", type=click.IntRange(0, 2), required=True, help="The message format that all batches get.")
@click.option("--codec", type=Codec(), help="To compress with; by default each batch's own.")
@click.option("--level", type=int, help="Of the codec; by default that of Kafka's Java producer.")
@click.option(
    "--allow-loss",
    metavar="KIND",
    multiple=True,
    help="What may be lost, as --dry-run names it, or all. May be given several times.",
)
@click.option("--threads", type=click.IntRange(1, 1024), default=1, show_default=True, help="That work side by side.")
@click.option("--no-resume", is_flag=True, help="Begin from the beginning, although an earlier run got somewhere.")
@click.option("--dry-run", is_flag=True, help="Write nothing: only count what would be lost.")
@codec_plugins
@as_json
def command(
    paths: Sequence[str],
    target: str,
    magic: int,
    codec: str | None,
    level: int | None,
    allow_loss: tuple[str, ...],
    threads: int,
    no_resume: bool,
    dry_run: bool,
    codecs: CodecRegistry | None,
    as_json: bool,
) -> int:
    """Copy a log in another message format, with every offset kept.

    Formats 0 and 1 cannot say all that format 2 does: headers, producers, transactions, leader epochs; format 0 has no
    timestamps. Whatever would be lost is counted first, and refused unless --allow-loss names it. Without the markers
    of transactions every consumer gets the records of aborted ones.

    Each batch is read back and compared with what it was made of, less what may be lost. The source is only read, and
    must not be in use by a broker. Indexes, producer snapshots and leader epochs are made from the copy.

    TARGET is what it is for transcode, and a run that was interrupted is resumed by the same command.
    recordpress-manifest.json in it tells what was lost; with --json it is printed."""
    with Progress("converting") as progress:
        result = recordpress.convert(
            one_or_several(paths),
            target,
            magic,
            compression_type=codec,
            level=level,
            allow_loss=allow_loss,
            threads=threads,
            resume=not no_resume,
            dry_run=dry_run,
            codecs=codecs,
            progress=progress,
        )
    if not isinstance(result, Manifest):
        print_json(result) if as_json else _print_lost(result, "nothing would be lost")
        return status_of(())
    if as_json:
        print_json(result.to_dict())
    else:
        print_findings(result.findings)
        _print(result, target)
    return status_of(result.findings)


def _print(copy: Manifest, target: str) -> None:
    totals = copy.totals
    print(f"{shown(target)}: {plural(totals['records'], 'record')}, {size(totals['source_bytes'])} before, "
          f"{size(totals['bytes'])} after")  # fmt: skip
    _print_lost(copy.lost, "nothing was lost")
    if copy.resumed_segments:
        note(f"{plural(copy.resumed_segments, 'segment')} done by an earlier run")


def _print_lost(lost: dict[str, int], nothing: str) -> None:
    if not lost:
        print(nothing)
        return
    print_table(("lost", ">count"), [(kind, count(number)) for kind, number in lost.items()])
