"""The codecs as the record layer calls them: by Kafka's id, without the GIL, into pooled memory."""

from libc.stdint cimport uint8_t

from kpress._buffers cimport pooled
from kpress._c.wire cimport kp_error
from kpress.codecs.context cimport codec_context

cdef enum:
    LEVEL_DEFAULT = -2147483648   # "what Kafka's Java producer does by default"; no codec has it as a level

# Appends the decompressed payload to `out` (whose size grows), at most `cap` bytes; KP_OUTPUT_CAP beyond it.
# On an error out.size is as it was. magic matters to lz4 alone: 0 takes any header checksum.
cdef int decompress_payload(codec_context* context, int codec, int magic, const uint8_t* src, size_t size,
                            pooled* out, size_t cap, kp_error* err) noexcept nogil

# The same, but on an error `out` keeps what Kafka's streaming reader would have handed out before it.
cdef int decompress_prefix(codec_context* context, int codec, int magic, const uint8_t* src, size_t size,
                           pooled* out, size_t cap, kp_error* err) noexcept nogil

# Appends the compressed payload to `out`. level: LEVEL_DEFAULT or one that level_of returned.
cdef int compress_payload(codec_context* context, int codec, int level, int magic, const uint8_t* src, size_t size,
                          pooled* out, kp_error* err) noexcept nogil

# The most bytes that compress_payload appends for `size` bytes.
cdef size_t payload_bound(int codec, size_t size) noexcept nogil

# Arguments from Python; the error names what is accepted.
cdef int codec_of(object compression_type) except -1
cdef int level_of(int codec, object level) except? -1
cdef int magic_of(int codec, object magic) except -1
cdef size_t cap_of(object max_size) except? 0
