"""Key, value and headers of one record as Python gives them -> rp_record."""

from cpython.dict cimport PyDict_Check
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.stdint cimport INT32_MAX

from recordpress._arguments cimport shown, tuple_of
from recordpress._buffers cimport InputView, pooled_reserve_more
from recordpress._c.wire cimport rp_error, rp_field, rp_field_size, rp_field_write, rp_varlong_size, rp_varlong_write
from recordpress._status cimport check

from recordpress.errors import ArgumentTypeError, InvalidArgumentError


cdef int append_field(pooled* out, const rp_field* f) except -1:
    cdef rp_error err
    if f.size > INT32_MAX:
        raise InvalidArgumentError(f"a header field of {f.size} bytes is larger than 2147483647", field="headers")
    check(pooled_reserve_more(out, rp_field_size(f.size), &err), &err)
    out.size = rp_field_write(out.data + out.size, f) - out.data
    return 0


cdef int append_header_key(pooled* out, object key, Py_ssize_t i) except -1:
    cdef rp_field f
    cdef Py_ssize_t size
    if not isinstance(key, str):
        raise ArgumentTypeError(f"the key of header {i} must be str, not {type(key).__name__}", field="headers")
    try:
        f.data = <const uint8_t*>PyUnicode_AsUTF8AndSize(key, &size)
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"the key of header {i} must be UTF-8 text: {error}", field="headers") from None
    f.size = size
    return append_field(out, &f)


cdef int append_header_value(pooled* out, object value, Py_ssize_t i) except -1:
    cdef rp_field f
    cdef InputView view
    if not bytes_field(value, &f):
        view = InputView(value, f"the value of header {i}", "headers")
        f.data, f.size = view.data, view.size
    return append_field(out, &f)


cdef int encode_headers(object headers, pooled* out) except -1:
    """Append headerCount and the headers to `out`, if there are any."""
    cdef rp_error err
    cdef Py_ssize_t count, i
    if PyDict_Check(headers):
        headers = headers.items()
    headers = tuple_of(headers, "headers", "(str, bytes or None) pairs")
    count = len(headers)
    if count == 0:
        return 0
    check(pooled_reserve_more(out, rp_varlong_size(count), &err), &err)
    out.size = rp_varlong_write(out.data + out.size, count) - out.data
    for i, header in enumerate(headers):
        try:
            key, value = header
        except (TypeError, ValueError) as error:
            raise ArgumentTypeError(f"header {i} must be a (str, bytes or None) pair, not {shown(header)}",
                                    field="headers") from error
        append_header_key(out, key, i)
        append_header_value(out, value, i)
    return 0
