# Returns the cap that the argument gives.
cdef size_t cap_of(object max_decompressed_bytes) except? 0
