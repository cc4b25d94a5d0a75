"""``recordpress stats``: codecs, depths, ratios and formats of a log."""

from __future__ import annotations

import click

from recordpress.cli._command import Sources, as_json, codec_plugins, compression_type, level, paths, sample_size, verb
from recordpress.cli._findings import plural, print_skipped, report_reading
from recordpress.cli._output import count, moment, print_json, print_table, say, size
from recordpress.cli._parameters import SIZE
from recordpress.cli._progress import Progress
from recordpress.cli._savings import print_savings
from recordpress.codecs import CodecRegistry, ZstdParameters
from recordpress.codecs.choice import CodecChoice
from recordpress.log import LogStats, Partition, Share, stats_of
from recordpress.log.copy.defaults import DEFAULT_MAX_MESSAGE_BYTES
from recordpress.log.copy.transcode import TranscodeJob

_BAR = 40  # characters of the largest share: half of a terminal


@verb(
    "stats",
    ("recordpress stats /var/kafka-logs/orders-0", "Summarize a partition."),
    (
        "recordpress stats s3://backup/kafka-logs --topic orders",
        "Summarize a topic in an object store, whose large segments are sampled.",
    ),
    ("recordpress stats --json /var/kafka-logs", "Summarize all partitions of a log dir as JSON."),
    ("recordpress stats --savings --codec zstd --level 9 /var/kafka-logs",
     "Estimate how much smaller a copy of each topic would be: with another codec, and with joined batches."),
)  # fmt: skip
@paths
@click.option("--full", is_flag=True, help="Read large segments in object stores completely instead of samples.")
@click.option("--savings", is_flag=True, help="Also estimate the sizes of copies that transcode would write.")
@compression_type("Codec of the copies.", "zstd")
@level("Level of the copies")
@click.option(
    "--batch-bytes",
    type=SIZE,
    default="256KiB",
    show_default=True,
    help="Maximum size of a joined batch of the copies, before compression.",
)
@sample_size("Size of the sample to recompress for the estimate; a log up to this size is measured completely.")
@codec_plugins
@as_json
def command(
    paths: Sources,
    full: bool,
    savings: bool,
    compression_type: str,
    level: int | ZstdParameters | None,
    batch_bytes: int,
    sample_bytes: int,
    codecs: CodecRegistry | None,
    as_json: bool,
) -> int:
    """Summarize stored codecs, records per batch, ratios and formats.

    Reads headers only, and decompresses a few batches of each codec for the ratio. Segments of 64 MiB and more in an
    object store are sampled: the figures come from eight ranges of 1 MiB that the offset index locates.

    --savings recompresses a sample as transcode does: with another codec alone, with joined batches, and with settled
    producers."""
    most = max(batch_bytes, DEFAULT_MAX_MESSAGE_BYTES)
    job = TranscodeJob(CodecChoice(compression_type, level, codecs), batch_bytes, max_message_bytes=most)
    log = paths.opened(codecs)
    size_ = sum(segment.size or 0 for partition in log.partitions for segment in partition.segments)
    found: list[tuple[Partition, LogStats]] = []
    with Progress("reading headers", size_) as progress:
        for partition in log.partitions:
            found.append((partition, stats_of(partition, full=full)))
            progress.advance(found[-1][1].size)
    total = LogStats()
    for _, stats in found:
        total.merge(stats)
    findings, estimate = [*total.findings], None
    if savings:
        estimate = job.estimate(log.partitions, sample_bytes, findings=findings)
    if as_json:
        print_json(
            {
                "partitions": [
                    {"topic": one.topic, "partition": one.partition, "path": one.url, **stats.to_dict()}
                    for one, stats in found
                ],
                "total": total.to_dict(),
                "skipped": [finding.to_dict() for finding in log.skipped],
                **({} if estimate is None else {"savings": estimate.to_dict()}),
            }
        )
    else:
        _print(found, total)
        if estimate is not None:
            say(f"\ncopies with {compression_type}{'' if level is None else f' {level}'}:")
            print_savings(estimate)
        print_skipped(log.skipped)
    return report_reading(findings)


def _print(found: list[tuple[Partition, LogStats]], total: LogStats) -> None:
    print_table(
        ("partition", ">size", ">batches", ">records", ">per batch", "codecs", "magic", "from", "to"),
        (
            (
                partition.url if partition.topic is None else f"{partition.topic}-{partition.partition}",
                size(stats.size),
                _about(stats, stats.seen.batches),
                _about(stats, stats.seen.records),
                _per_batch(stats),
                _shares(stats),
                " ".join(str(magic) for magic in sorted(stats.magics)),
                moment(stats.first_timestamp, "minutes"),
                moment(stats.last_timestamp, "minutes"),
            )
            for partition, stats in found
        ),
    )
    say()
    print_table(
        ("codec", ">batches", ">size", ">share", ">records", ">bytes/record", ">ratio"),
        (
            (
                codec,
                count(share.batches),
                size(share.bytes),
                _percent(share.bytes, total.seen.bytes),
                count(share.records),
                f"{share.bytes / share.records:,.0f}" if share.records else "-",
                "-" if (ratio := total.ratio(codec)) is None else f"{ratio:.2f}",
            )
            for codec, share in _with_control(total)
        ),
    )
    say()
    most = max((share.batches for share in total.depths.values()), default=1)
    print_table(
        (">records per batch", ">batches", ">share", ""),
        (
            (
                str(depth) if depth == 1 else f"{depth}-{2 * depth - 1}",
                count(share.batches),
                _percent(share.batches, total.seen.batches - total.control.batches),
                "#" * max(1, _BAR * share.batches // most),
            )
            for depth, share in sorted(total.depths.items())
        ),
    )
    if total.transactional.batches:
        say(f"\n{plural(total.transactional.batches, 'batch')} of transactions, with their markers")
    if total.sampled:
        say(f"\nsampled: headers of {size(total.seen.bytes)} of {size(total.size)}; --full reads all of them")


def _with_control(total: LogStats) -> list[tuple[str, Share]]:
    rows = sorted(total.codecs.items(), key=lambda item: -item[1].bytes)
    return [*rows, ("(control)", total.control)] if total.control.batches else rows


def _about(stats: LogStats, number: int) -> str:
    """Return a number as text; for a sample, an estimate for the whole."""
    if not stats.sampled or not stats.seen.bytes:
        return count(number)
    return f"~{count(round(number * stats.size / stats.seen.bytes))}"


def _per_batch(stats: LogStats) -> str:
    batches = stats.seen.batches - stats.control.batches
    return f"{stats.seen.records / batches:.1f}" if batches else "-"


def _shares(stats: LogStats) -> str:
    if len(stats.codecs) < 2:
        return next(iter(stats.codecs), "-")
    whole = sum(share.bytes for share in stats.codecs.values())
    by_size = sorted(stats.codecs.items(), key=lambda item: -item[1].bytes)
    return " ".join(f"{codec} {_percent(share.bytes, whole)}" for codec, share in by_size)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"
