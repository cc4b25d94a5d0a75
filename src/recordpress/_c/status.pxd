"""include/recordpress/status.h: the table from a status to its exception. The statuses themselves are in wire.pxd."""


cdef extern from "recordpress/status.h" nogil:
    enum:
        RP_KIND_NONE
        RP_KIND_CORRUPT
        RP_KIND_INVALID
        RP_KIND_DECOMPRESS
        RP_KIND_UNSUPPORTED
        RP_KIND_TOO_LARGE
        RP_KIND_ARGUMENT
        RP_KIND_MEMORY
    ctypedef struct rp_status_row:
        const char* name
        int kind
        const char* field
        const char* rule
        const char* sentence
    const rp_status_row* rp_status_of(int status)
