"""Codecs of the caller's own, by name."""

from recordpress.codecs.codec cimport codec

cdef class Plugin:
    cdef readonly str name
    cdef readonly str provides   # the codec of Kafka that it is another implementation of, or None
    cdef readonly bytes field    # as batches have it: one byte of length, then the name; a provider's is empty
    cdef readonly tuple levels   # or None
    cdef readonly bint joins
    cdef object compress
    cdef object decompress
    cdef object lock             # None: calls may overlap
    cdef object again            # makes it in another process: a call's name and arguments

    cdef object compressed(self, bytes data, object level)
    cdef object decompressed(self, bytes data, object max_output)

cdef void object_row(codec* row, Plugin plugin) noexcept
cdef bytes object_compressed(const codec* row, bytes data, int level)
cdef bytes object_decompressed(const codec* row, bytes data, size_t cap)

# What compression.type may be without a plug-in, of producers and of topics: `table` adds the names of Kafka's codecs.
cdef set kafkas

cdef class CodecRegistry:
    cdef dict plugins            # name -> Plugin; replaced by changes, never changed
    cdef dict readers            # codec of Kafka -> name of the provider that reads its batches; as `plugins`
    cdef object table            # the CodecTable of both, once a call requested it
    cdef object lock

    cdef int change(self, dict plugins, dict readers) except -1
