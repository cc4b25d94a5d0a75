"""include/kpress: our own C headers."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t


cdef extern from "kpress/status.h" nogil:
    enum:
        KP_IN_PAYLOAD
        KP_IN_RECORDS
    ctypedef struct kp_error:
        int32_t status
        int32_t frame
        int64_t position
        int64_t start
        int64_t found
        int64_t limit
    enum:
        KP_OK
        KP_END
        KP_NO_MEMORY
        KP_OUTPUT_CAP
        KP_OUTPUT_FULL
        KP_ENTRY_SIZE
        KP_ENTRY_SIZE_MAX
        KP_MAGIC
        KP_BATCH_LENGTH
        KP_MESSAGE_SIZE
        KP_CRC
        KP_CUT_ENTRY
        KP_COPY
        KP_RECORDS_COUNT
        KP_RECORDS_MISSING
        KP_RECORDS_LEFT
        KP_RECORD_LENGTH
        KP_VARINT
        KP_KEY_LENGTH
        KP_VALUE_LENGTH
        KP_CODEC_ID
        KP_PLUGIN_UNKNOWN
        KP_CODEC_MAGIC
        KP_CODEC_DECOMPRESS
        KP_CODEC_COMPRESS
        KP_CODEC_EXPANDS
        KP_WRAPPER_CODEC
        KP_WRAPPER_NULL
        KP_WRAPPER_EMPTY
        KP_WRAPPER_OFFSET
        KP_INNER_COMPRESSED
        KP_TIMESTAMP_RANGE
        KP_GZIP_HEADER
        KP_GZIP_SHORT
        KP_GZIP_DATA
        KP_GZIP_TRAILER
        KP_SNAPPY_EMPTY
        KP_SNAPPY_HEADER
        KP_SNAPPY_CHUNK
        KP_SNAPPY_SHORT
        KP_SNAPPY_DATA
        KP_LZ4_HC
        KP_LZ4_SHORT
        KP_LZ4_BLOCK_SIZE
        KP_LZ4_BLOCK_CHECKSUM
        KP_LZ4_BLOCK
        KP_ZSTD_HEADER
        KP_ZSTD_SHORT
        KP_ZSTD_WINDOW
        KP_ZSTD_DICT
        KP_ZSTD_DICT_MISSING
        KP_ZSTD_CHECKSUM
        KP_ZSTD_DATA
        KP_COMPRESS_FAILED
        KP_OFFSET_BASE
        KP_OFFSET_ORDER
        KP_OFFSET_DELTA
        KP_TIMESTAMP_NEGATIVE
        KP_SET_SIZE
        KP_ARROW_LAYOUT
        KP_OFFSET_NULL
        KP_HEADER_KEY_NULL
        KP_HEADERS_MAGIC
        KP_TIMESTAMP_SECONDS
        KP_TIMESTAMP_PART
        KP_BATCH_COLUMNS
        KP_BATCH_SEQUENCE
        KP_BATCH_TIMESTAMP_TYPE
        KP_BATCH_VALUE
        KP_BATCHES_RECORDS
        KP_BATCHES_LEFT
        KP_STATUS_COUNT
    int kp_fail(kp_error* err, int status, int64_t position, int64_t found, int64_t limit)
    int kp_in_frame(kp_error* err, int frame, int64_t start)


cdef extern from "kpress/endian.h" nogil:
    uint16_t kp_load_le16(const void*)
    uint32_t kp_load_le32(const void*)
    uint64_t kp_load_le64(const void*)
    uint16_t kp_load_be16(const void*)
    uint32_t kp_load_be32(const void*)
    uint64_t kp_load_be64(const void*)
    void kp_store_le32(void*, uint32_t)
    void kp_store_be16(void*, uint16_t)
    void kp_store_be32(void*, uint32_t)
    void kp_store_be64(void*, uint64_t)


cdef extern from "kpress/varint.h" nogil:
    enum:
        KP_VARINT_MAX
        KP_VARLONG_MAX
    size_t kp_varlong_size(int64_t)
    uint8_t* kp_varlong_write(uint8_t*, int64_t)


cdef extern from "kpress/cursor.h" nogil:
    ctypedef struct kp_cursor:
        const uint8_t* p
        const uint8_t* end
    kp_cursor kp_cursor_of(const uint8_t*, size_t)
    size_t kp_cursor_left(const kp_cursor*)
    const uint8_t* kp_read_bytes(kp_cursor*, size_t)
    int32_t kp_read_be32(kp_cursor*)
    int64_t kp_read_be64(kp_cursor*)
    int32_t kp_read_varint(kp_cursor*)
    bint kp_cursor_ok(const kp_cursor*)


cdef extern from "kpress/batch_header.h" nogil:
    enum:
        KP_LOG_OVERHEAD
        KP_SIZE_OFFSET
        KP_MAGIC_OFFSET
        KP_ENTRY_PREFIX
        KP_MIN_ENTRY_SIZE
        KP_BATCH_HEADER
        KP_PARTITION_LEADER_EPOCH_OFFSET
        KP_CRC_OFFSET
        KP_ATTRIBUTES_OFFSET
        KP_MAX_TIMESTAMP_OFFSET
        KP_MESSAGE_CRC_OFFSET
        KP_MESSAGE_ATTRIBUTES_OFFSET
        KP_MESSAGE_TIMESTAMP_OFFSET
        KP_MESSAGE_V1_OVERHEAD
        KP_PLUGIN_NAME_OFFSET
        KP_PLUGIN_NAME_MAX
        KP_CODEC_MASK
        KP_LOG_APPEND_TIME
        KP_TRANSACTIONAL
        KP_CONTROL
        KP_DELETE_HORIZON
        KP_NONE
        KP_GZIP
        KP_SNAPPY
        KP_LZ4
        KP_ZSTD
        KP_PLUGGABLE
    ctypedef struct kp_batch:
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
    int kp_batch_codec(const kp_batch*)
    int64_t kp_batch_last_offset(const kp_batch*)
    int kp_batch_timestamp_type(const kp_batch*)
    int32_t kp_sequence_add(int32_t, int32_t)
    int kp_message_header_read(const uint8_t*, int64_t size, int64_t position, kp_batch*, kp_error*)
    int kp_batch_read(const uint8_t*, int64_t size, int64_t position, kp_batch*, kp_error*)
    int kp_batch_next(const uint8_t*, int64_t size, int64_t position, int64_t max_size, kp_batch*, kp_error*)
    bint kp_plugin_name_char(uint8_t)
    int kp_plugin_name(const uint8_t* entry, int64_t size, const uint8_t** name, int* length, kp_error*)
    void kp_batch_write(uint8_t*, const kp_batch*)


cdef extern from "kpress/record.h" nogil:
    enum:
        KP_RECORD_OVERHEAD_MAX
    ctypedef struct kp_field:
        const uint8_t* data
        int64_t size
    ctypedef struct kp_record:
        int64_t offset
        int64_t timestamp
        kp_field key
        kp_field value
        kp_field headers
        int32_t header_count
        int32_t size
        int32_t sequence
        int8_t attributes
        int8_t timestamp_type
    ctypedef struct kp_header:
        kp_field key
        kp_field value
    ctypedef struct kp_source:
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
    int kp_header_read(kp_cursor*, kp_header*)
    kp_cursor kp_headers_of(const kp_record*)
    int kp_source_fail(const kp_source*, const uint8_t* at, kp_error*)
    bint kp_record_read(kp_cursor*, kp_record*)
    int kp_record_explain(const uint8_t* at, const uint8_t* end, const uint8_t* start, kp_error*)
    void kp_record_place(const kp_source*, kp_record*)
    int kp_record_next(const kp_source*, kp_cursor*, int32_t index, kp_record*, kp_error*)
    int kp_message_next(const kp_source*, kp_cursor*, kp_batch*, kp_record*, kp_error*)
    int64_t kp_entry_size(kp_cursor)
    int kp_message_read(const uint8_t*, int64_t size, int64_t position, kp_batch*, kp_record*, kp_error*)
    void kp_copy(uint8_t*, const uint8_t*, size_t)
    size_t kp_field_size(int64_t)
    size_t kp_record_size(const kp_record*, int64_t base_offset, int64_t base_timestamp)
    size_t kp_message_size(int magic, int64_t key_size, int64_t value_size)
    uint8_t* kp_field_write(uint8_t*, const kp_field*)
    uint8_t* kp_record_write(uint8_t*, const kp_record*, int64_t base_offset, int64_t base_timestamp)
    uint8_t* kp_message_write(uint8_t*, const kp_record*, int magic, int attributes, int64_t base_offset)
    size_t kp_wrapper_size(int magic)
    void kp_wrapper_write(uint8_t*, int magic, int attributes, int64_t offset, int64_t timestamp, size_t payload)


cdef extern from "kpress/skip.h" nogil:
    enum:
        KP_SKIP_OK
        KP_SKIP_ENDED
        KP_SKIP_TOO_LONG
    int kp_record_skip(kp_cursor*, kp_record*)
    int kp_record_fault(const uint8_t* at, const uint8_t* end)


cdef extern from "kpress/lz4_header.h" nogil:
    enum:
        KP_LZ4_HEADER_MIN
        KP_LZ4_FLG_CONTENT_CHECKSUM
        KP_LZ4_FLG_BLOCK_CHECKSUM
    ctypedef struct kp_lz4_frame:
        size_t header_size
        size_t block_max
        uint8_t flags
    uint32_t kp_xxh32(const uint8_t*, size_t size)
    int kp_lz4_header_read(const uint8_t*, size_t size, bint check_hc, kp_lz4_frame*, kp_error*)
    void kp_lz4_header_write(uint8_t*, int magic)
    int kp_lz4_header_set_hc(uint8_t*, size_t size, bint broken, kp_error*)


cdef extern from "kpress/snappy.h" nogil:
    size_t kp_snappy_preamble(const uint8_t*, size_t size, uint32_t* decoded)
    bint kp_snappy_elements(const uint8_t* src, const uint8_t* src_end, uint8_t* dst, uint8_t* dst_end)


cdef extern from "kpress/snappy_encode.h" nogil:
    enum:
        KP_SNAPPY_TABLE
    size_t kp_snappy_bound(size_t size)
    size_t kp_snappy_encode(const uint8_t* src, size_t size, uint8_t* dst, uint16_t* table)


cdef extern from "kpress/deflate_cut.h" nogil:
    ctypedef struct kp_deflate_cutter:
        pass
    int64_t kp_deflate_cut(kp_deflate_cutter*, const uint8_t* stream, size_t size, size_t limit, const uint8_t* input,
                           const size_t* ends, int64_t n, uint8_t* dst, size_t* written)


cdef extern from "kpress/columns.h" nogil:
    enum:
        KP_BINARY
        KP_LARGE_BINARY
        KP_BINARY_VIEW
        pass
    ctypedef struct kp_binary:
        void* rows
        uint8_t* data
        int64_t used
        uint8_t* validity
        int64_t nulls
    ctypedef struct kp_columns:
        int64_t rows
        int64_t* offset
        int64_t* timestamp
        int32_t* sequence
        kp_binary key
        kp_binary value
        int64_t headers
        int64_t header_bytes
    int kp_gather(kp_columns*, int layout, const kp_source*, kp_error*)
    int kp_gather_messages(kp_columns*, int layout, const kp_source*, kp_error*)


cdef extern from "kpress/atomics.h" nogil:
    void kp_ref_take(int64_t*)
    int64_t kp_ref_drop(int64_t*)
    int64_t kp_ref_count(const int64_t*)
    void* kp_slot_take(void**)
    bint kp_slot_give(void**, void*)
    void* kp_slot_content(void**)
    void kp_flag_set(int*)
    bint kp_flag_is_set(const int*)


cdef extern from "kpress/decimal.h" nogil:
    enum:
        KP_DECIMAL_ROOM
    size_t kp_decimal(uint8_t*, int64_t)


cdef extern from "kpress/json.h" nogil:
    size_t kp_json_copy(uint8_t*, const uint8_t*, size_t)


cdef extern from "kpress/utf8.h" nogil:
    int kp_utf8_sequence(const uint8_t*, size_t)
    size_t kp_utf8_copy(uint8_t*, const uint8_t*, size_t)
