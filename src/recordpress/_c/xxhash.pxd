"""xxHash: XXH3-128, in chunks."""

from libc.stdint cimport uint8_t


cdef extern from "xxhash.h" nogil:
    unsigned int XXH_versionNumber()
    ctypedef enum XXH_errorcode:
        pass
    ctypedef struct XXH3_state_t:
        pass
    ctypedef struct XXH128_hash_t:
        pass
    ctypedef struct XXH128_canonical_t:
        uint8_t digest[16]
    XXH3_state_t* XXH3_createState()
    XXH_errorcode XXH3_freeState(XXH3_state_t*)
    XXH_errorcode XXH3_128bits_reset(XXH3_state_t*)
    XXH_errorcode XXH3_128bits_update(XXH3_state_t*, const void* data, size_t size)
    XXH128_hash_t XXH3_128bits_digest(const XXH3_state_t*)
    void XXH128_canonicalFromHash(XXH128_canonical_t*, XXH128_hash_t)
