"""Which offsets a segment holds, by its first header and its last ones; or by its offset index alone, for a plan."""

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

_TAIL_BYTES = 1_048_588  # what a batch has at most, by default (ServerLogConfigs.MAX_MESSAGE_BYTES_DEFAULT)
_HEADER_BYTES = 512  # of one read, for one header
_WRAPPER_PREFIX = ENTRY_PREFIX + 1  # up to the attributes of a v0/v1 message
_UNKNOWN = -(1 << 63)


Window = tuple[int, int]  # offsets from the first on and before the second


class Extent(NamedTuple):
    """The lowest offset, and the one after the highest."""

    first: int
    end: int


def is_checked(segment: Segment) -> bool:
    """Return whether its name and indexes are compared with headers: on this machine, where that is cheap, and on
    request."""
    return segment.check_indexes or isinstance(segment.filesystem, LocalFileSystem)


def extent_of(segment: Segment) -> Extent | None:
    """Return the extent of a segment whose offsets ascend, and of its name; None without a batch, or at damage."""
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
    """Return whether the first offset of a segment is below its base offset; or there is damage, whose offsets are
    any."""
    with suppress(FileNotFoundError), segment.open() as file:  # its reader reports it
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
    """Return the offset after the last batch of a segment, or after a later one near its end; None without a batch."""
    with segment.records(complete=False) as file:
        extent = _last_headers(segment, file).extent
    return None if extent is None else extent[1]


def end_before(segment: Segment, following: int) -> int:
    """The offset after a segment that precedes one with the base offset `following`. The segment is read only if it has
    fewer bytes than offsets: Spark's sink leaves large gaps in stores."""
    if following - segment.base_offset <= (segment.size or 0):
        return following
    return min(end_of(segment) or following, following)


def _last_headers(segment: Segment, file: FileRecords) -> HeaderWalk:
    """Return a walk that reached the end, or damage."""
    if INDEX_FILE_SUFFIX not in segment.suffixes and file.size > _TAIL_BYTES:
        return _tail(segment, buffered(file.file))
    last = near_the_end(segment, file)
    with suppress(RecordpressError):
        last.pass_over(last.end)
    return last if last.position == last.end else _walked(file.headers(), segment)


def last_known_offset(segment: Segment) -> int | None:
    """Return the last offset in the index of a checked segment, or of the segment itself."""
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
        return None  # its reader reports it


def last_entry(segment: SegmentLike) -> OffsetPosition | None:
    """Return the last entry of an offset index. An index without entries belongs to one batch, or to small ones."""
    with suppress(FileNotFoundError, RecordpressError), segment.open_sibling(INDEX_FILE_SUFFIX) as file:
        at = file.size // ENTRY_SIZE * ENTRY_SIZE - ENTRY_SIZE
        data = file.read_exactly(at, ENTRY_SIZE) if at >= 0 else b""
        # zeros: a broker fills up the index of its active segment
        last = read_offset_index(data if any(data) or not at else file, segment.base_offset)[-1:]
        return last[0] if last else OffsetPosition(segment.base_offset, 0)
    return None


def offset_index_of(segment: SegmentLike) -> OffsetIndex | None:
    """Return the offset index; None if it is missing or damaged."""
    with suppress(FileNotFoundError, RecordpressError), segment.open_sibling(INDEX_FILE_SUFFIX) as file:
        return read_offset_index(file, segment.base_offset)
    return None


def _tail(segment: Segment, file: RandomAccessFile) -> HeaderWalk:
    """Return a walk that reached the end from a batch near it."""
    walk = last_entries(segment.base_offset, file)
    # without any the last batch is larger than most, or damaged
    return _walked(walk or HeaderWalk(file, position=file.start), segment)


def last_entries(base_offset: int, file: RandomAccessFile) -> HeaderWalk | None:
    """Return a walk from a batch in the last MiB, from which entries lead to the end of a file."""
    # A record's value may itself be a batch: if that is found first, it does not lead to the end.
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
    """Return the walk after it reached the end, over damage too."""
    while True:
        try:
            walk.pass_over(walk.end)
            return walk
        except RecordpressError:
            if not walk.search(walk.position + 1, segment.base_offset, segment.base_offset + INT32_MAX):
                return walk


def near_the_end(segment: SegmentLike, file: FileRecords) -> HeaderWalk:
    """Return a walk from the last index entry, if a batch begins there; without an index in a store, from a batch near
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
    """Return whether records have other offsets than the header shows: of a compressed v0/v1 message it has the last
    one."""
    return header.magic < 2 and header.is_compressed


def offsets_in(file: FileRecords, header: BatchHeader) -> list[Window]:
    """Return the offsets of a batch's records, as windows; read its records only if its header leaves them open."""
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
        # with sequences, as offsets alone would come from the header
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
