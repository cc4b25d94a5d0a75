"""zstd dictionaries, and the rows of codecs that use them."""

from libc.stdint cimport uint8_t, uint32_t

from recordpress._c.zstd cimport ZSTD_DDict
from recordpress.codecs._zstd cimport known_dictionaries, known_dictionary
from recordpress.codecs.codec cimport codec


# The object of a dictionary's row. `known` comes first, because decoding takes the object for a known_dictionaries.
ctypedef struct loaded_dictionary:
    known_dictionaries known
    known_dictionary own
    const uint8_t* data
    size_t size
    void* encoders            # a list by level, which only grows: see encoder_of


cdef class Dictionary:
    cdef codec row            # zstd's, with this dictionary
    cdef loaded_dictionary loaded
    cdef ZSTD_DDict* decoder
    cdef readonly bytes data


# The caller's dictionaries that payloads name.
cdef class DictionarySet:
    cdef codec row            # zstd's, with these dictionaries
    cdef known_dictionaries known
    cdef known_dictionary* items
    cdef object source        # a Dictionary, or a mapping of ids to them
    cdef list kept            # the dictionaries that own the items

    # Whether a payload needs a dictionary that was not learned yet.
    cdef bint misses(self, const uint8_t* src, size_t size) noexcept nogil
    cdef int learn(self, const uint8_t* src, size_t size) except -1
    # Look up a dictionary in the source; return False if it is not there.
    cdef bint learn_id(self, uint32_t id) except -1
    cdef int add(self, Dictionary dictionary) except -1


cdef DictionarySet dictionary_set(object dictionaries)
cdef object one_dictionary(dict dictionaries, const uint8_t* src, size_t size)
