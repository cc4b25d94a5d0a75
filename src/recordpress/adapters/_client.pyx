"""Differences between the clients: the classes of their errors, and their lists of codecs."""

from recordpress._arguments cimport integer_of
from recordpress._c.wire cimport RP_WRAPPER_CODEC
from recordpress._status cimport error_of as own_error_of, place_of
from recordpress.codecs.table cimport name_of, table_of
from libc.stdint cimport INT32_MAX

from recordpress.codecs import DEFAULT_MAX_SIZE
from recordpress.errors import RecordpressError, UnsupportedCompressionTypeError


cdef class Client:
    """A client's exceptions and codec checks; the module of its adapter creates the object."""

    def __init__(self, corrupt, unsupported, codec_module, str unknown):
        self.corrupt = corrupt
        self.unsupported = unsupported
        self.codec_module = codec_module
        self.checkers = {}
        self.unknown = unknown
        self.cap = DEFAULT_MAX_SIZE

    def trust(self, checkers):
        """Set the has_ functions of the client's codec module that need no call, because recordpress needs no
        library."""
        for name, functions in checkers.items():
            self.checkers[name] = tuple(functions)

    def limit(self, max_decompressed_bytes):
        """Set the maximum number of bytes that the records of one batch may have when decompressed."""
        self.cap = <size_t>integer_of(max_decompressed_bytes, "max_decompressed_bytes", 1, INT32_MAX)

    cdef object error_of(self, const rp_error* err, const rp_batch* batch):
        """Return the client's exception for a failed status, with recordpress's own exception as its cause."""
        cdef place at = place_of(batch)
        error = own_error_of(err, &at)
        if not isinstance(error, RecordpressError):
            return error
        return self.translated(error, err.status == RP_WRAPPER_CODEC)

    def translated(self, error, unsupported=False):
        """Return the client's exception for an error of recordpress, with that error as its cause."""
        unsupported = unsupported or isinstance(error, UnsupportedCompressionTypeError)
        raised = (self.unsupported if unsupported else self.corrupt)(str(error))
        raised.__cause__ = error
        return raised

    cdef object refuse_codec(self, int codec):
        return self.unsupported(self.unknown.format(codec))

    cdef int require(self, int codec) except -1:
        """Call the codec module's checker if a program has replaced it, as tests do; raise an error if it fails."""
        cdef str name = name_of(table_of(None), codec)
        checker = getattr(self.codec_module, f"has_{name}", None)
        if checker is None or checker in self.checkers.get(f"has_{name}", ()) or checker():
            return 0
        raise self.unsupported(f"Libraries for {name} compression codec not found")


cdef Client ready(Client client):
    if client is None:
        raise TypeError("import the adapter's module first: it sets the client that this class needs")
    return client
