"""The log that `open_log` returns: partitions and segments, wherever their files are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, NoReturn

from recordpress._html import html_table
from recordpress._threads import cores
from recordpress.errors import ArgumentTypeError
from recordpress.log._batch_table import table_of
from recordpress.log._batches import BatchIterator, LogBatch, count_of
from recordpress.log._file_records import OnCorrupt
from recordpress.log._read import LogReader, ReadOptions
from recordpress.log._segment import Partition, with_checks
from recordpress.log.findings import Finding
from recordpress.typing import BinaryType, HeaderChecksum, IsolationLevel, Time, TimestampUnit

if TYPE_CHECKING:
    import pyarrow as pa

    from recordpress.log import ScanReport, VerifyReport


class Log:
    """Partitions of a log, as `recordpress.open_log` returns them. Creating a log reads no file contents.

    A log is what a broker keeps in a log directory, or a copy of it anywhere: `read` returns its records as Arrow
    columns, `batches` and `batch_table` describe its batches by their headers, `verify` and `scan` look for damage. A
    log can be read any number of times and from several threads; every call opens its own files.

    Attributes
    ----------
    partitions : tuple of Partition
        Ordered by topic and number, each with its segments ordered by base offset.
    source : str, PathLike or several of them
        The paths that were opened.
    topics : mapping of str to Log
        The log of each named topic, in the order of the partitions.
    skipped : tuple of Finding
        Entries next to the partitions that are not read: directories and files that a broker is about to delete or has
        not finished, and names that are not names of partitions.

    Examples
    --------
    >>> import recordpress
    >>> log = recordpress.open_log("demo/logs")
    >>> log
    <recordpress.log.Log: 8 partitions, 12 segments>
    >>> list(log.topics), [str(partition) for partition in log.topics["sessions"]]
    (['access-json', 'access-log', 'nginx-status', 'sessions'], ['sessions-0', 'sessions-1'])
    >>> log.read(["offset", "value"]).to_pyarrow().num_rows == log.count()
    True
    """

    def __init__(
        self,
        partitions: Iterable[Partition],
        skipped: Iterable[Finding] = (),
        source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        self.partitions = tuple(partitions)
        self.skipped = tuple(skipped)
        self.source = source

    def __iter__(self) -> Iterator[Partition]:
        return iter(self.partitions)

    @property
    def topics(self) -> Mapping[str, Log]:
        found: dict[str, list[Partition]] = {}
        for partition in self.partitions:
            if partition.topic is not None:
                found.setdefault(partition.topic, []).append(partition)
        return {topic: Log(partitions, self.skipped, self.source) for topic, partitions in found.items()}

    def __repr__(self) -> str:
        segments = sum(len(partition.segments) for partition in self.partitions)
        counts = ((len(self.partitions), "partition"), (segments, "segment"))
        shown = ", ".join(f"{count} {name}{'s' * (count != 1)}" for count, name in counts)
        return f"<recordpress.log.Log: {shown}>"

    def _repr_html_(self) -> str:
        rows = (
            (one.topic, one.partition, len(one.segments), sum(segment.size or 0 for segment in one.segments), one.url)
            for one in self.partitions
        )
        names = ("topic", "partition", "segments", "bytes", "path")
        return html_table(repr(self)[1:-1], names, rows, len(self.partitions))

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        """Raise an error: pandas requests an array from objects that it does not know."""
        raise ArgumentTypeError("a log cannot be converted to a NumPy array: use log.read().to_pandas()", field="log")

    def select(self, wanted: Callable[[Partition], bool]) -> Log:
        """Return a log with some of the partitions.

        Parameters
        ----------
        wanted : callable
            Takes a `Partition` and returns whether to keep it.

        Returns
        -------
        Log

        Examples
        --------
        >>> import recordpress
        >>> log = recordpress.open_log("demo/logs")
        >>> log.select(lambda partition: partition.topic == "access-log")
        <recordpress.log.Log: 3 partitions, 3 segments>
        """
        return Log(filter(wanted, self.partitions), self.skipped, self.source)

    def read(
        self,
        columns: Iterable[str] | None = None,
        *,
        start_offset: int | None = None,
        end_offset: int | None = None,
        start_timestamp: Time | None = None,
        end_timestamp: Time | None = None,
        isolation_level: IsolationLevel = "read_uncommitted",
        on_corrupt: OnCorrupt = "raise",
        threads: int | None = None,
        timestamp_unit: TimestampUnit = "ms",
        binary_type: BinaryType = "binary",
        lz4_header_checksum: HeaderChecksum = "verify",
        check_indexes: bool = False,
    ) -> LogReader:
        """Read records as Arrow columns: partition by partition, in the order of the log, each offset once.

        Control records are not returned. Nothing is read before the result is used.

        Where offsets do not ascend, a record is omitted only if another record, in an earlier segment or earlier in its
        file, has the same offset; `findings` reports this. A range gives the same records as reading everything, except
        that a segment is skipped if its name and its first and last headers place it outside the range. Damage in a
        payload that no column needs goes unnoticed.

        Parameters
        ----------
        columns : sequence of str, optional
            ``topic``, ``partition`` and the columns of `recordpress.read_columns`. Default: offset, timestamp,
            timestampType, key, value and headers, preceded by topic and partition if the log has several partitions.
            ``topic`` and ``partition`` are null where no directory names them.
        start_offset, end_offset : int, optional
            Range of offsets in each partition; `end_offset` is excluded.
        start_timestamp, end_timestamp : int, datetime or str, optional
            Range of record timestamps: milliseconds since 1970, a datetime with a time zone, or ISO 8601 text with one.
            `end_timestamp` is excluded.
        isolation_level : {'read_uncommitted', 'read_committed'}
            ``read_committed`` omits records of aborted transactions and ends a partition at its last stable offset,
            which is the first offset of the earliest open transaction.
        on_corrupt : {'raise', 'skip', 'stop'}
            At damage: raise an error after the records before it, skip to the next intact batch, or end the partition
            where a broker's recovery would cut it. The reader's `findings` list what was omitted.
        threads : int, optional
            Number of worker threads, and of results decoded ahead; by default one per core.
        timestamp_unit : {'ms', 'us'}
        binary_type : {'binary', 'large_binary', 'binary_view'}
            Arrow type of keys and values.
        lz4_header_checksum : {'verify', 'ignore'}
            As for `recordpress.read_columns`. The reader's `findings` list ignored checksums.
        check_indexes : bool
            In an object store, read headers instead of trusting names and indexes. On this machine, indexes only show
            where a segment's last headers are.

        Returns
        -------
        LogReader
            An Arrow stream and an iterator over `Columns` of 4 to 8 MB each; only a few of them are in memory at a
            time.

        Raises
        ------
        InvalidArgumentError, ArgumentTypeError
            A column or an option is not accepted.
        RecordpressError
            While reading: damage, with file, byte position and rule, or a failure of the store. Only the last segment
            of a partition may end in a truncated entry or in zeros.

        Examples
        --------
        >>> import recordpress
        >>> log = recordpress.open_log("demo/logs/sessions-0")
        >>> table = log.read(["offset", "timestamp", "value"], start_offset=1638).to_pyarrow()
        >>> table["offset"].to_pylist()
        [1638, 1639, 1640, 1641]
        >>> log.read(start_timestamp="2100-01-01T00:00Z").to_pyarrow().num_rows
        0
        """
        options = ReadOptions(
            start_offset=start_offset,
            end_offset=end_offset,
            start_timestamp=start_timestamp,
            end_timestamp=end_timestamp,
            isolation_level=isolation_level,
            on_corrupt=on_corrupt,
            threads=cores() if threads is None else threads,
            timestamp_unit=timestamp_unit,
            binary_type=binary_type,
            lz4_header_checksum=lz4_header_checksum,
        )
        return LogReader(with_checks(self.partitions) if check_indexes else self.partitions, columns, options)

    def batches(self, *, check_crcs: bool = False, findings: list[Finding] | None = None) -> Iterator[LogBatch]:
        """Iterate over all batches, as their headers describe them, in file order, even where segments overlap.

        Parameters
        ----------
        check_crcs : bool
            Read all bytes and set `is_valid` of each batch.
        findings : list of Finding, optional
            Receives a finding for each segment that ends in a truncated entry or in zeros.

        Yields
        ------
        LogBatch

        Raises
        ------
        CorruptRecordError
            An entry that cannot be a batch, or a segment with an invalid end; raised after the batches before it.

        Examples
        --------
        >>> import recordpress
        >>> log = recordpress.open_log("demo/logs/access-log-0")
        >>> first = next(log.batches())
        >>> first.header.base_offset, first.header.records_count, first.header.size
        (0, 8, 1016)
        """
        return BatchIterator(self.partitions, check_crcs, findings)

    def batch_table(self, *, check_crcs: bool = False) -> pa.Table:
        """Return a table with one row per batch, from headers; needs pyarrow.

        Parameters
        ----------
        check_crcs : bool
            Read all bytes and fill ``isValid``, which is null otherwise.

        Returns
        -------
        pyarrow.Table
            topic, partition, file, position, size, magic, compressionType, attributes, baseOffset (of a v0/v1 wrapper:
            its last offset, the only offset in the header), lastOffset, recordsCount (null for a wrapper),
            maxTimestamp, timestampType, partitionLeaderEpoch, producerId, producerEpoch, baseSequence, lastSequence,
            isTransactional, isControl, deleteHorizonMs, crc, isValid.

        Examples
        --------
        >>> import recordpress
        >>> table = recordpress.open_log("demo/logs").batch_table()
        >>> table.group_by("compressionType").aggregate([("size", "sum")]).num_rows
        4
        """
        return table_of(self.partitions, check_crcs)

    def count(self) -> int:
        """Count the records that `read` returns, from headers.

        Only compressed messages of v0 and v1 are decompressed: their headers have no count.

        Returns
        -------
        int

        Examples
        --------
        >>> import recordpress
        >>> recordpress.open_log("demo/logs/sessions-0").count()
        1634
        """
        return count_of(self.partitions)

    def verify(self, check: Literal["file", "batch", "record"] = "batch") -> VerifyReport:
        """Check names, sidecar files and batches, as `recordpress.log.verify` does.

        Parameters
        ----------
        check : {'file', 'batch', 'record'}
            Depth of the check: names and sidecar files; also all batches; or also all records.

        Returns
        -------
        VerifyReport

        Examples
        --------
        >>> import recordpress
        >>> recordpress.open_log("demo/logs/sessions-0").verify("record").findings
        []
        """
        from recordpress.log import verify

        return verify(self, check)

    def scan(self) -> ScanReport:
        """Find all damage, and predict what a broker's recovery would keep, as `recordpress.log.scan` does.

        Returns
        -------
        ScanReport

        Examples
        --------
        >>> import recordpress
        >>> recordpress.open_log("demo/logs/sessions-0").scan().findings
        []
        """
        from recordpress.log import scan

        return scan(self)
