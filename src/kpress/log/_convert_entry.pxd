"""An entry in another magic."""

from libc.stdint cimport int64_t

from kpress._buffers cimport pooled
from kpress._c.wire cimport kp_error, kp_source
from kpress.record.convert cimport converter
from kpress.record.recode cimport recoder


# Zero but for `wanted`, `converter.magic` and `keeps_codec` before the first entry.
ctypedef struct conversion:
    bint wanted
    bint keeps_codec        # of each entry; else the recoder's
    converter converter
    int64_t next_offset     # after the last record of the entry, where it had one


# Appends what the magic can say of the entry's records in canonical form to `form`, counts what it cannot, and adds
# their number to `records`: none of an entry that has no place there. With `writing` it appends them to r.out, too. The
# source is open, and was read to its end before.
cdef int convert_entry(conversion* c, recoder* r, const kp_source* source, bint writing, pooled* form, int64_t* records,
                       kp_error* err) noexcept nogil
