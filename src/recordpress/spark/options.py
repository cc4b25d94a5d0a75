"""The options of ``spark.read.format("recordpress")`` and ``readStream``, checked before any file is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

from recordpress._arguments import INT32_MAX, INT64_MAX
from recordpress.codecs import CodecRegistry
from recordpress.errors import InvalidArgumentError
from recordpress.spark._offsets import BOUND_OPTIONS, TOPIC_OPTIONS, Bounds, Topics, parse_bounds, parse_topics
from recordpress.spark._option import (
    Option,
    RawOptions,
    choice,
    codecs,
    documented,
    flag,
    group,
    names,
    names_of,
    number,
    option,
    values_of,
)
from recordpress.spark._stores import STORE_OPTIONS, Store
from recordpress.spark.schema import CORRUPT, accepted_names, column_names
from recordpress.typing import IsolationLevel

Rows = Literal["records", "batches", "bytes"]
Mode = Literal["FAILFAST", "DROPMALFORMED", "PERMISSIVE"]

# PERMISSIVE also reports damage in a column of the result
_ON_CORRUPT: dict[Mode, Literal["raise", "skip"]] = {"FAILFAST": "raise", "DROPMALFORMED": "skip", "PERMISSIVE": "skip"}

TASK_BYTES = 128 << 20  # of files, as spark.sql.files.maxPartitionBytes
HEADER_TASK_BYTES = 32 * TASK_BYTES  # for headers alone: seconds of work, far more than the cost of a task
_TASK_BYTES: dict[Rows, int] = {"records": TASK_BYTES, "batches": HEADER_TASK_BYTES, "bytes": TASK_BYTES}
_PATH = Option(
    "path", "Log dirs, directories of partitions, segments, patterns or URLs, as for `recordpress.open_log`."
)


@documented
@dataclass(frozen=True)
class ReadOptions:
    """Options of a read.

    Examples
    --------
    >>> from recordpress.spark import ReadOptions
    >>> options = ReadOptions.parse({"path": "demo/logs", "subscribe": "sessions", "isolation.level": "read_committed"})
    >>> options.paths, options.isolation_level
    (('demo/logs',), 'read_committed')
    """

    paths: tuple[str, ...] = group((_PATH,), RawOptions.paths)
    topics: Topics = group(TOPIC_OPTIONS, lambda given: parse_topics(given.text), Topics())
    bounds: Bounds = group(BOUND_OPTIONS, lambda given: parse_bounds(given.text), Bounds())
    min_partitions: int | None = option(
        "minPartitions", number(INT32_MAX), "Minimum number of tasks, if each gets 4 MiB.", shown="number of cores"
    )
    max_records: int | None = option(
        "maxRecordsPerPartition", number(INT64_MAX), "Maximum number of offsets in a task."
    )
    max_partition_bytes: int = option(
        "maxPartitionBytes",
        number(INT64_MAX),
        "Maximum size of the files that a task reads, in bytes.",
        TASK_BYTES,
        shown="134217728, or 32 times as many with rows=batches",
    )
    fail_on_data_loss: bool = option(
        "failOnDataLoss",
        flag,
        "Fail if an offset is missing, or if a segment is gone when its task begins. With false, read the "
        "rest, and report the loss as `mode` reports damage; with FAILFAST, in the executor's log.",
        True,
    )
    include_headers: bool = option("includeHeaders", flag, "Add a column of headers.", False)
    isolation_level: IsolationLevel = option(
        "isolation.level",
        choice(*get_args(IsolationLevel)),
        "As in Kafka's ConsumerConfig; read_committed needs rows=records. A task then begins where a "
        ".snapshot lists the open transactions, so segments without a snapshot belong to the preceding task.",
        "read_uncommitted",
    )
    check_indexes: bool = option(
        "checkIndexes",
        flag,
        "In an object store, read headers instead of trusting the names and indexes of segments, as on a local disk.",
        False,
    )
    fetch_bytes: int | None = option(
        "max.partition.fetch.bytes",
        number(INT32_MAX),
        "Approximate number of file bytes per Arrow record batch; a larger entry is read whole.",
        shown="enough for record batches of 4 to 8 MB, 1048576 with rows=bytes",
    )
    mode: Mode = option(
        "mode",
        choice(*_ON_CORRUPT),
        f"On damage: fail, skip it, or skip it and report it in a column {CORRUPT}.",
        "FAILFAST",
    )
    columns: tuple[str, ...] | None = option(
        "columns",
        names,
        "Names of the columns to build, separated by commas, as with `.schema(...)`.",
        shown="all",
    )
    rows: Rows = option(
        "rows",
        choice("records", "batches", "bytes"),
        "A row per record, a row per batch from its header alone, or a row per batch with its bytes.",
        "records",
    )
    codecs: CodecRegistry | None = option(
        "codec.plugin",
        codecs,
        "Codecs to import, as package.module:attribute, separated by commas. Executors import them too. A stream "
        "needs them installed or on PYTHONPATH, because Spark plans it in a process that ignores addPyFile. "
        "A name in the data never causes an import.",
    )
    read_with: tuple[str, ...] | None = option(
        "codec.read.with",
        names,
        "Plug-ins from codec.plugin, separated by commas, to decompress Kafka's codecs with: gzip:isal reads gzip "
        "batches.",
        shown="Kafka's own",
    )
    max_offsets: int | None = option(
        "maxOffsetsPerTrigger",
        number(INT64_MAX),
        "Approximate maximum number of offsets in a batch of the query. At most one of the three limits may be "
        "set; they need Spark 4.2 or later.",
        only="stream",
    )
    max_files: int | None = option(
        "maxFilesPerTrigger",
        number(INT32_MAX),
        "Maximum number of segments in a batch of the query, oldest first.",
        only="stream",
    )
    max_bytes: int | None = option(
        "maxBytesPerTrigger",
        number(INT64_MAX),
        "Approximate maximum size of the segments in a batch of the query, in bytes, oldest first.",
        only="stream",
    )
    include_active_segment: bool = option(
        "includeActiveSegment",
        flag,
        "Also read the last segment of a partition, up to its last complete batch; the segments before it "
        "no longer change.",
        False,
        only="stream",
    )
    value_format: Literal["avro", "json", "protobuf"] = option(
        "valueFormat",
        choice("avro", "json", "protobuf"),
        "Format of values in Confluent's framing, for the columns valueSchemaId (int) and valuePayload (binary), which "
        "are built if `.schema(...)` or columns lists them. In protobuf, message indexes precede the payload.",
        "avro",
    )
    store: Store | None = group(STORE_OPTIONS, lambda given: Store.parse(given.text, given.paths()), None)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Columns of the result, unless `.schema(...)` names others."""
        if self.columns is not None:
            return self.columns
        return column_names(self.rows, self.include_headers, self.reports_in_rows)

    @property
    def on_corrupt(self) -> Literal["raise", "skip"]:
        """Action on damage, as `recordpress.log.Log.read` takes it."""
        return _ON_CORRUPT[self.mode]

    @property
    def reports_in_rows(self) -> bool:
        """Whether findings are rows of the result."""
        return self.mode == "PERMISSIVE"

    @property
    def limits(self) -> dict[str, int]:
        """Limits of a stream's batches by option name."""
        given = {
            "maxOffsetsPerTrigger": self.max_offsets,
            "maxFilesPerTrigger": self.max_files,
            "maxBytesPerTrigger": self.max_bytes,
        }
        return {name: number for name, number in given.items() if number is not None}

    def reject_streaming_options(self) -> None:
        """Raise an error for an option that only streams accept."""
        self.bounds.refuse_latest()
        for one in fields(self):
            row = one.metadata["rows"][0]
            if row.only == "stream" and getattr(self, one.name) != one.default:
                raise InvalidArgumentError(f"option {row.name} needs spark.readStream", field=row.name)

    def reject_batch_options(self) -> None:
        """Raise an error for an option that only batch queries accept."""
        if self.bounds.end.kind != "all":
            name = self.bounds.end.option
            raise InvalidArgumentError(f"option {name} needs spark.read: a stream has no end", field=name)
        if len(self.limits) > 1:
            raise InvalidArgumentError(f"only one of {', '.join(self.limits)} is accepted", field=[*self.limits][1])

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> ReadOptions:
        """Parse the options from Spark.

        Raises
        ------
        InvalidArgumentError
            An option or a value is not accepted; the message lists the accepted ones.

        Examples
        --------
        >>> options = ReadOptions.parse({"path": "/logs", "subscribe": "orders, payments", "includeheaders": "true"})
        >>> options.paths, options.topics.names, options.include_headers, options.mode
        (('/logs',), ('orders', 'payments'), True, 'FAILFAST')
        """
        given = RawOptions(options, names_of(cls))
        parsed = cls(**values_of(cls, given))
        if given.text("maxPartitionBytes") is None:
            parsed = replace(parsed, max_partition_bytes=_TASK_BYTES[parsed.rows])
        parsed._reject_options_of_other_rows()
        parsed._choose_readers()
        if parsed.columns is None:
            return parsed
        known = accepted_names(parsed.rows, parsed.reports_in_rows)
        return replace(parsed, columns=known_columns(parsed.columns, known, "columns"))

    def _choose_readers(self) -> None:
        for name in self.read_with or ():
            try:
                (self.codecs or CodecRegistry()).read_with(name)
            except InvalidArgumentError as error:
                raise InvalidArgumentError(
                    f"option codec.read.with: {error.message}; load it with codec.plugin", field="codec.read.with"
                ) from error

    def _reject_options_of_other_rows(self) -> None:
        rows, is_committed = self.rows, self.isolation_level == "read_committed"
        for is_given, name, accepted, reason in (
            (is_committed, "isolation.level=read_committed", "rows=records", f"rows={rows} omits no batch"),
            (self.include_headers, "includeHeaders", "rows=records", f"rows={rows} has no columns of a record"),
            (
                self.fetch_bytes is not None,
                "max.partition.fetch.bytes",
                "rows=records or rows=bytes",
                "rows=batches reads only headers",
            ),
        ):
            if is_given and f"rows={rows}" not in accepted:
                raise InvalidArgumentError(f"option {name} needs {accepted}: {reason}", field=name.partition("=")[0])


def known_columns(given: tuple[str, ...], known: tuple[str, ...], where: str) -> tuple[str, ...]:
    """Return the names of columns, given in any case, as this source spells them. Raise an error for unknown or
    repeated columns, for an empty list, and if the column for damage is missing."""
    spelled = {name.lower(): name for name in known}
    if wrong := [name for name in given if name.lower() not in spelled]:
        raise InvalidArgumentError(
            f"unknown column {', '.join(wrong)}; must be one of {', '.join(known)}"[:1000], field=where
        )
    names = tuple(spelled[name.lower()] for name in given)
    if not names or len(set(names)) < len(names):
        raise InvalidArgumentError("name at least one column, and each column once", field=where)
    if CORRUPT in known and CORRUPT not in names:
        raise InvalidArgumentError(
            f"mode=PERMISSIVE reports damage in a column {CORRUPT} string, which is missing", field=where
        )
    return names
