"""An entry in another magic."""

from libc.stdint cimport int64_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_error, rp_source
from recordpress.record.change_magic cimport converter
from recordpress.record.recompress_batch cimport recompressor


# Zero except for `wanted`, `converter.magic` and `keeps_codec` before the first entry.
ctypedef struct conversion:
    bint wanted
    bint keeps_codec        # of each entry; else the recompressor's
    converter converter
    int64_t next_offset     # after the last record of the entry, where it had one


# Appends the entry's records, as far as the magic can store them, in canonical form to `form`, counts the losses, and
# adds their number to `records`: none of an entry that has no place there. With `writing` it appends them to r.out,
# too. The source is open, and was read to its end before.
cdef int change_entry_magic(conversion* c, recompressor* r, const rp_source* source, bint writing, pooled* form,
                            int64_t* records, rp_error* err) noexcept nogil
