"""One entry of a record set as the clients read it: header first, records when they are iterated over."""

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t

from recordpress._buffers cimport PooledBlock
from recordpress._c.python cimport PyTypeObject
from recordpress._c.wire cimport rp_batch, rp_cursor, rp_error, rp_record, rp_source
from recordpress.adapters._client cimport Client
from recordpress.codecs.context cimport codec_context


@cython.no_gc
cdef class LazyRecord:
    """A record whose key, value and headers become Python objects when they are first requested.

    The subclasses add no fields: objects of all these classes come from one freelist and must have the same size.
    """

    cdef readonly int64_t offset
    cdef int64_t time
    cdef uint32_t crc                # v0 and v1 only
    cdef int8_t kind                 # timestamp_type: -1 none, 0 CreateTime, 1 LogAppendTime
    cdef object owner                # keeps the memory alive that the pointers point into
    cdef object key_object
    cdef object value_object
    cdef object headers_object
    cdef rp_record record            # without offset and timestamp

    cdef void give(self, int64_t offset, int64_t time, int8_t kind, object key, object value, object headers) noexcept
    cdef object key_of(self)
    cdef object value_of(self)


@cython.no_gc
cdef class Message(LazyRecord):
    pass


cdef tuple NO_ARGUMENTS


cdef inline object new(object kind):
    """Call kind.__new__(kind), for a class that may be written in Python."""
    cdef PyObject* made = (<PyTypeObject*><PyObject*>kind).tp_new(<PyTypeObject*><PyObject*>kind,
                                                                  <PyObject*>NO_ARGUMENTS, NULL)
    cdef object kept = <object>made
    Py_DECREF(kept)  # tp_new returned a reference, the line before took another
    return kept


cdef inline void take_fields(LazyRecord to, const rp_record* r, object owner) noexcept:
    """Copy the fields one by one, from registers: copying the whole struct would wait for the stores that wrote it."""
    to.owner = owner
    to.offset = r.offset
    to.time = r.timestamp
    to.kind = r.timestamp_type
    to.record.key.data = r.key.data
    to.record.key.size = r.key.size
    to.record.value.data = r.value.data
    to.record.value.size = r.value.size


cdef inline void take_headers(LazyRecord to, const rp_record* r) noexcept:
    to.record.header_count = r.header_count
    if r.header_count:
        to.record.headers.data = r.headers.data
        to.record.headers.size = r.headers.size


cdef class Entry:
    cdef Client client
    cdef object owner                # bytes
    cdef const uint8_t* data
    cdef rp_batch header             # its size is the number of bytes that were passed in
    cdef object records_owner
    cdef rp_source source
    cdef rp_cursor cursor
    cdef rp_error pending            # a codec's error after the records that could be decoded
    cdef bint opened
    cdef bint failed
    cdef int32_t index

    cdef int take(self, Client client, object data, int kind) except -1
    cdef int take_slice(self, Client client, bytes owner, const uint8_t* data, int64_t size, int kind) except -1
    cdef int open(self) except -1
    cdef int require_made(self) except -1
    cdef int decompressed(self, codec_context* context, PooledBlock block, rp_source* source,
                          rp_error* err) noexcept
    cdef int next(self, rp_record* r) except -1
    cdef int next_message(self, rp_cursor* cursor, int32_t index, rp_batch* message, rp_record* r) except -1
    cdef object explain(self, const rp_error* err)
    cdef object rest(self)
    cdef bint crc_matches(self) except -1


cdef class Batch(Entry):
    pass


cdef class MessageIterator:
    cdef Entry entry
    cdef object kind                 # class of its records, derived from Message
    cdef rp_cursor cursor
    cdef int32_t index


cdef MessageIterator messages_of(Entry entry, object kind)


cdef class RecordSet:
    cdef Client client
    cdef readonly bytes owner        # the record set
    cdef const uint8_t* data
    cdef int64_t size
    cdef readonly int64_t position   # where the next entry begins

    cdef int begin(self, Client client, object data) except -1
    cdef bint size_field(self, int64_t at, int64_t* size) noexcept
    cdef int64_t whole(self, int64_t at) except -1
    cdef int64_t bounds(self, int64_t* last) except -1
    cdef Entry entry(self, object default_batch, object legacy_batch)


cdef enum:
    MESSAGE, BATCH   # kinds of entries: v0 and v1, and v2


# Return the client's data as bytes, which cannot change under a record that points into them; copy other buffers.
cdef bytes frozen(object data, const uint8_t** start, int64_t* size)
