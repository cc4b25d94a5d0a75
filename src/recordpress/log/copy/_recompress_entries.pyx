"""Recompression of a run of entries: they are decoded once, encoded, verified and brought into canonical form.

    entry ─► checksum, payload decoded ─► canonical forms of its records ─► the digest
                    │
                    ├─► already in the wanted form, or not smaller when encoded ─► the old bytes
                    ├─► encoded ─► decoded again, and compared with the source's bytes
                    ├─► joined with its neighbours (_join) ─► encoded ─► decoded again, and compared record by record
                    └─► converted to another magic (_change_entry_magic) ─► the same

Nothing here takes the GIL, so threads work on runs in parallel.
"""

from libc.stdint cimport INT32_MAX, INT64_MAX, INT64_MIN, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp

from recordpress._buffers cimport pooled, pooled_free
from recordpress._c.wire cimport (
    RP_CODEC_MASK, RP_COPY, RP_END, RP_NO_MEMORY, RP_NONE, RP_OK, RP_TRANSACTIONAL, rp_batch,
    rp_batch_last_offset, rp_batch_next, rp_fail, rp_source,
)
from recordpress._threads cimport is_cancelled
from recordpress.checksum cimport crc32c_update
from recordpress.codecs.codec cimport append, codec_at, codec_table
from recordpress.codecs.context cimport context_acquire, context_release
from recordpress.log.copy._change_entry_magic cimport change_entry_magic
from recordpress.log._digest cimport canonical_records, is_control
from recordpress.log.copy._join cimport follows, join_begin, join_free, join_take, may_join
from recordpress.log.copy._settle cimport (
    MARK_ABORTED, MARK_DROPPED, MARK_EMPTIED, MARK_NONE, append_empty, mark, mark_of, settle, settle_written,
)
from recordpress.record.decode cimport check_crc, check_inner_crcs, open_source
from recordpress.record.header cimport is_same_header
from recordpress.record.open_batch cimport batch_close
from recordpress.record.recompress_batch cimport check_codec, is_kept, open_entry, recompress_source


cdef void recompress_entries(task* self) noexcept nogil:
    cdef recompress_run* r = <recompress_run*>self
    r.recompressor.context = context_acquire(r.codecs)
    if r.recompressor.context == NULL:
        r.status = rp_fail(&r.error, RP_NO_MEMORY, -1, 0, 0)
        return
    r.status = every_entry(r)
    context_release(r.recompressor.context)
    r.recompressor.context = NULL
    r.crc = crc32c_update(0, r.recompressor.out.data, r.recompressor.out.size)


cdef void recompress_run_free(recompress_run* r) noexcept nogil:
    pooled_free(&r.recompressor.out)
    pooled_free(&r.form)
    pooled_free(&r.proof)
    pooled_free(&r.proof_form)
    join_free(&r.joined)
    pooled_free(&r.conversion.converter.batch.records)


cdef int every_entry(recompress_run* r) noexcept nogil:
    cdef int64_t position = r.start
    cdef int status
    while position < r.end and not is_cancelled(&r.task):
        status = rp_batch_next(r.data, r.end, position, INT32_MAX, &r.recompressor.batch, &r.error)
        if status == RP_END:
            return RP_OK
        if status != RP_OK or one_entry(r, r.data + position) != RP_OK:
            return r.error.status
        position += r.recompressor.batch.size
    return end_joined(r)


cdef int one_entry(recompress_run* r, const uint8_t* entry) noexcept nogil:
    cdef rp_source source
    cdef size_t form_start = r.form.size
    cdef int64_t records = 0
    cdef rp_batch* batch = &r.recompressor.batch
    cdef bint joined = False
    cdef content before = r.before
    cdef mark found = mark_of(&r.marks, batch)
    cdef bint settled
    if open_entry(&r.recompressor, entry, &r.recompressor.context.scratch, &source, &r.error) != RP_OK:
        return r.error.status
    settled = settle(&r.marks, found, batch)
    if canonical_of(r, found, &source, &records) != RP_OK:
        return r.error.status
    if found == MARK_DROPPED or found == MARK_EMPTIED:
        return leave_out(r, entry, found, records)
    count(&r.before, r.codecs, entry, batch, records, batch.size)
    if r.conversion.keeps_codec:
        r.recompressor.codec = codec_at(r.codecs, entry, batch)
    if r.conversion.wanted and batch.magic != r.conversion.converter.magic:
        return converted(r, &source, form_start, &before)
    if r.reading:
        return RP_OK
    r.settled += settled
    if check_codec(&r.recompressor, &r.error) != RP_OK:
        return r.error.status
    if into_joined(r, entry, &source, form_start, found, settled, &joined) != RP_OK:
        return r.error.status
    return RP_OK if joined else alone(r, entry, &source, form_start, r.form.size, records, settled)


cdef int canonical_of(recompress_run* r, mark found, const rp_source* source, int64_t* records) noexcept nogil:
    """Append the canonical forms of the entry's records; if producers are settled, only of committed records, without
    their producer."""
    cdef rp_batch* batch = &r.recompressor.batch
    cdef rp_batch seen = batch[0]
    cdef rp_source given = source[0]
    cdef size_t start = r.form.size
    if r.marks.settles and batch.magic == 2:
        seen.producer_id = seen.producer_epoch = given.base_sequence = -1
        seen.attributes &= ~RP_TRANSACTIONAL
    if canonical_records(&r.form, &seen, &given, INT64_MIN, INT64_MAX, records, &r.error) != RP_OK:
        return r.error.status
    if r.marks.settles and (is_control(batch) or found == MARK_ABORTED or found >= MARK_DROPPED):
        r.form.size = start
    return RP_OK


cdef int leave_out(recompress_run* r, const uint8_t* entry, mark found, int64_t records) noexcept nogil:
    cdef rp_batch* batch = &r.recompressor.batch
    count(&r.before, r.codecs, entry, batch, 0, batch.size)
    if is_control(batch):
        r.dropped_markers += 1
    else:
        r.dropped_records += records
    if found == MARK_DROPPED:
        return RP_OK
    cdef rp_batch empty = batch[0]
    if end_joined(r) != RP_OK or append_empty(&empty, &r.recompressor.out, &r.error) != RP_OK:
        return r.error.status
    count(&r.after, r.codecs, entry, &empty, 0, empty.size)
    return RP_OK


cdef void count(content* c, const codec_table* codecs, const uint8_t* entry, const rp_batch* batch, int64_t records,
                int64_t size) noexcept nogil:
    c.bytes += size
    c.any = True
    c.next_offset = <int64_t>(<uint64_t>rp_batch_last_offset(batch) + 1)
    if is_control(batch):
        c.control_records += records
    elif batch.records_count != 0:
        c.records += records
        c.batches += 1
        c.codecs |= <uint64_t>1 << codec_at(codecs, entry, batch)


# --- one entry to one ---------------------------------------------------------------------------------------------

cdef bint is_gain(const recompress_run* r, size_t size, int64_t before) noexcept nogil:
    return <double>size < r.most * <double>before


cdef int alone(recompress_run* r, const uint8_t* entry, const rp_source* source, size_t form_start, size_t form_end,
               int64_t records, bint settled) noexcept nogil:
    """Write the entry with the wanted codec, or unchanged."""
    cdef pooled* out = &r.recompressor.out
    cdef rp_batch* batch = &r.recompressor.batch
    cdef size_t start = out.size
    cdef bint unwrapped = batch.magic < 2 and r.recompressor.codec == RP_NONE
    if not is_kept(&r.recompressor, entry):
        if recompress_source(&r.recompressor, entry, source, &r.error) != RP_OK:
            return r.error.status
        if settled:
            settle_written(batch, out.data + start, out.size - start)
        if is_gain(r, out.size - start, batch.size):
            if unwrapped:
                return prove_forms(r, start, form_start, form_end)
            return prove_payload(r, start, source, records)
        out.size = start
        r.left += 1
    elif batch.records_count != 0 and not is_control(batch):
        r.already += 1
    count(&r.after, r.codecs, entry, batch, records, batch.size)
    if append(out, entry, <size_t>batch.size, &r.error) != RP_OK:
        return r.error.status
    if settled:
        settle_written(batch, out.data + start, <size_t>batch.size)
    return RP_OK


cdef int fail_mismatch(recompress_run* r, size_t found, size_t expected) noexcept nogil:
    return rp_fail(&r.error, RP_COPY, -1, <int64_t>found, <int64_t>expected)


cdef int prove_payload(recompress_run* r, size_t start, const rp_source* source, int64_t records) noexcept nogil:
    """Check that the written entry at `start` has the header of the current one, and the bytes of `source`."""
    cdef size_t size = <size_t>(source.end - source.start)
    cdef rp_batch written
    cdef rp_source again
    r.proof.size = 0
    if read_written(r, start, &written, &again) != RP_OK:
        return r.error.status
    cdef size_t found = <size_t>(again.end - again.start)
    if not is_same_header(&written, &r.recompressor.batch) or again.base_offset != source.base_offset:
        return fail_mismatch(r, found, size)
    if found != size or (size and memcmp(again.start, source.start, size) != 0):
        return fail_mismatch(r, found, size)
    count(&r.after, r.codecs, r.recompressor.out.data + start, &written, records, written.size)
    return RP_OK


cdef int read_written(recompress_run* r, size_t start, rp_batch* written, rp_source* source) noexcept nogil:
    """Read the written entry at `start` by the rules of every reader; append its payload to r.proof."""
    cdef const uint8_t* entry = r.recompressor.out.data + start
    cdef int64_t left = <int64_t>(r.recompressor.out.size - start)
    cdef int status = rp_batch_next(entry, left, 0, INT32_MAX, written, &r.error)
    if status == RP_OK:
        status = check_crc(entry, written, &r.error)
    if status == RP_OK:
        status = open_source(r.recompressor.context, entry, written, entry + written.size, &r.proof,
                             r.recompressor.cap, False, source, &r.error)
    if status == RP_OK and written.magic < 2:
        status = check_inner_crcs(source, &r.error)
    # an error in the source would have been raised earlier
    return status if status == RP_OK or status == RP_NO_MEMORY else fail_mismatch(r, <size_t>left, 0)


cdef int prove_forms(recompress_run* r, size_t start, size_t form_start, size_t form_end) noexcept nogil:
    """Check that the entries from `start` have exactly the records whose canonical forms are in this range."""
    cdef size_t size = form_end - form_start, end = r.recompressor.out.size
    cdef rp_batch written
    cdef rp_source source
    cdef int64_t records
    r.proof_form.size = 0
    while start < end:
        records = 0
        r.proof.size = 0
        if read_written(r, start, &written, &source) != RP_OK:
            return r.error.status
        if canonical_records(&r.proof_form, &written, &source, INT64_MIN, INT64_MAX, &records, &r.error) != RP_OK:
            return r.error.status if r.error.status == RP_NO_MEMORY else fail_mismatch(r, r.proof_form.size, size)
        count(&r.after, r.codecs, r.recompressor.out.data + start, &written, records, written.size)
        start += <size_t>written.size
    if r.proof_form.size != size or (size and memcmp(r.proof_form.data, r.form.data + form_start, size) != 0):
        return fail_mismatch(r, r.proof_form.size, size)
    return RP_OK


# --- an entry in another magic --------------------------------------------------------------------------------------

cdef int converted(recompress_run* r, const rp_source* source, size_t form_start, const content* before) noexcept nogil:
    """Convert the entry to the wanted magic, read it again and compare it record by record."""
    cdef size_t start = r.recompressor.out.size
    cdef int64_t records = 0
    r.form.size = form_start  # converted forms replace the forms of the source's records
    if change_entry_magic(&r.conversion, &r.recompressor, source, not r.reading, &r.form, &records, &r.error) != RP_OK:
        return r.error.status
    # only v2 headers have offsets after the last record
    r.before.any = before.any or records > 0
    r.before.next_offset = r.conversion.next_offset if records else before.next_offset
    return RP_OK if r.reading else prove_forms(r, start, form_start, r.form.size)


# --- many entries to one ------------------------------------------------------------------------------------------

cdef int into_joined(recompress_run* r, const uint8_t* entry, const rp_source* source, size_t form_start, mark found,
                     bint settled, bint* joined) noexcept nogil:
    """Add the entry to the open joined batch, or begin a new one, if it may be joined with others."""
    cdef joined_batch* p = &r.joined
    cdef const rp_batch* batch = &r.recompressor.batch
    cdef bint joins = r.limits.bytes and found == MARK_NONE and may_join(batch)
    cdef bint apart  # entries between it and the previous entry were omitted
    # its canonical forms lack the producer, so they would not prove a joined batch with one
    joins = joins and not (r.marks.settles and batch.producer_id >= 0)
    if p.open and joins and r.recompressor.codec == p.batch.encoder.options.codec and follows(p, batch):
        apart = entry != p.start + p.size
        if join_take(p, entry, batch, source, joined, &r.error) != RP_OK:
            return r.error.status
        if joined[0]:
            p.settled |= settled or apart
            p.form_end = r.form.size
            return RP_OK
    if end_joined(r) != RP_OK:
        return r.error.status
    if not joins:
        return RP_OK
    join_begin(p, &r.recompressor, batch, &r.limits)
    if join_take(p, entry, batch, source, joined, &r.error) != RP_OK:
        return r.error.status
    p.open = joined[0]
    if p.open:
        p.start = entry
        p.form_start, p.form_end = form_start, r.form.size
        p.source = source[0]
        p.settled = settled
        keep_records(r)
    return RP_OK


cdef void keep_records(recompress_run* r) noexcept nogil:
    """Keep the records of the first entry of a joined batch, which may remain alone; decode later entries elsewhere."""
    cdef pooled decoded = r.recompressor.context.scratch
    r.recompressor.context.scratch = r.joined.scratch
    r.joined.scratch = decoded


cdef int end_joined(recompress_run* r) noexcept nogil:
    """Write the open joined batch, if there is one."""
    cdef rp_batch at_hand = r.recompressor.batch
    cdef joined_batch* p = &r.joined
    cdef int codec = r.recompressor.codec
    cdef int status
    if not p.open:
        return RP_OK
    p.open = False
    r.recompressor.batch = p.first
    r.recompressor.codec = p.batch.encoder.options.codec
    if p.entries == 1:
        status = alone(r, p.start, &p.source, p.form_start, p.form_end, p.first.records_count, p.settled)
    else:
        status = write_joined(r, p)
    if status == RP_OK:
        r.recompressor.batch = at_hand
        r.recompressor.codec = codec
    return status


cdef int write_joined(recompress_run* r, joined_batch* p) noexcept nogil:
    cdef size_t start = r.recompressor.out.size
    cdef int64_t size
    cdef bint fits
    if batch_close(&p.batch, r.recompressor.context, &r.recompressor.out, &r.error) != RP_OK:
        return r.error.status
    size = <int64_t>(r.recompressor.out.size - start)
    fits = size <= r.limits.message_bytes
    if p.settled and not fits:  # its codec makes it larger than its records
        r.recompressor.out.size = start
        p.batch.encoder.options.codec = RP_NONE
        p.batch.encoder.options.attributes &= ~RP_CODEC_MASK
        if batch_close(&p.batch, r.recompressor.context, &r.recompressor.out, &r.error) != RP_OK:
            return r.error.status
    if p.settled or (fits and is_gain(r, <size_t>size, p.size)):
        if prove_forms(r, start, p.form_start, p.form_end) != RP_OK:
            return r.error.status
        return RP_OK if r.after.next_offset == p.next_offset else fail_mismatch(r, 0, 0)
    r.recompressor.out.size = start
    r.left += p.entries
    r.after.records += p.batch.encoder.records_count
    r.after.batches += p.entries
    r.after.bytes += p.size
    r.after.codecs |= p.codecs
    r.after.next_offset, r.after.any = p.next_offset, True
    return append(&r.recompressor.out, p.start, <size_t>p.size, &r.error)
