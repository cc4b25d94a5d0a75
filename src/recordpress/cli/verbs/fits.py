"""``recordpress fits``: records that are too large, and the limits that reject them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

import recordpress
from recordpress.analysis import Fits, Rejection
from recordpress.cli._command import (
    Sources,
    as_json,
    broker_version,
    codec_plugins,
    compression_type,
    level,
    paths,
    producer_size,
    verb,
)
from recordpress.cli._findings import plural, report_reading
from recordpress.cli._outcome import CLEAN, FINDINGS
from recordpress.cli._output import count, print_json, print_table, say, shown, size
from recordpress.cli._parameters import Setting
from recordpress.producer.settings import BATCH_SIZE, BUFFER_MEMORY, MAX_REQUEST_SIZE

_MOST_PRINTED = 10  # rejections: the JSON has more
_ADVICE = {
    "max.request.size": "raise the producer's max.request.size: it counts records as they are before compression",
    "buffer.memory": "raise the producer's buffer.memory above its max.request.size",
    "max.message.bytes": "raise the topic's max.message.bytes, or set a codec that makes the record smaller",
    "segment.bytes": "raise the topic's segment.bytes above its max.message.bytes",
}


@verb(
    "fits",
    ("recordpress fits values.jsonl --codec zstd", "Check each line as a record, with Kafka's default limits."),
    ("recordpress fits /backup/logs/orders-0 --codec lz4 -t max.message.bytes=500000",
     "Check the records of a log against a lower limit."),
    ("recordpress fits big.txt --max-request-size 4MiB -t max.message.bytes=2097152 --json",
     "Raise a limit of the producer, and print JSON."),
)  # fmt: skip
@paths
@compression_type("Producer codec.", "none")
@level("Codec level")
@producer_size("batch.size", BATCH_SIZE)
@producer_size("max.request.size", MAX_REQUEST_SIZE)
@producer_size("buffer.memory", BUFFER_MEMORY)
@click.option(
    "--topic-config", "-t", metavar="NAME=VALUE", multiple=True, type=Setting(),
    help="Topic setting, such as max.message.bytes or segment.bytes. Repeatable.",
)  # fmt: skip
@broker_version
@codec_plugins
@as_json
def command(
    paths: Sources, compression_type: str, topic_config: Sequence[tuple[str, str]], as_json: bool, **options: Any
) -> int:
    """Find records that are too large, and the limits that reject them.

    PATH is a log (a .log file, a partition, a log dir, a pattern, a URL) or one file of lines, one record value per
    line. The records are checked by the rules of Kafka's producer and broker; nothing is sent.

    Prints each limit with the largest record or batch that it applies to, and the records that it rejects. A rejected
    record is a finding. A batch that is too large is not a finding if its parts fit: the producer splits it."""
    source = paths.opened(options["codecs"]) if len(paths.paths) > 1 else paths.given(options["codecs"])
    found = recordpress.fits(source, compression_type=compression_type, topic_config=dict(topic_config), **options)
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found, compression_type)
    return max(report_reading(found.findings), CLEAN if found else FINDINGS)


def _print(found: Fits, codec: str) -> None:
    stored = f"{count(found.records - found.rejected)} of {plural(found.records, 'record')}"
    splits = f"; {plural(found.splits, 'batch')} split on the way" if found.splits else ""
    say(f"stored: {stored}, in {plural(found.batches, 'batch')} of {size(found.bytes)} with {codec}{splits}\n")
    print_table(
        ("limit", ">bytes", "of each", ">largest", ">over", ">rejected records", "checked by"),
        [
            (limit.name, count(limit.value), limit.checked, count(limit.largest), count(limit.over),
             count(limit.rejected), f"{limit.checked_by}, {limit.source}")
            for limit in found.limits
        ],
    )  # fmt: skip
    if found.rejections:
        say()
    for rejection in found.rejections[:_MOST_PRINTED]:
        say(shown(_text(rejection)))
    if (rest := found.rejected - min(len(found.rejections), _MOST_PRINTED)) > 0:
        say(f"and {plural(rest, 'more record')}")
    for limit in found.limits:
        if limit.rejected:
            say(f"to send {'it' if limit.rejected == 1 else 'them'}: {_ADVICE[limit.name]}")
    alone = found.limits[0].over
    if alone:
        say(f"note: {plural(alone, 'record')} may be larger than batch.size; each would get its own batch")


def _text(rejection: Rejection) -> str:
    place = f"record {rejection.record}"
    if rejection.offset is not None:
        where = "" if rejection.topic is None else f"{rejection.topic}-{rejection.partition} "
        place = f"{where}offset {rejection.offset}"
    if rejection.limit is None:
        return f"{place}: {rejection.error}"
    return f"{place}: {rejection.limit} rejects {count(rejection.size)} bytes ({rejection.error})"
