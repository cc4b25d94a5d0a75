"""``recordpress extract``: uncompressed records of batches in a file."""

from __future__ import annotations

from typing import Any

import click

from recordpress.analysis import extract
from recordpress.cli._command import Sources, codec_plugins, paths, sample_options, verb
from recordpress.cli._findings import plural, report_reading
from recordpress.cli._output import say, shown, size
from recordpress.cli._parameters import Integer, LocalPath
from recordpress.codecs import CodecRegistry
from recordpress.files import LocalFileSystem


@verb(
    "extract",
    ("recordpress extract /var/kafka-logs/orders-0 --offset 5000 -o batch.bin && lzbench -ezstd/zlib batch.bin",
     "Compare codecs on one batch with lzbench."),
    ("recordpress extract /var/kafka-logs/orders-0 --sample 16MiB -o records.bin && zstd -b1 -e9 -B64K records.bin",
     "Compare levels of zstd on a sample, in blocks of the size of a batch."),
)  # fmt: skip
@paths
@click.option("--output", "-o", metavar="FILE", type=LocalPath(), required=True, help="File to write the records to.")
@click.option(
    "--offset", metavar="OFFSET", type=Integer(0),
    help="Extract the first batch that ends at this offset or after it, instead of a sample.",
)  # fmt: skip
@sample_options
@codec_plugins
def command(paths: Sources, output: str, codecs: CodecRegistry | None, **options: Any) -> int:
    """Write the uncompressed records of batches to a file, for other benchmarks.

    PATH is a log (a .log file, a partition, a log dir, a pattern, a URL) or one file of lines, one record value per
    line. The file receives what a codec compresses: the encoded records of one batch, or of the sample that
    'recordpress analyze' takes with the same --sample and --seed, one batch after another and without batch headers."""
    found = extract(paths.given(codecs), codecs=codecs, **options)
    with LocalFileSystem().create(output) as file:
        file.write(found.data)
        file.publish()
    mean = f", {size(len(found.data) / found.batches)} per batch on average" if found.batches > 1 else ""
    what = f"{plural(found.records, 'record')} of {plural(found.batches, 'batch')}"
    say(f"wrote {what} to {shown(output)}: {size(len(found.data))}{mean}")
    return report_reading(found.findings)
