"""A digest of records in order: two logs with the same digest hold the same records.

Every record has one canonical form, regardless of the magic, codec and boundaries of its batch. The digest is
XXH3-128 over these forms, one after another. All numbers are big-endian, as in Kafka's formats:

    offset 8 | timestamp 8 | timestamp type 1 | flags 1 | producer epoch 2 | producer id 8 | sequence 4 |
    leader epoch 4 | number of headers 4 | key length 4 | value length 4 | key | value | headers

    header:  key length 4 | key | value length 4 | value                         lengths of -1 stand for null

docs/digest.md lists the source of each field in the three magics.
"""

cimport cython
from libc.stdint cimport INT32_MAX, INT64_MAX, INT64_MIN, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

from recordpress._arguments cimport integer_of
from recordpress._buffers cimport InputView, pooled, pooled_free, pooled_reserve_more
from recordpress._c.wire cimport (
    RP_CONTROL, RP_END, RP_OK, RP_RECORDS_LEFT, RP_TRANSACTIONAL, rp_batch, rp_copy,
    rp_cursor, rp_cursor_of, rp_error, rp_fail, rp_header, rp_header_read, rp_headers_of, rp_message_next, rp_record,
    rp_record_next, rp_source, rp_source_fail, rp_store_be16, rp_store_be32, rp_store_be64,
)
from recordpress._c.xxhash cimport (
    XXH3_128bits_digest, XXH3_128bits_reset, XXH3_128bits_update, XXH3_createState, XXH3_freeState,
    XXH128_canonical_t, XXH128_canonicalFromHash,
)
from recordpress._status cimport check, place, place_of
from recordpress.codecs.context cimport codec_context, context_acquire, context_release
from recordpress.codecs.table cimport CodecTable, table_of
from recordpress.record.decode cimport SMALLEST_RECORD, check_crc, check_inner_crcs, next_whole, open_source

from recordpress.codecs import DEFAULT_MAX_SIZE
from recordpress.errors import InUseError

cdef enum:
    FIXED = 48            # bytes of a record's numbers
    IS_TRANSACTIONAL = 1
    IS_CONTROL = 2
    HASHED_FROM = 1 << 16  # canonical bytes to collect before hashing, while they are still in cache


# --- the canonical form ------------------------------------------------------------------------------------------

cdef int canonical_records(pooled* out, const rp_batch* batch, const rp_source* source, int64_t start_offset,
                           int64_t last_offset, int64_t* records, rp_error* err) noexcept nogil:
    cdef rp_cursor cursor = rp_cursor_of(source.start, <size_t>(source.end - source.start))
    cdef rp_batch message
    cdef rp_record r
    cdef int status = RP_OK  # for a batch without records, too
    cdef int32_t i
    cdef uint8_t flags = flags_of(batch)
    if pooled_reserve_more(out, room_for(source.end - source.start, source.count), err) != RP_OK:
        return err.status
    cdef uint8_t* p = out.data + out.size
    for i in range(source.count):
        if batch.magic == 2:
            status = rp_record_next(source, &cursor, i, &r, err)
        else:
            status = rp_message_next(source, &cursor, &message, &r, err)
        if status != RP_OK:
            break
        if not start_offset <= r.offset <= last_offset:
            continue
        p = write_record(p, batch, flags, &r)
        if r.header_count:
            out.size = p - out.data
            if write_headers(out, &r, room_for(source.end - cursor.p, source.count - i), err) != RP_OK:
                return err.status
            p = out.data + out.size
        records[0] += 1
    out.size = p - out.data
    if status == RP_END:
        return RP_OK
    if status == RP_OK and batch.magic == 2 and source.count and cursor.p != source.end:
        status = rp_fail(err, RP_RECORDS_LEFT, 0, source.end - cursor.p, source.count)
        rp_source_fail(source, cursor.p, err)
    return status


cdef int canonical_record(pooled* out, const rp_batch* batch, const rp_record* r, rp_error* err) noexcept nogil:
    if pooled_reserve_more(out, FIXED + max(r.key.size, 0) + max(r.value.size, 0), err) != RP_OK:
        return err.status
    out.size = write_record(out.data + out.size, batch, flags_of(batch), r) - out.data
    return write_headers(out, r, 0, err) if r.header_count else RP_OK


cdef size_t room_for(int64_t size, int64_t count) noexcept nogil:
    """Return the maximum number of canonical bytes for at most `count` records without headers that take `size`
    bytes."""
    return <size_t>(size + FIXED * min(count, size // SMALLEST_RECORD))


cdef bint is_control(const rp_batch* batch) noexcept nogil:
    return batch.magic == 2 and batch.attributes & RP_CONTROL


cdef uint8_t flags_of(const rp_batch* batch) noexcept nogil:
    cdef uint8_t flags = IS_CONTROL if is_control(batch) else 0
    if batch.magic == 2 and batch.attributes & RP_TRANSACTIONAL:
        flags |= IS_TRANSACTIONAL
    return flags


cdef inline uint8_t* write_record(uint8_t* p, const rp_batch* batch, uint8_t flags, const rp_record* r) noexcept nogil:
    """Write a record without its headers; return where it ends."""
    rp_store_be64(p, <uint64_t>r.offset)
    rp_store_be64(p + 8, <uint64_t>r.timestamp)
    p[16] = <uint8_t>r.timestamp_type
    p[17] = flags
    rp_store_be16(p + 18, <uint64_t>batch.producer_epoch)
    rp_store_be64(p + 20, <uint64_t>batch.producer_id)
    rp_store_be32(p + 28, <uint64_t>r.sequence)
    rp_store_be32(p + 32, <uint64_t>batch.partition_leader_epoch)
    rp_store_be32(p + 36, <uint64_t>r.header_count)
    rp_store_be32(p + 40, <uint64_t>r.key.size)
    rp_store_be32(p + 44, <uint64_t>r.value.size)
    return write_bytes(write_bytes(p + FIXED, r.key.data, r.key.size), r.value.data, r.value.size)


cdef inline uint8_t* write_bytes(uint8_t* p, const uint8_t* data, int64_t size) noexcept nogil:
    if size <= 0:
        return p
    rp_copy(p, data, <size_t>size)
    return p + size


cdef int write_headers(pooled* out, const rp_record* r, size_t room_after, rp_error* err) noexcept nogil:
    """Append the headers, and make room for the records after them."""
    if pooled_reserve_more(out, r.headers.size + 8 * <size_t>r.header_count + room_after, err) != RP_OK:
        return err.status
    cdef uint8_t* p = out.data + out.size
    cdef rp_cursor cursor = rp_headers_of(r)
    cdef rp_header header
    for _ in range(r.header_count):
        if rp_header_read(&cursor, &header) != RP_OK:
            break  # they were walked when the record was read: another thread wrote to the caller's buffer
        rp_store_be32(p, <uint64_t>header.key.size)
        p = write_bytes(p + 4, header.key.data, header.key.size)
        rp_store_be32(p, <uint64_t>header.value.size)
        p = write_bytes(p + 4, header.value.data, header.value.size)
    out.size = p - out.data
    return RP_OK


# --- the digest of a record set ------------------------------------------------------------------------------------

ctypedef struct reading:
    codec_context* context
    size_t cap
    int64_t start_offset
    int64_t last_offset
    pooled form          # canonical bytes to hash
    int64_t records      # in these bytes
    int64_t control      # control records among them
    rp_batch batch       # the current batch, for an error


cdef int read_entry(reading* r, const uint8_t* entry, rp_error* err) noexcept nogil:
    cdef rp_source source
    if check_crc(entry, &r.batch, err) != RP_OK:
        return err.status
    r.context.scratch.size = 0
    if open_source(r.context, entry, &r.batch, entry + r.batch.size, &r.context.scratch, r.cap, False, &source,
                   err) != RP_OK:
        return err.status
    if r.batch.magic < 2 and check_inner_crcs(&source, err) != RP_OK:
        return err.status
    cdef int64_t before = r.records
    if canonical_records(&r.form, &r.batch, &source, r.start_offset, r.last_offset, &r.records, err) != RP_OK:
        return err.status
    if is_control(&r.batch):
        r.control += r.records - before
    return RP_OK


cdef int read_all(RecordDigest digest, reading* r, const uint8_t* data, int64_t size, rp_error* err) noexcept nogil:
    cdef int64_t position = 0
    cdef int status
    while True:
        status = next_whole(data, size, position, &r.batch, err)
        if status != RP_OK:
            return RP_OK if status == RP_END else status
        if read_entry(r, data + position, err) != RP_OK:
            return err.status
        position += r.batch.size
        if r.form.size >= HASHED_FROM or position == size:
            digest.add(r.form.data, r.form.size, r.records, r.control)
            r.form.size = 0
            r.records = r.control = 0


cdef str hexadecimal(bytes digest):
    return digest.hex()


cdef class RecordDigest:
    """XXH3-128 over records in their canonical form.

    It covers offset, timestamp and its type, key, value and headers of each record, and from its batch the producer's
    id, epoch and sequence, the leader epoch, and the transactional and control flags. Batch boundaries, codec and level
    do not matter.

    Attributes
    ----------
    records : int
        Number of records so far, including control records.
    control_records : int

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.log import RecordDigest
    >>> one, two = RecordDigest(), RecordDigest()
    >>> one.update(recordpress.write_records([b"a", b"b"], compression_type="lz4"))
    >>> two.update(recordpress.write_records([b"a"]))
    >>> two.update(recordpress.write_records([b"b"], base_offset=1))
    >>> one.hexdigest() == two.hexdigest(), two.records
    (True, 2)
    """

    def __cinit__(self):
        self.state = XXH3_createState()
        if self.state == NULL:
            raise MemoryError()
        XXH3_128bits_reset(self.state)

    def __dealloc__(self):
        if self.state != NULL:
            XXH3_freeState(self.state)

    cdef void add(self, const uint8_t* data, size_t size, int64_t records, int64_t control_records) noexcept nogil:
        self.records += records
        self.control_records += control_records
        if size:
            XXH3_128bits_update(self.state, data, size)

    @cython.critical_section
    def update(self, data, *, start_offset=None, end_offset=None, max_decompressed_bytes=DEFAULT_MAX_SIZE,
               codecs=None):
        """Add the records of a record set.

        Parameters
        ----------
        data : bytes-like
            Complete entries.
        start_offset, end_offset : int | None
            Only records with start_offset <= offset < end_offset.
        max_decompressed_bytes : int
            Cap on the decompressed size of one batch.
        codecs : CodecRegistry | None
            Codec plug-ins in addition to Kafka's.

        Raises
        ------
        InUseError
            Another thread is in `update`.
        RecordpressError
            As for `read_columns`; entries before the damaged entry may already be counted.
        """
        cdef reading r
        cdef rp_error err
        cdef place at
        cdef int status
        memset(&r, 0, sizeof(reading))
        r.cap = <size_t>integer_of(max_decompressed_bytes, "max_decompressed_bytes", 1, INT32_MAX)
        r.start_offset = INT64_MIN
        if start_offset is not None:
            r.start_offset = integer_of(start_offset, "start_offset", INT64_MIN, INT64_MAX)
        r.last_offset = INT64_MAX
        if end_offset is not None:
            r.last_offset = <int64_t>integer_of(end_offset, "end_offset", INT64_MIN + 1, INT64_MAX) - 1
        cdef CodecTable table = table_of(codecs)
        cdef InputView view = InputView(data)
        self._refuse_busy()
        r.context = context_acquire(&table.rows)
        if r.context == NULL:
            raise MemoryError()
        self.busy = True
        try:
            with nogil:
                status = read_all(self, &r, view.data, view.size, &err)
            at = place_of(&r.batch)
            at.has_offset = at.offset >= 0
            check(status, &err, &at)
        finally:
            self.busy = False
            context_release(r.context)
            pooled_free(&r.form)

    cdef int _refuse_busy(self) except -1:
        if self.busy:
            raise InUseError("the digest is in use by another call")
        return 0

    @cython.critical_section
    def hexdigest(self):
        """Return the digest of the records so far.

        Returns
        -------
        str
            32 hexadecimal digits, as xxHash writes XXH3-128 (its canonical, big-endian form).
        """
        cdef XXH128_canonical_t canonical
        self._refuse_busy()
        XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(self.state))
        return hexadecimal(canonical.digest[:16])
