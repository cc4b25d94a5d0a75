"""``recordpress dump``: records or batches of a log."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, get_args

import click

from recordpress.cli._command import Sources, codec_plugins, isolation_level, optional_paths, threads, verb
from recordpress.cli._findings import print_skipped, report_reading, status_of
from recordpress.cli._outcome import CLEAN
from recordpress.cli._output import StreamTable, count, moment, note, print_json, size, write
from recordpress.cli._parameters import OFFSET, SIZE, TIMESTAMP, Bounds, Integer, Range
from recordpress.cli._progress import Progress
from recordpress.cli._records import FORMATS, Shown, head_of, shows_records
from recordpress.log import Finding
from recordpress.log.splits import OnCorrupt

if TYPE_CHECKING:
    from recordpress.codecs import CodecRegistry
    from recordpress.columns import Columns
    from recordpress.log import Log, LogBatch

_EVERYTHING = Bounds(None, None)
_DECODERS = {
    "offsets": "__consumer_offsets",
    "transaction-log": "__transaction_state",
    "share-group-state": "__share_group_state",
    "cluster-metadata": "__cluster_metadata",
    "remote-log-metadata": "__remote_log_metadata",
}
_PLAIN_DECODERS = {
    "StringDecoder": "string",
    "IntegerDecoder": "integer",
    "LongDecoder": "long",
    "DefaultDecoder": "default",
}
_DECODER_PACKAGES = ("org.apache.kafka.tools.api.", "kafka.serializer.", "")  # since 4.0, before, and none


class _DecoderClass(click.ParamType):  # type: ignore[type-arg]
    """Kafka decoder, by the name of its class."""

    name = "class"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        for package in _DECODER_PACKAGES:
            if kind := _PLAIN_DECODERS.get(value.removeprefix(package)):
                return kind
        self.fail(f"{value!r} is not one of {', '.join(_PLAIN_DECODERS)}: recordpress runs no Java code", param, ctx)


def _decoder_classes(function: Callable[..., int]) -> Callable[..., int]:
    for field in ("value", "key"):
        text = f"--format kafka: Kafka class that prints {field}s: {', '.join(_PLAIN_DECODERS)} (hex)."
        option = click.option(f"--{field}-decoder-class", metavar="CLASS", type=_DecoderClass(), help=text)
        function = option(function)
    return function


def _decoder_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the decoder options; the last one wins."""
    for name, topic in reversed(_DECODERS.items()):
        text = f"--format kafka: records of {topic} as JSON; implies --print-data-log."
        function = click.option(f"--{name}-decoder", "decoder", flag_value=name, help=text)(function)
    return function


@verb(
    "dump",
    ("recordpress dump /var/kafka-logs/orders-0 --head 20", "Print the first 20 records of a partition."),
    (
        "recordpress dump logs --topic orders --time -2h -f jsonl > orders.jsonl",
        "Write the last two hours of a topic as JSON lines.",
    ),
    (
        "recordpress dump orders-0 -f jsonl --values base64 --isolation-level read_committed",
        "Print the records that a read_committed consumer gets, byte for byte.",
    ),
    (
        "recordpress dump orders-0 --offset 4500..4600 --columns offset,key,headers",
        "Print some columns of some records.",
    ),
    ("recordpress dump orders-0 --batches", "Print a line per batch, from the headers."),
    ("recordpress dump orders-0 -f parquet > orders.parquet", "Write a file for DuckDB, Spark and pandas."),
    (
        "recordpress dump --files A.log,B.log --format kafka --deep-iteration --print-data-log",
        "Print records and batches as Kafka's DumpLogSegments does.",
    ),
    (
        "recordpress dump --files __consumer_offsets-0/00000000000000000000.log --format kafka --offsets-decoder",
        "Print the offsets that consumer groups committed.",
    ),
)
@optional_paths
@click.option("--files", metavar="FILE,...", help="Files instead of PATH, as for DumpLogSegments.")
@click.option("--batches", is_flag=True, help="Print a line per batch, from headers alone, instead of records.")
@shows_records((*FORMATS, "kafka"))
@click.option("--head", type=Integer(min=0), metavar="N", help="Number of records or batches to print.")
@click.option(
    "--offset", metavar="FROM[..TO]", type=Range(OFFSET), default=_EVERYTHING, help="Offset range; TO is excluded."
)
@click.option(
    "--time",
    metavar="FROM[..TO]",
    type=Range(TIMESTAMP),
    default=_EVERYTHING,
    help="Time range: ISO 8601, milliseconds since 1970, or an age: -90s, -15m, -2h, -7d. TO is excluded.",
)
@isolation_level
@click.option(
    "--on-corrupt",
    type=click.Choice(get_args(OnCorrupt)),
    default="raise",
    show_default=True,
    help="Action on damage: raise an error, skip it, or stop reading its partition.",
)
@threads("Number of decoding threads.")
@click.option("--deep-iteration", is_flag=True, help="--format kafka: also print records, not only batches.")
@click.option("--print-data-log", is_flag=True, help="--format kafka: print keys and values; implies --deep-iteration.")
@click.option("--skip-record-metadata", is_flag=True, help="--format kafka: print only the key and value of a record.")
@click.option("--index-sanity-check", is_flag=True, help="--format kafka: only check whether indexes are sound.")
@click.option(
    "--verify-index-only", is_flag=True, help="--format kafka: compare indexes with logs, and print no entries."
)
@click.option(
    "--max-message-size", type=SIZE, help="--format kafka: largest message that an index points to.  [default: 5MiB]"
)
@_decoder_options
@_decoder_classes
@click.option("--max-bytes", type=SIZE, help="--format kafka: number of bytes to read of each file.")
@codec_plugins
def command(paths: Sources, files: str | None, batches: bool, **options: Any) -> int:
    """Print the records of a log, or its batches.

    Prints partition by partition, in order of offset, without control records. Each JSON line, and each object of
    --json, has topic, partition, offset, timestamp (milliseconds since 1970, -1 if missing), timestampType (0 create
    time, 1 log append time, -1 none), key, value and headers ([[key, value], ...]); see docs/dump.schema.json.

    Truncated and skipped data is reported on stderr, and sets the exit status to 1."""
    is_kafka = options["format_"] == "kafka"
    if options["decoder"] and not is_kafka:
        raise click.UsageError(f"--{options['decoder']}-decoder needs --format kafka")
    for name in _OF_KAFKAS_TOOL:
        if options[name] and not is_kafka:
            raise click.UsageError(f"--{name.replace('_', '-')} needs --format kafka")
    if is_kafka:
        return _dump_files_as_kafka(list(_given(paths, files).paths), **options)
    if batches:
        return _dump_batches(_open(_given(paths, files), options["codecs"]), **options)
    shown = Shown(options["format_"], options["columns"], options["values"], options["redact"], options["as_json"])
    return _dump_records(_open(_given(paths, files), options["codecs"]), shown, **options)


def _given(paths: Sources, files: str | None) -> Sources:
    if bool(paths.paths) == (files is not None):
        raise click.UsageError("give either PATH or --files" if paths.paths else "Missing argument 'PATH...'.")
    if files is None:
        return paths
    return Sources(tuple(filter(None, files.split(","))), paths.topics, paths.partitions)


def _open(paths: Sources, codecs: CodecRegistry | None) -> Log:
    log = paths.opened(codecs)
    print_skipped(log.skipped)
    return log


def _bytes(log: Log) -> int:
    return sum(segment.size or 0 for partition in log.partitions for segment in partition.segments)


# --- records ------------------------------------------------------------------------------------------------------


def _dump_records(log: Log, shown: Shown, **options: Any) -> int:
    reader = log.read(
        shown.columns,
        start_offset=options["offset"].start,
        end_offset=options["offset"].end,
        start_timestamp=options["time"].start,
        end_timestamp=options["time"].end,
        isolation_level=options["isolation_level"],
        on_corrupt=options["on_corrupt"],
        threads=options["threads"],
    )
    with reader, Progress("reading", _bytes(log)) as progress:

        def results() -> Iterator[Columns]:
            for columns in head_of(reader, options["head"]):
                yield columns
                progress.at(reader.position)

        shown.print(results(), reader.schema, options["threads"])
    for partition, offset in reader.last_stable_offsets.items():
        note(f"{partition}: ends at offset {offset}, where a transaction is open")
    return report_reading(reader.findings)


# --- batches ------------------------------------------------------------------------------------------------------

_BATCH_COLUMNS = (
    "topic",
    ">partition",
    ">base offset",
    ">last offset",
    ">records",
    ">position",
    ">size",
    "codec",
    ">magic",
    "largest timestamp",
    ">epoch",
    ">producer",
    "what",
)


def _dump_batches(log: Log, **options: Any) -> int:
    format_ = "json" if options["as_json"] else options["format_"] or "table"
    for name in ("columns", "values", "redact"):
        if options[name]:
            raise click.UsageError(f"--{name} applies to records, not to --batches")
    findings: list[Finding] = []
    batches = _wanted(log.batches(findings=findings), options["offset"], options["time"], options["head"])
    if format_ == "table":
        table = StreamTable(_BATCH_COLUMNS)
        for batch in batches:
            table.print([_batch_row(batch)])
    elif format_ == "json":
        print_json({"batches": [batch.to_dict() for batch in batches]})
    elif format_ == "jsonl":
        import json

        for batch in batches:
            write(json.dumps(batch.to_dict(), ensure_ascii=False).encode() + b"\n")
    else:
        raise click.UsageError(f"--format {format_} applies to records, not to --batches")
    return report_reading(findings)


def _wanted(batches: Iterable[LogBatch], offsets: Bounds, times: Bounds, head: int | None) -> Iterator[LogBatch]:
    for batch in batches:
        if head is not None and head <= 0:
            return
        header = batch.header
        if offsets.start is not None and header.last_offset < offsets.start:
            continue
        if offsets.end is not None and header.base_offset >= offsets.end:
            continue
        if times.start is not None and header.max_timestamp < times.start:
            continue
        if times.end is not None and header.magic == 2 and header.base_timestamp >= times.end:
            continue
        head = None if head is None else head - 1
        yield batch


def _batch_row(batch: LogBatch) -> tuple[str, ...]:
    header = batch.header
    what = [
        name
        for name, holds in (
            ("transaction", header.is_transactional),
            ("control", header.is_control),
            ("log append time", header.timestamp_type == 1),
            ("delete horizon", batch.delete_horizon_ms is not None),
        )
        if holds
    ]
    return (
        batch.topic or "-",
        "-" if batch.partition is None else str(batch.partition),
        str(header.base_offset),
        str(header.last_offset),
        count(header.records_count if header.records_count >= 0 else None),
        str(header.position),
        size(header.size),
        batch.compression_type,
        str(header.magic),
        moment(header.max_timestamp),
        str(header.partition_leader_epoch),
        "-" if header.producer_id < 0 else f"{header.producer_id}/{header.producer_epoch}",
        ", ".join(what) or "-",
    )


# --- DumpLogSegments ----------------------------------------------------------------------------------------------


_OF_KAFKAS_TOOL = (
    "deep_iteration", "print_data_log", "skip_record_metadata", "index_sanity_check", "verify_index_only",
    "max_message_size", "max_bytes", "key_decoder_class", "value_decoder_class",
)  # fmt: skip


def _dump_files_as_kafka(names: list[str], **options: Any) -> int:
    """Print logs and sidecar files in the given order; return the exit status."""
    from recordpress.log.dump.sidecar_lines import is_sidecar, shown_path

    if not any(map(is_sidecar, names)):
        return _dump_as_kafka(names, **options)
    status = CLEAN
    for name in names:
        if is_sidecar(name):
            write(f"Dumping {shown_path(name)}\n".encode())
            status = max(status, _dump_sidecar_as_kafka(name, **options))
        else:
            status = max(status, _dump_as_kafka([name], **options))
    return status


def _dump_sidecar_as_kafka(name: str, **options: Any) -> int:
    from recordpress.log.dump.sidecar_lines import sidecar_lines

    findings: list[Finding] = []
    most = {} if options["max_message_size"] is None else {"max_message_bytes": options["max_message_size"]}
    checks = {"sanity_check": options["index_sanity_check"], "verify_only": options["verify_index_only"]}
    for line in sidecar_lines(name, **checks, **most, findings=findings):
        write(line.encode())
    report_reading(findings)
    return status_of(findings)


def _dump_as_kafka(names: list[str], **options: Any) -> int:
    from recordpress.log import DumpOptions, SegmentDump
    from recordpress.log.dump.sidecar_lines import shown_path

    as_given = {os.path.abspath(name): name for name in names}
    for name, given in (("columns", options["columns"]), ("time", options["time"] != _EVERYTHING)):
        if given:
            raise click.UsageError(f"--{name} and --format kafka cannot be combined")
    decoder = options["decoder"]
    for name in ("values", "redact"):
        if decoder and options[name]:
            raise click.UsageError(f"--{name} and --{decoder}-decoder cannot be combined")
    contents = options["print_data_log"] or bool(decoder)
    chosen = DumpOptions(
        deep_iteration=options["deep_iteration"] or contents,
        print_data_log=contents and not options["redact"],
        skip_record_metadata=options["skip_record_metadata"],
        max_bytes=options["max_bytes"],
        start_offset=options["offset"].start,
        end_offset=options["offset"].end,
        values=options["values"] or "utf8",
        decoder=decoder,
        key_decoder=options["key_decoder_class"] or "string",
        value_decoder=options["value_decoder_class"] or "string",
    )
    findings: list[Finding] = []
    left = options["head"]
    log = _open(Sources(tuple(names)), options["codecs"])
    with Progress("reading", _bytes(log)) as progress:
        for partition in log.partitions:
            for segment in partition.segments:
                path = shown_path(as_given.get(segment.url, segment.url))
                write(f"Dumping {path}\nLog starting offset: {segment.base_offset}\n".encode())
                dump = SegmentDump(segment, chosen)
                for text in dump:
                    if left is not None:
                        lines = text.splitlines(keepends=True)[:left]
                        left -= len(lines)
                        text = b"".join(lines)
                    write(text)
                    if left == 0:
                        return report_reading(findings)
                for finding in dump.findings:
                    write(f"{finding.message}\n".encode())  # the tool's sentence on trailing bytes
                findings += dump.findings
                progress.advance(segment.size or 0)
    return report_reading(findings)
