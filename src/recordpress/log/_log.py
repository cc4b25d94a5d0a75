"""A log: the input of every tool, wherever its files are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from recordpress.codecs import CodecRegistry
from recordpress.log._batch_table import table_of
from recordpress.log._batches import LogBatch, batches_of, count_of
from recordpress.log._file_records import OnCorrupt
from recordpress.log._open import open_paths
from recordpress.log._read import LogReader, ReadOptions
from recordpress.log._segment import Partition
from recordpress.log._transactions import IsolationLevel
from recordpress.log.findings import Finding
from recordpress.typing import BinaryType, HeaderChecksum, Time, TimestampUnit

if TYPE_CHECKING:
    import pyarrow as pa

    from recordpress.log import ScanReport, VerifyReport


class Log:
    """Partitions and their segments, found by `open_log`. Nothing is read until it is asked for.

    Attributes
    ----------
    partitions : tuple of Partition
        By topic and number.
    skipped : tuple of Finding
        What is also there but is not read: directories and files that a broker is about to delete or has not finished,
        and names that are not a partition's.

    Examples
    --------
    >>> import recordpress
    >>> log = recordpress.open_log("demo/logs/sessions-*")                               # doctest: +SKIP
    >>> log                                                                         # doctest: +SKIP
    <recordpress.log.Log: 2 partitions, 4 segments>
    >>> log.count(), log.read(["offset"]).to_pyarrow().num_rows                     # doctest: +SKIP
    (3600, 3600)
    """

    def __init__(self, partitions: Iterable[Partition], skipped: Iterable[Finding] = ()) -> None:
        self.partitions = tuple(partitions)
        self.skipped = tuple(skipped)

    def __repr__(self) -> str:
        segments = sum(len(partition.segments) for partition in self.partitions)
        counts = ((len(self.partitions), "partition"), (segments, "segment"))
        shown = ", ".join(f"{count} {name}{'s' * (count != 1)}" for count, name in counts)
        return f"<recordpress.log.Log: {shown}>"

    def select(self, wanted: Callable[[Partition], bool]) -> Log:
        """The log with some of its partitions.

        Parameters
        ----------
        wanted : callable
            Takes a `Partition`.

        Returns
        -------
        Log

        Examples
        --------
        >>> log.select(lambda partition: partition.topic == "orders")              # doctest: +SKIP
        <recordpress.log.Log: 12 partitions, 40 segments>
        """
        return Log(filter(wanted, self.partitions), self.skipped)

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
        threads: int = 1,
        timestamp_unit: TimestampUnit = "ms",
        binary_type: BinaryType = "binary",
        lz4_header_checksum: HeaderChecksum = "verify",
    ) -> LogReader:
        """The records, partition by partition, in order of offset, each offset once. Control records are left out.

        Parameters
        ----------
        columns : sequence of str, optional
            ``topic``, ``partition``, and those of `recordpress.read_columns`. By default offset, timestamp,
            timestampType, key, value and headers, after topic and partition if there is more than one partition. topic
            and partition are null if no name says them.
        start_offset, end_offset : int, optional
            Of each partition; end_offset is not included.
        start_timestamp, end_timestamp : int, datetime or str, optional
            Milliseconds since 1970, a datetime with a time zone, or ISO 8601. end_timestamp is not included.
        isolation_level : {'read_uncommitted', 'read_committed'}
            read_committed leaves out the records of aborted transactions, and ends a partition at its last stable
            offset: before the first record of a transaction that is open.
        on_corrupt : {'raise', 'skip', 'stop'}
            At damage: raise an error after all records before it, skip to the next intact batch, or end the partition
            there, where a broker's recovery would cut it. What was left out is then in the reader's `findings`.
        threads : int
            Decode with this many threads, and this many results ahead.
        timestamp_unit : {'ms', 'us'}
        binary_type : {'binary', 'large_binary', 'binary_view'}
            Of keys and values.
        lz4_header_checksum : {'verify', 'ignore'}
            As for `recordpress.read_columns`. Wrong checksums that are ignored are in the reader's `findings`.

        Returns
        -------
        LogReader
            An Arrow stream, and an iterator over `Columns` of 4 to 8 MB. Memory is bounded by a few of them, not by
            the log.

        Raises
        ------
        InvalidArgumentError, ArgumentTypeError
            A column or an option that is not accepted.
        RecordpressError
            While reading: damage, with its file, byte position and rule; or a store that fails. Every segment but the
            last of its partition must be complete; the last one may end in a cut entry, or in zeros.

        Examples
        --------
        >>> log = recordpress.open_log("demo/logs")                                      # doctest: +SKIP
        >>> log.read(["topic", "offset", "value"], start_timestamp="2026-09-01T00:00Z").to_pyarrow()  # doctest: +SKIP
        """
        options = ReadOptions.of(
            start_offset=start_offset,
            end_offset=end_offset,
            start_timestamp=start_timestamp,
            end_timestamp=end_timestamp,
            isolation_level=isolation_level,
            on_corrupt=on_corrupt,
            threads=threads,
            timestamp_unit=timestamp_unit,
            binary_type=binary_type,
            lz4_header_checksum=lz4_header_checksum,
        )
        return LogReader(self.partitions, columns, options)

    def batches(self, *, check_crcs: bool = False, findings: list[Finding] | None = None) -> Iterator[LogBatch]:
        """Every batch, by its header alone, in order; also if segments overlap.

        Parameters
        ----------
        check_crcs : bool
            Read all bytes, and say for each batch whether its checksum is right.
        findings : list of Finding, optional
            Gets what follows the last whole entry of a segment: one that is cut, or zeros.

        Yields
        ------
        LogBatch

        Raises
        ------
        CorruptRecordError
            An impossible entry, or an end that a file may not have; after the batches before it.

        Examples
        --------
        >>> sum(batch.header.size for batch in log.batches())                       # doctest: +SKIP
        1048371
        """
        return batches_of(self.partitions, check_crcs, findings)

    def batch_table(self, *, check_crcs: bool = False) -> pa.Table:
        """One row per batch, by headers alone; needs pyarrow.

        Parameters
        ----------
        check_crcs : bool
            As in `batches`: without it, isValid is null.

        Returns
        -------
        pyarrow.Table
            topic, partition, file, position, size, magic, compressionType, attributes, baseOffset (of a v0/v1 wrapper:
            its last offset, the only one in the header), lastOffset, recordsCount (null for a wrapper),
            maxTimestamp, timestampType, partitionLeaderEpoch, producerId, producerEpoch, baseSequence, lastSequence,
            isTransactional, isControl, deleteHorizonMs, crc, isValid.

        Examples
        --------
        >>> log.batch_table().group_by("compressionType").aggregate([("size", "sum")])   # doctest: +SKIP
        """
        return table_of(self.partitions, check_crcs)

    def count(self) -> int:
        """The number of records that `read` gives, from headers. Only v0/v1 wrappers, whose headers have no count,
        are decompressed.

        Returns
        -------
        int

        Examples
        --------
        >>> recordpress.open_log("demo/logs/sessions-0").count()                         # doctest: +SKIP
        1634
        """
        return count_of(self.partitions)

    def verify(self, level: Literal["file", "batch", "record"] = "batch") -> VerifyReport:
        """Check the log for errors: see `recordpress.log.verify`.

        Parameters
        ----------
        level : {'file', 'batch', 'record'}

        Returns
        -------
        VerifyReport

        Examples
        --------
        >>> recordpress.open_log("demo/logs").verify("record").findings                  # doctest: +SKIP
        []
        """
        from recordpress.log import verify

        return verify(self, level)

    def scan(self) -> ScanReport:
        """Read every byte, and go on after damage: see `recordpress.log.scan`.

        Returns
        -------
        ScanReport

        Examples
        --------
        >>> recordpress.open_log("demo/logs").scan().findings                            # doctest: +SKIP
        []
        """
        from recordpress.log import scan

        return scan(self)


def open_log(
    path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    filesystem: object = None,
    codecs: CodecRegistry | None = None,
) -> Log:
    """See `recordpress.open_log`."""
    return Log(*open_paths(path, filesystem, codecs))
