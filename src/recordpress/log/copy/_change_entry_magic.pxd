"""Conversion of an entry to another magic."""

from libc.stdint cimport int64_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_error, rp_source
from recordpress.record.change_magic cimport converter
from recordpress.record.recompress_batch cimport recompressor


# Zero except for `wanted`, `converter.magic` and `keeps_codec` before the first entry.
ctypedef struct conversion:
    bint wanted
    bint keeps_codec        # entries keep their codecs; otherwise they get the recompressor's codec
    converter converter
    int64_t next_offset     # offset after the entry's last record, if it has records


# Appends the entry's records, with the fields that the magic can store, to `form` in canonical form, and with `writing`
# to r.out. Counts the losses, and adds the number of records to `records`: 0 for an entry that the magic cannot hold.
# The source is open, and was read to its end before.
cdef int change_entry_magic(conversion* c, recompressor* r, const rp_source* source, bint writing, pooled* form,
                            int64_t* records, rp_error* err) noexcept nogil
