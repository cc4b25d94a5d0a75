"""Sample of a log: a seed places one run of batches in each of several equal parts of the log.

A log that is small enough is taken as a whole. The batches are kept uncompressed, in magic 2. Their offsets are
consecutive, also from one run to the next.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random
from typing import NamedTuple

from recordpress._arguments import INT32_MAX
from recordpress._file_names import INDEX_FILE_SUFFIX
from recordpress.codecs import CodecRegistry
from recordpress.columns import read_columns, write_columns
from recordpress.errors import InvalidArgumentError, RecordpressError
from recordpress.files import WALK_BYTES, located, walked
from recordpress.log import FileRecords, Finding, Log, LogStats, Segment, stats_of
from recordpress.log.findings import DAMAGE
from recordpress.log.sidecars import read_offset_index
from recordpress.log.splits import size_of
from recordpress.record import read_batches, recompress
from recordpress.record.header import BatchHeader

MOST_RUNS = 64  # chosen, not measured: each is at least one request to a store
LEAST_RUNS = 8  # enough for a variance between runs
LEAST_RUN_BYTES = 1 << 20  # hides the latency of a request
_RUN_BATCHES = 20  # a run is long enough for some batches of ten times the stored depth
_UNKNOWN_RATIO = 4.0  # for logs without a stored ratio; typical of text


@dataclass
class Sample:
    """Uncompressed batches of magic 2, and the part of the log that they represent."""

    data: bytearray = field(default_factory=bytearray)
    ends: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    stored_bytes: int = 0
    covered_bytes: int = 0
    total_bytes: int = 0
    runs: int = 0
    stats: LogStats | None = None
    partitions: int = 1
    findings: list[Finding] = field(default_factory=list)
    decode_seconds: float = 0.0
    next_offset: int = 0

    @property
    def records(self) -> int:
        return sum(self.counts)

    @property
    def record_bytes(self) -> float:
        """Mean bytes of a record in uncompressed batches, including its share of the header."""
        return len(self.data) / self.records

    @property
    def batch_records(self) -> int | None:
        """Number of records in each batch; None if it varies."""
        return self.counts[0] if len(set(self.counts)) == 1 else None

    @property
    def mean_batch_records(self) -> float:
        return self.records / len(self.counts)

    def add(self, plain: bytes, count: int, stored: int, covered: int) -> None:
        """Append one uncompressed batch of magic 2, its stored size, and the bytes of the log that it represents."""
        entry = bytearray(plain)
        [batch] = read_batches(entry)
        batch.set_last_offset(self.next_offset + batch.last_offset - batch.base_offset)
        self.data += entry
        self.next_offset = batch.next_offset
        self.ends.append(len(self.data))
        self.counts.append(count)
        self.stored_bytes += stored
        self.covered_bytes += covered


def sample_log(log: Log, limit: int, seed: int) -> Sample:
    """Take a sample of a log."""
    stats = LogStats()
    for partition in log.partitions:
        stats.merge(stats_of(partition))
    sample = Sample(partitions=len(log.partitions), stats=stats, total_bytes=stats.size, findings=[*stats.findings])
    segments = [segment for partition in log.partitions for segment in partition.segments]
    runs = _runs_of(stats, limit, seed)
    passed = 0
    for segment in segments:
        with _opened(segment) as file:
            _sample_segment(sample, segment, file, runs, passed)
            passed += file.size
    return sample


def sample_batch(log: Log, offset: int) -> Sample:
    """Take the first batch of a partition that ends at or after this offset."""
    if len(log.partitions) != 1:
        message = f"an offset selects a batch of one partition, but the log has {len(log.partitions)} partitions"
        raise InvalidArgumentError(message, field="offset")
    [partition] = log.partitions
    sample = Sample()
    following = [*partition.segments[1:], None]
    for segment, after in zip(partition.segments, following, strict=True):
        if after is not None and after.base_offset <= offset:
            continue
        with _opened(segment) as file:
            for header in file.walk():
                if header.last_offset >= offset and not header.is_control and header.records_count != 0:
                    entry = file.entry(header.position, header.size)
                    with located(header.position, file.path):
                        _take_entry(sample, entry, file.codecs)
                if sample.counts:
                    return sample
    raise InvalidArgumentError(f"no batch with records ends at offset {offset} or after it", field="offset")


@dataclass
class _Run:
    """Start and latest end of a run, as byte positions in the whole log, and the size limit of the sample after it."""

    start: int
    end: int
    limit: int


def _runs_of(stats: LogStats, limit: int, seed: int) -> list[_Run]:
    ratios = {codec: stats.ratio(codec) or _UNKNOWN_RATIO for codec in stats.codecs}
    expected = sum(share.bytes * ratios[codec] for codec, share in stats.codecs.items())
    if stats.sampled and stats.seen.bytes:
        expected *= stats.size / stats.seen.bytes
    batches = sum(share.batches for share in stats.codecs.values())
    batch_bytes = sum(share.bytes * ratios[codec] for codec, share in stats.codecs.items()) / max(batches, 1)
    return _runs(stats.size, expected, batch_bytes, limit, seed)


def _runs(size: int, expected: float, batch_bytes: float, limit: int, seed: int) -> list[_Run]:
    """Return runs over `size` bytes, which are expected to have `expected` bytes when uncompressed."""
    if expected <= limit or not size:
        return [_Run(0, max(size, 1), 2 * limit)]  # twice the limit, because the ratio is an estimate
    number = int(limit / max(LEAST_RUN_BYTES, _RUN_BATCHES * batch_bytes))
    number = min(max(number, LEAST_RUNS), MOST_RUNS)
    taken = limit / number * size / expected
    part = size / number
    random = Random(seed)
    starts = [int(at * part + random.random() * max(part - taken, 0.0)) for at in range(number)]
    return [_Run(start, int((at + 1) * part), (at + 1) * limit // number) for at, start in enumerate(starts)]


class ByteRange(NamedTuple):
    """Range of bytes in a segment; a sample takes the batches that begin in it."""

    segment: Segment
    start: int
    end: int


class SampleRun(NamedTuple):
    """Ranges to read for one part of a sample, and the uncompressed bytes to take from them."""

    ranges: tuple[ByteRange, ...]
    limit: int

    @property
    def bytes(self) -> int:
        """Expected uncompressed bytes of the ranges, at most `limit`."""
        return min(self.limit, round(_UNKNOWN_RATIO * sum(end - start for _, start, end in self.ranges)))


def placed_runs(segments: Sequence[Segment], limit: int, seed: int) -> tuple[list[SampleRun], int]:
    """Return ranges over segments, which depend only on names and sizes, and the sum of the sizes."""
    sizes = [size_of(segment) for segment in segments]
    total = sum(sizes)
    starts = [0, *accumulate(sizes)]
    runs = _runs(total, _UNKNOWN_RATIO * total, 0.0, limit, seed)
    each = runs[0].limit
    found = []
    for run in runs:
        end = min(run.end, run.start + 2 * each)  # stored bytes of incompressible batches exceed their records
        first = max(bisect_right(starts, run.start) - 1, 0)
        ranges = []
        for segment, start, size in zip(segments[first:], starts[first:], sizes[first:], strict=False):
            if start >= end:
                break
            if size:
                ranges.append(ByteRange(segment, max(run.start - start, 0), min(end - start, size)))
        found.append(SampleRun(tuple(ranges), each))
    return found, total


def sample_run(run: SampleRun) -> Sample:
    """Take the sample of one run; it is empty if no record is intact."""
    sample = Sample()
    for segment, start, end in run.ranges:
        if len(sample.data) < run.limit:
            with _opened(segment) as file:
                _take_run(sample, segment, file, _Run(start, end, run.limit), start, min(end, file.size))
    return sample


@contextmanager
def _opened(segment: Segment) -> Iterator[FileRecords]:
    """Open a segment so that the header walk and the sampled entries share fetched ranges of a remote file."""
    with segment.open() as stored, walked(stored, WALK_BYTES) as file:
        yield FileRecords(file, complete=not segment.is_last, codecs=segment.codecs)


def _sample_segment(sample: Sample, segment: Segment, file: FileRecords, runs: list[_Run], passed: int) -> None:
    """Take the part of each run that lies in this segment."""
    taken = 0
    for run in runs:
        start, end = max(run.start - passed, taken), min(run.end - passed, file.size)
        if start < end and len(sample.data) < run.limit:
            before = len(sample.data)
            taken = _take_run(sample, segment, file, run, start, end)
            sample.runs += len(sample.data) > before


def _take_run(sample: Sample, segment: Segment, file: FileRecords, run: _Run, start: int, end: int) -> int:
    """Take whole batches that begin in a range, or the batch around its start if no batch begins in it; return the end
    of the last batch."""
    headers = file.headers(_entry_before(segment, file, start))
    position = start
    around: BatchHeader | None = None
    try:
        for header in headers:
            if header.position >= end or len(sample.data) >= run.limit:
                break
            if header.is_control or header.records_count == 0:
                continue
            if header.position < start:
                around = header
                continue
            position = _take_batch(sample, file, header)
        else:
            file.check_end(headers)
    except DAMAGE as error:
        _note(sample, Finding.of_error(error, file=file.path))
        return file.size
    if position == start and around is not None and around.position + around.size > start:
        position = _take_batch(sample, file, around)
    return position


def _take_batch(sample: Sample, file: FileRecords, header: BatchHeader) -> int:
    """Take a batch if it is intact; return its end."""
    try:
        entry = file.entry(header.position, header.size)
        with located(header.position, file.path):
            _take_entry(sample, entry, file.codecs)
    except DAMAGE as error:
        sample.findings.append(Finding.of_error(error, file=file.path))
    return header.position + header.size


def _note(sample: Sample, finding: Finding) -> None:
    """Record the damage that ended a walk, unless the file already has a finding."""
    if finding.file not in {one.file for one in sample.findings}:
        sample.findings.append(finding)


def _entry_before(segment: Segment, file: FileRecords, position: int) -> int:
    """Return the position of an entry at or before `position`, from the offset index; 0 if the index is unusable."""
    if not position:
        return 0
    try:
        with segment.open_sibling(INDEX_FILE_SUFFIX) as index_file:
            index = read_offset_index(index_file, segment.base_offset)
    except (FileNotFoundError, RecordpressError):
        return 0
    found = max((entry.position for entry in index if entry.position <= position), default=0)
    first = segment.base_offset
    return found if found and file.headers().at_entry(found, first, first + INT32_MAX) else 0


def _take_entry(sample: Sample, entry: bytes, codecs: CodecRegistry | None) -> None:
    """Add an entry as one uncompressed batch of magic 2."""
    [batch] = read_batches(entry, codecs=codecs)
    columns = read_columns(entry, ["timestamp", "key", "value"], codecs=codecs)
    if columns.num_rows:
        is_v2 = batch.magic == 2
        started = time.thread_time()
        plain = recompress(entry, "none", codecs=codecs) if is_v2 else write_columns(columns, batch_bytes=None)
        sample.decode_seconds += time.thread_time() - started
        sample.add(plain, columns.num_rows, len(entry), len(entry))
