"""The records of a log as one stream of columns.

::

    partitions ──► segments that matter ──► _seek: where to begin ──► _file_records: columns ──► + topic, partition
                   offsets, times            (by indexes, or not)      damage, tails              ──► Arrow stream

Each offset is read once: `_overlap` has the rule for segments that overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from recordpress._arguments import INT64_MAX, integer, time
from recordpress.columns import Columns, ConstantColumns, constant_field, read_columns, stream_of, with_constants
from recordpress.errors import ArgumentTypeError, ClosedError, InvalidArgumentError
from recordpress.files import Buffered
from recordpress.log._file_records import RESULT_BYTES, FileRecords, OnCorrupt, ResultSize
from recordpress.log._overlap import ReadFrontier, is_before
from recordpress.log._part import SegmentPart
from recordpress.log._seek import SegmentSeek
from recordpress.log._segment import Partition, Segment
from recordpress.log._segment_tail import tail_findings
from recordpress.log._transactions import Isolation, IsolationLevel, check_isolation_level, isolation_of
from recordpress.log.findings import DAMAGE, Finding
from recordpress.typing import BinaryType, HeaderChecksum, TimestampUnit

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import CapsuleType

    from recordpress.columns import Field

PLACE_COLUMNS: dict[str, type[str] | type[int]] = {"topic": str, "partition": int}
_ON_CORRUPT = ("raise", "skip", "stop")


@dataclass(frozen=True)
class ReadOptions:
    """What to read of a log, and how: the arguments of `Log.read`, checked."""

    start_offset: int | None = None
    end_offset: int | None = None
    start_timestamp: int | None = None
    end_timestamp: int | None = None
    isolation_level: IsolationLevel = "read_uncommitted"
    on_corrupt: OnCorrupt = "raise"
    threads: int = 1
    timestamp_unit: TimestampUnit = "ms"
    binary_type: BinaryType = "binary"
    lz4_header_checksum: HeaderChecksum = "verify"
    batch_bytes: int | None = None  # of the file in each result; None: as many as give results of these sizes
    result_bytes: int = RESULT_BYTES
    result_rows: int | None = None
    reached: ReadFrontier | None = None  # how far segments before these were read

    @classmethod
    def of(cls, **given: Any) -> ReadOptions:
        """Check a caller's arguments, except those that `iter_columns` checks."""
        check_isolation_level(given["isolation_level"])
        _check_on_corrupt(given["on_corrupt"])
        for name in ("start_offset", "end_offset"):
            if given[name] is not None:
                given[name] = integer(given[name], name, -INT64_MAX, INT64_MAX)
        for name in ("start_timestamp", "end_timestamp"):
            if given[name] is not None:
                given[name] = time(given[name], name)
        return cls(**given)


def _check_on_corrupt(value: object) -> None:
    if value not in _ON_CORRUPT:
        message = f"on_corrupt must be {', '.join(_ON_CORRUPT[:-1])} or {_ON_CORRUPT[-1]}, not {value!r}"
        raise InvalidArgumentError(message[:200], field="on_corrupt")


class _Start(NamedTuple):
    """Where in a segment reading begins."""

    position: int
    offset: int | None


class LogReader:
    """The result of `Log.read`: an iterator over `Columns` and an Arrow stream, for one use.

    ``pyarrow.table(reader)``, ``polars.DataFrame(reader)``, DuckDB and pandas accept it. A ``with`` statement closes
    it, as do its end and a consumer that releases the stream.

    Attributes
    ----------
    schema : tuple of fields, each with name, type and nullable
    findings : list of Finding
        Findings so far: cut entries, zeros, skipped damage, overlapping segments whose offsets are read once, wrong
        indexes, and ignored LZ4 header checksums.
    last_stable_offsets : dict of str to int
        With ``read_committed``: the ends of partitions that have an open transaction.

    Examples
    --------
    >>> import recordpress
    >>> with recordpress.open_log("demo/logs/sessions-0").read(["offset", "key"]) as reader:
    ...     rows = sum(columns.num_rows for columns in reader)
    >>> rows
    1634
    """

    def __init__(
        self,
        partitions: Iterable[Partition],
        columns: Iterable[str] | None,
        options: ReadOptions,
        isolation: Callable[[Partition, bool], Isolation] | None = None,
    ) -> None:
        self._partitions = tuple(partitions)
        self._isolation_of = isolation or (lambda partition, skip: isolation_of(partition.segments, skip=skip))
        self._options = options
        self._names = self._chosen(columns)
        self._of_records = [name for name in self._names if name not in PLACE_COLUMNS]
        self.findings: list[Finding] = []
        self.last_stable_offsets: dict[str, int] = {}
        self.schema = self._fields()
        self._results: Generator[Columns, None, None] | None = None  # once it was begun
        self._is_closed = False
        self._file: FileRecords | None = None
        self._passed = 0

    def __repr__(self) -> str:
        count = len(self._partitions)
        state = "closed" if self._is_closed else "begun" if self._results else "not begun"
        partitions = f"{count} partition{'s' * (count != 1)}"
        return f"<recordpress.log.LogReader: {partitions}, columns {', '.join(self._names)}; {state}>"

    @property
    def position(self) -> int:
        """How many bytes of the log's segments were read or passed over so far."""
        return self._passed + (self._file.valid_bytes if self._file else 0)

    def _chosen(self, columns: Iterable[str] | None) -> list[str]:
        if columns is None:
            of_records = read_columns(b"").column_names
            return [*PLACE_COLUMNS, *of_records] if len(self._partitions) > 1 else of_records
        if isinstance(columns, str | bytes):
            raise ArgumentTypeError("columns must be names, not one text", field="columns")
        names = list(columns)
        for name in PLACE_COLUMNS:
            if names.count(name) > 1:
                raise InvalidArgumentError(f"column {name!r} is asked for twice", field="columns")
        return names

    def _fields(self) -> tuple[Field, ...]:
        """The schema, which needs no record; wrong names and options are refused here."""
        columns = read_columns(b"", self._of_records, **self._decoding())
        of_records = dict(zip(columns.column_names, columns.schema, strict=True))
        return tuple(
            constant_field(name, PLACE_COLUMNS[name]) if name in PLACE_COLUMNS else of_records[name]
            for name in self._names
        )

    def _decoding(self) -> dict[str, Any]:
        options = self._options
        return {
            "start_offset": options.start_offset,
            "end_offset": options.end_offset,
            "start_timestamp": options.start_timestamp,
            "end_timestamp": options.end_timestamp,
            "threads": options.threads,
            "timestamp_unit": options.timestamp_unit,
            "binary_type": options.binary_type,
            "lz4_header_checksum": options.lz4_header_checksum,
        }

    # --- the iterator -------------------------------------------------------------------------------------------

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Columns:
        if self._is_closed:
            raise StopIteration
        self._results = self._results or self._read()
        return next(self._results)

    def close(self) -> None:
        """End the reading and its threads, and close the files."""
        self._is_closed = True
        if self._results is not None:
            self._results.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __arrow_c_stream__(self, requested_schema: CapsuleType | None = None) -> CapsuleType:
        """An ``arrow_array_stream`` capsule: a record batch of 4 to 8 MB for each result. Each call begins a new
        stream, because some consumers ask for the schema first; after a part was iterated over, it has the rest.
        requested_schema is ignored: the interface lets a producer give its own."""
        if self._is_closed:
            raise ClosedError("the reader was closed")
        self._is_closed = self._results is not None
        results = self._results or self._read()
        return stream_of(self.schema, results, results.close)

    def to_pyarrow(self) -> pa.Table:
        """All of it as a pyarrow table.

        Returns
        -------
        pyarrow.Table
        """
        import pyarrow as pa

        return pa.table(self)

    # --- reading ------------------------------------------------------------------------------------------------

    def _read(self) -> Generator[Columns, None, None]:
        size = ResultSize(self._options.result_bytes, self._options.result_rows)
        self.findings.clear()
        self._passed = 0
        self.last_stable_offsets.clear()
        names = [name for name in self._names if name in PLACE_COLUMNS]
        for partition in self._partitions:
            place = {"topic": (str, partition.topic), "partition": (int, partition.partition)}
            values = ConstantColumns({name: place[name] for name in names})
            for columns in self._read_partition(partition, size):
                yield with_constants(columns, self._names, values) if names else columns

    def _read_partition(self, partition: Partition, size: ResultSize) -> Iterator[Columns]:
        isolation = self._isolation(partition)
        end = _least(self._options.end_offset, isolation.last_stable_offset if isolation else None)
        by_columns = size if self._options.batch_bytes is None else None
        reached = self._options.reached or ReadFrontier(self._options.start_offset)
        walk = _Walk(reached, self._options.start_timestamp, by_columns)
        for number, segment in enumerate(partition.segments):
            if end is not None and segment.base_offset >= end:
                break
            following = partition.segments[number + 1 :]
            if not is_before(following, self._options.start_offset):
                yield from self._read_segment(segment, walk, isolation, end)
            self._file = None
            self._passed += segment.size or 0
            if walk.is_stopped:
                break
        if isolation and isolation.error is not None and self._options.on_corrupt == "raise":
            raise isolation.error  # where the records end before the damage that hides markers

    def _isolation(self, partition: Partition) -> Isolation | None:
        if self._options.isolation_level == "read_uncommitted":
            return None
        isolation = self._isolation_of(partition, self._options.on_corrupt == "skip")
        self.findings += isolation.findings
        if isolation.last_stable_offset is not None:
            self.last_stable_offsets[str(partition)] = isolation.last_stable_offset
        return isolation

    def _read_segment(
        self, segment: Segment, walk: _Walk, isolation: Isolation | None, end: int | None
    ) -> Iterator[Columns]:
        options = {**self._decoding(), "start_offset": walk.offset, "end_offset": end}
        if self._options.batch_bytes is not None:
            options["batch_bytes"] = self._options.batch_bytes
        if overlap := walk.finding(segment):
            self.findings.append(overlap)
        with segment.records() as file:
            self._file = file
            start = self._start(segment, file, walk)
            if start is None:
                return
            if isolation:
                # one that ended before does not matter: its producer may have gone on
                first = segment.base_offset if start.offset is None else start.offset
                options["aborted_transactions"] = [t[:2] for t in isolation.aborted if t.last_offset >= first]
            columns = file.columns(
                self._of_records,
                position=start.position,
                on_corrupt=self._options.on_corrupt,
                size=walk.size,
                **options,
            )
            try:
                yield from columns
            finally:
                self.findings += file.ignored + file.findings
            self.findings += tail_findings(segment, file)
            walk.passed(segment, file.next_offset)
            walk.is_stopped = self._options.on_corrupt == "stop" and bool(file.findings)

    def _start(self, segment: Segment, file: FileRecords, walk: _Walk) -> _Start | None:
        """None if the segment has nothing to read."""
        by_offset = walk.offset is not None and walk.offset > segment.base_offset
        if not by_offset and walk.timestamp is None:
            return _Start(file.file.start, None)
        source = Buffered(file.file) if file.file.is_remote else file.file
        ends_early = isinstance(segment, SegmentPart) and segment.end != segment.whole.size
        seek = SegmentSeek(source, segment.base_offset, segment.open_sibling, segment.url, segment.codecs, ends_early)
        try:
            return self._seek_start(seek, segment, file, walk, by_offset)
        except DAMAGE:
            return _Start(file.file.start, None)  # reading on to there reports it
        finally:
            self.findings += [found for found in seek.findings if found.position is not None]

    def _seek_start(
        self, seek: SegmentSeek, segment: Segment, file: FileRecords, walk: _Walk, by_offset: bool
    ) -> _Start | None:
        if walk.timestamp is not None:
            place = seek.timestamp(walk.timestamp, walk.offset or 0)
            if place is None:
                # an entry that is cut, or worse, may follow: only the last segment may end in one
                return None if not segment.is_last else _Start(file.file.start, None)
            walk.timestamp = None  # later segments may have any times: each record is compared
            return _Start(place.position, place.offset)
        header = seek.offset(walk.offset or 0) if by_offset else None
        if header is None:
            return None if not segment.is_last else _Start(file.file.start, None)
        return _Start(header.position, header.base_offset)


class _Walk(ReadFrontier):
    """How far a partition was read."""

    def __init__(self, reached: ReadFrontier, timestamp: int | None, size: ResultSize | None) -> None:
        super().__init__(reached.offset, reached.already_reported)
        self.url = reached.url
        self.size = size
        self.timestamp = timestamp  # until a record that late was found
        self.is_stopped = False


def _least(*values: int | None) -> int | None:
    return min((value for value in values if value is not None), default=None)
