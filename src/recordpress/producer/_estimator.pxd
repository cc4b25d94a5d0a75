"""Estimated compression ratios of topics."""

from recordpress.codecs.codec cimport CODEC_IDS


cdef class TopicRatios:
    cdef float by_id[CODEC_IDS]
    cdef dict by_name           # ratios of plug-ins; None before the first

    cdef void start_again(self) noexcept
    cdef float get(self, int id, object name) except? -1
    cdef int put(self, int id, object name, float ratio) except -1


cdef class CompressionRatioEstimator:
    cdef object codecs
    cdef dict topics

    cdef TopicRatios ratios_of(self, object topic)


# Return the estimate after a batch with the ratio `observed`.
cdef float updated(float estimate, float observed) noexcept nogil
