"""The records that a broker sends to an old client: as many bytes as it promised before it converted
all of them (KIP-283).

    first    one batch at a time is converted, until something comes out of one: known before the response begins
    promise  as many bytes as were read, or as the first result has, if that is more
    send     the first result; then chunks of up to 128 KiB of batches, each converted as a whole
    filler   an entry that claims to be longer than the remaining bytes: every reader treats it as truncated

Source: org.apache.kafka.common.record: LazyDownConversionRecords, LazyDownConversionRecordsSend. Two things in them are
mistakes, and are kept, as clients meet them. The sender skips one batch for the first result, even where there were
others before it that came to nothing: batches from the second one on are then sent again. And where a chunk cannot be
converted because of zstd, one filler is sent; if it is not enough, as it has 128 KiB at most, the iterator refuses to
go on, and the connection is closed before the response is complete.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport INT32_MAX, INT64_MAX, INT64_MIN, int64_t, uint64_t
from libc.string cimport memset

from recordpress._arguments cimport integer_of
from recordpress._buffers cimport InputView, pooled, pooled_reserve_more
from recordpress._c.wire cimport (
    RP_BATCH_HEADER, RP_END, RP_LOG_OVERHEAD, RP_OK, rp_batch, rp_store_be32, rp_store_be64,
)
from recordpress._status cimport error_of, place, place_at
from recordpress.broker._down_convert cimport (
    DOWN_OURS, down_conversion, down_conversion_free, down_convert, entry_at,
)
from recordpress.broker._error_codes cimport UNSUPPORTED_COMPRESSION_TYPE
from recordpress.codecs.context cimport context_acquire, context_release
from recordpress.codecs.table cimport CodecTable, table_of
from recordpress.record.recompress_batch cimport append

from recordpress.codecs import DEFAULT_MAX_SIZE
from recordpress.errors import CorruptRecordError
from recordpress.record.change_magic import LOST

cdef enum:
    MAX_READ_SIZE = 128 << 10               # LazyDownConversionRecordsSend
    MIN_OVERFLOW_MESSAGE_LENGTH = RP_LOG_OVERHEAD


cdef int last_entry(object data, int magic, int64_t* end) except -1:
    """Return the status and position of the first entry that cannot be passed, such as one above `magic`."""
    cdef InputView view = InputView(data)
    cdef down_conversion d
    cdef rp_batch b
    cdef place at
    cdef int status
    memset(&d, 0, sizeof(down_conversion))
    d.data, d.size = view.data, view.size
    end[0] = 0
    with nogil:
        while True:
            status = entry_at(&d, end[0], &b)
            if status != RP_OK or b.magic > magic:
                break
            end[0] += b.size
    if status == RP_OK or status == RP_END:
        return status
    at = place_at(b.position)
    raise error_of(&d.error, &at)


def holds_newer(data, magic):
    """Return whether an entry is too new for a client that knows this magic (AbstractRecords.hasCompatibleMagic)."""
    cdef int64_t end
    return last_entry(data, magic, &end) == RP_OK


def cut_bytes_of(data):
    """Return the number of bytes of an incomplete last entry."""
    cdef InputView view = InputView(data)
    cdef int64_t end = 0
    try:
        last_entry(data, 127, &end)
    except CorruptRecordError:
        return 0  # its reader reports it
    return view.size - end


cdef class DownConversion:
    """One answer to one fetch; it is made at once."""

    cdef down_conversion conversion
    cdef bint helpful
    cdef bint keeps_unconverted
    cdef int64_t position           # of the next entry
    cdef readonly int error_code
    cdef readonly object cause
    cdef readonly bytes records
    cdef readonly int64_t size
    cdef readonly bint closed
    cdef readonly bint hidden
    cdef readonly int64_t repeated_batches
    cdef readonly int64_t filler_bytes
    cdef readonly int64_t cut_bytes

    def __cinit__(self):
        memset(&self.conversion, 0, sizeof(down_conversion))

    def __dealloc__(self):
        down_conversion_free(&self.conversion)

    def __init__(self, data, magic, first_offset, *, conversion="lazy", keeps_unconverted=True, helpful=False,
                 zstd=True, drops_headers=True, codecs=None, max_decompressed_bytes=DEFAULT_MAX_SIZE):
        cdef CodecTable table = table_of(codecs)
        cdef InputView view = InputView(data)
        cdef bint lazily = conversion == "lazy"
        cdef int status
        self.helpful = helpful
        self.conversion.converter.magic = <int>integer_of(magic, "magic", 0, 1)
        self.conversion.first_offset = integer_of(first_offset, "first_offset", INT64_MIN, INT64_MAX)
        self.conversion.cap = <size_t>integer_of(max_decompressed_bytes, "max_decompressed_bytes", 1, INT32_MAX)
        self.keeps_unconverted = keeps_unconverted
        self.conversion.zstd = zstd
        self.conversion.drops_headers = drops_headers
        self.conversion.merges = conversion == "merged"
        self.conversion.data, self.conversion.size = view.data, view.size
        self.conversion.context = context_acquire(&table.rows)
        if self.conversion.context == NULL:
            raise MemoryError
        try:
            with nogil:
                status = self.convert_lazily() if lazily else self.convert_all()
        finally:
            context_release(self.conversion.context)
            self.conversion.context = NULL
            self.conversion.data, self.conversion.size = NULL, 0
        self.take(status)
        down_conversion_free(&self.conversion)

    cdef int take(self, int status) except -1:
        cdef down_conversion* d = &self.conversion
        cdef place at
        if status != RP_OK or self.hidden:
            at = place_at(d.batch.position)
            self.cause = error_of(&d.error, &at)
            if status == DOWN_OURS:
                raise self.cause
            if not self.closed and not self.hidden:
                self.error_code, self.size = status, 0
        if self.closed or self.error_code:
            d.out.size = 0
            self.filler_bytes = self.cut_bytes = 0
        self.records = PyBytes_FromStringAndSize(<char*>d.out.data, <Py_ssize_t>d.out.size)
        return 0

    @property
    def batches(self):
        return self.conversion.counts.batches

    @property
    def converted_records(self):
        return self.conversion.counts.records

    @property
    def control_batches(self):
        return self.conversion.counts.control_batches

    @property
    def early_records(self):
        return self.conversion.counts.early_records

    @property
    def temporary_bytes(self):
        return self.conversion.counts.temporary_bytes

    @property
    def lost(self):
        counted = {name: self.conversion.counts.lost[i] for i, name in enumerate(LOST)}
        return {name: count for name, count in counted.items() if count}

    # --- before Kafka 2.0 -----------------------------------------------------------------------------------------

    cdef int convert_all(self) noexcept nogil:
        cdef down_conversion* d = &self.conversion
        cdef int status = self.pass_chunk(NULL, INT64_MAX)
        if status == RP_OK:
            status = down_convert(d, 0, self.position)
        if status == RP_END or status == RP_OK and self.keeps_unconverted and d.counts.records == 0:
            return self.leave()
        self.size = <int64_t>d.out.size
        return status

    cdef int leave(self) noexcept nogil:
        """Return the bytes that were read, unchanged."""
        cdef down_conversion* d = &self.conversion
        d.out.size = 0
        self.size = d.size
        return RP_OK if append(&d.out, d.data, <size_t>d.size, &d.error) == RP_OK else DOWN_OURS

    # --- from Kafka 2.0 on ----------------------------------------------------------------------------------------

    cdef int convert_lazily(self) noexcept nogil:
        cdef down_conversion* d = &self.conversion
        cdef int64_t after_first = 0
        cdef int status = self.next_result(0, &after_first)
        if status == RP_END:
            self.size = MIN_OVERFLOW_MESSAGE_LENGTH if self.position else 0
            return self.fill()
        if status != RP_OK:
            return status
        self.size = max(d.size, <int64_t>d.out.size)
        d.counted = self.position
        if not self.helpful:
            self.position = after_first
        return self.send()

    cdef int send(self) noexcept nogil:
        cdef down_conversion* d = &self.conversion
        cdef int64_t start = 0, ignored
        cdef int status
        while <int64_t>d.out.size < self.size:
            start = <int64_t>d.out.size
            status = self.next_result(MAX_READ_SIZE, &ignored)
            if status == RP_END:
                return self.fill()
            if status == UNSUPPORTED_COMPRESSION_TYPE and (self.helpful or self.size - start <= MAX_READ_SIZE):
                self.hidden = True
                return self.fill()
            if status != RP_OK:
                self.closed = status != DOWN_OURS
                return status
        if <int64_t>d.out.size > self.size:
            self.cut(start)
        return RP_OK

    cdef int next_result(self, int64_t most, int64_t* after_first) noexcept nogil:
        """Convert chunk by chunk until one has a result."""
        cdef down_conversion* d = &self.conversion
        cdef size_t before = d.out.size
        cdef int64_t start
        cdef int status
        while d.out.size == before:
            start = self.position
            status = self.pass_chunk(after_first if start == 0 else NULL, most)
            if status == RP_OK:
                status = down_convert(d, start, self.position)
            if status != RP_OK:
                return status
            self.count_repeated(start)
        return RP_OK

    cdef int pass_chunk(self, int64_t* after_first, int64_t most) noexcept nogil:
        """Return at most this many bytes of entries, but at least one entry; otherwise RP_END; the header after them is
        read and may be wrong."""
        cdef rp_batch b
        cdef int64_t start = self.position
        cdef int status
        while True:
            status = entry_at(&self.conversion, self.position, &b)
            if status == RP_END:
                return RP_OK if self.position > start else RP_END
            if status != RP_OK:
                return status
            if self.position > start and self.position - start + b.size > most:
                return RP_OK
            self.position += b.size
            if after_first != NULL and start == 0:
                after_first[0] = self.position

    cdef void count_repeated(self, int64_t start) noexcept nogil:
        """Return the batches of the chunk that gave the first result."""
        cdef down_conversion* d = &self.conversion
        cdef rp_batch b
        while start < d.counted and entry_at(d, start, &b) == RP_OK:
            start += b.size
            self.repeated_batches += start == d.counted

    cdef void cut(self, int64_t start) noexcept nogil:
        """Cut the result that begins at `start` to the room left in the response."""
        cdef down_conversion* d = &self.conversion
        cdef down_conversion sent
        cdef rp_batch b
        memset(&sent, 0, sizeof(sent))
        sent.data, sent.size = d.out.data, self.size
        while entry_at(&sent, start, &b) == RP_OK:
            start += b.size
        self.cut_bytes = self.size - start
        d.out.size = <size_t>self.size

    cdef int fill(self) noexcept nogil:
        """Append fillers, each of which claims to be longer than the remaining bytes."""
        cdef pooled* out = &self.conversion.out
        cdef int64_t left = self.size - <int64_t>out.size, filler
        cdef size_t room = <size_t>left + MIN_OVERFLOW_MESSAGE_LENGTH
        if left and pooled_reserve_more(out, room, &self.conversion.error) != RP_OK:
            return DOWN_OURS
        self.filler_bytes = left
        while left > 0:
            filler = max(<int64_t>MIN_OVERFLOW_MESSAGE_LENGTH, min(left + 1, <int64_t>MAX_READ_SIZE))
            memset(out.data + out.size, 0, <size_t>max(min(filler, left), <int64_t>MIN_OVERFLOW_MESSAGE_LENGTH))
            rp_store_be64(out.data + out.size, <uint64_t>-1)
            rp_store_be32(out.data + out.size + 8, <uint64_t>max(left + 1, <int64_t>RP_BATCH_HEADER))
            filler = min(filler, left)
            out.size += <size_t>filler
            left -= filler
        return RP_OK
