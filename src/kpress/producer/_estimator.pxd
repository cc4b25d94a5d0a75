"""What fraction of its size a topic's records have when they are compressed."""

from kpress.codecs.codec cimport CODEC_IDS
from kpress.codecs.table cimport CodecTable


cdef class TopicRatios:
    cdef float by_id[CODEC_IDS]

    cdef void start_again(self) noexcept


cdef class CompressionRatioEstimator:
    cdef CodecTable codecs
    cdef dict topics

    cdef TopicRatios ratios_of(self, object topic)


# The estimate after a batch had the ratio `observed`.
cdef float updated(float estimate, float observed) noexcept nogil
