"""An entry in another magic."""

from libc.stdint cimport int64_t

from kpress._buffers cimport pooled
from kpress._c.wire cimport kp_error, kp_source
from kpress.record.encode cimport batch_encoder
from kpress.record.recode cimport recoder


# What an older magic cannot say; in the order of kpress.log._recoder.LOST.
cdef enum:
    LOST_HEADERS
    LOST_TIMESTAMPS
    LOST_PRODUCERS
    LOST_TRANSACTIONS
    LOST_MARKERS
    LOST_LEADER_EPOCHS
    LOST_DELETE_HORIZONS
    LOST_EMPTY_BATCHES
    LOST_RECORD_ATTRIBUTES
    LOST_KINDS


# Zero but for `wanted`, `magic` and `keeps_codec` before the first entry.
ctypedef struct conversion:
    bint wanted
    int magic
    bint keeps_codec        # of each entry; else the recoder's
    batch_encoder encoder
    pooled records          # as they will be written
    int64_t next_offset     # after the last record of the entry, where it had one
    int64_t lost[LOST_KINDS]


# Appends what the magic can say of the entry's records in canonical form to `form`, counts what it cannot, and adds
# their number to `records`: none of an entry that has no place there. With `writing` it appends them to r.out, too. The
# source is open, and was read to its end before.
cdef int convert_entry(conversion* c, recoder* r, const kp_source* source, bint writing, pooled* form, int64_t* records,
                       kp_error* err) noexcept nogil
