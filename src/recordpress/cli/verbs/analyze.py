"""``recordpress analyze``: a measured choice of codec, level and batch depth."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import click

import recordpress
from recordpress.analysis import DEFAULT_CANDIDATES, Analysis, Cell, html_of
from recordpress.cli._command import Sources, codec_plugins, paths, sample_options, threads, verb
from recordpress.cli._findings import report_reading
from recordpress.cli._output import count, print_json, print_table, say, size, write
from recordpress.cli._parameters import Integer, LocalPath
from recordpress.cli._progress import Progress
from recordpress.cli._savings import print_savings
from recordpress.codecs import CodecRegistry
from recordpress.files import LocalFileSystem

_TIMING = ("fastest", "median")


@verb(
    "analyze",
    ("recordpress analyze /var/kafka-logs/orders-0", "Measure all codecs on a partition, and recommend settings."),
    ("recordpress analyze access.txt -e zstd,1,3,6/lz4 --rate 20MB/s --price-gb 0.023 --report report.html",
     "Measure some codecs and levels on a file of lines, with CPU time, savings and a page of plots."),
    ("recordpress analyze s3://backup/kafka-logs --topic orders --sample 256MiB --json",
     "Measure a topic in an object store, and print JSON."),
)  # fmt: skip
@paths
@click.option(
    "--candidates", "-e", metavar="CODECS", default=DEFAULT_CANDIDATES, show_default=True,
    help="Codecs separated by /, each with levels or ranges of levels after commas; for zstd, parameters may follow: "
    "zstd,1-3,19/lz4/zstd,19,windowLog=20,strategy=btopt.",
)  # fmt: skip
@click.option(
    "--depth", "depths", metavar="N", multiple=True, type=Integer(1, 10_000), default=(1, 10), show_default=True,
    help="Records per batch, as a multiple of the stored depth. Repeatable.",
)  # fmt: skip
@sample_options
@threads("Number of threads that measure sizes.")
@click.option(
    "--timing", "-p", type=click.Choice(_TIMING), default=_TIMING[0], show_default=True,
    help="Statistic of repeated calls that is reported as the speed.",
)  # fmt: skip
@click.option(
    "--rate", metavar="RATE", help="Uncompressed produce rate: 50000records/s, 20MB/s; a number alone is MB/s."
)
@click.option("--price-gb", metavar="PRICE", type=float, help="Price of a GB (10^9 bytes) of storage.")
@click.option(
    "--replication", metavar="N", type=Integer(min=1), default=1, show_default=True,
    help="Replication factor: copies of each byte.",
)  # fmt: skip
@click.option(
    "--price-network-gb", metavar="PRICE", type=float, help="Price of a GB that is sent to a follower in another zone."
)
@click.option(
    "--consumers", metavar="N", type=Integer(min=0), default=1, show_default=True,
    help="Number of consumer groups that read everything.",
)  # fmt: skip
@click.option("--price-consumer-gb", metavar="PRICE", type=float, help="Price of a GB that a consumer reads.")
@click.option(
    "--max-seconds", metavar="SECONDS", type=float,
    help="Maximum time to repeat calls while the recommendation is uncertain (default: 10).",
)  # fmt: skip
@click.option("--report", metavar="FILE", type=LocalPath(), help="HTML file with plots to write; it opens offline.")
@codec_plugins
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the cells as CSV instead of text.")
def command(
    paths: Sources,
    candidates: str,
    codecs: CodecRegistry | None,
    report: str | None,
    as_json: bool,
    as_csv: bool,
    **options: Any,
) -> int:
    """Measure codecs, levels and batch depths on your records.

    PATH is a log (a .log file, a partition, a log dir, a pattern, a URL) or one file of lines, one record value per
    line. Every codec writes a sample of the records, which is read back and compared. The last lines recommend settings
    and state their savings. Sizes count whole record sets; speeds are for one thread, in MB/s of uncompressed records,
    and ± is their spread: the interquartile range of the repeated calls as a share of the median. A star marks each
    cell that no other cell of the same depth beats in both size and compression speed."""
    if as_json and as_csv:
        raise click.UsageError("--json and --csv cannot be combined")
    with Progress("compressing") as progress:
        found = recordpress.analyze(paths.given(), candidates, codecs=codecs, **options, progress=progress)
    if report is not None:
        with LocalFileSystem().create(report) as file:
            file.write(html_of(found).encode())
            file.publish()
    if as_json:
        print_json(found.to_dict())
    elif as_csv:
        _print_csv(found)
    else:
        _print(found)
    return report_reading(found.findings)


def _print_csv(found: Analysis) -> None:
    text = io.StringIO()
    writer: Any = None
    for number, cell in enumerate(found.cells):
        row = cell.to_dict() | {
            "depth": cell.depth,
            "bytesPerRecord": cell.bytes_per_record,
            "compressSpread": found.sample["speed"]["compress_spread"][number],
            "decompressSpread": found.sample["speed"]["decompress_spread"][number],
            "pareto": int(cell.is_best),
        }
        if found.rate_bytes is not None:
            row["compressCpuSecondsADay"], row["decompressCpuSecondsADay"] = cell.cpu_seconds_a_day(found.rate_bytes)
        if writer is None:
            writer = csv.DictWriter(text, list(row), lineterminator="\n")
            writer.writeheader()
        writer.writerow(row)
    write(text.getvalue().encode())


def _print(found: Analysis) -> None:
    _print_sample(found)
    say()
    print_table(
        ("", "codec", ">level", ">depth", ">per batch", ">batch", ">ratio", ">bytes/record", ">write MB/s", ">±",
         ">read MB/s", ">±", *((">CPU s/day",) if found.rate_bytes else ())),
        [_row(found, cell) for cell in found.cells],
    )  # fmt: skip
    speed = found.sample["speed"]
    say(f"\nmemcpy {speed['memcpy_mb_s']:,.0f} MB/s; the {speed['timing']} of {_several(speed['rounds'])} calls each")
    say(", ".join(f"{name} {version}" for name, version in found.versions.items()))
    _print_advice(found)


def _several(rounds: Sequence[int]) -> str:
    return f"{min(rounds)} to {max(rounds)}" if min(rounds) < max(rounds) else str(rounds[0])


def _print_sample(found: Analysis) -> None:
    now, sample = found.baseline, found.sample
    whole = sum(share["bytes"] for share in now["codecs"].values())
    codecs = ", ".join(
        f"{codec} {100 * share['bytes'] / whole:.0f} %"
        for codec, share in sorted(now["codecs"].items(), key=lambda item: -item[1]["bytes"])
    )
    say(
        f"today: {size(now['bytes'])} {f'({codecs})' if codecs else 'of lines'}, "
        f"{now['mean_batch_records']:.1f} records per batch, ratio {now['ratio']:.2f}, "
        f"{now['bytes_per_record']:.1f} bytes per record"
    )
    say(
        f"sample: {count(sample['records'])} records, {size(sample['bytes'])} uncompressed, "
        f"{100 * sample['coverage']:.1f} % of the data, seed {sample['seed']}"
    )


def _row(found: Analysis, cell: Cell) -> tuple[str, ...]:
    row = (
        "*" if cell.is_best else "",
        cell.compression_type,
        "-" if cell.level is None else str(cell.level),
        f"{cell.depth:g}x",
        "varies" if cell.batch_records is None else count(cell.batch_records),
        size(cell.batch_bytes),
        f"{cell.ratio:.2f}",
        f"{cell.bytes_per_record:.1f}",
        f"{cell.speed.compress_mb_s:,.0f}",
        f"{100 * cell.speed.compress_spread:.0f}%",
        f"{cell.speed.decompress_mb_s:,.0f}",
        f"{100 * cell.speed.decompress_spread:.0f}%",
    )
    if found.rate_bytes is None:
        return row
    return (*row, f"{sum(cell.cpu_seconds_a_day(found.rate_bytes)):,.0f}")


def _print_advice(found: Analysis) -> None:
    advice = found.recommendation
    saves = advice["saves"]
    say("\nrecommended:")
    for line in advice["lines"]:
        say(f"    {line}")
    price = f", {saves['price']:,.2f} of storage" if "price" in saves else ""
    what = "saves" if saves["bytes"] >= 0 else "takes more:"
    say(f"{what} {100 * abs(saves['share']):.1f} % of today's bytes: {size(abs(saves['bytes']))}{price}")
    if "bytes_a_day" in saves:
        price = f", {saves['price_a_day']:,.2f} of storage" if "price_a_day" in saves else ""
        say(
            f"{what} {size(abs(saves['bytes_a_day']))} a day{price}; CPU time to compress "
            f"{saves['compress_cpu_seconds_a_day']:,.0f} s, to decompress once "
            f"{saves['decompress_cpu_seconds_a_day']:,.0f} s"
        )
        for name, what in (("network", "between zones"), ("consumer", "to consumers")):
            price = saves.get(f"{name}_price_a_day")
            if price is not None:
                say(f"a day {what}: {size(saves[f'{name}_bytes_a_day'])}, {price:,.2f} of traffic")
    if found.savings is not None:
        say("\na copy of the stored data with the recommended codec and level:")
        print_savings(found.savings)
        say()
    dictionary = advice["dictionary"]
    none = "the values are too few or too different to train a dictionary"
    say(dictionary["summary"] if dictionary else none)
    for warning in advice["warnings"]:
        say(f"note: {warning}")
