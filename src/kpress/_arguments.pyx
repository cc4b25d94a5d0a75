"""Arguments from Python, checked in one place; the errors name what is accepted."""

from cpython.bool cimport PyBool_Check
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.number cimport PyIndex_Check, PyNumber_Index
from libc.stdint cimport int64_t

from kpress.errors import ArgumentTypeError, InvalidArgumentError


cdef int64_t integer_of(object value, str name, int64_t least, int64_t most) except? -9223372036854775807:
    cdef int overflow = 0
    cdef int64_t number
    if not PyLong_CheckExact(value):
        if PyBool_Check(value) or not PyIndex_Check(value):
            raise ArgumentTypeError(f"{name} must be an int, not {type(value).__name__}", field=name)
        value = PyNumber_Index(value)
    number = PyLong_AsLongLongAndOverflow(value, &overflow)
    if overflow or not least <= number <= most:
        raise InvalidArgumentError(f"{name} must be from {least} to {most}, not {value}", field=name)
    return number
