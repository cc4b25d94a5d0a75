"""The options of ``format("recordpress")``: checked at once, before any file is opened."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from recordpress._arguments import INT32_MAX, INT64_MAX, shown_value
from recordpress.codecs import CodecRegistry
from recordpress.errors import ArgumentTypeError, InvalidArgumentError
from recordpress.spark._codecs import registry_of
from recordpress.spark._offsets import Bounds, Topics, parse_bounds, parse_topics
from recordpress.spark._stores import OF_STORES, Store
from recordpress.spark.schema import column_names

# Spark passes names on in lower case, so case does not matter.
ACCEPTED = (
    "path",
    "subscribe",
    "subscribePattern",
    "assign",
    "startingOffsets",
    "endingOffsets",
    "startingTimestamp",
    "endingTimestamp",
    "startingOffsetsByTimestamp",
    "endingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "minPartitions",
    "maxRecordsPerPartition",
    "maxPartitionBytes",
    "failOnDataLoss",
    "includeHeaders",
    "isolation.level",
    "max.partition.fetch.bytes",
    "mode",
    "columns",
    "level",
    "codec.plugin",
    "maxOffsetsPerTrigger",
    "maxFilesPerTrigger",
    "maxBytesPerTrigger",
    "includeActiveSegment",
    *OF_STORES,
)
Mode = Literal["FAILFAST", "DROPMALFORMED", "PERMISSIVE"]
_MODES: tuple[Mode, ...] = ("FAILFAST", "DROPMALFORMED", "PERMISSIVE")
Level = Literal["records", "batches", "bytes"]

TASK_BYTES = 128 << 20  # of files, as spark.sql.files.maxPartitionBytes
HEADER_TASK_BYTES = 32 * TASK_BYTES  # where headers alone are read: seconds of work, next to which a task costs nothing
_TASK_BYTES: dict[Level, int] = {"records": TASK_BYTES, "batches": HEADER_TASK_BYTES, "bytes": TASK_BYTES}


@dataclass(frozen=True)
class ReadOptions:
    """What to read, and how.

    Attributes
    ----------
    paths : tuple of str
        ``path``, or several given to ``load``: log dirs, directories of partitions, segments, patterns or URLs, as
        `recordpress.open_log` takes them.
    topics : Topics
        ``subscribe``, ``subscribePattern`` or ``assign``; by default all.
    bounds : Bounds
        ``startingOffsets`` and the other options of that kind; by default everything.
    min_partitions : int | None
        ``minPartitions``: as many tasks, if each of them has 4 MiB; by default as many as there are cores.
    max_records : int | None
        ``maxRecordsPerPartition``: no task has more offsets.
    max_partition_bytes : int
        ``maxPartitionBytes``: bytes of files in one task; by default 134217728, as in Spark's file sources, and 32
        times as many for ``level`` batches, which reads headers alone.
    fail_on_data_loss : bool
        ``failOnDataLoss``, default true: an offset that the log does not have is an error, and so is a segment that is
        gone when its task begins. With false what is there is read, and the rest reported as `mode` reports damage, or
        with FAILFAST in the executor's log.
    include_headers : bool
        ``includeHeaders``, default false: add a column of headers.
    isolation_level : {'read_uncommitted', 'read_committed'}
        ``isolation.level``, as in Kafka's ConsumerConfig; read_committed is for ``level`` records. For that a task
        begins where a ``.snapshot`` says which transactions are open: segments without one are read by the task that
        reads the segment before.
    fetch_bytes : int | None
        ``max.partition.fetch.bytes``: bytes of a file that become one Arrow record batch. A larger entry is read all
        the same, as by a consumer. Default: as many as give record batches of 4 to 8 MB (1048576 with ``level=bytes``).
    mode : {'FAILFAST', 'DROPMALFORMED', 'PERMISSIVE'}
        ``mode``: damage is an error; or is skipped; or is skipped and reported in a column ``_corrupt_record``.
    columns : tuple of str | None
        ``columns``: names separated by commas, the only ones that are built. `.schema(...)` does the same.
    level : {'records', 'batches', 'bytes'}
        ``level``: a row per record; a row per batch, from its header alone; a row per batch with its bytes.
    codecs : CodecRegistry | None
        ``codec.plugin``: codecs of your own, as ``package.module:attribute``, separated by commas; executors import
        them, too. For a stream they are installed or on PYTHONPATH: Spark plans it in a process that does not see what
        ``addPyFile`` added. Batches name codecs, but nothing is imported because of what they say.
    max_offsets, max_files, max_bytes : int | None
        ``maxOffsetsPerTrigger``, ``maxFilesPerTrigger``, ``maxBytesPerTrigger``, for streams: how many offsets,
        segments or bytes of segments a batch of the query has at most, about; one of the three, in Spark 4.2 or newer.
    include_active_segment : bool
        ``includeActiveSegment``, default false, for streams: also read the last segment of a partition, up to its last
        whole batch; by default only segments after which another one begins, which do not change any more.
    store : Store | None
        ``fs.s3a.access.key``, ``fs.s3a.secret.key``, ``fs.s3a.session.token``, ``fs.s3a.endpoint`` and
        ``fs.s3a.endpoint.region``, as Hadoop has them, for paths in S3; by default the environment or the URL says it.

    Examples
    --------
    >>> from recordpress.spark import ReadOptions
    >>> options = ReadOptions.parse({"path": "demo/logs", "subscribe": "sessions", "isolation.level": "read_committed"})
    >>> options.paths, options.isolation_level
    (('demo/logs',), 'read_committed')
    """

    paths: tuple[str, ...]
    topics: Topics = field(default_factory=Topics)
    bounds: Bounds = field(default_factory=Bounds)
    min_partitions: int | None = None
    max_records: int | None = None
    max_partition_bytes: int = TASK_BYTES
    fail_on_data_loss: bool = True
    include_headers: bool = False
    isolation_level: Literal["read_uncommitted", "read_committed"] = "read_uncommitted"
    fetch_bytes: int | None = None
    mode: Mode = "FAILFAST"
    columns: tuple[str, ...] | None = None
    level: Level = "records"
    codecs: CodecRegistry | None = None
    max_offsets: int | None = None
    max_files: int | None = None
    max_bytes: int | None = None
    include_active_segment: bool = False
    store: Store | None = None

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns of the result, unless `.schema(...)` says otherwise."""
        if self.columns is not None:
            return self.columns
        return column_names(self.level, self.include_headers, self.reports_in_rows)

    @property
    def reports_in_rows(self) -> bool:
        """Whether findings are rows of the result."""
        return self.mode == "PERMISSIVE"

    @property
    def limits(self) -> dict[str, int]:
        """Those of a stream, by the options' names."""
        given = {
            "maxOffsetsPerTrigger": self.max_offsets,
            "maxFilesPerTrigger": self.max_files,
            "maxBytesPerTrigger": self.max_bytes,
        }
        return {name: number for name, number in given.items() if number is not None}

    def reject_streaming_options(self) -> None:
        """Raise for an option that says nothing to a batch query."""
        self.bounds.refuse_latest()
        for name in [*self.limits, *(["includeActiveSegment"] if self.include_active_segment else [])]:
            raise InvalidArgumentError(f"option {name} is for spark.readStream", field=name)

    def reject_batch_options(self) -> None:
        """Raise for an option that says nothing to a stream."""
        if self.bounds.end.kind != "all":
            name = self.bounds.end.option
            raise InvalidArgumentError(f"option {name} is for spark.read: a stream has no end", field=name)
        if len(self.limits) > 1:
            raise InvalidArgumentError(f"only one of {', '.join(self.limits)} can be given", field=[*self.limits][1])

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> ReadOptions:
        """From the options that Spark was given.

        Raises
        ------
        InvalidArgumentError
            An option or a value is not accepted; the message says which ones are.

        Examples
        --------
        >>> options = ReadOptions.parse({"path": "/logs", "subscribe": "orders, payments", "includeheaders": "true"})
        >>> options.paths, options.topics.names, options.include_headers, options.mode
        (('/logs',), ('orders', 'payments'), True, 'FAILFAST')
        """
        given = RawOptions(options)
        level: Level = given.choice("level", tuple(_TASK_BYTES))
        paths = given.paths()
        made = cls(
            paths=paths,
            topics=parse_topics(given.text),
            bounds=parse_bounds(given.text),
            min_partitions=given.number("minPartitions", INT32_MAX),
            max_records=given.number("maxRecordsPerPartition", INT64_MAX),
            max_partition_bytes=given.number("maxPartitionBytes", INT64_MAX) or _TASK_BYTES[level],
            fail_on_data_loss=given.choice("failOnDataLoss", ("true", "false")) == "true",
            include_headers=given.choice("includeHeaders", ("false", "true")) == "true",
            isolation_level=given.choice("isolation.level", ("read_uncommitted", "read_committed")),
            fetch_bytes=given.number("max.partition.fetch.bytes", INT32_MAX),
            mode=given.choice("mode", _MODES),
            level=level,
            codecs=given.codecs("codec.plugin"),
            max_offsets=given.number("maxOffsetsPerTrigger", INT64_MAX),
            max_files=given.number("maxFilesPerTrigger", INT32_MAX),
            max_bytes=given.number("maxBytesPerTrigger", INT64_MAX),
            include_active_segment=given.choice("includeActiveSegment", ("false", "true")) == "true",
            store=Store.parse(given.text, paths),
        )
        made._reject_options_of_other_levels()
        return made.with_columns(given.text("columns"))

    def _reject_options_of_other_levels(self) -> None:
        """Raise for an option that says nothing to this level."""
        level = self.level
        if self.isolation_level == "read_committed" and level != "records":
            raise InvalidArgumentError(
                f"option isolation.level=read_committed is for level=records: with level={level} no batch is left out",
                field="isolation.level",
            )
        if self.include_headers and level != "records":
            raise InvalidArgumentError(
                f"option includeHeaders is for level=records: with level={level} there are no columns of a record",
                field="includeHeaders",
            )
        if self.fetch_bytes is not None and level == "batches":
            raise InvalidArgumentError(
                "option max.partition.fetch.bytes is for level=records and level=bytes: with level=batches headers "
                "alone are read",
                field="max.partition.fetch.bytes",
            )

    def with_columns(self, text: str | None) -> ReadOptions:
        """These options with the value of ``columns``."""
        if text is None:
            return self
        names = tuple(name.strip() for name in text.split(",") if name.strip())
        known = column_names(self.level, True, self.reports_in_rows)
        check_columns(names, known, "columns")
        return ReadOptions(**vars(self) | {"columns": names})


def check_columns(names: tuple[str, ...], known: tuple[str, ...], where: str) -> None:
    """Raise for names that are not there, twice there, or none at all."""
    if wrong := [name for name in names if name not in known]:
        raise InvalidArgumentError(
            f"there is no column {', '.join(wrong)}; there are {', '.join(known)}"[:1000], field=where
        )
    if not names or len(set(names)) < len(names):
        raise InvalidArgumentError("each column is named once, and there must be at least one", field=where)
    if "_corrupt_record" in known and "_corrupt_record" not in names:
        raise InvalidArgumentError(
            "mode=PERMISSIVE reports damage in a column _corrupt_record string, which is missing", field=where
        )


def unknown_options(options: Mapping[str, str], accepted: tuple[str, ...]) -> list[str]:
    """Those that are not accepted, in the user's spelling."""
    known = {name.lower() for name in accepted} | {"paths"}  # Spark's own name for several
    return sorted(name for name in options if name.lower() not in known)


class RawOptions:
    """The options of a call, by name, whatever its case."""

    def __init__(self, options: Mapping[str, str], accepted: tuple[str, ...] = ACCEPTED) -> None:
        self._values = {name.lower(): value for name, value in options.items()}
        if unknown := unknown_options(options, accepted):
            raise InvalidArgumentError(
                f"unknown option {', '.join(unknown)}; accepted are {', '.join(accepted)}", field=unknown[0]
            )

    def text(self, name: str) -> str | None:
        return self._values.get(name.lower())

    def paths(self) -> tuple[str, ...]:
        several = self.text("paths")
        found = tuple(path for path in (_paths(several) if several else [self.text("path")]) if path)
        if not found:
            raise InvalidArgumentError(
                "a path is needed: load(<log dir, directory of a partition, pattern or URL>), or save(<log dir>)",
                field="path",
            )
        return found

    def codecs(self, name: str) -> CodecRegistry | None:
        text = self.text(name)
        if text is None:
            return None
        try:
            return registry_of([path.strip() for path in text.split(",") if path.strip()])
        except (InvalidArgumentError, ArgumentTypeError) as error:
            raise InvalidArgumentError(f"option {name}: {error.message}", field=name) from error

    def choice(self, name: str, accepted: tuple[str, ...]) -> Any:
        """The value; the first of the accepted ones is the default."""
        given = self.text(name)
        values = {one.lower(): one for one in accepted}
        value = accepted[0] if given is None else values.get(given.lower())
        if value is None or given == "":
            shown = [one for one in accepted if one]
            said = " or ".join([", ".join(shown[:-1]), shown[-1]])
            raise InvalidArgumentError(f"option {name} must be {said}, not {shown_value(given)}", field=name)
        return value

    def number(self, name: str, most: int, least: int = 1) -> int | None:
        value = self.text(name)
        if value is None:
            return None
        is_short = value.isascii() and value.isdigit() and len(value) <= len(str(most))
        if not is_short or not least <= int(value) <= most:
            raise InvalidArgumentError(
                f"option {name} must be a number from {least} to {most}, not {value[:50]!r}", field=name
            )
        return int(value)


def _paths(text: str) -> list[str]:
    """Several paths, as Spark passes them on."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, list) or not all(isinstance(path, str) for path in read):
        raise InvalidArgumentError(
            f'option paths must be JSON like ["/logs", "s3://bucket/logs"], not {shown_value(text)}', field="paths"
        )
    return read
