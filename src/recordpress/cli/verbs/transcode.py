"""``recordpress transcode``: a copy of a log with another codec."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import click

import recordpress
from recordpress._arguments import INT32_MAX
from recordpress.cli._command import Sources, copy_options, paths, target, verb
from recordpress.cli._findings import plural, print_copy
from recordpress.cli._outcome import CLEAN
from recordpress.cli._output import count, duration, percent, print_json, print_table, say, shown, size
from recordpress.cli._parameters import SHARE, SIZE, Integer, Timestamp
from recordpress.cli._progress import Progress
from recordpress.cli._savings import print_savings
from recordpress.codecs.choice import CodecChoice
from recordpress.log import CopiedPartition, Estimate, Manifest
from recordpress.log.copy.defaults import EXPIRATION_MS, JOINED_BYTES
from recordpress.log.copy.transcode import OF_PRODUCERS, TranscodeJob

_SAMPLED_WHOLE = 8 << 20  # bytes of a log that is recompressed as a whole, in half a second
_SAMPLED = 128  # one byte in 128 is recompressed three times, in about a fiftieth of the time
_WORTHWHILE = 0.95  # share of the bytes; a judgement


@verb(
    "transcode",
    ("recordpress transcode /backup/orders-0 /cold/orders-0 --codec zstd --level 9", "Recompress a partition."),
    ("recordpress transcode /backup/kafka-logs /cold/kafka-logs --codec zstd --batch-bytes 1MiB",
     "Recompress a log dir, and join small batches, which compress badly."),
    ("recordpress transcode /backup/orders-0 /cold/orders-0 --codec zstd --batch-records 1000 --now 2026-09-01",
     "Join batches up to 1,000 records, also the last batches of producers that were idle on the day before."),
    ("recordpress transcode /backup/kafka-logs /cold/kafka-logs --codec zstd --dry-run", "Estimate the saving."),
)  # fmt: skip
@paths
@target
@copy_options("Target codec.", "Estimate bytes and CPU time; write nothing.", codec_required=True)
@click.option(
    "--batch-bytes",
    type=SIZE,
    help="Maximum size of a joined batch before compression. Joins adjacent batches of one producer with consecutive "
    "sequences and offsets, and batches without a producer.",
)
@click.option(
    "--batch-records",
    type=Integer(1, INT32_MAX),
    help="Maximum number of records of a joined batch; with --batch-bytes, the limit that is reached first.",
)
@click.option(
    "--max-message-bytes",
    type=SIZE,
    default="1MiB",
    show_default=True,
    help="The max.message.bytes of the topic: no joined batch is larger.",
)
@click.option(
    "--producer-id-expiration-ms",
    type=Integer(1),
    default=EXPIRATION_MS,
    show_default=True,
    help="The producer.id.expiration.ms of the broker. The last five batches of a producer are not joined unless it "
    "was idle for this long, because a broker compares retries with them.",
)
@click.option(
    "--now",
    "now_ms",
    metavar="TIME",
    type=Timestamp(),
    help="Time at which the idle time of producers ends; default: time of the last append to their partition.",
)
@click.option(
    "--producers",
    type=click.Choice(OF_PRODUCERS),
    default="keep",
    show_default=True,
    help="settle: remove the producer from batches that no retry can repeat, and join them across producers; omit "
    "aborted records and unneeded markers.",
)
@click.option(
    "--min-gain",
    type=SHARE,
    default="0%",
    show_default=True,
    help="Minimum saving for which a batch is recompressed, as a share of its bytes.",
)
@click.option("--even-if-larger", is_flag=True, help="Also recompress batches that do not become smaller.")
def command(paths: Sources, target: str, even_if_larger: bool, as_json: bool, **options: Any) -> int:
    """Copy a log with another codec and the same offsets.

    Offsets, timestamps, headers, producer ids, sequence numbers, transactions and leader epochs stay unchanged. Each
    batch is decompressed again and compared with its source, and each file is read back. The source is only read, and
    must not be in use by a broker.

    Batches of a few records compress badly with every codec and level: --batch-bytes or --batch-records joins them,
    which saves most. The default is to keep the batches.

    TARGET gets a directory for each partition. A single partition is copied to TARGET itself if TARGET is named like a
    partition, such as orders-0. TARGET gets its name when it is complete; repeat the command to resume an interrupted
    run. recordpress-manifest.jsonl in TARGET has counts, checksums and a digest of the records of each segment; --json
    prints it. Brokers ignore it.

    Everything that is not copied is a finding: bytes after the last complete batch of a partition, and files that are
    not part of a log."""
    if even_if_larger:
        options["min_gain"] = None
    with Progress("transcoding") as progress:
        result = recordpress.transcode(paths.given(), target, **options, progress=progress)
    if isinstance(result, Estimate):
        print_json(result.to_dict()) if as_json else _print_estimate(result)
        return CLEAN
    deeper = "" if as_json else _deeper(result, paths, options)
    return print_copy(result, target, as_json, partial(_print, deeper=deeper))


def _deeper(copy: Manifest, paths: Sources, options: dict[str, Any]) -> str:
    """Return what joined batches would have saved, by a small sample; an empty text if batches were joined, or would
    save little."""
    totals = copy.totals
    is_joined = options["batch_bytes"] or options["batch_records"] or options["max_message_bytes"] < JOINED_BYTES
    if is_joined or copy.resumed_segments == totals["segments"]:
        return ""
    codec = CodecChoice(options["compression_type"], options["level"], options["codecs"])
    job = TranscodeJob(codec, min_gain=options["min_gain"])
    # as one topic, so that the sample stays small
    partitions = [replace(one, topic="") for one in paths.opened(options["codecs"]).partitions]
    is_small = totals["source_bytes"] <= _SAMPLED_WHOLE
    sample = totals["source_bytes"] // (1 if is_small else _SAMPLED)
    found = job.estimate(partitions, sample, is_quick=not is_small, findings=[]).topics
    if not found or not found[0].codec_alone.bytes_after or found[0].settle is None:
        return ""
    keep, settle = (one.bytes_after / found[0].codec_alone.bytes_after for one in (found[0].keep, found[0].settle))
    ways = [("", keep)] if keep < _WORTHWHILE else []
    if settle < _WORTHWHILE * keep:
        ways.append((" --producers settle", settle))
    texts = [f"{way}: about {_size_by(ratio, totals)}" for way, ratio in ways]
    return f"with --batch-bytes {JOINED_BYTES >> 10}KiB{';'.join(texts)}" if texts else ""


def _size_by(ratio: float, totals: dict[str, int]) -> str:
    before, after = totals["source_bytes"], round(ratio * totals["bytes"])
    return f"{size(after)}, {percent(after - before, before)}"


def _print(copy: Manifest, target: str, deeper: str) -> None:
    totals = copy.totals
    print_table(
        ("partition", ">segments", ">records", ">batches", ">before", ">after", ">change"),
        [_row(partition) for partition in copy.partitions],
    )
    say()
    before, after = totals["source_bytes"], totals["bytes"]
    say(f"{shown(target)}: {plural(totals['records'], 'record')}, {size(before)} before, {size(after)} after, "
          f"{percent(after - before, before)}")  # fmt: skip
    if deeper:
        say(deeper)
    codec = copy.options["compression_type"]
    if totals["already"]:
        say(f"unchanged: {plural(totals['already'], 'batch')}, which already had codec {codec}")
    if totals["not_smaller"]:
        say(f"unchanged: {plural(totals['not_smaller'], 'batch')}, which {codec} would not make smaller")


def _row(partition: CopiedPartition) -> tuple[str, ...]:
    segments = partition.segments
    before, after = sum(one.source.bytes for one in segments), sum(one.bytes for one in segments)
    name = "-" if partition.topic is None else f"{partition.topic}-{partition.partition}"
    records, batches = (sum(getattr(one, what) for one in segments) for what in ("records", "batches"))
    counts = (count(len(segments)), count(records), count(batches))
    return (name, *counts, size(before), size(after), percent(after - before, before))


def _print_estimate(estimate: Estimate) -> None:
    before, after = estimate.bytes_before, estimate.bytes_after
    say(f"{size(before)} before, about {size(after)} after, {percent(after - before, before)}\n")
    print_savings(estimate)
    say(f"about {duration(estimate.cpu_seconds)} of CPU time; nothing was written")
