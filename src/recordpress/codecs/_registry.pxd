"""Codec plug-ins, by name."""

from recordpress.codecs.codec cimport codec

cdef class Plugin:
    cdef readonly str name
    cdef readonly str provides   # the Kafka codec that it implements, or None
    cdef readonly bytes field    # as in batches: one byte of length, then the name; empty for a provider
    cdef readonly tuple levels   # or None
    cdef readonly bint joins
    cdef object compress
    cdef object decompress
    cdef object lock             # None: calls may overlap
    cdef object again            # to register it in another process: a method's name and arguments

    cdef object compressed(self, bytes data, object level)
    cdef object decompressed(self, bytes data, object max_output)

cdef void object_row(codec* row, Plugin plugin) noexcept
cdef bytes object_compressed(const codec* row, bytes data, int level)
cdef bytes object_decompressed(const codec* row, bytes data, size_t cap)

# Reserved values of compression.type, of producers and of topics: `table` adds the names of Kafka's codecs.
cdef set kafkas

cdef class CodecRegistry:
    cdef dict plugins            # name -> Plugin; a change replaces the dict, never its content
    cdef dict readers            # Kafka codec -> name of the provider that reads its batches; replaced like `plugins`
    cdef object table            # the CodecTable of both, after a call has requested it
    cdef object lock

    cdef int change(self, dict plugins, dict readers) except -1
