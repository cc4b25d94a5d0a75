"""Find the records of an entry of a record set: checksum, payload, decompression, base offset."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_batch, rp_error, rp_source
from recordpress.codecs.codec cimport codec_table
from recordpress.codecs.context cimport codec_context

cdef enum:
    # Bytes of the smallest v2 record: length, attributes, two deltas, key length, value length and header count.
    SMALLEST_RECORD = 7


# Return RP_OK or RP_CRC. `entry` is the first byte of the entry that `batch` was read from.
cdef int check_crc(const uint8_t* entry, const rp_batch* batch, rp_error* err) noexcept nogil
cdef int check_message_crc(const uint8_t* entry, const rp_batch* message, rp_error* err) noexcept nogil

# The same in steps: return where in an entry the bytes begin that the checksum covers, extend the checksum by further
# bytes, and return RP_OK or RP_CRC.
cdef int64_t checked_from(const rp_batch* batch) noexcept nogil
cdef uint32_t crc_update(uint32_t crc, const rp_batch* batch, const uint8_t* data, int64_t size) noexcept nogil
cdef int compare_crc(const rp_batch* batch, uint32_t computed, rp_error* err) noexcept nogil

# Read the entry at `position` of a complete set: return RP_END at its end, and RP_CUT_ENTRY for a truncated entry.
cdef int next_whole(const uint8_t* data, int64_t size, int64_t position, rp_batch* batch, rp_error* err) noexcept nogil

# Check the checksum in the payload's header that readers may ignore (see codec.pxd): return RP_OK, or its status.
cdef int check_header_checksum(const codec_table* codecs, const uint8_t* entry, const rp_batch* batch,
                               rp_error* err) noexcept nogil

# Return why the table has no row for the codec of a whole v2 entry: RP_CODEC_ID, RP_PLUGIN_UNKNOWN, or the error of an
# impossible name.
cdef int refuse_codec(const codec_table* codecs, const uint8_t* entry, const rp_batch* batch,
                      rp_error* err) noexcept nogil

# check_crc() for the messages of an open v0/v1 wrapper, which carry their own checksums.
cdef int check_inner_crcs(const rp_source* source, rp_error* err) noexcept nogil

# Return the error, by header and first record, of an entry of which only the first `there` bytes were read, if the
# whole entry is sure to have it; otherwise RP_OK.
cdef int refuse_early(codec_context* context, const uint8_t* entry, int64_t there, const rp_batch* batch,
                      rp_error* err) noexcept nogil

# Fill `source` except for its filter and view fields; decompressed records are appended to `scratch`.
# `prefix`: after a codec error, `source` holds the bytes that were decoded before it (see decompress_prefix).
cdef int open_source(codec_context* context, const uint8_t* entry, const rp_batch* batch, const uint8_t* readable,
                     pooled* scratch, size_t cap, bint prefix, rp_source* source, rp_error* err) noexcept nogil
