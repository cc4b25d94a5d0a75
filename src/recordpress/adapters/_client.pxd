"""Differences between the clients: the classes of their errors, and their lists of codecs."""

from recordpress._c.wire cimport rp_batch, rp_error
from recordpress._status cimport place


cdef class Client:
    cdef object corrupt          # exceptions
    cdef object unsupported
    cdef object codec_module
    cdef dict checkers           # of the module's has_ functions, by name: the ones that need no call
    cdef str unknown             # the message for an unknown codec id
    cdef readonly size_t cap     # of decompressed bytes

    cdef object error_of(self, const rp_error* err, const rp_batch* batch)
    cdef int require(self, int codec) except -1
    cdef object refuse_codec(self, int codec)


# The client's, or an error: its module was not imported.
cdef Client ready(Client client)


# What both clients assert of their callers, in their words, such as `assert magic >= 2` of a DefaultRecordBatchBuilder
# (default_records.py, line 396 in aiokafka 0.14.0 and 496 in kafka-python 3.0.12). Callers and the clients' tests catch
# AssertionError. Under `python -O` a client asserts nothing and would write what is not a Kafka message, so this check
# stays.
cdef inline int demand(bint is_met, str message="") except -1:
    if not is_met:
        raise AssertionError(message) if message else AssertionError
    return 0
