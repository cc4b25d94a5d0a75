"""``recordpress train``: a dictionary and its savings."""

from __future__ import annotations

from typing import Any

import click

import recordpress
from recordpress.analysis import DictionaryDepth, DictionaryTraining
from recordpress.cli._command import Sources, as_json, codec_plugins, paths, sample_options, verb
from recordpress.cli._findings import report_reading
from recordpress.cli._outcome import CLEAN, FINDINGS
from recordpress.cli._output import count, note, print_json, print_table, say, size
from recordpress.cli._parameters import SIZE, Integer, LocalPath, Paths
from recordpress.cli._progress import Progress
from recordpress.codecs.choice import DICTIONARY_IDS, ZSTD_LEVELS
from recordpress.dictionaries import DictionaryStore
from recordpress.files import LocalFileSystem

_LEAST, _MOST, _DEFAULT = ZSTD_LEVELS


@verb(
    "train",
    ("recordpress train /var/kafka-logs/orders-0", "Check whether a dictionary pays, and up to which depth."),
    ("recordpress train /var/kafka-logs/orders-0 --store dictionaries/",
     "Add the dictionary to a directory of dictionaries."),
    ("recordpress train values.jsonl --size 16KiB --level 9 -o values.zdict && zstd -D values.zdict value.json",
     "Train on a file of lines, and write a dictionary that the zstd program reads."),
)  # fmt: skip
@paths
@click.option(
    "--size", metavar="SIZE", type=SIZE,
    help="Maximum size of the dictionary.  [default: a tenth of the values, at most 110KiB]",
)  # fmt: skip
@click.option("--level", type=Integer(_LEAST, _MOST), default=_DEFAULT, show_default=True, help="Level of zstd.")
@click.option(
    "--depth", "depths", metavar="N", multiple=True, type=Integer(1, 1_000_000), default=(1, 10, 100, 1000),
    show_default=True, help="Records per batch. Repeatable; the stored depth is always measured.",
)  # fmt: skip
@sample_options
@click.option(
    "--id", "dictionary_id", metavar="ID", type=Integer(*DICTIONARY_IDS),
    help="Dictionary id.  [default: derived from its content]",
)  # fmt: skip
@click.option("--store", metavar="DIRECTORY", type=Paths(), help="Directory to which to add the dictionary.")
@click.option("--output", "-o", metavar="FILE", type=LocalPath(), help="File to write the dictionary to.")
@codec_plugins
@as_json
def command(paths: Sources, store: str | None, output: str | None, as_json: bool, **options: Any) -> int:
    """Train a zstd dictionary on your records, and report whether it pays.

    PATH is a log (a .log file, a partition, a log dir, a pattern, a URL) or one file of lines, one record value per
    line. The dictionary is trained on three quarters of a sample. The rest is divided into batches of each depth and
    compressed with and without the dictionary: column "values" compresses each value alone, which any broker accepts;
    column "batches" compresses whole batches, which only readers with the dictionary can read. The dictionary pays if
    it saves a twentieth at the stored depth. Otherwise the exit status is 1; --store and --output write it anyway."""
    with Progress("measuring") as progress:
        found = recordpress.train(paths.given(), **options, progress=progress)
    if store is not None:
        note(f"added dictionary {DictionaryStore(store).add(found.dictionary)} to {store}")
    if output is not None:
        with LocalFileSystem().create(output) as file:
            file.write(found.dictionary.data)
            file.publish()
        note(f"wrote dictionary {found.dictionary.id} to {output}")
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    return report_reading(found.findings) or (CLEAN if found.pays else FINDINGS)


def _print(found: DictionaryTraining) -> None:
    evaluation, sample = found.evaluation, found.sample
    say(
        f"sample: {count(sample['records'])} records, {size(sample['bytes'])} uncompressed, "
        f"{100 * sample['coverage']:.1f} % of the data, seed {sample['seed']}"
    )
    say(
        f"dictionary {found.dictionary.id}: {size(len(found.dictionary))}, trained on {count(evaluation.samples)} "
        f"values ({size(evaluation.sample_bytes)}) for level {evaluation.level}\n"
    )
    print_table(
        ("", ">per batch", ">records", ">uncompressed", ">zstd", ">batches", ">values", ">saves"),
        [_row(depth, evaluation.stored) for depth in found.depths],
    )
    values = evaluation.values
    say(
        f"\nvalues alone: {size(values['bytes'])}, with zstd {size(values['plain_bytes'])}, with the dictionary "
        f"{size(values['dictionary_bytes'])}"
    )
    if evaluation.skipped:
        say(f"not measured, as too few records were held out: {', '.join(map(count, evaluation.skipped))} per batch")
    say(found.summary)
    if evaluation.break_even_records is not None:
        say(f"the dictionary has saved its own size after {count(evaluation.break_even_records)} records")


def _row(depth: DictionaryDepth, stored: DictionaryDepth) -> tuple[str, ...]:
    return (
        "stored" if depth is stored else "",
        count(depth.batch_records),
        count(depth.records),
        size(depth.input_bytes),
        size(depth.plain_bytes),
        size(depth.batches_bytes),
        size(depth.values_bytes),
        f"{100 * depth.saves:.1f} %",
    )
