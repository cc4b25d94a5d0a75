"""Keys, values and headers of records that were read, as Python objects: for iteration here, and for other rooms."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport uint8_t

from recordpress._c.wire cimport RP_OK, rp_cursor, rp_header, rp_header_read, rp_headers_of, rp_utf8_copy


cdef str text_of(const rp_field* f):
    cdef bytes copy
    try:
        return PyUnicode_DecodeUTF8(<const char*>f.data, f.size, NULL)
    except UnicodeDecodeError:
        copy = PyBytes_FromStringAndSize(NULL, 3 * f.size)
        size = rp_utf8_copy(<uint8_t*>PyBytes_AS_STRING(copy), f.data, <size_t>f.size)
        return copy[:size].decode()


cdef list headers_of(const rp_record* r):
    cdef rp_cursor cursor
    cdef rp_header h
    cdef list headers = []
    if r.header_count:
        # they were checked when the record was read; the caller may have written to the bytes since
        cursor = rp_headers_of(r)
        for _ in range(r.header_count):
            if rp_header_read(&cursor, &h) != RP_OK:
                break
            value = None if h.value.size < 0 else bytes_of(&h.value)
            headers.append((text_of(&h.key), value))
    return headers
