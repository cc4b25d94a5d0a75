"""From an entry of a record set to where its records lie: checksum, payload, decompression, base offset."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from kpress._buffers cimport pooled
from kpress._c.wire cimport kp_batch, kp_error, kp_source
from kpress.codecs.codec cimport codec_table
from kpress.codecs.context cimport codec_context

cdef enum:
    # Bytes of the smallest v2 record: length, attributes, two deltas, key length, value length and header count.
    SMALLEST_RECORD = 7


# KP_OK or KP_CRC. `entry` is the first byte of the entry that `batch` was read from.
cdef int check_crc(const uint8_t* entry, const kp_batch* batch, kp_error* err) noexcept nogil
cdef int check_message_crc(const uint8_t* entry, const kp_batch* message, kp_error* err) noexcept nogil

# The same in steps: where in an entry the bytes begin that the checksum covers, the checksum over more of them, and
# KP_OK or KP_CRC.
cdef int64_t checked_from(const kp_batch* batch) noexcept nogil
cdef uint32_t crc_update(uint32_t crc, const kp_batch* batch, const uint8_t* data, int64_t size) noexcept nogil
cdef int compare_crc(const kp_batch* batch, uint32_t computed, kp_error* err) noexcept nogil

# The entry at `position` of a set that must be whole: KP_END at its end, KP_CUT_ENTRY instead of a cut entry.
cdef int next_whole(const uint8_t* data, int64_t size, int64_t position, kp_batch* batch, kp_error* err) noexcept nogil

# What of the payload's header a reader may overlook (see codec.pxd): KP_OK, or the status that tells it.
cdef int check_overlooked(const codec_table* codecs, const uint8_t* entry, const kp_batch* batch,
                          kp_error* err) noexcept nogil

# Why the codec of a whole v2 entry has no row in the table: KP_CODEC_ID, KP_PLUGIN_UNKNOWN, or what is wrong with the
# name.
cdef int refuse_codec(const codec_table* codecs, const uint8_t* entry, const kp_batch* batch,
                      kp_error* err) noexcept nogil

# check_crc() for the messages of an open v0/v1 wrapper, which carry checksums of their own.
cdef int check_inner_crcs(const kp_source* source, kp_error* err) noexcept nogil

# The error, by header and first record, of an entry of which only the first `there` bytes were read; only if it is sure
# to be an error once all of it is read. KP_OK: none is known.
cdef int refuse_early(codec_context* context, const uint8_t* entry, int64_t there, const kp_batch* batch,
                      kp_error* err) noexcept nogil

# Fills `source` but for its filter and view fields; decompressed records are appended to `scratch`.
# `prefix`: keep what was decoded before a codec error (see decompress_prefix); source then holds that.
cdef int open_source(codec_context* context, const uint8_t* entry, const kp_batch* batch, const uint8_t* readable,
                     pooled* scratch, size_t cap, bint prefix, kp_source* source, kp_error* err) noexcept nogil
