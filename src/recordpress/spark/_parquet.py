"""to_parquet: the records of a log as Parquet files. pyarrow writes them in the tasks; no row passes through the JVM.

::

    <dst>/topic=orders/partition=0/00000000000000012345.parquet     a split, named for its first offset
          _SUCCESS                                                  (and its position, if it begins inside a segment)

Files are written under hidden names, in a directory that gets its final name at the end.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import RawIOBase
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import quote

import pyarrow as pa

from recordpress._arguments import check_flags, choice, sequence
from recordpress.errors import ArgumentTypeError
from recordpress.files import FileSystem, Writer
from recordpress.log import Finding
from recordpress.log.copy.tasks import complete_directory, refuse_taken
from recordpress.log.splits import LogSplit, ReadOptions, TaskSplits, read_split
from recordpress.spark._codecs import Codecs
from recordpress.spark._jobs import OnCorrupt, Paths, opened, schema_of, tasks
from recordpress.spark._run import run, table
from recordpress.spark.options import known_columns
from recordpress.spark.schema import arrow_schema, as_column, column_names
from recordpress.typing import IsolationLevel

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from typing_extensions import Buffer

_IN_PATHS = ("topic", "partition")
_OF_RECORDS = tuple(name for name in column_names("records", True, False) if name not in _IN_PATHS)
_ROW_GROUP_BYTES = 64 << 20  # uncompressed: large enough for readers, and a few fit into a worker's memory
_FETCH_BYTES = 1 << 20  # of a file per result; the default of ConsumerConfig's max.partition.fetch.bytes
_NO_TOPIC = "__HIVE_DEFAULT_PARTITION__"  # as Hive writes a null in a path
_COMPRESSIONS = ("zstd", "snappy", "gzip", "lz4", "none")
_RESULT = schema_of(
    "topic string, partition int, file string, records long, bytes long, firstOffset long, lastOffset long, "
    "findings array<string>"
)
_PLAN = schema_of("topic string, partition int, file string, sourceBytes long")


def to_parquet(
    spark: SparkSession,
    src: Paths,
    dst: str | os.PathLike[str],
    *,
    columns: list[str] | tuple[str, ...] = _OF_RECORDS,
    isolation_level: IsolationLevel = "read_uncommitted",
    compression: str = "zstd",
    on_corrupt: OnCorrupt = "raise",
    dry_run: bool = False,
    codecs: Codecs = None,
) -> DataFrame:
    """Write the records of a log as Parquet files, with topic and partition as directories.

    Statistics of row groups hold the minimum and maximum offset and timestamp, so that engines skip row groups that a
    query does not need. Control records are omitted. `dst` gets its name when all files are complete, with ``_SUCCESS``
    in it; in an object store, which cannot rename, ``_SUCCESS`` is written last. A second job on the same `dst` is
    refused while the first job runs; after a job was killed, the next job removes its files.

    Parameters
    ----------
    spark : SparkSession
        Its executors see `src` and `dst` under these paths.
    src : path, URL, pattern, or several
        As for `recordpress.open_log`.
    dst : path or URL
        Output directory, which must not exist yet.
    columns : list of str
        Columns to write; default: key, value, offset, timestamp, timestampType, headers.
    isolation_level : {'read_uncommitted', 'read_committed'}
    compression : {'zstd', 'snappy', 'gzip', 'lz4', 'none'}
        Codec of the Parquet files.
    on_corrupt : {'raise', 'skip'}
        If a batch is damaged, fail the job; or omit and report the batch.
    dry_run : bool
        List the files that would be written, including those without records; write nothing.
    codecs : CodecRegistry, str or several, optional
        Codec plug-ins, as for `recordpress.spark.transcode`.

    Returns
    -------
    DataFrame
        One row per file: topic, partition, file, records, bytes, firstOffset, lastOffset, findings (omissions, and a
        truncated entry or zeros at the end of a log). If a file would have findings but no records, it is not written,
        and its name is null. With `dry_run`: topic, partition, file, sourceBytes.

    Raises
    ------
    InvalidArgumentError
        `dst` exists; `src` holds no partition; a column, compression or codec is not accepted.
    pyspark.errors.PySparkException
        A task failed: damage, or a file that cannot be read or written. Nothing is left at `dst`.

    Examples
    --------
    >>> import tempfile, recordpress
    >>> target = tempfile.mkdtemp() + "/parquet"
    >>> job = recordpress.spark.to_parquet(spark, "demo/logs/sessions-0", target, columns=["offset", "value"])
    >>> written = job.collect()
    >>> spark.read.parquet(target).count()
    1634
    """
    names = known_columns(_names_of(columns), _OF_RECORDS, "columns")
    choice("isolation_level", isolation_level, get_args(IsolationLevel))
    choice("compression", compression, _COMPRESSIONS)
    choice("on_corrupt", on_corrupt, get_args(OnCorrupt))
    check_flags(dry_run=dry_run)
    reading = ReadOptions(
        isolation_level=isolation_level, on_corrupt=on_corrupt, timestamp_unit="us", batch_bytes=_FETCH_BYTES
    )
    log = opened(src, codecs)
    refuse_taken(dst)  # before Spark does any work
    work = tasks(spark, log, by_state=isolation_level == "read_committed")
    if dry_run:
        return table(spark, [_planned(split) for task in work for split in task], _PLAN)
    with complete_directory(dst) as directory:
        target = _Target(directory.files, directory.path, names, compression, reading)
        done = run(spark, "to_parquet", _write, [(target, task) for task in work])
    return table(spark, [row for found in done for row in found], _RESULT)


def _names_of(columns: object) -> tuple[str, ...]:
    names = sequence(columns, "columns", "names")
    for number, name in enumerate(names):
        if not isinstance(name, str):
            raise ArgumentTypeError(f"columns[{number}] must be a str, not {type(name).__name__}", field="columns")
    return names


@dataclass(frozen=True)
class _Target:
    """Directory and settings of the output."""

    files: FileSystem
    path: str
    columns: tuple[str, ...]
    compression: str
    reading: ReadOptions


def _write(item: tuple[_Target, TaskSplits]) -> list[dict[str, Any]]:
    target, task = item
    target.files.info(target.path)  # raises if the driver was killed and its files removed: do not create them again
    return [row for split in task for row in _write_split(target, split)]


def _write_split(target: _Target, split: LogSplit) -> Iterator[dict[str, Any]]:
    """Write one file if there are records."""
    findings: list[Finding] = []
    groups = _row_groups(target, split, findings)
    first = next(groups, None)
    row: dict[str, Any] = {"topic": split.topic, "partition": split.partition, "records": 0}
    if first is not None:
        row |= _write_file(target, split, first, groups)
    if first is not None or findings:
        yield row | {"findings": [str(finding) for finding in findings]}


def _write_file(target: _Target, split: LogSplit, first: pa.Table, rest: Iterator[pa.Table]) -> dict[str, Any]:
    relative = _place(split)
    path = target.files.join(target.path, relative)
    target.files.make_directory(target.files.parent(path))
    with target.files.create(path) as writer:
        sink = _Sink(writer)
        records, last = _write_groups(target, sink, first, rest)
        writer.publish()
    return {
        "file": relative,
        "records": records,
        "bytes": sink.position,
        "firstOffset": first.column("offset")[0].as_py(),
        "lastOffset": last.column("offset")[-1].as_py(),
    }


def _planned(split: LogSplit) -> dict[str, Any]:
    return {"topic": split.topic, "partition": split.partition, "file": _place(split), "sourceBytes": split.size}


def _place(split: LogSplit) -> str:
    """Return a path that is the same for every attempt and differs between splits, whose starts differ."""
    topic = _NO_TOPIC if split.topic is None else quote(split.topic, safe="")
    number = _NO_TOPIC if split.partition is None else str(split.partition)
    first = max(split.segments[0].base_offset, split.start_offset or 0)
    part = f"-{split.start}" if split.start else ""
    return f"topic={topic}/partition={number}/{first:020d}{part}.parquet"


def _write_groups(target: _Target, sink: _Sink, first: pa.Table, rest: Iterator[pa.Table]) -> tuple[int, pa.Table]:
    from pyarrow.parquet import ParquetWriter

    counted = [name for name in ("offset", "timestamp") if name in target.columns]
    records, group = 0, first
    with ParquetWriter(
        pa.PythonFile(sink, mode="w"),
        arrow_schema(target.columns),
        compression=target.compression,
        write_statistics=counted,
        use_dictionary=False,  # keys and values seldom repeat: building a dictionary takes longer than it saves
    ) as parquet:
        while group is not None:
            parquet.write_table(group.select(target.columns), row_group_size=max(group.num_rows, 1))
            records += group.num_rows
            last, group = group, next(rest, None)
    return records, last


def _row_groups(target: _Target, split: LogSplit, findings: list[Finding]) -> Iterator[pa.Table]:
    names = tuple(dict.fromkeys((*target.columns, "offset")))
    schema = arrow_schema(names)
    batches: list[pa.RecordBatch] = []
    for columns in read_split(split, names, target.reading, findings):
        for batch in pa.RecordBatchReader.from_stream(columns):
            arrays = [as_column(batch.column(field.name), field) for field in schema]
            batches.append(pa.RecordBatch.from_arrays(arrays, schema=schema))
        if sum(batch.nbytes for batch in batches) >= _ROW_GROUP_BYTES:
            yield pa.Table.from_batches(batches)
            batches = []
    if any(batch.num_rows for batch in batches):
        yield pa.Table.from_batches(batches)


class _Sink(RawIOBase):
    """File object for pyarrow over a `Writer`."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.position = 0

    def write(self, data: Buffer) -> int:
        size = memoryview(data).nbytes
        self._writer.write(data)
        self.position += size
        return size

    def tell(self) -> int:
        return self.position

    def writable(self) -> bool:
        return True
