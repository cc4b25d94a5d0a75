"""Differences between the clients: the classes of their errors, and their lists of codecs."""

from recordpress._c.wire cimport rp_batch, rp_error
from recordpress._status cimport place


cdef class Client:
    cdef object corrupt          # exceptions
    cdef object unsupported
    cdef object codec_module
    cdef dict checkers           # has_ functions of the module that need no call, by name
    cdef str unknown             # the message for an unknown codec id
    cdef readonly size_t cap     # maximum decompressed bytes of a batch's records

    cdef object error_of(self, const rp_error* err, const rp_batch* batch)
    cdef int require(self, int codec) except -1
    cdef object refuse_codec(self, int codec)


# Return the client; raise an error if its adapter's module was not imported.
cdef Client ready(Client client)


cdef inline object made_already(object made):
    return TypeError(f"{type(made).__name__} is already initialised")


cdef inline object not_made(object made):
    return TypeError(f"{type(made).__name__} is not initialised")


# Raise AssertionError as the clients do, with their messages, such as `assert magic >= 2` in DefaultRecordBatchBuilder
# (default_records.py, line 396 in aiokafka 0.14.0 and 496 in kafka-python 3.0.12). Callers and the clients' tests catch
# AssertionError. Under `python -O` a client asserts nothing and could write invalid messages; this check still runs.
cdef inline int demand(bint is_met, str message="") except -1:
    if not is_met:
        raise AssertionError(message) if message else AssertionError
    return 0
