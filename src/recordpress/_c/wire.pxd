"""include/recordpress: our own C headers."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t


cdef extern from "recordpress/status.h" nogil:
    enum:
        RP_IN_PAYLOAD
        RP_IN_RECORDS
    ctypedef struct rp_error:
        int32_t status
        int32_t frame
        int64_t position
        int64_t start
        int64_t found
        int64_t limit
    enum:
        RP_OK
        RP_END
        RP_NO_MEMORY
        RP_OUTPUT_CAP
        RP_OUTPUT_FULL
        RP_ENTRY_SIZE
        RP_ENTRY_SIZE_MAX
        RP_MAGIC
        RP_BATCH_LENGTH
        RP_MESSAGE_SIZE
        RP_CRC
        RP_CUT_ENTRY
        RP_COPY
        RP_RECORDS_COUNT
        RP_RECORDS_MISSING
        RP_RECORDS_LEFT
        RP_RECORD_LENGTH
        RP_VARINT
        RP_KEY_LENGTH
        RP_VALUE_LENGTH
        RP_CODEC_ID
        RP_PLUGIN_UNKNOWN
        RP_CODEC_MAGIC
        RP_CODEC_DECOMPRESS
        RP_CODEC_COMPRESS
        RP_CODEC_EXPANDS
        RP_WRAPPER_CODEC
        RP_WRAPPER_NULL
        RP_WRAPPER_EMPTY
        RP_WRAPPER_OFFSET
        RP_INNER_COMPRESSED
        RP_TIMESTAMP_RANGE
        RP_GZIP_HEADER
        RP_GZIP_SHORT
        RP_GZIP_DATA
        RP_GZIP_TRAILER
        RP_SNAPPY_EMPTY
        RP_SNAPPY_HEADER
        RP_SNAPPY_CHUNK
        RP_SNAPPY_SHORT
        RP_SNAPPY_DATA
        RP_LZ4_HC
        RP_LZ4_SHORT
        RP_LZ4_BLOCK_SIZE
        RP_LZ4_BLOCK_CHECKSUM
        RP_LZ4_BLOCK
        RP_ZSTD_HEADER
        RP_ZSTD_SHORT
        RP_ZSTD_WINDOW
        RP_ZSTD_DICT
        RP_ZSTD_DICT_MISSING
        RP_ZSTD_CHECKSUM
        RP_ZSTD_DATA
        RP_COMPRESS_FAILED
        RP_OFFSET_BASE
        RP_OFFSET_ORDER
        RP_OFFSET_DELTA
        RP_TIMESTAMP_NEGATIVE
        RP_SET_SIZE
        RP_ARROW_LAYOUT
        RP_OFFSET_NULL
        RP_HEADER_KEY_NULL
        RP_HEADERS_MAGIC
        RP_TIMESTAMP_SECONDS
        RP_TIMESTAMP_PART
        RP_BATCH_COLUMNS
        RP_BATCH_SEQUENCE
        RP_BATCH_TIMESTAMP_TYPE
        RP_BATCH_VALUE
        RP_BATCHES_RECORDS
        RP_BATCHES_LEFT
        RP_STATUS_COUNT
    int rp_fail(rp_error* err, int status, int64_t position, int64_t found, int64_t limit)
    int rp_in_frame(rp_error* err, int frame, int64_t start)


cdef extern from "recordpress/endian.h" nogil:
    uint16_t rp_load_le16(const void*)
    uint32_t rp_load_le32(const void*)
    uint64_t rp_load_le64(const void*)
    uint16_t rp_load_be16(const void*)
    uint32_t rp_load_be32(const void*)
    uint64_t rp_load_be64(const void*)
    void rp_store_le32(void*, uint32_t)
    void rp_store_be16(void*, uint16_t)
    void rp_store_be32(void*, uint32_t)
    void rp_store_be64(void*, uint64_t)


cdef extern from "recordpress/varint.h" nogil:
    enum:
        RP_VARINT_MAX
        RP_VARLONG_MAX
    size_t rp_varlong_size(int64_t)
    uint8_t* rp_varlong_write(uint8_t*, int64_t)


cdef extern from "recordpress/cursor.h" nogil:
    ctypedef struct rp_cursor:
        const uint8_t* p
        const uint8_t* end
    rp_cursor rp_cursor_of(const uint8_t*, size_t)
    size_t rp_cursor_left(const rp_cursor*)
    const uint8_t* rp_read_bytes(rp_cursor*, size_t)
    int32_t rp_read_be32(rp_cursor*)
    int64_t rp_read_be64(rp_cursor*)
    int64_t rp_read_varint(rp_cursor*)
    bint rp_cursor_ok(const rp_cursor*)


cdef extern from "recordpress/batch_header.h" nogil:
    enum:
        RP_LOG_OVERHEAD
        RP_SIZE_OFFSET
        RP_MAGIC_OFFSET
        RP_ENTRY_PREFIX
        RP_MIN_ENTRY_SIZE
        RP_BATCH_HEADER
        RP_PARTITION_LEADER_EPOCH_OFFSET
        RP_CRC_OFFSET
        RP_ATTRIBUTES_OFFSET
        RP_LAST_OFFSET_DELTA_OFFSET
        RP_BASE_TIMESTAMP_OFFSET
        RP_MAX_TIMESTAMP_OFFSET
        RP_PRODUCER_ID_OFFSET
        RP_PRODUCER_EPOCH_OFFSET
        RP_BASE_SEQUENCE_OFFSET
        RP_RECORDS_COUNT_OFFSET
        RP_MESSAGE_CRC_OFFSET
        RP_MESSAGE_ATTRIBUTES_OFFSET
        RP_MESSAGE_TIMESTAMP_OFFSET
        RP_MESSAGE_V0_OVERHEAD
        RP_MESSAGE_V1_OVERHEAD
        RP_PLUGIN_NAME_OFFSET
        RP_PLUGIN_NAME_MAX
        RP_CODEC_MASK
        RP_LOG_APPEND_TIME
        RP_TRANSACTIONAL
        RP_CONTROL
        RP_DELETE_HORIZON
        RP_NONE
        RP_GZIP
        RP_SNAPPY
        RP_LZ4
        RP_ZSTD
        RP_PLUGGABLE
    ctypedef struct rp_batch:
        int64_t position
        int64_t size
        int64_t base_offset
        int64_t base_timestamp
        int64_t max_timestamp
        int64_t producer_id
        uint32_t crc
        int32_t partition_leader_epoch
        int32_t last_offset_delta
        int32_t base_sequence
        int32_t records_count
        int16_t attributes
        int16_t producer_epoch
        int8_t magic
    int rp_batch_codec(const rp_batch*)
    int64_t rp_batch_last_offset(const rp_batch*)
    int rp_batch_timestamp_type(const rp_batch*)
    int32_t rp_sequence_add(int32_t, int32_t)
    int rp_message_header_read(const uint8_t*, int64_t size, int64_t position, rp_batch*, rp_error*)
    int rp_batch_read(const uint8_t*, int64_t size, int64_t position, rp_batch*, rp_error*)
    int rp_batch_next(const uint8_t*, int64_t size, int64_t position, int64_t max_size, rp_batch*, rp_error*)
    bint rp_plugin_name_char(uint8_t)
    int rp_plugin_name(const uint8_t* entry, int64_t size, const uint8_t** name, int* length, rp_error*)
    void rp_batch_write(uint8_t*, const rp_batch*)


cdef extern from "recordpress/record.h" nogil:
    enum:
        RP_RECORD_OVERHEAD_MAX
    ctypedef struct rp_field:
        const uint8_t* data
        int64_t size
    ctypedef struct rp_record:
        int64_t offset
        int64_t timestamp
        rp_field key
        rp_field value
        rp_field headers
        int32_t header_count
        int32_t size
        int32_t sequence
        int8_t attributes
        int8_t timestamp_type
    ctypedef struct rp_header:
        rp_field key
        rp_field value
    ctypedef struct rp_source:
        const uint8_t* start
        const uint8_t* end
        const uint8_t* readable
        const uint8_t* view_base
        int32_t view_buffer
        int32_t count
        int32_t base_sequence
        int32_t frame
        int64_t payload
        int64_t base_offset
        int64_t base_timestamp
        int64_t append_time
        bint log_append_time
        bint filtered
        int64_t first_offset
        int64_t last_offset
        int64_t first_timestamp
        int64_t last_timestamp
    int rp_header_read(rp_cursor*, rp_header*)
    rp_cursor rp_headers_of(const rp_record*)
    int rp_source_fail(const rp_source*, const uint8_t* at, rp_error*)
    bint rp_record_read(rp_cursor*, rp_record*)
    int rp_record_explain(const uint8_t* at, const uint8_t* end, const uint8_t* start, rp_error*)
    void rp_record_place(const rp_source*, rp_record*)
    int rp_record_next(const rp_source*, rp_cursor*, int32_t index, rp_record*, rp_error*)
    int rp_message_next(const rp_source*, rp_cursor*, rp_batch*, rp_record*, rp_error*)
    int64_t rp_entry_size(rp_cursor)
    int rp_message_read(const uint8_t*, int64_t size, int64_t position, rp_batch*, rp_record*, rp_error*)
    void rp_copy(uint8_t*, const uint8_t*, size_t)
    size_t rp_field_size(int64_t)
    size_t rp_record_size(const rp_record*, int64_t base_offset, int64_t base_timestamp)
    size_t rp_message_size(int magic, int64_t key_size, int64_t value_size)
    uint8_t* rp_field_write(uint8_t*, const rp_field*)
    uint8_t* rp_record_write(uint8_t*, const rp_record*, int64_t base_offset, int64_t base_timestamp)
    uint8_t* rp_message_write(uint8_t*, const rp_record*, int magic, int attributes, int64_t base_offset)
    size_t rp_wrapper_size(int magic)
    void rp_wrapper_write(uint8_t*, int magic, int attributes, int64_t offset, int64_t timestamp, size_t payload)


cdef extern from "recordpress/skip.h" nogil:
    enum:
        RP_SKIP_OK
        RP_SKIP_ENDED
        RP_SKIP_TOO_LONG
    int rp_record_skip(rp_cursor*, rp_record*)
    int rp_record_fault(const uint8_t* at, const uint8_t* end)


cdef extern from "recordpress/lz4_header.h" nogil:
    enum:
        RP_LZ4_HEADER_MIN
        RP_LZ4_FLG_CONTENT_CHECKSUM
        RP_LZ4_FLG_BLOCK_CHECKSUM
    ctypedef struct rp_lz4_frame:
        size_t header_size
        size_t block_max
        uint8_t flags
    uint32_t rp_xxh32(const uint8_t*, size_t size)
    int rp_lz4_header_read(const uint8_t*, size_t size, bint check_hc, rp_lz4_frame*, rp_error*)
    void rp_lz4_header_write(uint8_t*, int magic)
    int rp_lz4_header_set_hc(uint8_t*, size_t size, bint broken, rp_error*)


cdef extern from "recordpress/snappy.h" nogil:
    enum:
        RP_SNAPPY_TABLE
    size_t rp_snappy_preamble(const uint8_t*, size_t size, uint32_t* decoded)
    bint rp_snappy_decode(const uint8_t* src, const uint8_t* src_end, uint8_t* dst, uint8_t* dst_end)
    size_t rp_snappy_bound(size_t size)
    size_t rp_snappy_encode(const uint8_t* src, size_t size, uint8_t* dst, uint16_t* table)


cdef extern from "recordpress/deflate_cut.h" nogil:
    ctypedef struct rp_deflate_cutter:
        pass
    int64_t rp_deflate_cut(rp_deflate_cutter*, const uint8_t* stream, size_t size, size_t limit, const uint8_t* input,
                           const size_t* ends, int64_t n, uint8_t* dst, size_t* written)


cdef extern from "recordpress/columns.h" nogil:
    enum:
        RP_BINARY
        RP_LARGE_BINARY
        RP_BINARY_VIEW
        RP_VIEW_INLINED
    ctypedef struct rp_binary:
        void* rows
        uint8_t* data
        int64_t used
        uint8_t* validity
        int64_t nulls
    ctypedef struct rp_columns:
        int64_t rows
        int64_t* offset
        int64_t* timestamp
        int64_t untimed
        int32_t* sequence
        rp_binary key
        rp_binary value
        int64_t headers
        int64_t header_bytes
    int rp_gather(rp_columns*, int layout, const rp_source*, rp_error*)
    int rp_gather_messages(rp_columns*, int layout, const rp_source*, rp_error*)


cdef extern from "recordpress/atomics.h" nogil:
    void rp_ref_take(int64_t*)
    int64_t rp_ref_drop(int64_t*)
    int64_t rp_ref_count(const int64_t*)
    void* rp_slot_take(void**)
    bint rp_slot_give(void**, void*)
    void* rp_slot_content(void**)
    void rp_flag_set(int*)
    bint rp_flag_is_set(const int*)


cdef extern from "recordpress/decimal.h" nogil:
    enum:
        RP_DECIMAL_ROOM
    size_t rp_decimal(uint8_t*, int64_t)


cdef extern from "recordpress/json.h" nogil:
    size_t rp_json_copy(uint8_t*, const uint8_t*, size_t)


cdef extern from "recordpress/utf8.h" nogil:
    int rp_utf8_sequence(const uint8_t*, size_t)
    size_t rp_utf8_copy(uint8_t*, const uint8_t*, size_t)
