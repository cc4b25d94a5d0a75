"""Range of the offsets in a segment, from its first and last headers; for a plan, from its offset index if possible."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from recordpress._arguments import INT32_MAX
from recordpress._file_names import INDEX_FILE_SUFFIX
from recordpress.columns import read_columns
from recordpress.errors import RecordpressError
from recordpress.files import LocalFileSystem, RandomAccessFile, buffered
from recordpress.log._file_records import FileRecords
from recordpress.log._header_walk import HeaderWalk
from recordpress.log._segment import Segment
from recordpress.log._transactions import SegmentLike
from recordpress.log.sidecars.offset_index import ENTRY_SIZE, OffsetIndex, OffsetPosition, read_offset_index
from recordpress.record import Batch, read_batches, summarize_records
from recordpress.record.header import CODEC_BITS, ENTRY_PREFIX, BatchHeader, entry_prefix

_TAIL_BYTES = 1_048_588  # largest batch by default (ServerLogConfigs.MAX_MESSAGE_BYTES_DEFAULT)
_HEADER_BYTES = 512  # to read for one header: reading less than a page is not cheaper
_WRAPPER_PREFIX = ENTRY_PREFIX + 1  # with the attributes of a v0/v1 message
_UNKNOWN = -(1 << 63)


Window = tuple[int, int]  # range of offsets; the second is excluded


class Extent(NamedTuple):
    """The lowest offset, and the offset after the highest."""

    first: int
    end: int


def is_checked(segment: Segment) -> bool:
    """Return whether a segment's name and indexes are compared with headers: always on this machine, where that is
    cheap, and on request."""
    return segment.check_indexes or isinstance(segment.filesystem, LocalFileSystem)


def extent_of(segment: Segment) -> Extent | None:
    """Return the extent of a segment whose offsets ascend, with its base offset; None if no header can be read."""
    with segment.records(complete=False) as file:
        last = _last_headers(segment, file).extent
        first = file.headers(window_bytes=_HEADER_BYTES)
        with suppress(RecordpressError):
            for header in first:
                lowest, highest = last or (header.base_offset, header.last_offset + 1)
                start = min(_first_offset(file, header), segment.base_offset)
                return Extent(min(start, lowest), max(highest, header.last_offset + 1, segment.base_offset + 1))
    return Extent(_UNKNOWN, last[1]) if last else None


def begins_before_its_name(segment: Segment) -> bool:
    """Return whether the first offset of a segment is below its base offset; if the first entry is damaged, the result
    is arbitrary."""
    with suppress(FileNotFoundError), segment.open() as file:  # reported when the segment is read
        data = file.read_at(0, _WRAPPER_PREFIX)
        if not (prefix := entry_prefix(data)):
            return False
        if prefix[2] in (0, 1) and len(data) == _WRAPPER_PREFIX and data[ENTRY_PREFIX] & CODEC_BITS:
            with segment.records(complete=False) as records, suppress(RecordpressError):
                for header in records.headers(window_bytes=_HEADER_BYTES):
                    return _first_offset(records, header) < segment.base_offset
        return prefix[0] < segment.base_offset
    return False


def _first_offset(file: FileRecords, header: BatchHeader) -> int:
    return offsets_in(file, header)[0][0] if is_wrapper(header) else header.base_offset


def end_of(segment: Segment) -> int | None:
    """Return the offset after the highest offset in the last headers of a segment; None if it has no batches."""
    with segment.records(complete=False) as file:
        extent = _last_headers(segment, file).extent
    return None if extent is None else extent[1]


def end_before(segment: Segment, following: int) -> int:
    """Return the offset after a segment if the next segment has the base offset `following`. The segment is read only
    if it has fewer bytes than offsets: Spark's sink leaves large gaps in stores."""
    if following - segment.base_offset <= (segment.size or 0):
        return following
    return min(end_of(segment) or following, following)


def _last_headers(segment: Segment, file: FileRecords) -> HeaderWalk:
    """Return a walk that passed the last headers of a segment, and reached the end or damage."""
    if INDEX_FILE_SUFFIX not in segment.suffixes and file.size > _TAIL_BYTES:
        return _tail(segment, buffered(file.file))
    last = near_the_end(segment, file)
    with suppress(RecordpressError):
        last.pass_over(last.end)
    return last if last.position == last.end else _walked(file.headers(), segment)


def last_known_offset(segment: Segment) -> int | None:
    """Return a checked segment's last offset by its index, or by its last headers if that is missing or ends early."""
    if not is_checked(segment):
        return None
    try:
        entry = last_entry(segment)
        if entry is not None and (segment.size or 0) - entry.position <= _TAIL_BYTES:
            return entry.offset
        with segment.open() as file:
            extent = _tail(segment, buffered(file)).extent
        return None if extent is None else extent[1] - 1
    except (OSError, ValueError):
        return None  # reported when the segment is read


def last_entry(segment: SegmentLike) -> OffsetPosition | None:
    """Return the last entry of an offset index, or the segment's start if the index is empty, as in small segments."""
    with suppress(FileNotFoundError, RecordpressError), segment.open_sibling(INDEX_FILE_SUFFIX) as file:
        at = file.size // ENTRY_SIZE * ENTRY_SIZE - ENTRY_SIZE
        data = file.read_exactly(at, ENTRY_SIZE) if at >= 0 else b""
        # zeros: a broker pads the index of its active segment
        last = read_offset_index(data if any(data) or not at else file, segment.base_offset)[-1:]
        return last[0] if last else OffsetPosition(segment.base_offset, 0)
    return None


def offset_index_of(segment: SegmentLike) -> OffsetIndex | None:
    """Return the offset index; None if it is missing or damaged."""
    with suppress(FileNotFoundError, RecordpressError), segment.open_sibling(INDEX_FILE_SUFFIX) as file:
        return read_offset_index(file, segment.base_offset)
    return None


def _tail(segment: Segment, file: RandomAccessFile) -> HeaderWalk:
    """Return a walk that started at a batch near the end and reached the end."""
    walk = last_entries(segment.base_offset, file)
    # if no entries lead to the end, the last batch is unusually large, or damaged
    return _walked(walk or HeaderWalk(file, position=file.start), segment)


def last_entries(base_offset: int, file: RandomAccessFile) -> HeaderWalk | None:
    """Return a walk from a batch in the last MiB from which entries lead to the end of a file; None if not found."""
    # A record's value may itself be a batch: if the search finds it first, it does not lead to the end.
    at = max(file.size - _TAIL_BYTES, file.start)
    walk = HeaderWalk(file, position=at, window_bytes=_TAIL_BYTES if file.is_remote else None)
    is_found = at == file.start or walk.search(at, base_offset, base_offset + INT32_MAX)
    while is_found:
        at = walk.position
        with suppress(RecordpressError):
            walk.pass_over(walk.end)
        if walk.position == walk.end:
            walk.move_to(at)
            return walk
        is_found = walk.search(walk.position + 1, base_offset, base_offset + INT32_MAX)
    return None


def _walked(walk: HeaderWalk, segment: Segment) -> HeaderWalk:
    """Move a walk to the end, past damage that an intact entry follows, and return it."""
    while True:
        try:
            walk.pass_over(walk.end)
            return walk
        except RecordpressError:
            if not walk.search(walk.position + 1, segment.base_offset, segment.base_offset + INT32_MAX):
                return walk


def near_the_end(segment: SegmentLike, file: FileRecords) -> HeaderWalk:
    """Return a walk from the last index entry if a batch begins there; in a store without an index, from a batch near
    the end."""
    entry = last_entry(segment)
    if entry is None and file.file.is_remote:
        return last_entries(segment.base_offset, file.file) or file.headers()
    if entry is None or not 0 < entry.position < file.size:
        return file.headers()
    walk = file.headers(entry.position)
    first, last = segment.base_offset, segment.base_offset + INT32_MAX
    return walk if walk.at_entry(entry.position, first, last) else file.headers()


# --- the offsets of one batch ----------------------------------------------------------------------------------------


def is_wrapper(header: BatchHeader | Batch) -> bool:
    """Return whether a batch is a compressed v0/v1 message, whose header has only the last of its records' offsets."""
    return header.magic < 2 and header.is_compressed


def offsets_in(file: FileRecords, header: BatchHeader) -> list[Window]:
    """Return the offsets of a batch's records, as windows; read the records only if the header is not sufficient."""
    if header.records_count == header.last_offset - header.base_offset + 1:
        return [(header.base_offset, header.last_offset + 1)]
    if header.records_count == 0:
        return []
    found = offsets_of_records(file, header)
    return [(header.base_offset, header.last_offset + 1)] if found is None else found.windows


class Offsets(NamedTuple):
    """Offsets of the records of a batch, and the number of records: some may have the same offset."""

    windows: list[Window]
    records: int


def offsets_of_records(file: FileRecords, header: BatchHeader) -> Offsets | None:
    """Return the offsets of the records; None if they are damaged, which their reader reports."""
    try:
        data = file.entry(header.position, header.size)
        check_crcs = is_wrapper(header)
        [batch] = read_batches(data, check_crcs=check_crcs, codecs=file.codecs)
        count, _, least, largest, _, disorder = summarize_records(batch)
        if disorder is None and count == largest - least + 1:
            return Offsets([(least, largest + 1)], count)
        # with sequences, because offsets alone would come from the header
        columns = read_columns(data, ["offset", "sequence"], check_crcs=check_crcs, control=True, codecs=file.codecs)
        offsets = sorted(columns["offset"])
    except RecordpressError:
        return None
    found: list[Window] = []
    for offset in offsets:
        if found and offset <= found[-1][1]:
            found[-1] = (found[-1][0], offset + 1)
        else:
            found.append((offset, offset + 1))
    return Offsets(found, len(offsets))
