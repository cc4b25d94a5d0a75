"""A log as many pieces of work of about the same size: small segments together, large ones in parts.

::

    partitions ──► plan: names and sizes ──► pieces of LogSplits ──► LogSplit.located ──► LogReader, and other tools
    (open_log)     small segments packed     pickled, and sent       _part
                   large ones cut            to other processes      _part_isolation: read_committed

For a plan names and sizes are read, and on this machine the last entries of offset indexes, but no segment that has
one. Where a part begins is found by its reader, and so is where the segments before a split end, of which
`_overlap` says which ones may reach into it. An offset by time or `most_offsets` costs a partition one
batch, or its last headers. A door for `recordpress.spark`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from recordpress._arguments import INT32_MAX, INT64_MAX
from recordpress._file_names import LEADER_EPOCH_CHECKPOINT, TIME_INDEX_FILE_SUFFIX
from recordpress.columns import Columns
from recordpress.errors import CorruptRecordError, InvalidArgumentError, RecordpressError
from recordpress.files import Buffered, FileInfo, FileSystem, located
from recordpress.log._batch_header import BatchHeader
from recordpress.log._digest import RecordDigest
from recordpress.log._end_offset import end_offset
from recordpress.log._file_records import RESULT_BYTES, FileRecords, OnCorrupt
from recordpress.log._header_walk import HeaderWalk
from recordpress.log._open import merged, open_paths, refuse_missing
from recordpress.log._overlap import OverlapCandidates, ReadFrontier, is_before, reached_after
from recordpress.log._part import part_of
from recordpress.log._part_isolation import has_state, isolation_of_part
from recordpress.log._read import LogReader, ReadOptions
from recordpress.log._seek import SegmentSeek
from recordpress.log._segment import Partition, Segment
from recordpress.log._segment_tail import tail_findings
from recordpress.log._transactions import Isolation, IsolationLevel
from recordpress.log.findings import Finding
from recordpress.log.sidecars.time_index import read_time_index
from recordpress.typing import TimestampUnit

__all__ = [
    "LogSplit",
    "Piece",
    "batches_in",
    "digests_of",
    "offset_of_timestamp",
    "plan",
    "read_split",
    "refuse_missing",
]


_MOST_CUTS = 1 << 20  # of one split: Spark cannot plan more tasks (each has objects of some kilobytes on the driver)


@dataclass(frozen=True)
class LogSplit:
    """Segments of one partition that follow one another; the first and the last may be cut.

    Attributes
    ----------
    topic : str | None
    partition : int | None
    url : str
        Of the partition's directory.
    segments : tuple of Segment
    places : tuple of (FileSystem, str)
        The directories of all the partition's segments.
    start : int
        Of the first segment: the batches that begin at this byte or later.
    end : int | None
        Of the last segment: the batches that begin before this byte.
    start_offset, end_offset : int | None
        Those to read; the second is not included.
    before : tuple of Segment
        Segments before the first one that may overlap it; the last one is directly before it.
    is_continued : bool
        It begins with a part of a segment, of which another split has the beginning.
    size : int
        Bytes.
    files : mapping of str to FileInfo
        The partition's files next to its segments, if the plan was to have them: all for its first split, and the
        checkpoint of leader epochs for every one.
    """

    topic: str | None
    partition: int | None
    url: str
    segments: tuple[Segment, ...]
    places: tuple[tuple[FileSystem, str], ...]
    start: int = 0
    end: int | None = None
    start_offset: int | None = None
    end_offset: int | None = None
    before: tuple[Segment, ...] = ()
    is_continued: bool = False
    size: int = 0
    files: Mapping[str, FileInfo] = field(default_factory=dict, repr=False)

    def located(self) -> Partition:
        """A partition of these segments and parts of segments, of which none is empty."""
        last = len(self.segments) - 1
        parts = [
            part_of(segment, self.start if number == 0 else 0, self.end if number == last else None)
            for number, segment in enumerate(self.segments)
        ]
        kept = tuple(part for part in parts if part.size or part in self.segments)
        return Partition(self.topic, self.partition, self.url, kept, self.files)

    def isolation(self, parts: Partition, skip: bool) -> Isolation:
        """What read_committed leaves out of these parts."""
        if not parts.segments:
            return Isolation((), None, None, ())
        opened = [one for files, path in self.places for one in open_paths(path, files).partitions]
        same = [one for one in opened if (one.topic, one.partition) == (self.topic, self.partition)]
        [whole] = merged(same)
        return isolation_of_part(whole.segments, parts.segments, skip=skip)

    def reached(self, parts: Partition) -> ReadFrontier:
        """How far other splits read the preceding segments.

        The split that holds the start of a segment reports its overlap.
        """
        before, first = self.before, self.segments[0]
        if self.is_continued and parts.segments and parts.segments[0].url != first.url:
            before, first = (*before, first), parts.segments[0]  # no batch begins in the first part
        already_reported = self.segments[0].url if self.is_continued else None
        return reached_after(before, first, self.start_offset, already_reported)

    def without_deleted_segments(self) -> tuple[LogSplit | None, list[Finding]]:
        """The split without the files that were deleted since it was planned; None if all were."""
        kept = tuple(one for one in self.segments if _is_there(one))
        findings = [
            Finding(one.url, None, one.size, one.base_offset, "failOnDataLoss", "the file is gone: it is not read")
            for one in self.segments
            if one not in kept
        ]
        if not kept:
            return None, findings
        has_first, has_last = kept[0] is self.segments[0], kept[-1] is self.segments[-1]
        there = replace(
            self,
            segments=kept,
            start=self.start if has_first else 0,
            end=self.end if has_last else None,
            before=tuple(one for one in self.before if _is_there(one)),
            is_continued=self.is_continued and has_first,
        )
        return there, findings

    @property
    def is_whole_from_its_start(self) -> bool:
        return not self.start and self.start_offset is None


Piece = tuple[LogSplit, ...]


def _is_there(segment: Segment) -> bool:
    try:
        segment.filesystem.info(segment.path)
    except FileNotFoundError:
        return False
    return True


_MIN_REMAINDER = 16  # less than this part of a piece is not worth another opening of a file


# --- the plan ---------------------------------------------------------------------------------------------------------


def plan(
    partitions: Iterable[Partition],
    piece_bytes: int,
    *,
    ranges: dict[str, tuple[int | None, int | None]] | None = None,
    most_offsets: int | None = None,
    committed: bool = False,
    whole_segments: bool = False,
    with_files: bool = False,
) -> list[Piece]:
    """Pieces of about the same size.

    Parameters
    ----------
    partitions : iterable of Partition
    piece_bytes : int
        What a piece has at most, unless one segment's state cannot be known without reading others.
    ranges : dict, optional
        By the partitions' text: the offsets that are wanted, the second of which is not included.
    most_offsets : int, optional
        A piece has no more offsets than this.
    committed : bool
        The pieces are for read_committed: they begin where a ``.snapshot`` says which transactions are open.
    whole_segments : bool
        Large ones are not cut.
    with_files : bool
        Splits have `files`.

    Returns
    -------
    list of Piece
        In the order of the partitions and their segments.

    Raises
    ------
    InvalidArgumentError
        `most_offsets` would make more than a million pieces of one segment, such as one with large gaps in its offsets.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.log import splits
    >>> log = recordpress.open_log("demo/logs")                                          # doctest: +SKIP
    >>> len(splits.plan(log.partitions, 1 << 20))                                   # doctest: +SKIP
    3
    """
    packer = _Packer(piece_bytes, most_offsets)
    for partition in partitions:
        start, end = (ranges or {}).get(str(partition), (None, None))
        for split, offsets in _splits_of(partition, start, end, most_offsets is not None, committed):
            located_split = _with_files(split, partition) if with_files else split
            for part, part_offsets in _cut(located_split, offsets, packer, whole_segments):
                packer.add(part, part_offsets)
    return packer.pieces()


def _with_files(split: LogSplit, partition: Partition) -> LogSplit:
    files = partition.files
    if split.segments[0] is not partition.segments[0]:
        files = {name: info for name, info in files.items() if name == LEADER_EPOCH_CHECKPOINT}
    return replace(split, files=files)


class _Packer:
    """Puts splits that follow one another together, as long as they fit."""

    def __init__(self, most_bytes: int, most_offsets: int | None) -> None:
        self.most_bytes, self.most_offsets = most_bytes, most_offsets
        self._pieces: list[list[LogSplit]] = []
        self._bytes = self._offsets = 0

    def add(self, split: LogSplit, offsets: int) -> None:
        is_full = self._bytes + split.size > self.most_bytes or (
            self.most_offsets is not None and self._offsets + offsets > self.most_offsets
        )
        if not self._pieces or is_full:
            self._pieces.append([])
            self._bytes = self._offsets = 0
        self._bytes += split.size
        self._offsets += offsets
        self._pieces[-1].append(split)

    @property
    def room(self) -> int:
        """How many bytes of a segment go into this piece, or into the next one, if only a crumb would fit."""
        left = self.most_bytes - self._bytes
        return left if self._pieces and left > self.most_bytes // _MIN_REMAINDER else self.most_bytes

    def pieces(self) -> list[Piece]:
        return [tuple(_joined(piece)) for piece in self._pieces]


def _joined(splits: list[LogSplit]) -> Iterator[LogSplit]:
    """Splits of one partition become one."""
    run: list[LogSplit] = []
    for split in splits:
        if run and not (split.url == run[0].url and split.is_whole_from_its_start and run[-1].end is None):
            yield _one(run)
            run = []
        run.append(split)
    yield _one(run)


def _one(run: list[LogSplit]) -> LogSplit:
    last = run[-1]
    segments = tuple(segment for split in run for segment in split.segments)
    size = sum(split.size for split in run)
    return replace(run[0], segments=segments, end=last.end, end_offset=last.end_offset, size=size)


def _splits_of(
    partition: Partition, start: int | None, end: int | None, with_offsets: bool, committed: bool
) -> Iterator[tuple[LogSplit, int | None]]:
    """The smallest splits of a partition that are not parts of segments, each with how many offsets it may have, if
    that is asked and known."""
    segments = partition.segments
    places = tuple(dict.fromkeys((one.filesystem, one.filesystem.parent(one.path)) for one in segments))
    passed = OverlapCandidates()
    for run in _runs(segments, committed):
        bases = [segment.base_offset for segment in segments[run[-1] + 1 : run[-1] + 2]]
        following = bases[0] if bases else None
        first = segments[run[0]].base_offset
        kept = tuple(segments[number] for number in run)
        if (end is not None and first >= end) or is_before(segments[run[-1] + 1 :], start):
            continue
        wanted_start = start if start is not None and start > first else None
        wanted_end = end if end is not None and (following is None or following > end) else None
        size = sum(_size_of(segment) for segment in kept)
        split = LogSplit(
            partition.topic, partition.partition, partition.url, kept, places,
            start_offset=wanted_start, end_offset=wanted_end, before=passed.may_reach(first), size=size,
        )  # fmt: skip
        # what may overlap is read from its first segment on
        yield split, _offsets_in(split, partition, following) if with_offsets and len(kept) == 1 else None
        for segment in kept if following is not None else ():
            passed.add(segment)


def _runs(segments: Sequence[Segment], committed: bool) -> Iterator[list[int]]:
    """The segments by themselves; for read_committed, a segment without state after it goes with the next."""
    run: list[int] = []
    for number in range(len(segments)):
        if run and (not committed or has_state(segments, number)):
            yield run
            run = []
        run.append(number)
    if run:
        yield run


def _size_of(segment: Segment) -> int:
    if segment.size is not None:
        return segment.size
    return segment.filesystem.info(segment.path).size or 0


def _cut(split: LogSplit, offsets: int | None, packer: _Packer, whole_segments: bool) -> Iterator[tuple[LogSplit, int]]:
    """Parts that fit into pieces. The first fills the piece that is open, so that pieces have the same size and end at
    the same time, however long segments are."""
    if offsets is not None and packer.most_offsets is not None and offsets > packer.most_offsets:
        by_size = 0 if whole_segments else -(-split.size // packer.most_bytes)
        count = max(-(-offsets // packer.most_offsets), by_size)
        if count > _MOST_CUTS:
            raise InvalidArgumentError(
                f"most_offsets (maxRecordsPerPartition) of {packer.most_offsets} makes {count} tasks of {offsets} "
                f"offsets of {split.url}: take {-(-offsets // _MOST_CUTS)} or more",
                field="most_offsets",
            )
        yield from _cut_by_offset(split, offsets, count)
        return
    if whole_segments or len(split.segments) > 1 or split.size <= packer.room:
        yield split, offsets or 0
        return
    start, room = 0, packer.room
    while split.size - start > room:
        yield replace(split, start=start, end=start + room, size=room, is_continued=start > 0), 0
        start, room = start + room, packer.most_bytes
    yield replace(split, start=start, size=split.size - start, is_continued=True), 0


def _cut_by_offset(split: LogSplit, offsets: int, count: int) -> Iterator[tuple[LogSplit, int]]:
    first = max(split.segments[0].base_offset, split.start_offset or 0)
    cuts = [first + offsets * number // count for number in range(count + 1)]
    for number, (start, end) in enumerate(pairwise(cuts)):
        is_last = number == count - 1
        yield (
            replace(
                split,
                start_offset=start if number else split.start_offset,
                end_offset=split.end_offset if is_last else end,
                is_continued=number > 0,
                size=split.size // count,
            ),
            end - start,
        )


def _offsets_in(split: LogSplit, partition: Partition, following: int | None) -> int:
    first = max(split.segments[0].base_offset, split.start_offset or 0)
    end = split.end_offset if split.end_offset is not None else following
    if end is None:
        end = end_offset(partition)
    return max(end - first, 0)


# --- a timestamp ------------------------------------------------------------------------------------------------------


def offset_of_timestamp(partition: Partition, timestamp: int) -> int | None:
    """The first offset whose timestamp is at least this one, as a broker's ListOffsets finds it.

    Parameters
    ----------
    partition : Partition
    timestamp : int
        In ms.

    Returns
    -------
    int | None
        None if no record is that late.

    Raises
    ------
    RecordpressError
        Damage comes first.
    """
    for segment in partition.segments:
        if segment is not partition.segments[-1] and _ends_before(segment, timestamp):
            continue
        with segment.open() as file:
            source = Buffered(file) if file.is_remote else file
            place = SegmentSeek(source, segment.base_offset, segment.open_sibling, segment.url).timestamp(timestamp)
        if place is not None:
            return place.offset
    return None


def _ends_before(segment: Segment, timestamp: int) -> bool:
    """Whether all records of a closed segment are earlier: its time index ends with its largest timestamp."""
    try:
        with segment.open_sibling(TIME_INDEX_FILE_SUFFIX) as file:
            times = read_time_index(file, segment.base_offset)
    except (FileNotFoundError, RecordpressError):
        return False
    return len(times) > 0 and 0 < times[-1].timestamp < timestamp


# --- reading ----------------------------------------------------------------------------------------------------------


def read_split(
    split: LogSplit,
    columns: Sequence[str],
    *,
    findings: list[Finding],
    isolation_level: IsolationLevel = "read_uncommitted",
    on_corrupt: OnCorrupt = "raise",
    start_timestamp: int | None = None,
    end_timestamp: int | None = None,
    timestamp_unit: TimestampUnit = "ms",
    batch_bytes: int | None = None,
    result_bytes: int = RESULT_BYTES,
    result_rows: int | None = None,
) -> Iterator[Columns]:
    """The records of a split, as `Log.read` gives them.

    Parameters
    ----------
    split : LogSplit
    columns : sequence of str
    findings : list of Finding
        Gets what `LogReader.findings` has, also if reading ends early.
    isolation_level, on_corrupt, start_timestamp, end_timestamp, timestamp_unit
        As for `Log.read`.
    batch_bytes : int, optional
        Bytes of the file in each result; else as many as give results of about the following sizes.
    result_bytes, result_rows : int
        Bytes of the columns, and rows.

    Yields
    ------
    Columns
    """
    parts = split.located()
    options = ReadOptions.of(
        start_offset=split.start_offset,
        end_offset=split.end_offset,
        start_timestamp=start_timestamp,
        end_timestamp=end_timestamp,
        isolation_level=isolation_level,
        on_corrupt=on_corrupt,
        timestamp_unit=timestamp_unit,
        batch_bytes=batch_bytes,
        result_bytes=result_bytes,
        result_rows=result_rows,
        reached=split.reached(parts),
    )
    with LogReader([parts], columns, options, split.isolation) as reader:
        try:
            yield from reader
        finally:
            findings += reader.findings


def batches_in(
    split: LogSplit, *, findings: list[Finding], on_corrupt: OnCorrupt = "raise", check_crcs: bool = False
) -> Iterator[tuple[FileRecords, BatchHeader]]:
    """The batches of a split by their headers, each with its file, as long as that is open.

    Parameters
    ----------
    split : LogSplit
    findings : list of Finding
        Gets what was skipped, and what follows the last whole entry of a log.
    on_corrupt : {'raise', 'skip'}
    check_crcs : bool
        A wrong checksum is damage, too.

    Yields
    ------
    tuple of (FileRecords, BatchHeader)
    """
    parts = split.located()
    reached = split.reached(parts)
    for segment in parts.segments:
        if overlap := reached.finding(segment):
            findings.append(overlap)
        first, next_offset = reached.offset, None
        with segment.records() as file:
            for header in _headers(segment, file, on_corrupt, check_crcs, findings):
                next_offset = header.next_offset
                if (first is None or header.last_offset >= first) and not _is_after(header, split.end_offset):
                    yield file, header
            findings += tail_findings(segment, file)
        reached.passed(segment, next_offset)


def digests_of(splits: Sequence[LogSplit], joined: bool) -> list[tuple[int, int, str]]:
    """Base offset, number of records (without control records) and `RecordDigest` of each segment; or of all together,
    if `joined`. Records of segments that overlap are counted once.

    Raises
    ------
    RecordpressError
        Damage.
    """
    digest, found = RecordDigest(), []
    for split in splits:
        parts = split.located()
        reached = split.reached(parts)
        for segment in parts.segments:
            with segment.records() as file:
                for position, piece in file.pieces():
                    with located(position, file.path):
                        digest.update(piece, start_offset=reached.offset, codecs=segment.codecs)
                reached.passed(segment, file.next_offset)
            found.append((segment.base_offset, digest.records - digest.control_records, digest.hexdigest()))
            if not joined:
                digest = RecordDigest()
    return [(found[0][0], *found[-1][1:])] if joined and found else found


def _is_after(header: BatchHeader, end_offset: int | None) -> bool:
    """A v0/v1 wrapper's header does not say where it begins."""
    return end_offset is not None and header.base_offset >= end_offset and header.records_count >= 0


def _headers(
    segment: Segment, file: FileRecords, on_corrupt: OnCorrupt, check_crcs: bool, findings: list[Finding]
) -> Iterator[BatchHeader]:
    hop = file.headers()
    while True:
        try:
            for header in hop:
                error = hop.checksum_error() if check_crcs else None
                if error is None:
                    yield header
                elif on_corrupt == "raise":
                    raise error
                else:
                    findings.append(Finding.of_error(error, file=segment.url, size=header.size))
            file.check_end(hop)
            return
        except CorruptRecordError as error:
            if on_corrupt == "raise":
                file.check_end(hop, error)
                return
            if not _skipped(segment, file, hop, error, findings):
                return


def _skipped(
    segment: Segment, file: FileRecords, hop: HeaderWalk, error: CorruptRecordError, findings: list[Finding]
) -> bool:
    """Whether an intact entry follows; what is before it is a finding, unless it is zeros at the end of the log."""
    try:
        file.check_end(hop, error)
        return False
    except CorruptRecordError:
        start = hop.position
    first = max(hop.next_offset or 0, segment.base_offset)
    is_found = hop.search(start + 1, first, min(first + INT32_MAX, INT64_MAX))
    end = hop.position if is_found else file.size
    file.trailing_bytes = 0
    place = (segment.url, start, end - start, hop.next_offset)
    findings.append(Finding(*place, error.rule or "", f"{error.message}; skipped up to byte {end}"))
    return is_found
