"""``recordpress compact``: small segments of a log dir merged in place."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from recordpress._json_keys import camel_keys
from recordpress.cli._command import Sources, as_json, codec_plugins, compression_type, level, log_dir, threads, verb
from recordpress.cli._findings import plural
from recordpress.cli._outcome import CLEAN
from recordpress.cli._output import count, percent, print_json, print_table, say, shown, size
from recordpress.cli._parameters import SIZE
from recordpress.log import compact


@verb(
    "compact",
    ("recordpress compact /backup/copy", "Merge small segments up to 1 GiB, and join their batches up to 1 MiB."),
    ("recordpress compact s3://tier/copy --segment-bytes 256MiB --codec zstd --level 9",
     "Merge small segments up to 256 MiB, and recompress the batches of the new segments."),
)  # fmt: skip
@log_dir
@click.option("--segment-bytes", type=SIZE, default="1GiB", show_default=True, help="Maximum size of a new segment.")
@click.option(
    "--batch-bytes",
    type=SIZE,
    default="1MiB",
    show_default=True,
    help="Maximum size, before compression, of a batch joined from adjacent small batches.",
)
@click.option(
    "--max-message-bytes",
    type=SIZE,
    default="1MiB",
    show_default=True,
    help="The max.message.bytes of the topic: no joined batch is larger.",
)
@compression_type("Codec of the new segments; default: the codec of each batch.")
@level("Codec level, with --codec")
@click.option("--include-active-segment", is_flag=True, help="Also merge the last segment of each partition.")
@threads("Number of segments to write at a time.")
@codec_plugins
@as_json
def command(paths: Sources, as_json: bool, **options: Any) -> int:
    """Merge small neighbouring segments of a log dir in place.

    A streaming sink writes segments with every batch of its query; this command merges them, and joins their small
    batches. Every record keeps its offset. Segments of at least half of --segment-bytes stay unchanged, and so does
    the last segment of each partition, to which a writer might append.

    New segments are verified record by record and read back before they replace the old ones. Spark's sink may write
    to the log dir at the same time: both take the same lock, or lease in an object store, before they commit. Repeat
    the command if it was interrupted. No broker may be running on LOG_DIR."""
    if len(paths.paths) != 1:
        raise click.UsageError(f"compact takes one log dir, not {len(paths.paths)}")
    [path] = paths.paths
    done = compact(path, topics=paths.topics or None, partitions=paths.partitions or None, **options)
    if as_json:
        print_json({"partitions": [camel_keys(asdict(one)) for one in done]})
        return CLEAN
    if done:
        print_table(
            ("partition", ">segments", ">segments after", ">records", ">batches", ">batches after", ">before", ">after",
             ">change"),
            [
                (
                    shown(f"{one.topic}-{one.partition}"), count(one.segments_before), count(one.segments_after),
                    count(one.records), count(one.batches_before), count(one.batches_after), size(one.bytes_before),
                    size(one.bytes_after), percent(one.bytes_after - one.bytes_before, one.bytes_before),
                )
                for one in done
            ],
        )  # fmt: skip
        say()
    before, after = (sum(getattr(one, name) for one in done) for name in ("segments_before", "segments_after"))
    say(f"{shown(path)}: {plural(before, 'segment')} merged into {count(after)}")
    return CLEAN
