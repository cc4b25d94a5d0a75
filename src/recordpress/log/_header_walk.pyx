"""A walk over a log by headers alone: payloads are not examined, and most are not even read.

::

    window of the file ──► header ──► the next entry's position ──► in the window? ─ yes ──► header ...
          ▲                                                              │ no
          └──────────────────────────────────────────────────────────────┘

If entries are small, a window holds several; if they are large, it holds little more than one header. There is never
more than one read per entry, and for entries below 16 KiB never more than one per 64 KiB.
"""

from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.stdint cimport INT32_MAX, INT64_MAX, INT64_MIN, int32_t, int64_t, uint8_t, uint32_t, uint64_t

from recordpress._arguments cimport integer_of
from recordpress._c.wire cimport (
    RP_ATTRIBUTES_OFFSET, RP_BATCH_HEADER, RP_CRC, RP_CRC_OFFSET, RP_END, RP_ENTRY_PREFIX, RP_LOG_OVERHEAD,
    RP_MAGIC_OFFSET, RP_MESSAGE_CRC_OFFSET, RP_MIN_ENTRY_SIZE, RP_OK, RP_SIZE_OFFSET, RP_TRANSACTIONAL, rp_batch,
    rp_batch_codec, rp_batch_last_offset, rp_batch_next, rp_error, rp_fail, rp_load_be32, rp_load_be64,
)
from recordpress._status cimport check, error_of, place, place_at, place_of
from recordpress.checksum cimport crc32_update, crc32c_update
from recordpress.codecs.codec cimport codec_table
from recordpress.codecs.table cimport CodecTable, table_of
from recordpress.columns.header_table cimport BatchTable, add_row, new_table
from recordpress.record.header cimport header_of

from recordpress.errors import CorruptRecordError

cdef enum:
    WINDOW = (64 << 10) + RP_BATCH_HEADER   # including a header that begins after 64 KiB
    SPARSE = 512        # a window of one header, if entries are large: reading less than a page is not cheaper
    LARGE = 16 << 10    # entries this large: reading one costs more than another call
    SEARCH_AHEAD = 8    # searches may checksum this many times the file's bytes in vain


cdef class HeaderWalk:
    """Walk over the headers of a file; not thread-safe."""

    cdef readonly int64_t position
    cdef readonly int64_t end
    cdef readonly str name
    cdef readonly bint gave_up
    cdef int64_t largest        # maximum of the size field of an entry
    cdef object file
    cdef bytearray block
    cdef object view            # of the block
    cdef const uint8_t* data    # bytes of the block, which begin at `begin` in the file
    cdef int64_t begin
    cdef int64_t size
    cdef int64_t window_bytes   # 0: chosen by the size of the entries
    cdef int64_t typical        # size of the last entry
    cdef rp_batch batch
    cdef rp_error error
    cdef bint any
    cdef int64_t last_offset
    cdef int64_t lowest         # offset in the headers that were passed; a wrapper counts with its last offset
    cdef int64_t highest
    cdef readonly int64_t latest  # timestamp in these headers; -1: none
    cdef readonly bint descends  # an entry begins before the end of an earlier entry
    cdef readonly bint has_wrappers  # compressed entries of magic 0 or 1 were passed
    cdef readonly tuple wanted  # what a survey found
    cdef int64_t in_vain        # bytes that searches checksummed in vain

    def __init__(self, file, *, position=0, end=None, window_bytes=None, max_message_bytes=INT32_MAX):
        cdef int64_t size = integer_of(file.size, "size", 0, INT64_MAX)
        self.end = size if end is None else min(size, <int64_t>integer_of(end, "end", 0, INT64_MAX))
        self.position = integer_of(position, "position", 0, self.end)
        self.largest = integer_of(max_message_bytes, "max_message_bytes", 0, INT32_MAX)
        self.window_bytes = 0 if window_bytes is None else integer_of(window_bytes, "window_bytes", SPARSE, INT32_MAX)
        self.file = file
        self.latest = -1
        name = getattr(file, "name", None)
        self.name = name if isinstance(name, str) else None
        self.block = bytearray(min(self.window_bytes or WINDOW, max(self.end, 1)))
        self.view = memoryview(self.block)
        self.data = <const uint8_t*>PyByteArray_AS_STRING(self.block)

    @property
    def next_offset(self):
        return <int64_t>(<uint64_t>self.last_offset + 1) if self.any else None

    @property
    def extent(self):
        """The lowest offset in the headers that were passed, and the offset after the highest; None before a header."""
        return (self.lowest, <object>self.highest + 1) if self.any else None

    # --- the window ---------------------------------------------------------------------------------------------

    cdef int read_window(self, int64_t position, int64_t most) except -1:
        cdef int64_t wanted = min(most, self.end - position, len(self.block))
        cdef int64_t got
        self.size = 0
        got = integer_of(self.file.read_into(position, self.view[:wanted]), "read_into()", 0, wanted)
        if got < wanted:
            raise CorruptRecordError(
                f"the file was truncated while it was read: it had {self.end} bytes and now ends at {position + got}",
                file=self.name, position=position + got, rule="file size")
        self.begin = position
        self.size = wanted
        return 0

    cdef int need(self, int64_t position, int64_t bytes) except -1:
        """Load a window that begins at `position`, unless the current window has these bytes."""
        cdef int64_t most = self.window_bytes
        if self.begin <= position and min(position + bytes, self.end) <= self.begin + self.size:
            return 0
        if most == 0:
            most = SPARSE if self.typical >= LARGE else WINDOW
        return self.read_window(position, most)

    # --- entries ------------------------------------------------------------------------------------------------

    cdef int header(self, int64_t position) except -1:
        """Read the header of the entry at `position` into `batch`; return the status."""
        cdef int64_t at
        cdef int status
        if position >= self.end:
            return RP_END
        self.need(position, RP_BATCH_HEADER)
        at = position - self.begin
        # the size is the file's: the header is in the window, and nothing else is read
        status = rp_batch_next(self.data, self.end - self.begin, at, self.largest, &self.batch, &self.error)
        self.batch.position = position
        return status

    cdef bint step(self) except -1:
        """Read the next header and pass its entry; return False at the end."""
        cdef place at
        cdef int status = self.header(self.position)
        if status == RP_END:
            return False
        if status != RP_OK:
            at = place_at(self.position, 0, self.name)
            raise error_of(&self.error, &at)
        self.position += self.batch.size
        self.typical = self.batch.size
        self.last_offset = rp_batch_last_offset(&self.batch)
        self.latest = max(self.latest, self.batch.max_timestamp)
        self.note_order(rp_batch_codec(&self.batch) != 0 and self.batch.magic < 2)
        return True

    cdef inline void note_order(self, bint is_wrapper) noexcept:
        """Record the order of offsets; a wrapper's header has only its last offset."""
        cdef int64_t first = self.last_offset if is_wrapper else self.batch.base_offset
        self.has_wrappers |= is_wrapper
        if self.any:
            self.descends |= first <= self.highest
            self.lowest = min(self.lowest, first)
            self.highest = max(self.highest, self.last_offset)
        else:
            self.lowest = first
            self.highest = self.last_offset
        self.any = True

    def __iter__(self):
        return self

    def __next__(self):
        if not self.step():
            raise StopIteration
        return header_of(&self.batch)

    def find_offset(self, target):
        """Return the first entry whose last offset is at least `target`, or None, without passing the entry."""
        cdef int64_t wanted = target
        while self.step():
            if self.last_offset >= wanted:
                self.position = self.batch.position
                return header_of(&self.batch)
        return None

    def find_timestamp(self, target):
        """Return the first entry whose largest timestamp is at least `target`, or None, without passing the entry."""
        cdef int64_t wanted = target
        while self.step():
            if self.batch.max_timestamp >= wanted:
                self.position = self.batch.position
                return header_of(&self.batch)
        return None

    def pass_over(self, position):
        """Pass all entries that begin before a position; return False if the entries end before it."""
        cdef int64_t wanted = position
        while self.position < wanted:
            if not self.step():
                return False
        return True

    def survey(self, start_offset, end_offset, start_timestamp):
        """Pass all entries, and set `wanted` to position and base offset of the first entry that may have such records,
        and the offset after the entries before it (None if it is the first entry)."""
        cdef int64_t first = INT64_MIN if start_offset is None else start_offset
        cdef int64_t end = INT64_MAX if end_offset is None else end_offset
        cdef int64_t time = INT64_MIN if start_timestamp is None else start_timestamp
        cdef const rp_batch* b = &self.batch
        cdef bint any = self.any
        cdef int64_t before = self.highest
        while self.step():
            if self.wanted is None and self.last_offset >= first and not (b.magic == 2 and b.base_offset >= end):
                if b.magic == 0 or b.max_timestamp >= time:
                    self.wanted = (b.position, b.base_offset, <object>before + 1 if any else None)
            any, before = True, self.highest

    def transactional(self):
        """Yield the headers of all following batches of transactions."""
        while self.step():
            if self.batch.magic == 2 and self.batch.attributes & RP_TRANSACTIONAL:
                yield header_of(&self.batch)

    def idempotent(self):
        """Yield the headers of all following batches with a producer id, markers included."""
        while self.step():
            if self.batch.magic == 2 and self.batch.producer_id >= 0:
                yield header_of(&self.batch)

    def table(self, most, check_crcs):
        """Return the next headers as a `BatchTable` and, on request, a byte for each that shows whether its checksum is
        right."""
        cdef BatchTable table = new_table()
        cdef const codec_table* codecs = &(<CodecTable>table_of(None)).rows
        cdef int64_t room = integer_of(most, "most", 1, 1 << 24)  # a few GB of rows; chosen, not measured
        cdef bint with_crcs = check_crcs
        cdef rp_error err
        cdef bytearray valid = bytearray()
        while table._rows.n < room:
            try:
                if not self.step():
                    break
            except CorruptRecordError:
                if table._rows.n == 0:
                    raise
                break  # the next call raises it again
            check(add_row(&table._rows, &self.batch, codecs, rp_batch_codec(&self.batch), &err), &err)
            if with_crcs:
                valid.append(self.crc_is_right(&self.batch))
        return table, valid if with_crcs else None

    # --- checksums ----------------------------------------------------------------------------------------------

    cdef uint32_t checksum(self, int64_t start, int64_t end, bint v2) except? 0:
        """Compute the checksum of these bytes of the file, window by window."""
        cdef uint32_t crc = 0
        cdef int64_t part
        cdef const uint8_t* p
        while start < end:
            if not self.begin <= start < self.begin + self.size:
                self.read_window(start, self.window_bytes or WINDOW)
            part = min(end, self.begin + self.size) - start
            p = self.data + (start - self.begin)
            with nogil:
                crc = crc32c_update(crc, p, <size_t>part) if v2 else crc32_update(crc, p, <size_t>part)
            start += part
        return crc

    cdef bint crc_is_right(self, const rp_batch* batch) except -1:
        cdef bint v2 = batch.magic == 2
        cdef int64_t covers = RP_ATTRIBUTES_OFFSET if v2 else RP_MESSAGE_CRC_OFFSET + 4
        cdef int64_t where = RP_CRC_OFFSET if v2 else RP_MESSAGE_CRC_OFFSET
        cdef uint32_t computed = self.checksum(batch.position + covers, batch.position + batch.size, v2)
        if computed == batch.crc:
            return True
        rp_fail(&self.error, RP_CRC, where, batch.crc, computed)
        return False

    def checksum_error(self):
        """Return the checksum error of the last passed entry; None if the checksum is right."""
        cdef rp_batch batch = self.batch
        cdef place at
        if self.crc_is_right(&batch):
            return None
        at = place_of(&batch, 0, self.name)
        return error_of(&self.error, &at)

    def checksum_of(self, start, end):
        """Return the CRC-32C of these bytes of the file."""
        return self.checksum(integer_of(start, "start", 0, self.end), integer_of(end, "end", 0, self.end), True)

    # --- a truncated entry ------------------------------------------------------------------------------------

    def prefix(self):
        """Return base offset and size field of the entry here, complete or not; None if it ends before its magic."""
        if self.end - self.position < RP_ENTRY_PREFIX:
            return None
        self.need(self.position, RP_ENTRY_PREFIX)
        cdef const uint8_t* p = self.data + (self.position - self.begin)
        return <int64_t>rp_load_be64(p), <int32_t>rp_load_be32(p + RP_SIZE_OFFSET)  # need() has read them

    def ends_with_file(self):
        """Return whether the entry here is a v2 batch whose checksum is right if it ends with the file."""
        if self.end - self.position < RP_BATCH_HEADER:
            return False
        self.need(self.position, RP_BATCH_HEADER)
        cdef const uint8_t* p = self.data + (self.position - self.begin)
        cdef uint32_t stored = rp_load_be32(p + RP_CRC_OFFSET)  # need() has read the header
        return p[RP_MAGIC_OFFSET] == 2 and stored == self.checksum(self.position + RP_ATTRIBUTES_OFFSET, self.end, True)

    # --- resuming after damage ------------------------------------------------------------------------------------

    def at_entry(self, position, first_offset, last_offset):
        """Return whether the bytes there look like the header of an entry with offsets in this range; True at the end.

        A truncated entry counts as an entry.
        """
        cdef int64_t at = integer_of(position, "position", 0, INT64_MAX)
        cdef int64_t base
        cdef int status
        if at >= self.end:
            return at == self.end
        status = self.header(at)
        if status == RP_END and self.end - at < RP_ENTRY_PREFIX:
            return False
        base = <int64_t>rp_load_be64(self.data + (at - self.begin))  # RP_OK and the check above: RP_ENTRY_PREFIX bytes
        return status in (RP_OK, RP_END) and first_offset <= base <= last_offset

    def move_to(self, position):
        """Continue at the entry at a position."""
        self.position = integer_of(position, "position", 0, self.end)

    def search(self, position, first_offset, last_offset, limit=None):
        """Continue at the first intact entry at or after a position, at any byte; return whether an entry was found.

        Every candidate entry is verified by its checksum. All searches of a walk together checksum at most eight
        times the file's bytes in vain: otherwise a file full of headers could take quadratic time.
        """
        cdef int64_t at = integer_of(position, "position", 0, INT64_MAX)
        cdef int64_t first = min(<object>first_offset, <object>INT64_MAX)
        cdef int64_t last = min(<object>last_offset, <object>INT64_MAX)
        cdef int64_t stop = self.end if limit is None else min(self.end, <int64_t>limit)
        cdef int64_t found, most
        while at < stop and self.end - at > RP_ENTRY_PREFIX:
            if not (self.begin <= at and min(at + RP_BATCH_HEADER, self.end) <= self.begin + self.size):
                self.read_window(at, self.window_bytes or WINDOW)
            most = min(self.size - RP_ENTRY_PREFIX + 1, stop - self.begin)
            with nogil:
                found = candidate(self.data, at - self.begin, most, self.end - self.begin, first, last)
            at = self.begin + (most if found < 0 else found)
            if found < 0:
                continue
            if self.is_entry(at):
                self.position = at
                return True
            at += 1
        return False

    cdef bint is_entry(self, int64_t position) except -1:
        cdef rp_batch batch
        if self.header(position) != RP_OK:
            return False
        batch = self.batch
        if batch.magic == 2 and not (batch.last_offset_delta >= 0 and
                                     0 <= batch.records_count <= <int64_t>batch.last_offset_delta + 1):
            return False
        if self.in_vain + batch.size > SEARCH_AHEAD * self.end:
            self.gave_up = True
            return False
        if self.crc_is_right(&batch):
            return True
        self.in_vain += batch.size
        return False


cdef int64_t candidate(const uint8_t* data, int64_t at, int64_t most, int64_t end, int64_t first,
                       int64_t last) noexcept nogil:
    """Return the first place from `at` up to `most` where a base offset in the range, a size and a magic lie as in a
    header, or -1. All places, and the `end` of the file, count from `data`. RP_ENTRY_PREFIX bytes follow each place
    before `most`, so the loop checks no bounds."""
    cdef uint64_t range = <uint64_t>last - <uint64_t>first
    cdef int64_t size
    while at < most:
        if data[at + RP_ENTRY_PREFIX - 1] <= 2 and rp_load_be64(data + at) - <uint64_t>first <= range:
            size = <int64_t>rp_load_be32(data + at + RP_LOG_OVERHEAD - 4)
            if RP_MIN_ENTRY_SIZE <= size <= end - at - RP_LOG_OVERHEAD:
                return at
        at += 1
    return -1
