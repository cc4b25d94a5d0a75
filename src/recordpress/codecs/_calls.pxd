# The cap, from the argument or from its former name.
cdef size_t cap_of(object max_decompressed_bytes) except? 0
