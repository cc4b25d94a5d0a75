"""Arguments from Python, checked in one place; the errors name what is accepted."""

from cpython.bool cimport PyBool_Check
from cpython.dict cimport PyDict_GetItem
from cpython.list cimport PyList_CheckExact
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_Check, PyLong_CheckExact
from cpython.number cimport PyIndex_Check, PyNumber_Index
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_CheckExact
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport INT64_MAX, INT64_MIN, int64_t

from recordpress.errors import ArgumentTypeError, InvalidArgumentError

# for Python modules: a C name of libc.stdint is not an attribute of the module
globals().update(INT16_MAX=(1 << 15) - 1, INT32_MAX=(1 << 31) - 1, INT64_MAX=(1 << 63) - 1)
MOST_THREADS = 1024  # of one call; chosen, not measured: more than the CPUs of common machines

cdef enum:
    SHOWN_CHARACTERS = 100  # of a value's repr: enough to recognise it, short enough to read the sentence around it
    SHOWN_BITS = 256        # an int of 78 digits; Python itself refuses to print one of 4,301


# --- integers ------------------------------------------------------------------------------------------------------

cdef int64_t converted_integer(object value, str name, int64_t least, int64_t most) except? -9223372036854775807:
    cdef int overflow = 0
    cdef int64_t number
    if not PyLong_CheckExact(value):
        value = index_of(value, name)
    number = PyLong_AsLongLongAndOverflow(value, &overflow)
    if overflow or not least <= number <= most:
        raise InvalidArgumentError(f"{name} must be from {least} to {most}, not {shown(value)}", field=name)
    return number


def integer(value, str name, int64_t least, int64_t most):
    """Call integer_of, for modules in Python."""
    return integer_of(value, name, least, most)


def time(value, str name):
    """Return a `recordpress.typing.Time` as milliseconds since 1970."""
    return converted_time(value, name, INT64_MIN + 1, INT64_MAX)


def shown_value(value):
    """Call shown, for modules in Python."""
    return shown(value)


cdef object index_of(object value, str name):
    """Return the int that `value` stands for."""
    if PyBool_Check(value) or not PyIndex_Check(value):
        raise ArgumentTypeError(f"{name} must be an int, not {type(value).__name__}", field=name)
    try:
        return PyNumber_Index(value)
    except TypeError as error:  # NumPy arrays have an __index__, which works only for a single integer
        raise ArgumentTypeError(f"{name} must be an int, not {type(value).__name__}: {error}", field=name) from error


# --- flags and choices ---------------------------------------------------------------------------------------------

cdef bint converted_flag(object value, str name) except -1:
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise ArgumentTypeError(f"{name} must be True or False, not {shown(value)}", field=name)


def check_flags(**flags):
    """Raise an error if an argument is neither True nor False."""
    for name, value in flags.items():
        flag_of(value, name)


def choice(str name, value, accepted):
    """Return `value` if it is one of the strings `accepted`."""
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name} must be a str, one of {', '.join(accepted)}, not {type(value).__name__}",
                                field=name)
    if value not in accepted:
        raise InvalidArgumentError(f"{name} must be one of {', '.join(accepted)}, not {shown(value)}", field=name)
    return value


cdef object choice_of(str name, object value, dict accepted):
    cdef PyObject* found = PyDict_GetItem(accepted, value) if PyUnicode_CheckExact(value) else NULL
    if found != NULL:
        return <object>found
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name} must be a str, {alternatives(accepted)}, not {type(value).__name__}",
                                field=name)
    if value not in accepted:
        raise InvalidArgumentError(f"{name} must be {alternatives(accepted)}, not {shown(value)}"
                                   f"{did_you_mean(value, accepted)}", field=name)
    return accepted[value]


cdef str alternatives(accepted):
    names = [repr(name) for name in accepted]
    last = names.pop()
    return f"{', '.join(names)} or {last}" if names else last


cdef str did_you_mean(object value, accepted):
    if not isinstance(value, str) or len(value) > SHOWN_CHARACTERS:
        return ""
    from difflib import get_close_matches  # here, because importing recordpress must stay fast

    by_lower_case = {name.lower(): name for name in accepted if isinstance(name, str)}
    close = get_close_matches(value.strip().lower(), by_lower_case, 1)
    return f": did you mean {by_lower_case[close[0]]!r}?" if close else ""


# --- sequences -----------------------------------------------------------------------------------------------------

def hint(value, accepted):
    """Call did_you_mean, for modules in Python."""
    return did_you_mean(value, accepted)


def sequence(values, str name, str elements):
    """Call tuple_of, for modules in Python."""
    return tuple_of(values, name, elements)


cdef tuple tuple_of(object values, str name, str elements):
    if PyTuple_CheckExact(values):
        return values
    if PyList_CheckExact(values):
        return tuple(values)
    if isinstance(values, (str, bytes, bytearray, memoryview)):
        raise ArgumentTypeError(f"{name} must be a sequence of {elements}, not {type(values).__name__}", field=name)
    try:
        iterator = iter(values)
    except TypeError as error:
        raise ArgumentTypeError(f"{name} must be a sequence of {elements}, not {type(values).__name__}",
                                field=name) from error
    return tuple(iterator)  # an exception that a generator raises passes through


# --- times ---------------------------------------------------------------------------------------------------------

cdef int64_t converted_time(object value, str name, int64_t least, int64_t most) except? -9223372036854775807:
    import datetime

    if isinstance(value, str):
        value = datetime_of(value, name)
    if isinstance(value, datetime.datetime):
        return integer_of(milliseconds_of(value, name), name, 0 if least == -1 else least, most)
    if PyBool_Check(value) or not PyIndex_Check(value):
        raise ArgumentTypeError(f"{name} must be an int of milliseconds since 1970, a datetime with a time zone, or "
                                f"ISO 8601 text with a time zone, not {type(value).__name__}", field=name)
    return integer_of(value, name, least, most)


cdef object datetime_of(str text, str name):
    """Return the datetime that ISO 8601 text stands for."""
    import re
    from datetime import datetime

    if re.search("[.,][0-9]{6}[0-9]*[1-9]", text):  # fromisoformat drops digits after the sixth silently
        raise InvalidArgumentError(too_fine(name, text), field=name)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidArgumentError(f"{name} must be ISO 8601 text such as '2024-05-01T12:00:00Z', not {shown(text)}",
                                   field=name) from None


cdef object milliseconds_of(object when, str name):
    """Return the exact milliseconds from 1970 to a datetime."""
    from datetime import UTC, datetime, timedelta

    if when.utcoffset() is None:
        raise InvalidArgumentError(f"{name} must have a time zone, but {shown(when)} has none: set its tzinfo, "
                                   "or end the text with Z or +02:00", field=name)
    try:
        since_1970 = when - datetime(1970, 1, 1, tzinfo=UTC)
        below = since_1970 % timedelta(milliseconds=1)
    except (OverflowError, ValueError) as error:  # pandas.Timestamp has a smaller range than datetime
        raise InvalidArgumentError(f"{name} is out of range: {error}", field=name) from error
    if below:
        raise InvalidArgumentError(too_fine(name, when), field=name)
    return since_1970 // timedelta(milliseconds=1)


cdef str too_fine(str name, object when):
    return (f"{name} must be in whole milliseconds, Kafka's resolution, not {shown(when)}: round it first, "
            "for example with when.replace(microsecond=when.microsecond // 1000 * 1000)")


# --- messages ------------------------------------------------------------------------------------------------------

cdef str shown(object value):
    if PyLong_Check(value) and not PyBool_Check(value) and int.bit_length(value) > SHOWN_BITS:
        return f"an int of {int.bit_length(value)} bits"
    try:
        text = repr(value)
    except Exception:  # from the caller's __repr__, or a list that contains an int of 5,000 digits
        return f"a {type(value).__name__}"
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}... ({len(text)} characters)"
