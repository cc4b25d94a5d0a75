from cpython.long cimport PyLong_CheckExact
from libc.stdint cimport int64_t

from recordpress._c.python cimport rp_int64_of

# Arguments of Python calls. Every error carries the argument's name as its field; an exception that the caller's own
# object raises passes through. INT64_MIN + 1 is not a value of any argument: it stands for "an exception was raised".

# An int from `least` to `most`, from an int or any object with __index__ (NumPy's integers), but not from a bool.
cdef inline int64_t integer_of(object value, str name, int64_t least, int64_t most) except? -9223372036854775807:
    cdef int overflow = 0
    cdef int64_t number
    if PyLong_CheckExact(value):
        number = rp_int64_of(value, &overflow)
        if not overflow and least <= number <= most:
            return number
    return converted_integer(value, name, least, most)


# True or False; other values are not tested for truth.
cdef inline bint flag_of(object value, str name) except -1:
    if value is True:
        return True
    if value is False:
        return False
    return converted_flag(value, name)


# accepted[value], for a string that is a key of `accepted`; the message lists the keys in order.
cdef object choice_of(str name, object value, dict accepted)

# Milliseconds since 1970: from an int from `least` to `most`, or a datetime or ISO 8601 text with a time zone.
# With least = -1, Kafka's "no timestamp", only an int can be -1: dates start in 1970.
cdef inline int64_t time_of(object value, str name, int64_t least, int64_t most) except? -9223372036854775807:
    if PyLong_CheckExact(value):
        return integer_of(value, name, least, most)
    return converted_time(value, name, least, most)


# The elements of a sequence, or of any other iterable; text and buffers are refused, because their elements are
# characters and numbers. `elements` names the expected elements, for the message.
cdef tuple tuple_of(object values, str name, str elements)

# A value as a message shows it: its repr, shortened. Never raises.
cdef str shown(object value)

# ": did you mean 'zstd'?", or nothing.
cdef str did_you_mean(object value, accepted)

# flag_of for anything but True and False; integer_of and time_of for anything but an int in range.
cdef bint converted_flag(object value, str name) except -1
cdef int64_t converted_integer(object value, str name, int64_t least, int64_t most) except? -9223372036854775807
cdef int64_t converted_time(object value, str name, int64_t least, int64_t most) except? -9223372036854775807
