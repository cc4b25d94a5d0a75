"""Statistics of a log, from headers: codecs, records per batch, message formats, compression ratios.

A large segment in an object store is sampled: some ranges of it, found by its offset index, represent the whole
segment. For the ratio, a few batches are decompressed: the first, second, fourth, eighth ... of each codec.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from recordpress._arguments import INT32_MAX
from recordpress._html import html_table
from recordpress.codecs import decompress
from recordpress.errors import RecordpressError
from recordpress.log._batches import codec_name
from recordpress.log._extent import offset_index_of
from recordpress.log._file_records import FileRecords
from recordpress.log._segment import Partition, Segment
from recordpress.log.findings import Finding
from recordpress.record import read_batches
from recordpress.record.header import HEADER_SIZE, BatchHeader

SAMPLED_FROM = 64 << 20  # bytes of a remote segment: reading all of a smaller segment takes little longer
RANGES = 8  # chosen, not measured: at even distances
RANGE_BYTES = 1 << 20  # chosen, not measured


@dataclass
class Share:
    """Counts of a group of batches.

    Attributes
    ----------
    batches, bytes, records : int
        Control records do not count, nor do records of v0/v1 wrappers, whose headers have no count.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.log import stats_of
    >>> [partition] = recordpress.open_log("demo/logs/sessions-0").partitions
    >>> share = stats_of(partition).codecs["lz4"]
    >>> share.batches, share.records, share.bytes
    (9, 1634, 41764)
    """

    batches: int = 0
    bytes: int = 0
    records: int = 0

    def add(self, header: BatchHeader) -> None:
        """Count a batch."""
        self.batches += 1
        self.bytes += header.size
        self.records += 0 if header.is_control else max(header.records_count, 0)

    def to_dict(self) -> dict[str, int]:
        """Return the counts in the form of ``docs/stats.schema.json``."""
        return asdict(self)


@dataclass
class LogStats:
    """Statistics of one or more partitions.

    Attributes
    ----------
    size : int
        Bytes of all segments.
    seen : Share
        The batches whose headers were read.
    sampled : bool
        Whether these are fewer than all batches.
    codecs : dict of str to Share
        Counts by codec, without control batches, which are never compressed.
    magics : dict of int to Share
    depths : dict of int to Share
        Counts by records per batch (1, 2 to 3, 4 to 7 and so on; the key is the lowest), without control batches.
    ratio_of : dict of str to (int, int)
        Bytes before and after compression, by codec. The decompressed batches represent their whole segment, so each
        segment is weighted by its size.
    control : Share
        Control batches.
    transactional : Share
    first_timestamp, last_timestamp : int | None
        In ms, from headers: the earliest time of a batch's first record, and the latest time of a record. The headers
        of v0 and v1 wrappers, and of compacted batches with a delete horizon, have only the latest. Control batches do
        not count.
    findings : list of Finding
        Damage that ended the reading of a segment, and bytes after its last complete entry.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.log import stats_of
    >>> [partition] = recordpress.open_log("demo/logs/sessions-0").partitions
    >>> stats = stats_of(partition)
    >>> stats.segments, stats.seen.batches, sorted(stats.codecs)
    (2, 18, ['lz4'])
    """

    size: int = 0
    segments: int = 0
    sampled: bool = False
    seen: Share = field(default_factory=Share)
    codecs: dict[str, Share] = field(default_factory=dict)
    magics: dict[int, Share] = field(default_factory=dict)
    depths: dict[int, Share] = field(default_factory=dict)
    ratio_of: dict[str, tuple[int, int]] = field(default_factory=dict)
    control: Share = field(default_factory=Share)
    transactional: Share = field(default_factory=Share)
    first_timestamp: int | None = None
    last_timestamp: int | None = None
    findings: list[Finding] = field(default_factory=list)

    def ratio(self, codec: str) -> float | None:
        """Return the bytes before compression divided by the bytes after it; None if unknown."""
        before, after = self.ratio_of.get(codec, (0, 0))
        if codec == "none":
            return 1.0
        return before / after if after else None

    def add(self, header: BatchHeader) -> None:
        """Count a batch."""
        codec = codec_name(header)
        self.seen.add(header)
        self.magics.setdefault(header.magic, Share()).add(header)
        if header.is_control:
            self.control.add(header)
        else:
            self._add_records(codec, header)
        if header.is_transactional:
            self.transactional.add(header)

    def _add_records(self, codec: str, header: BatchHeader) -> None:
        self.codecs.setdefault(codec, Share()).add(header)
        if header.records_count > 0:
            depth = 1 << (header.records_count.bit_length() - 1)
            self.depths.setdefault(depth, Share()).add(header)
        if header.max_timestamp >= 0:
            first = _first_timestamp(header)
            self.first_timestamp = first if self.first_timestamp is None else min(self.first_timestamp, first)
            self.last_timestamp = max(self.last_timestamp or 0, header.max_timestamp)

    def merge(self, other: LogStats) -> None:
        """Add the counts of another object."""
        self.size += other.size
        self.segments += other.segments
        self.sampled |= other.sampled
        groups: list[tuple[dict[Any, Share], dict[Any, Share]]] = [
            (self.codecs, other.codecs), (self.magics, other.magics), (self.depths, other.depths)
        ]  # fmt: skip
        for own, added in groups:
            for key, share in added.items():
                _join(own.setdefault(key, Share()), share)
        _join(self.seen, other.seen)
        _join(self.control, other.control)
        _join(self.transactional, other.transactional)
        for codec, (before, after) in other.ratio_of.items():
            known = self.ratio_of.get(codec, (0, 0))
            self.ratio_of[codec] = (known[0] + before, known[1] + after)
        firsts = [time for time in (self.first_timestamp, other.first_timestamp) if time is not None]
        lasts = [time for time in (self.last_timestamp, other.last_timestamp) if time is not None]
        self.first_timestamp, self.last_timestamp = min(firsts, default=None), max(lasts, default=None)
        self.findings += other.findings

    def _repr_html_(self) -> str:
        rows = (
            (name, share.batches, share.records, share.bytes, _shown_ratio(self.ratio(name)))
            for name, share in sorted(self.codecs.items())
        )
        caption = f"{self.segments:,} segment{'s' * (self.segments != 1)}, {self.size:,} bytes"
        return html_table(caption, ("codec", "batches", "records", "bytes", "ratio"), rows, len(self.codecs))

    def to_dict(self) -> dict[str, object]:
        """Return the statistics with the names in ``docs/stats.schema.json``."""
        return {
            "segments": self.segments,
            "size": self.size,
            "sampled": self.sampled,
            "seen": self.seen.to_dict(),
            "codecs": {
                name: {**share.to_dict(), "ratio": self.ratio(name)} for name, share in sorted(self.codecs.items())
            },
            "magics": {str(magic): share.to_dict() for magic, share in sorted(self.magics.items())},
            "recordsPerBatch": [
                {"from": depth, "to": 2 * depth - 1, **share.to_dict()} for depth, share in sorted(self.depths.items())
            ],
            "control": self.control.to_dict(),
            "transactional": self.transactional.to_dict(),
            "firstTimestamp": self.first_timestamp,
            "lastTimestamp": self.last_timestamp,
            "findings": [finding.to_dict() for finding in self.findings],
        }


def _shown_ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def _first_timestamp(header: BatchHeader) -> int:
    """Return the time of a batch's first record, or the latest time if the header lacks the first."""
    is_first = header.magic == 2 and header.timestamp_type == 0 and header.delete_horizon_ms is None
    return int(header.base_timestamp) if is_first and header.base_timestamp >= 0 else header.max_timestamp


def _join(share: Share, other: Share) -> None:
    share.batches += other.batches
    share.bytes += other.bytes
    share.records += other.records


def stats_of(partition: Partition, *, full: bool = False) -> LogStats:
    """Compute the statistics of a partition.

    Parameters
    ----------
    partition : Partition
    full : bool
        Read all headers of large remote segments, too.

    Returns
    -------
    LogStats
        Damage ends the reading of a segment, and is in the findings.

    Raises
    ------
    OSError
        A file cannot be read.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.log import stats_of
    >>> [partition] = recordpress.open_log("demo/logs/sessions-0").partitions
    >>> stats_of(partition).codecs
    {'lz4': Share(batches=9, bytes=41764, records=1634)}
    """
    stats = LogStats()
    for segment in partition.segments:
        stats.merge(_segment_stats(segment, full))
    return stats


def _segment_stats(segment: Segment, full: bool) -> LogStats:
    with segment.records() as file:
        stats = LogStats(size=file.size, segments=1)
        ranges = None if full else _ranges_of(segment, file)
        stats.sampled = ranges is not None
        try:
            for header in _headers(segment, file, ranges):
                stats.add(header)
                if header.is_compressed and not header.is_control and not file.file.is_remote:
                    _measure(stats, codec_name(header), file, header)
        except RecordpressError as error:
            stats.findings.append(Finding.of_damage(error, file=segment.url))
        if size := file.trailing_bytes:
            message = f"{size} bytes follow the last complete entry"
            place = (segment.url, file.valid_bytes, size, file.next_offset)
            stats.findings.append(Finding(*place, "record set framing", message))
    stats.ratio_of = {
        codec: (share.bytes * before // after, share.bytes)
        for codec, share in stats.codecs.items()
        for before, after in [stats.ratio_of.get(codec, (0, 0))]
        if after
    }
    return stats


def _headers(segment: Segment, file: FileRecords, ranges: list[int] | None) -> Iterator[BatchHeader]:
    if ranges is None:
        yield from file.walk()
        return
    passed = 0
    for position in ranges:
        for header in _range(segment, file, position):
            if header.position >= passed:
                yield header
                passed = header.position + header.size


def _range(segment: Segment, file: FileRecords, position: int) -> Iterator[BatchHeader]:
    """Yield the complete entries in one read at a position; nothing if no batch begins there."""
    walk = file.headers(position, window_bytes=RANGE_BYTES)
    first, last = segment.base_offset, segment.base_offset + INT32_MAX
    if position and not walk.at_entry(position, first, last):
        return
    end = min(position + RANGE_BYTES, file.size)
    while walk.position + HEADER_SIZE <= end:
        header = next(walk, None)
        if header is None or header.position + header.size > end:
            return
        yield header


def _ranges_of(segment: Segment, file: FileRecords) -> list[int] | None:
    """Return positions of batches, evenly spread over the segment; None to read all of it."""
    if not file.file.is_remote or file.size < SAMPLED_FROM:
        return None
    if (index := offset_index_of(segment)) is None:
        return None
    positions = sorted({entry.position for entry in index})
    wanted = [file.size * number // RANGES for number in range(RANGES)]
    return sorted({max((at for at in positions if at <= place), default=0) for place in wanted})


def _measure(stats: LogStats, codec: str, file: FileRecords, header: BatchHeader) -> None:
    """Measure the ratio of the first, second, fourth ... batch. `verify` reports damage in them."""
    number = stats.codecs[codec].batches
    if number & (number - 1):
        return
    try:
        [batch] = read_batches(file.entry(header.position, header.size), codecs=file.codecs)
        payload = batch.payload
        size = len(decompress(payload, batch.compression_type, codecs=file.codecs))
    except RecordpressError:
        return
    before, after = stats.ratio_of.get(codec, (0, 0))
    stats.ratio_of[codec] = (before + size, after + len(payload))
