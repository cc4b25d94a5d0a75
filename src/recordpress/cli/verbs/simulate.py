"""``recordpress simulate``: policies for closing a producer's batches."""

from __future__ import annotations

from typing import Any

import click

from recordpress.analysis import Simulation, simulate
from recordpress.cli._command import (
    Sources,
    as_json,
    codec_plugins,
    compression_type,
    level,
    paths,
    producer_size,
    sample_options,
    verb,
)
from recordpress.cli._findings import report_reading
from recordpress.cli._output import count, print_json, print_table, say, size
from recordpress.cli._parameters import SIZE
from recordpress.codecs import CodecRegistry
from recordpress.producer.settings import BATCH_SIZE


@verb(
    "simulate",
    ("recordpress simulate /var/kafka-logs/orders-0 --batch-size 64KiB", "Compare the policies with zstd."),
    ("recordpress simulate s3://backup/kafka-logs --codec lz4 --batch-size 1MiB --max-message-bytes 1000012",
     "Send several topics with one producer, under a broker's limit."),
)  # fmt: skip
@paths
@producer_size("batch.size", BATCH_SIZE)
@compression_type("Producer codec.", "zstd")
@level("Codec level")
@click.option("--max-message-bytes", type=SIZE, help="The topics' max.message.bytes.  [default: --batch-size]")
@sample_options
@codec_plugins
@as_json
def command(paths: Sources, as_json: bool, codecs: CodecRegistry | None, **options: Any) -> int:
    """Compare policies for closing a producer's batches, on your records.

    PATH is a log (a .log file, a partition, a log dir, a pattern, a URL) or one file of lines, one record value per
    line. One busy producer sends the records of a sample in the order of their timestamps. It closes batches by Kafka's
    estimate up to 0.10.2 (damped), by the estimate since 0.11 (kip-126), by uncompressed bytes (uncompressed), and by
    their exact compressed size (packed). A broker refuses batches over --max-message-bytes, and the producer splits
    them; up to 0.10.2, their records failed."""
    found = simulate(paths.given(codecs), codecs=codecs, **options)
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    return report_reading(found.findings)


def _print(found: Simulation) -> None:
    say(
        f"{count(found.records)} records, {size(found.record_bytes)} uncompressed; batch.size "
        f"{count(found.batch_size)}, max.message.bytes {count(found.max_message_bytes)}\n"
    )
    print_table(
        ("policy", ">batches", ">splits", ">of sent", ">bytes", ">fill", ">CPU ms"),
        [
            (
                policy.name, count(policy.batches), count(policy.splits), f"{100 * policy.split_share:.1f} %",
                size(policy.bytes), f"{100 * policy.fill:.0f} %", f"{1000 * policy.cpu_seconds:,.1f}",
            )
            for policy in found.policies
        ],
    )  # fmt: skip
