cdef class ZstdParameters:
    cdef int packed   # as a row's calls take it: see _zstd.pxd
