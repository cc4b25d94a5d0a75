"""A log as tasks of about the same size: small segments together, large ones in parts.

::

    partitions ──► plan: names and sizes ──► tasks of LogSplits ──► LogSplit.located ──► LogReader, and other tools
    (open_log)     small segments packed     pickled, and sent       _part
                   large ones cut            to other processes      _part_isolation: read_committed

A plan reads names and sizes. On this machine, it also reads the last entries of offset indexes; if an index is missing
or ends long before its segment, the segment's last headers, or all headers if it is truncated; and with a range of
offsets, the first and last headers of a few segments next to the range, and the first offsets of later segments. The
reader of a split finds where its first part begins, and where the segments before the split end; `_log_order` finds the
segments that may reach into it. An offset by time, and `most_offsets`, need headers of a partition. A door for
`recordpress.spark`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise

from recordpress._file_names import LEADER_EPOCH_CHECKPOINT, TIME_INDEX_FILE_SUFFIX
from recordpress.columns import Columns
from recordpress.errors import InvalidArgumentError, RecordpressError
from recordpress.files import FileInfo, FileSystem, buffered, located
from recordpress.log._digest import RecordDigest
from recordpress.log._end_offset import end_offset
from recordpress.log._extent import (
    Extent,
    Window,
    begins_before_its_name,
    end_before,
    end_of,
    extent_of,
    is_checked,
    is_wrapper,
    last_known_offset,
)
from recordpress.log._file_records import FileRecords, OnCorrupt as OnCorrupt
from recordpress.log._log_order import NEAR, Frontier, OverlapCandidates
from recordpress.log._open import Found, merged, open_paths, open_wanted, refuse_missing
from recordpress.log._part import EntryPlace, SegmentPart, entry_places, part_between, part_of
from recordpress.log._part_isolation import has_state, isolation_of_part
from recordpress.log._read import LogReader, ReadOptions
from recordpress.log._seek import SegmentSeek
from recordpress.log._segment import Partition, Segment, size_of as size_of, tail_findings, with_checks
from recordpress.log._transactions import Isolation
from recordpress.log.findings import Finding
from recordpress.log.sidecars.time_index import read_time_index
from recordpress.record import read_batches, summarize_records
from recordpress.record.header import BatchHeader

__all__ = [
    "Found",
    "LogSplit",
    "ReadOptions",
    "TaskSplits",
    "batches_in",
    "digests_of",
    "offset_of_timestamp",
    "open_wanted",
    "plan",
    "read_split",
    "refuse_missing",
    "with_checks",
]


_MOST_CUTS = 1 << 20  # of one split: Spark cannot plan more tasks (each takes some kilobytes on the driver)


@dataclass(frozen=True, slots=True)
class LogSplit:
    """Consecutive segments of one partition; the first and the last may be cut."""

    topic: str | None
    partition: int | None
    url: str
    segments: tuple[Segment, ...]
    places: tuple[tuple[FileSystem, str], ...]
    start: int = 0
    end: int | None = None
    start_place: EntryPlace | None = None  # of the first batch at or after the byte `start`, if it was looked up
    end_place: EntryPlace | None = None
    start_offset: int | None = None
    end_offset: int | None = None
    before: tuple[Segment, ...] = ()
    is_continued: bool = False
    size: int = 0
    others: Mapping[str, FileInfo] = field(default_factory=dict, repr=False)

    def located(self) -> Partition:
        """Return a partition of these segments and parts of segments, without empty parts."""
        last = len(self.segments) - 1
        parts = [
            part_of(
                segment,
                self.start if number == 0 else 0,
                self.end if number == last else None,
                self.start_place if number == 0 else None,
                self.end_place if number == last else None,
            )
            for number, segment in enumerate(self.segments)
        ]
        kept = tuple(part for part in parts if part.size or part in self.segments)
        return Partition(self.topic, self.partition, self.url, kept, self.others)

    def _whole(self) -> tuple[Segment, ...]:
        """Return all segments of the partition."""
        opened = [one for files, path in self.places for one in open_paths(path, files).partitions]
        same = [one for one in opened if (one.topic, one.partition) == (self.topic, self.partition)]
        [whole] = merged(same)
        return whole.segments if not self.segments[0].check_indexes else with_checks([whole])[0].segments

    def isolation(self, parts: Partition, skip: bool) -> Isolation:
        """Return the records that read_committed omits from these parts."""
        if not parts.segments:
            return Isolation((), None, None, ())
        return isolation_of_part(self._whole(), parts.segments, skip=skip)

    def reached(self, parts: Partition, check_crcs: bool = False) -> Frontier:
        """Return how far other splits read the preceding segments."""
        first = parts.segments[0] if parts.segments else self.segments[0]
        before = (*self.before, *(one for one in self.segments if one.base_offset < first.base_offset))
        ends = [first.extent_before[1] if isinstance(first, SegmentPart) and first.extent_before else None]
        for one in before:
            with suppress(FileNotFoundError):  # reported when the segment is read
                ends.append(end_of(one))
        next_offset = max((end for end in ends if end is not None), default=None)
        return Frontier(next_offset, lambda: self._earlier(first), check_crcs)

    def _earlier(self, first: Segment) -> list[Segment]:
        whole = self._whole()
        urls = [segment.url for segment in whole]
        if first.url not in urls:
            return list(self.before)
        found = list(whole[: urls.index(first.url)])
        if isinstance(first, SegmentPart) and first.start:
            found.append(part_between(first, 0, first.start))
        return found

    def without_deleted_segments(self) -> tuple[LogSplit | None, list[Finding]]:
        """Return the split without the files that were deleted since it was planned; None if all files were."""
        kept = tuple(one for one in self.segments if one.filesystem.find(one.path))
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
            start_place=self.start_place if has_first else None,
            end_place=self.end_place if has_last else None,
            before=tuple(one for one in self.before if one.filesystem.find(one.path)),
            is_continued=self.is_continued and has_first,
        )
        return there, findings

    def continues(self, other: LogSplit) -> bool:
        """Return whether both can be one split, given that the segments of this split come next."""
        is_same = (self.url, self.start_offset, self.end_offset) == (other.url, other.start_offset, other.end_offset)
        return is_same and not self.start and not self.is_continued


TaskSplits = tuple[LogSplit, ...]


_MIN_REMAINDER = 16  # less than a sixteenth of a task is not worth opening a file once more


# --- the plan ---------------------------------------------------------------------------------------------------------


def plan(
    partitions: Iterable[Partition],
    task_bytes: int,
    *,
    ranges: dict[str, tuple[int | None, int | None]] | None = None,
    most_offsets: int | None = None,
    committed: bool = False,
    whole_segments: bool = False,
    with_files: bool = False,
) -> list[TaskSplits]:
    """Return the splits of tasks of about the same size."""
    packer = _Packer(task_bytes, most_offsets)
    for partition in partitions:
        start, end = (ranges or {}).get(str(partition), (None, None))
        for split, offsets in _splits_of(partition, start, end, most_offsets is not None, committed):
            located_split = _with_files(split, partition) if with_files else split
            for part, part_offsets in _cut(located_split, offsets, packer, whole_segments):
                packer.add(part, part_offsets)
    return packer.tasks()


def _with_files(split: LogSplit, partition: Partition) -> LogSplit:
    others = partition.others
    if split.segments[0] is not partition.segments[0]:
        others = {name: info for name, info in others.items() if name == LEADER_EPOCH_CHECKPOINT}
    return replace(split, others=others)


class _Packer:
    """Packer of consecutive splits into tasks, as long as they fit."""

    def __init__(self, most_bytes: int, most_offsets: int | None) -> None:
        self.most_bytes, self.most_offsets = most_bytes, most_offsets
        self._tasks: list[list[LogSplit]] = []
        self._bytes = self._offsets = 0

    def add(self, split: LogSplit, offsets: int) -> None:
        is_full = self._bytes + split.size > self.most_bytes or (
            self.most_offsets is not None and self._offsets + offsets > self.most_offsets
        )
        if not self._tasks or is_full:
            self._tasks.append([])
            self._bytes = self._offsets = 0
        self._bytes += split.size
        self._offsets += offsets
        self._tasks[-1].append(split)

    @property
    def room(self) -> int:
        """Number of bytes of a segment that fit into this task, or into the next task if little room is left."""
        left = self.most_bytes - self._bytes
        return left if self._tasks and left > self.most_bytes // _MIN_REMAINDER else self.most_bytes

    def tasks(self) -> list[TaskSplits]:
        return [tuple(_joined(task)) for task in self._tasks]


def _joined(splits: list[LogSplit]) -> Iterator[LogSplit]:
    """Join splits of one partition."""
    run: list[LogSplit] = []
    for split in splits:
        if run and not (split.continues(run[0]) and run[-1].end is None):
            yield _one(run)
            run = []
        run.append(split)
    yield _one(run)


def _one(run: list[LogSplit]) -> LogSplit:
    last = run[-1]
    segments = tuple(segment for split in run for segment in split.segments)
    size = sum(split.size for split in run)
    return replace(
        run[0], segments=segments, end=last.end, end_place=last.end_place, end_offset=last.end_offset, size=size
    )


def _splits_of(
    partition: Partition, start: int | None, end: int | None, with_offsets: bool, committed: bool
) -> Iterator[tuple[LogSplit, int | None]]:
    """Yield the smallest splits of a partition that consist of whole segments, each with its maximum number of offsets
    if this is requested and known."""
    segments = partition.segments
    places = tuple(dict.fromkeys((one.filesystem, one.directory) for one in segments))
    passed = OverlapCandidates()
    for run in _runs(segments, committed):
        if _is_before(segments, run, start) or _is_after(segments, run, end):
            continue
        kept = tuple(segments[run.start : run.stop])
        size = sum(map(size_of, kept))
        split = LogSplit(
            partition.topic, partition.partition, partition.url, kept, places, start_offset=start,
            end_offset=end, before=passed.may_reach(kept[0].base_offset), size=size,
        )  # fmt: skip
        # base offset of the next segment; None at the end of the partition
        until = segments[run.stop].base_offset if run.stop < len(segments) else None
        yield split, _offsets_in(split, partition, until) if with_offsets and len(kept) == 1 else None
        for segment in () if until is None else kept:
            passed.add(segment)


# On this machine, the nearest segments that are outside a range by their names are examined; of earlier segments, only
# the indexes, of later segments, only the first offsets.


def _is_before(segments: Sequence[Segment], run: range, start: int | None) -> bool:
    if start is None:
        return False
    after = next((segments[at].base_offset for at in range(run.stop, len(segments)) if segments[at].size != 0), None)
    if after is None or after > start:
        return False
    kept, far = segments[run.start : run.stop], run.stop + NEAR
    if not all(is_checked(segment) for segment in kept):
        return True
    if far >= len(segments) or segments[far].base_offset > start:
        return all(extent.end <= start for extent in _extents(kept))
    return all((last_known_offset(segment) or 0) < start for segment in kept)


def _is_after(segments: Sequence[Segment], run: range, end: int | None) -> bool:
    if end is None or segments[run.start].base_offset < end:
        return False
    kept = segments[run.start : run.stop]
    if not all(is_checked(segment) for segment in kept):
        return True
    is_near = not run.start or segments[max(run.start - NEAR, 0)].base_offset < end
    is_doubtful = is_near or any(begins_before_its_name(segment) for segment in kept)
    return not is_doubtful or all(extent.first >= end for extent in _extents(kept))


def _extents(segments: Sequence[Segment]) -> Iterator[Extent]:
    for segment in segments:
        with suppress(OSError, RecordpressError):  # reported when the segment is read
            if (extent := extent_of(segment)) is not None:
                yield extent


def _runs(segments: Sequence[Segment], committed: bool) -> Iterator[range]:
    """Yield a run for each segment; for read_committed, join a segment with the next if no snapshot is between them."""
    first = 0
    for number in range(1, len(segments)):
        if not committed or has_state(segments, number):
            yield range(first, number)
            first = number
    if segments:
        yield range(first, len(segments))


def _cut(split: LogSplit, offsets: int | None, packer: _Packer, whole_segments: bool) -> Iterator[tuple[LogSplit, int]]:
    """Yield parts that fit into tasks. The first fills the open task, so that tasks have the same size and end at the
    same time, however long segments are."""
    if offsets is not None and packer.most_offsets is not None and offsets > packer.most_offsets:
        by_size = 0 if whole_segments else -(-split.size // packer.most_bytes)
        count = max(-(-offsets // packer.most_offsets), by_size)
        if count > _MOST_CUTS:
            raise InvalidArgumentError(
                f"most_offsets (maxRecordsPerPartition) of {packer.most_offsets} would cut {offsets} offsets of "
                f"{split.url} into {count} tasks: use {-(-offsets // _MOST_CUTS)} or more",
                field="most_offsets",
            )
        yield from _cut_by_offset(split, offsets, count)
        return
    if whole_segments or len(split.segments) > 1 or split.size <= packer.room:
        yield split, offsets or 0
        return
    cuts = list(range(packer.room, split.size, packer.most_bytes))
    places = [None, *entry_places(split.segments[0], cuts), None]
    for number, (start, end) in enumerate(pairwise([0, *cuts, split.size])):
        part = replace(split, start=start, start_place=places[number], size=end - start, is_continued=start > 0)
        yield (part if end == split.size else replace(part, end=end, end_place=places[number + 1])), 0


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
    if following is not None:
        following = end_before(split.segments[0], following)
    end = min((one for one in (split.end_offset, following) if one is not None), default=None)
    if end is None:
        end = end_offset(partition)
    return max(end - first, 0)


# --- a timestamp ------------------------------------------------------------------------------------------------------


def offset_of_timestamp(partition: Partition, timestamp: int) -> int | None:
    """Return the first offset whose timestamp is at least `timestamp`, as a broker's ListOffsets does.

    In stores, time indexes are used; on this machine, headers are read."""
    for segment in partition.segments:
        by_indexes = not is_checked(segment)
        if by_indexes and segment is not partition.segments[-1] and _ends_before(segment, timestamp):
            continue
        with segment.open() as file:
            source = buffered(file) if by_indexes else file
            sibling = segment.open_sibling if by_indexes else None
            place = SegmentSeek(source, segment.base_offset, sibling, segment.url).timestamp(timestamp)
        if place is not None:
            return place.offset
    return None


def _ends_before(segment: Segment, timestamp: int) -> bool:
    """Return whether all records of a closed segment are earlier: its time index ends with its largest timestamp."""
    try:
        with segment.open_sibling(TIME_INDEX_FILE_SUFFIX) as file:
            times = read_time_index(file, segment.base_offset)
    except (FileNotFoundError, RecordpressError):
        return False
    return len(times) > 0 and 0 < times[-1].timestamp < timestamp


# --- reading ----------------------------------------------------------------------------------------------------------


def read_split(
    split: LogSplit, columns: Sequence[str], options: ReadOptions, findings: list[Finding]
) -> Iterator[Columns]:
    """Yield the records of a split, as `Log.read` does; the split has the range of offsets."""
    parts = split.located()
    reached = split.reached(parts, options.on_corrupt == "skip")
    of_split = replace(options, start_offset=split.start_offset, end_offset=split.end_offset, reached=reached)
    with LogReader([parts], columns, of_split, split.isolation) as reader:
        try:
            yield from reader
        finally:
            findings += reader.findings


def batches_in(
    split: LogSplit, *, findings: list[Finding], on_corrupt: OnCorrupt = "raise", check_crcs: bool = False
) -> Iterator[tuple[FileRecords, BatchHeader]]:
    """Yield the headers of the batches that have records in a split, each with its file; the file stays open until the
    next header is requested."""
    for file, header, windows in _placed_in(split, findings, on_corrupt, check_crcs):
        is_before = split.start_offset is not None and header.last_offset < split.start_offset
        if (windows is None or windows) and not is_before and not _begins_after(header, split.end_offset):
            yield file, header


def _placed_in(
    split: LogSplit, findings: list[Finding], on_corrupt: OnCorrupt, check_crcs: bool
) -> Iterator[tuple[FileRecords, BatchHeader, list[Window] | None]]:
    parts = split.located()
    reached = split.reached(parts, check_crcs)
    for segment in parts.segments:
        with segment.records() as file:
            file.findings = findings
            headers = file.walk(check_crcs=check_crcs, on_corrupt=on_corrupt)
            for header, windows in reached.placed(segment, file, headers, file.file.start, findings):
                yield file, header, windows
            findings += tail_findings(segment, file)


def digests_of(splits: Sequence[LogSplit], joined: bool) -> list[tuple[int, int, str]]:
    """Return base offset, number of records (without control records) and `RecordDigest` of each segment; if `joined`,
    of all segments together. Records of overlapping segments are counted once."""
    digest, found = RecordDigest(), []
    for split in splits:
        parts = split.located()
        reached = split.reached(parts)
        for segment in parts.segments:
            with segment.records() as file:
                _digest_of(segment, file, reached, digest)
            found.append((segment.base_offset, digest.records - digest.control_records, digest.hexdigest()))
            if not joined:
                digest = RecordDigest()
    return [(found[0][0], *found[-1][1:])] if joined and found else found


def _digest_of(segment: Segment, file: FileRecords, reached: Frontier, digest: RecordDigest) -> None:
    """Add the records of a segment by chunks; batch by batch from the first chunk in which offsets go back."""
    end = reached.next_offset
    for position, chunk in file.chunks():
        after = _end_if_ascending(chunk, end)
        if after is None:
            break
        with located(position, file.path):
            digest.update(chunk, codecs=segment.codecs)
        end = after
    else:
        reached.passed(segment, end)
        return
    if position > file.file.start:
        reached.passed(part_between(segment, file.file.start, position), end)
    for header, windows in reached.placed(segment, file, file.walk(file.headers(position)), position, []):
        for first, last in [(None, None)] if windows is None else windows:
            with located(header.position, file.path):
                data = file.entry(header.position, header.size)
                digest.update(data, start_offset=first, end_offset=last, codecs=segment.codecs)


def _end_if_ascending(chunk: memoryview, end: int | None) -> int | None:
    """Return the offset after the last batch; None if a batch begins before the end of its predecessor."""
    for batch in read_batches(chunk):
        first = summarize_records(batch)[2] if is_wrapper(batch) else batch.base_offset
        if end is not None and first < end:
            return None
        end = batch.next_offset
    return end


def _begins_after(header: BatchHeader, end_offset: int | None) -> bool:
    """Return whether a batch begins at `end_offset` or later, which the header of a v0/v1 wrapper does not show."""
    return end_offset is not None and header.base_offset >= end_offset and not is_wrapper(header)
