from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

from kpress._buffers cimport InputView, pooled
from kpress._c.wire cimport kp_batch, kp_cursor, kp_error, kp_source


cdef object records_of(InputView view, const uint8_t* entry, const kp_batch* batch, int64_t base, size_t cap)


cdef class Record:
    cdef object _owner               # keeps what the pointers point into alive
    cdef const uint8_t* _key
    cdef const uint8_t* _value
    cdef const uint8_t* _headers
    cdef const uint8_t* _entry       # v0/v1: the message, NULL in v2
    cdef object _key_bytes           # once asked for
    cdef object _value_bytes
    cdef readonly int64_t offset
    cdef readonly int64_t timestamp
    cdef int32_t _key_size
    cdef int32_t _value_size
    cdef int32_t _header_count
    cdef int32_t _headers_size       # from _headers to the record's end
    cdef readonly int32_t sequence
    cdef readonly int32_t size
    cdef readonly int8_t attributes
    cdef int8_t _timestamp_type


cdef class Records:
    cdef object _owner
    cdef kp_source _source
    cdef kp_cursor _cursor
    cdef kp_error _pending           # a codec's error behind the records that could be decoded
    cdef bint _failed
    cdef bint _inside
    cdef int32_t _index
    cdef int8_t _magic
    cdef int8_t _timestamp_type
    cdef int64_t _position           # of the entry in the caller's data
    cdef int64_t _start              # of the records in the entry, where they are not compressed
    cdef int64_t _base_offset

    cdef Record _next(self)
    cdef Record _next_message(self)
    cdef object _explain(self, const uint8_t* at)
    cdef object _rest(self)
    cdef object _codec_error(self)
    cdef object _error(self, const kp_error* err)
