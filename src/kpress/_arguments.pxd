from libc.stdint cimport int64_t


# An integer argument from `least` to `most`; the error says what is accepted. -2**63 + 1 is no argument's value.
cdef int64_t integer_of(object value, str name, int64_t least, int64_t most) except? -9223372036854775807
