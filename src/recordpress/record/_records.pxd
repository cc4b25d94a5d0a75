from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

from recordpress._buffers cimport InputView, pooled
from recordpress._c.wire cimport rp_batch, rp_cursor, rp_error, rp_record, rp_source
from recordpress._status cimport place
from recordpress.codecs.table cimport CodecTable


cdef class Record:
    cdef object _owner               # keeps the memory alive that the pointers point into
    cdef rp_record _record
    cdef const uint8_t* _entry       # v0/v1: the message, NULL in v2
    cdef object _key_bytes           # once requested
    cdef object _value_bytes


cdef class Records:
    cdef object _owner
    cdef rp_source _source
    cdef rp_cursor _cursor
    cdef object _pending             # the codec's error after the records that could be decoded; None
    cdef int32_t _index
    cdef int8_t _magic
    cdef place _place                # of the entry

    cdef Record _taken(self)
    cdef Record _next(self)
    cdef Record _next_message(self)
    cdef object _explain(self, const rp_error* err)
    cdef object _rest(self)
    cdef object _ended(self, object error)


cdef Records records_of(InputView view, const uint8_t* entry, const rp_batch* batch, int64_t base, size_t cap,
                        bint check_crcs, CodecTable codecs)
