"""include/kpress/status.h: the table that says what a status becomes. The statuses themselves are in wire.pxd."""


cdef extern from "kpress/status.h" nogil:
    enum:
        KP_KIND_NONE
        KP_KIND_CORRUPT
        KP_KIND_INVALID
        KP_KIND_DECOMPRESS
        KP_KIND_UNSUPPORTED
        KP_KIND_TOO_LARGE
        KP_KIND_ARGUMENT
        KP_KIND_MEMORY
    ctypedef struct kp_status_row:
        const char* name
        int kind
        const char* field
        const char* rule
        const char* sentence
    const kp_status_row* kp_status_of(int status)
