"""The records of a log as one stream of columns.

::

    partitions ──► segments that matter ──► where to begin ──► _file_records: columns ──► + topic, partition
                   _extent: offsets         headers; _seek:    damage, tails              ──► Arrow stream
                                            indexes of stores             │ offsets go back
                                                      ▲                   ▼
                                                      └─ runs of batches: _log_order, which has the rule
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self, cast, get_args

from recordpress._arguments import INT64_MAX, choice, integer, time
from recordpress.columns import (
    Columns,
    ConstantColumns,
    StreamedRows,
    concat,
    constant_field,
    read_columns,
    stream_of,
    with_constants,
)
from recordpress.columns.place import PLACE_COLUMNS, chosen_columns
from recordpress.errors import ArgumentTypeError, ClosedError, InUseError
from recordpress.files import buffered
from recordpress.log._extent import extent_of, is_checked
from recordpress.log._file_records import RESULT_BYTES, FileRecords, OnCorrupt, ResultSize
from recordpress.log._log_order import Frontier, runs_of
from recordpress.log._part import SegmentPart, part_between
from recordpress.log._part_isolation import reading_isolation
from recordpress.log._seek import SegmentSeek
from recordpress.log._segment import Partition, Segment, tail_findings
from recordpress.log._transactions import Isolation
from recordpress.log.findings import DAMAGE, Finding
from recordpress.typing import BinaryType, HeaderChecksum, IsolationLevel, Time, TimestampUnit

if TYPE_CHECKING:
    from typing_extensions import CapsuleType

    from recordpress.columns import Field

_DECODING = (
    "start_offset", "end_offset", "start_timestamp", "end_timestamp", "threads", "timestamp_unit", "binary_type",
    "lz4_header_checksum",
)  # fmt: skip


@dataclass(frozen=True)
class ReadOptions:
    """The arguments of `Log.read`, checked except for the arguments that `read_columns` checks."""

    start_offset: int | None = None
    end_offset: int | None = None
    start_timestamp: Time | None = None  # milliseconds once they are checked
    end_timestamp: Time | None = None
    isolation_level: IsolationLevel = "read_uncommitted"
    on_corrupt: OnCorrupt = "raise"
    threads: int = 1
    timestamp_unit: TimestampUnit = "ms"
    binary_type: BinaryType = "binary"
    lz4_header_checksum: HeaderChecksum = "verify"
    batch_bytes: int | None = None  # of the file in each result; None: enough for results of the following sizes
    result_bytes: int = RESULT_BYTES
    result_rows: int | None = None
    reached: Frontier | None = None  # how far earlier segments were read

    def __post_init__(self) -> None:
        choice("isolation_level", self.isolation_level, get_args(IsolationLevel))
        choice("on_corrupt", self.on_corrupt, get_args(OnCorrupt))
        for name in ("start_offset", "end_offset"):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, integer(given, name, -INT64_MAX, INT64_MAX))
        for name in ("start_timestamp", "end_timestamp"):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, time(given, name))

    def decoding(self) -> dict[str, Any]:
        """Return the options that `read_columns` takes."""
        return {name: getattr(self, name) for name in _DECODING}


class _Start(NamedTuple):
    """Place in a segment where reading begins."""

    position: int
    offset: int | None
    before: int | None = None  # the offset after the batches before it, if headers were read
    end: int | None = None  # the offset after all batches of the segment, if all headers were read


_NOTHING = _Start(-1, None)


class LogReader(StreamedRows):
    """The result of `Log.read`: an iterator over `Columns` and an Arrow stream, for one use.

    ``pyarrow.table(reader)``, ``polars.DataFrame(reader)``, DuckDB and pandas accept it. It is closed by a ``with``
    statement, at its end, and when a consumer releases the stream.

    Attributes
    ----------
    schema : tuple of fields, each with name, type and nullable
    findings : list of Finding
        Findings so far: truncated entries, zeros, skipped damage, offsets that go back or occur twice, wrong indexes,
        and ignored LZ4 header checksums.
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
        self._isolation_of = isolation or (lambda partition, skip: reading_isolation(partition.segments, skip))
        self._options = options
        self._names = chosen_columns(columns, has_place=len(self._partitions) > 1)
        self._of_records = [name for name in self._names if name not in PLACE_COLUMNS]
        self.findings: list[Finding] = []
        self.last_stable_offsets: dict[str, int] = {}
        self.schema = self._fields()
        self._results: Generator[Columns, None, None] | None = None  # None before reading begins
        self._is_closed = False
        self._is_at_end = False
        self._error: BaseException | None = None  # the error that ended reading
        self._file: FileRecords | None = None
        self._passed = 0

    def __repr__(self) -> str:
        count = len(self._partitions)
        state = "closed" if self._is_closed else "begun" if self._results else "not begun"
        partitions = f"{count} partition{'s' * (count != 1)}"
        return f"<recordpress.log.LogReader: {partitions}, columns {', '.join(self._names)}; {state}>"

    @property
    def position(self) -> int:
        """Number of bytes of the log's segments that were read or skipped so far."""
        return self._passed + (self._file.valid_bytes if self._file else 0)

    def _fields(self) -> tuple[Field, ...]:
        """Return the schema without reading a record; reject wrong names and options."""
        columns = read_columns(b"", self._of_records, **self._options.decoding())
        of_records = dict(zip(columns.column_names, columns.schema, strict=True))
        return tuple(
            constant_field(name, PLACE_COLUMNS[name]) if name in PLACE_COLUMNS else of_records[name]
            for name in self._names
        )

    # --- the iterator -------------------------------------------------------------------------------------------

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Columns:
        if self._error is not None:
            raise self._error
        if self._is_closed:
            raise StopIteration
        self._results = self._results or self._read()
        try:
            return next(self._results)
        except StopIteration:
            self._is_at_end = True
            raise
        except BaseException as error:
            _refuse_two(error, "read by two callers at once")
            self._error = error
            raise

    def close(self) -> None:
        """Stop reading, end the worker threads, and close the files.

        Raises
        ------
        InUseError
            Another thread is reading.
        """
        if self._results is not None:
            try:
                self._results.close()
            except ValueError as error:
                _refuse_two(error, "closed while another thread reads")
                raise
        self._is_closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        """Raise an error: pandas requests an array from objects that it does not know."""
        raise ArgumentTypeError("a reader cannot be converted to a NumPy array: use to_pandas()", field="columns")

    def __arrow_c_stream__(self, requested_schema: CapsuleType | None = None) -> CapsuleType:
        """Return an ``arrow_array_stream`` capsule, with a record batch of 4 to 8 MB for each result. Each call begins
        a new stream, because some consumers request the schema first; if iteration has begun, it has the remaining
        results. requested_schema is ignored: the interface lets a producer return its own schema."""
        self._check_unused()
        self._is_closed = self._results is not None
        results = self._results or self._read()
        return stream_of(self.schema, results, results.close)

    def read_all(self) -> Columns:
        """Read all remaining rows into memory.

        Returns
        -------
        Columns

        Raises
        ------
        ClosedError
            The reader is closed or exhausted.
        RecordpressError
            As for `Log.read`.

        Examples
        --------
        >>> import recordpress
        >>> recordpress.open_log("demo/logs/sessions-0").read(["offset", "key"]).read_all().shape
        (1634, 2)
        """
        self._check_unused()
        results = list(self)
        self.close()
        if results:
            return concat(results)
        columns = read_columns(b"", self._of_records, **self._options.decoding())
        return with_constants(columns, self._names, {name: (kind, None) for name, kind in PLACE_COLUMNS.items()})

    def _check_unused(self) -> None:
        if self._is_closed:
            raise ClosedError("the reader was closed")
        if self._is_at_end:
            raise ClosedError("the reader is exhausted: call Log.read for a new reader")

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
        frontier = self._options.reached or Frontier(check_crcs=self._options.on_corrupt == "skip")
        walk = _Walk(frontier, isolation, end, cast("int | None", self._options.start_timestamp), by_columns)
        walk.decoding = self._options.decoding()
        if by_columns is None:
            walk.decoding["batch_bytes"] = self._options.batch_bytes
        for number, segment in enumerate(partition.segments):
            if not self._is_outside(segment, partition.segments[number + 1 :], walk):
                yield from self._read_segment(segment, walk)
            self._file = None
            self._passed += segment.size or 0
            if walk.is_stopped:
                break
        if isolation and isolation.error is not None and self._options.on_corrupt == "raise":
            raise isolation.error  # after the records before the damage, which hides markers

    def _is_outside(self, segment: Segment, following: Sequence[Segment], walk: _Walk) -> bool:
        """Return whether all offsets of a segment are outside the range; if headers show this, pass the segment."""
        start = self._options.start_offset
        if (start is None and walk.end is None) or walk.is_placed or isinstance(segment, SegmentPart):
            return False
        if not is_checked(segment):
            bases = [one.base_offset for one in following if one.size != 0]
            is_before = start is not None and bool(bases) and bases[0] <= start
            return is_before or (walk.end is not None and segment.base_offset >= walk.end)
        may_be_before = start is not None and segment.base_offset < start and not segment.is_last
        if not may_be_before and (walk.end is None or segment.base_offset < walk.end):
            return False
        extent = extent_of(segment)
        if extent is None:
            return False
        is_before = may_be_before and start is not None and extent.end <= start
        if is_before or (walk.end is not None and extent.first >= walk.end):
            walk.frontier.passed(segment, extent.end)
            return True
        return False

    def _isolation(self, partition: Partition) -> Isolation | None:
        if self._options.isolation_level == "read_uncommitted":
            return None
        isolation = self._isolation_of(partition, self._options.on_corrupt == "skip")
        self.findings += isolation.findings
        if isolation.last_stable_offset is not None:
            self.last_stable_offsets[str(partition)] = isolation.last_stable_offset
        return isolation

    def _read_segment(self, segment: Segment, walk: _Walk) -> Iterator[Columns]:
        options = self._options
        with segment.records() as file:
            start = None if walk.is_placed else self._start(segment, file, walk)
            if start is None:
                at: int | None = file.file.start
            elif start is _NOTHING:
                at = None
            else:
                yield from self._read_file(segment, file, start, walk, options.start_offset, walk.end, True)
                at = file.valid_bytes if file.goes_back else None
            end = file.next_offset
            if start is not None and at is None and start.end is not None:
                end = start.end
            elif start is not None and end is None:
                end = start.before
        if at is None:
            walk.frontier.passed(segment, end)
        else:
            yield from self._read_placed(segment, at, end, walk)

    def _read_placed(self, segment: Segment, at: int, end: int | None, walk: _Walk) -> Iterator[Columns]:
        """Read the rest of a segment whose offsets do not ascend, run by run."""
        options, isolation = self._options, walk.isolation
        begin = segment.start if isinstance(segment, SegmentPart) else 0
        if at > begin:
            walk.frontier.passed(part_between(segment, begin, at), end)
        runs = runs_of(
            segment,
            at,
            walk.frontier,
            self.findings,
            start_offset=options.start_offset,
            end_offset=walk.end,
            aborted=isolation.aborted_batches if isolation and isolation.aborted_batches is not None else (),
            skip=options.on_corrupt == "skip",
        )
        for run in runs:
            part = part_between(segment, run.start, run.end)
            if run is runs[-1]:
                part = replace(part, is_last=segment.is_last)
            first = options.start_offset if run.first_offset is None else run.first_offset
            first = first if options.start_offset is None or first is None else max(first, options.start_offset)
            with part.records() as file:
                start = _Start(run.start, run.base_offset)
                yield from self._read_file(part, file, start, walk, first, _least(run.end_offset, walk.end), False)
            if walk.is_stopped:
                return

    def _read_file(
        self,
        segment: Segment,
        file: FileRecords,
        start: _Start,
        walk: _Walk,
        first: int | None,
        end: int | None,
        ascends: bool,
    ) -> Iterator[Columns]:
        self._file = file
        options = {**walk.decoding, "start_offset": first, "end_offset": end}
        if ascends:
            known = [offset for offset in (walk.frontier.next_offset, start.before) if offset is not None]
            options["ascending_from"] = min(max(known, default=-INT64_MAX), INT64_MAX)
        if walk.isolation and not walk.is_placed:
            # a transaction that ended before does not matter: its producer may have continued
            reached = walk.frontier.next_offset if is_checked(segment) else segment.base_offset
            since = reached if start.offset is None else start.offset
            aborted = walk.isolation.aborted
            options["aborted_transactions"] = [one[:2] for one in aborted if since is None or one.last_offset >= since]
        columns = file.columns(
            self._of_records, position=start.position, on_corrupt=self._options.on_corrupt, size=walk.size, **options
        )
        try:
            yield from columns
        finally:
            self.findings += file.ignored + file.findings
        self.findings += tail_findings(segment, file)
        walk.is_stopped = self._options.on_corrupt == "stop" and bool(file.findings)

    def _start(self, segment: Segment, file: FileRecords, walk: _Walk) -> _Start | None:
        """Return where to begin; `_NOTHING` if no record is wanted; None if the offsets do not ascend."""
        start_offset = self._options.start_offset
        if not is_checked(segment):
            return self._start_by_indexes(segment, file, walk)
        if start_offset is None and walk.end is None and walk.timestamp is None:
            return _Start(file.file.start, None)
        headers = file.headers()
        try:
            headers.survey(start_offset, walk.end, walk.timestamp)
            file.check_end(headers)
        except DAMAGE as error:
            try:
                file.check_end(headers, error)  # accepts zeros
            except DAMAGE:
                return None
        file.trailing_bytes = 0
        extent = headers.extent
        if extent is None:
            return _Start(file.file.start, None)
        if headers.descends or (walk.frontier.next_offset is not None and extent[0] < walk.frontier.next_offset):
            return None
        if headers.has_wrappers and walk.end is not None and extent[1] > walk.end:
            return None  # wrapper headers do not show where they begin: a wrapper after the end may reach back over it
        if headers.wanted is not None:
            return _Start(*headers.wanted, extent[1])
        if headers.position == headers.end:
            file.next_offset = extent[1]
            return _NOTHING
        return _Start(headers.position, None, None, extent[1])

    def _start_by_indexes(self, segment: Segment, file: FileRecords, walk: _Walk) -> _Start:
        offset = self._options.start_offset
        by_offset = offset is not None and offset > segment.base_offset
        if not by_offset and walk.timestamp is None:
            return _Start(file.file.start, None)
        source = buffered(file.file)
        ends_early = isinstance(segment, SegmentPart) and segment.end != segment.whole.size
        seek = SegmentSeek(source, segment.base_offset, segment.open_sibling, segment.url, segment.codecs, ends_early)
        try:
            return self._seek_start(seek, segment, file, walk, by_offset) or _NOTHING
        except DAMAGE:
            return _Start(file.file.start, None)  # reported when the damage is read
        finally:
            self.findings += [found for found in seek.findings if found.position is not None]

    def _seek_start(
        self, seek: SegmentSeek, segment: Segment, file: FileRecords, walk: _Walk, by_offset: bool
    ) -> _Start | None:
        if walk.timestamp is not None:
            place = seek.timestamp(walk.timestamp, self._options.start_offset or 0)
            if place is None:
                # a truncated entry, or worse, may follow: only the last segment may end in one
                return None if not segment.is_last else _Start(file.file.start, None)
            walk.timestamp = None  # later segments may have any times: each record is compared
            return _Start(place.position, place.offset)
        header = seek.offset(self._options.start_offset or 0) if by_offset else None
        if header is None:
            return None if not segment.is_last else _Start(file.file.start, None)
        return _Start(header.position, header.base_offset)


class _Walk:
    """State of a read of a partition."""

    def __init__(
        self,
        frontier: Frontier,
        isolation: Isolation | None,
        end: int | None,
        timestamp: int | None,
        size: ResultSize | None,
    ) -> None:
        self.frontier = frontier
        self.isolation = isolation
        self.is_placed = isolation is not None and isolation.aborted_batches is not None
        self.end = end
        self.timestamp = timestamp  # in a store: until a record that late was found
        self.size = size
        self.decoding: dict[str, Any] = {}
        self.is_stopped = False


def _refuse_two(error: BaseException, what: str) -> None:
    """Raise InUseError for the bare ValueError of a running generator."""
    if isinstance(error, ValueError) and str(error) == "generator already executing":
        raise InUseError(f"the reader cannot be {what}") from None


def _least(*values: int | None) -> int | None:
    return min((value for value in values if value is not None), default=None)
