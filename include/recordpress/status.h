/* The error vocabulary of all C code: one row per status, read by C as an enum and by
 * recordpress/_status.pyx as the table of exceptions, fields, rules and messages.
 *
 * A function that can fail returns an int (RP_OK, or the status) and fills a rp_error.
 */
#ifndef RECORDPRESS_STATUS_H
#define RECORDPRESS_STATUS_H

#include <stdint.h>

/* The exception that a status becomes (recordpress/errors.py). */
enum rp_kind {
    RP_KIND_NONE,
    RP_KIND_CORRUPT,         /* CorruptRecordError, Kafka's CORRUPT_MESSAGE (2) */
    RP_KIND_INVALID,         /* InvalidRecordError, Kafka's INVALID_RECORD (87) */
    RP_KIND_DECOMPRESS,      /* DecompressionError, reported as CORRUPT_MESSAGE (2) */
    RP_KIND_UNSUPPORTED,     /* UnsupportedCompressionTypeError (76) */
    RP_KIND_TOO_LARGE,       /* OutputTooLargeError: the caller's cap, not the data's fault */
    RP_KIND_ARGUMENT,        /* InvalidArgumentError, a ValueError */
    RP_KIND_MEMORY           /* MemoryError */
};

/* X(NAME, KIND, field, rule, sentence). The sentence may use {found} and {limit}, the two numbers
 * of rp_error. A rule names the section of the format's description that was violated. */
#define RP_STATUS_TABLE(X)                                                                        \
    X(OK, NONE, "", "", "")                                                                       \
    X(END, NONE, "", "", "no further complete entry")                                                \
    X(NO_MEMORY, MEMORY, "", "", "out of memory ({limit} bytes requested)")                       \
    /* output */                                                                                  \
    X(OUTPUT_CAP, TOO_LARGE, "max_decompressed_bytes", "decompression limit",                     \
      "the decompressed data is larger than {limit} bytes: raise max_decompressed_bytes")         \
    X(OUTPUT_FULL, ARGUMENT, "out", "",                                                           \
      "the output buffer of {limit} bytes is too small")                                          \
    /* framing of a record set */                                                                 \
    X(ENTRY_SIZE, CORRUPT, "size", "record set framing",                                          \
      "entry size {found} is less than the minimum of {limit}")                                   \
    X(ENTRY_SIZE_MAX, CORRUPT, "size", "record set framing",                                      \
      "entry size {found} is larger than {limit}, the maximum that max_message_bytes allows")     \
    X(MAGIC, CORRUPT, "magic", "record set framing", "magic {found} is not between 0 and {limit}")            \
    X(BATCH_LENGTH, CORRUPT, "batchLength", "record batch v2",                                    \
      "batch length {found} is less than a v2 header's {limit}")                                  \
    X(MESSAGE_SIZE, CORRUPT, "size", "message v0/v1",                                             \
      "message size {found} is less than the {limit} bytes of its fixed fields")                  \
    X(CRC, CORRUPT, "crc", "checksum",                                                            \
      "stored checksum {found:#010x}, computed {limit:#010x}")                                    \
    X(CUT_ENTRY, CORRUPT, "size", "record set framing",                                           \
      "the last entry is truncated after {found} bytes")                                      \
    X(COPY, CORRUPT, "", "verification of the copy",                                              \
      "the written records ({found} bytes) differ from their source ({limit} bytes)") \
    /* a v2 batch and its records */                                                              \
    X(RECORDS_COUNT, INVALID, "recordsCount", "record batch v2",                                  \
      "records count {found} is negative")                                                        \
    X(RECORDS_MISSING, INVALID, "recordsCount", "record batch v2",                                \
      "the data ends after {found} of {limit} records")                                           \
    X(RECORDS_LEFT, INVALID, "recordsCount", "record batch v2",                                   \
      "{found} bytes are left after the last of {limit} records")                                 \
    X(VARINT, INVALID, "varint", "varints", "a varint is too long or truncated")                  \
    X(RECORD_LENGTH, INVALID, "length", "record v2",                                              \
      "record length {found}, but {limit} bytes are left")                                        \
    X(RECORD_FIELDS, INVALID, "length", "record v2",                                              \
      "record length is {limit}, but its fields take {found} bytes")                              \
    X(KEY_LENGTH, INVALID, "keyLength", "record", "key length {found}, but {limit} bytes are left") \
    X(VALUE_LENGTH, INVALID, "valueLength", "record",                                             \
      "value length {found}, but {limit} bytes are left")                                         \
    X(HEADER_COUNT, INVALID, "headerCount", "record v2",                                          \
      "header count {found}, but {limit} bytes are left")                                         \
    X(HEADER_KEY_LENGTH, INVALID, "headerKeyLength", "record v2",                                 \
      "header key length {found}, but {limit} bytes are left")                                    \
    X(HEADER_VALUE_LENGTH, INVALID, "headerValueLength", "record v2",                             \
      "header value length {found}, but {limit} bytes are left")                                  \
    X(CODEC_ID, UNSUPPORTED, "attributes", "codec table", "compression type id {found} is unknown") \
    X(CODEC_MAGIC, UNSUPPORTED, "magic", "KIP-110",                                               \
      "a message of magic {found} cannot use this compression type: it needs magic {limit}")      \
    X(PLUGIN_LENGTH, CORRUPT, "pluginClassNameLength", "KIP-984",                                 \
      "plug-in name length {found} is not between 1 and {limit}")               \
    X(PLUGIN_NAME, CORRUPT, "pluginClassName", "KIP-984",                                         \
      "byte {found:#04x} is not allowed in the name of a plug-in")                               \
    /* {found} is the number of the name */                                                       \
    X(PLUGIN_UNKNOWN, UNSUPPORTED, "pluginClassName", "KIP-984",                                  \
      "no codec is registered under the plug-in's name")                                          \
    /* v0/v1 wrappers */                                                                          \
    X(WRAPPER_CODEC, INVALID, "attributes", "compressed wrapper",                                 \
      "a v0/v1 wrapper cannot use compression type id {found}")                                   \
    X(WRAPPER_NULL, INVALID, "value", "compressed wrapper", "the wrapper's value is null")        \
    X(WRAPPER_EMPTY, INVALID, "value", "compressed wrapper", "the wrapper has no record")       \
    X(WRAPPER_OFFSET, INVALID, "offset", "compressed wrapper",                                    \
      "wrapper offset {found} is less than the last inner offset {limit}")                        \
    X(INNER_COMPRESSED, INVALID, "attributes", "compressed wrapper",                              \
      "an inner message is itself compressed (attributes {found})")                               \
    X(TIMESTAMP_RANGE, ARGUMENT, "timestamp", "Arrow timestamp[us]",                              \
      "timestamp {found} ms does not fit microseconds: request milliseconds, or omit timestamps") \
    /* a plug-in; in the first two, {found} is the number of the cause */                         \
    X(CODEC_DECOMPRESS, DECOMPRESS, "payload", "codecs", "the codec object failed to decompress")  \
    X(CODEC_COMPRESS, ARGUMENT, "codecs", "", "the codec object failed to compress")               \
    X(CODEC_EXPANDS, ARGUMENT, "codecs", "",                                                      \
      "the codec object returned {found} bytes; at most {limit} are allowed")                   \
    /* codec streams */                                                                           \
    X(GZIP_HEADER, DECOMPRESS, "header", "gzip (RFC 1952)", "not a gzip member header")           \
    X(GZIP_SHORT, DECOMPRESS, "member", "gzip (RFC 1952)", "the member is truncated")             \
    X(GZIP_DATA, DECOMPRESS, "body", "gzip (RFC 1951)", "the deflate data is damaged or truncated") \
    X(GZIP_TRAILER, DECOMPRESS, "trailer", "gzip (RFC 1952)",                                     \
      "the member's checksum or size does not match")                                             \
    X(SNAPPY_EMPTY, DECOMPRESS, "payload", "snappy", "a snappy payload cannot be empty")          \
    X(SNAPPY_HEADER, DECOMPRESS, "header", "snappy (xerial)", "the xerial header is not valid")   \
    X(SNAPPY_CHUNK, DECOMPRESS, "chunkLength", "snappy (xerial)",                                 \
      "chunk length {found} is not between 1 and {limit}")                                        \
    X(SNAPPY_SHORT, DECOMPRESS, "chunk", "snappy (xerial)",                                       \
      "a chunk of {found} bytes is truncated: {limit} are left")                                  \
    X(SNAPPY_DATA, DECOMPRESS, "block", "snappy", "the snappy block is damaged")                  \
    X(LZ4_MAGIC, DECOMPRESS, "magic", "LZ4 frame", "not an LZ4 frame (magic {found:#010x})")      \
    X(LZ4_SHORT, DECOMPRESS, "frame", "LZ4 frame", "the frame is truncated")                      \
    X(LZ4_VERSION, DECOMPRESS, "FLG.version", "LZ4 frame", "frame version {found} is not 1")      \
    X(LZ4_DEPENDENT, DECOMPRESS, "FLG.blockIndependence", "LZ4 frame",                            \
      "dependent blocks are not accepted by Kafka")                                               \
    X(LZ4_DICT, DECOMPRESS, "FLG.dictID", "LZ4 frame", "a dictionary id is not accepted by Kafka") \
    X(LZ4_FLG_RESERVED, DECOMPRESS, "FLG.reserved", "LZ4 frame", "the reserved FLG bit is set")   \
    X(LZ4_BD_RESERVED, DECOMPRESS, "BD.reserved", "LZ4 frame", "reserved BD bits are set ({found:#04x})") \
    X(LZ4_BLOCK_MAX, DECOMPRESS, "BD.blockMaxSize", "LZ4 frame",                                  \
      "block size code {found} is not 4, 5, 6 or 7")                                              \
    X(LZ4_HC, DECOMPRESS, "HC", "LZ4 frame", "header checksum {found:#04x}, computed {limit:#04x}") \
    X(LZ4_BLOCK_SIZE, DECOMPRESS, "blockSize", "LZ4 frame",                                       \
      "block size {found} exceeds {limit}")                                                       \
    X(LZ4_BLOCK_CHECKSUM, DECOMPRESS, "blockChecksum", "LZ4 frame",                               \
      "block checksum {found:#010x}, computed {limit:#010x}")                                     \
    X(LZ4_BLOCK, DECOMPRESS, "block", "LZ4 frame", "the block's data is damaged")                 \
    X(ZSTD_HEADER, DECOMPRESS, "frame header", "zstd (RFC 8878)", "not a zstd frame")             \
    X(ZSTD_SHORT, DECOMPRESS, "frame", "zstd (RFC 8878)", "the frame is truncated")               \
    X(ZSTD_WINDOW, DECOMPRESS, "windowLog", "zstd (RFC 8878)",                                    \
      "the frame needs a window of {found} bytes, but the limit is {limit}")                      \
    X(ZSTD_DICT, DECOMPRESS, "dictionaryId", "zstd (RFC 8878)",                                   \
      "the frame needs dictionary {found}, but Kafka uses no dictionaries")                       \
    X(ZSTD_DICT_MISSING, DECOMPRESS, "dictionaryId", "zstd (RFC 8878)",                           \
      "the frame needs dictionary {found}, which is not among the given dictionaries")            \
    X(ZSTD_CHECKSUM, DECOMPRESS, "checksum", "zstd (RFC 8878)", "the content checksum does not match") \
    X(ZSTD_DATA, DECOMPRESS, "block", "zstd (RFC 8878)", "the frame's data is damaged")           \
    X(COMPRESS_FAILED, ARGUMENT, "level", "", "the codec library refused to compress (code {found})")      \
    /* records to be written */                                                                   \
    X(OFFSET_BASE, ARGUMENT, "offset", "record set builder",                                      \
      "offset {found} is less than the base offset {limit}")                                      \
    X(OFFSET_ORDER, ARGUMENT, "offset", "record set builder",                                     \
      "offset {found} does not follow offset {limit}: offsets must increase")                     \
    X(OFFSET_DELTA, ARGUMENT, "offset", "record set builder",                                     \
      "offset {found} is more than 2147483647 above the base offset {limit}")                     \
    X(TIMESTAMP_NEGATIVE, ARGUMENT, "timestamp", "record set builder",                            \
      "timestamp {found} is negative, but not -1 (none)")                                       \
    X(SET_SIZE, ARGUMENT, "value", "record set builder",                                          \
      "{found} bytes of records do not fit in a batch, which has at most {limit}")             \
    X(ARROW_LAYOUT, ARGUMENT, "data", "Arrow C data interface",                                   \
      "an Arrow array's lengths or offsets contradict each other")                                \
    X(OFFSET_NULL, ARGUMENT, "offset", "record set builder", "the offset is null")                \
    X(HEADER_KEY_NULL, ARGUMENT, "headers", "record set builder", "a header's key is null")       \
    X(HEADERS_MAGIC, ARGUMENT, "headers", "record set builder",                                   \
      "magic {found} does not support record headers: only magic 2 does")                         \
    X(TIMESTAMP_SECONDS, ARGUMENT, "timestamp", "record set builder",                             \
      "timestamp {found} s does not fit milliseconds") \
    X(TIMESTAMP_PART, ARGUMENT, "timestamp", "record set builder",                                \
      "timestamp {found} is not in whole milliseconds, Kafka's resolution: round it, or pass "    \
      "coerce_timestamps=True to round it down")                                                  \
    X(BATCH_COLUMNS, ARGUMENT, "baseOffset", "record set builder",                                \
      "the records of the batch at baseOffset {found} disagree in fields of its header")      \
    X(BATCH_SEQUENCE, ARGUMENT, "sequence", "record set builder",                                 \
      "sequence {found} follows {limit}, and offsets are missing too: the previous batch may "    \
      "have lost its last records, which only batches= can show")                                 \
    X(BATCH_TIMESTAMP_TYPE, ARGUMENT, "timestampType", "record set builder",                      \
      "timestampType {found}: records with a baseOffset form batches with CreateTime and "        \
      "magic 2; pass batches= to keep the headers of other batches")                              \
    X(BATCH_VALUE, ARGUMENT, "data", "record set builder",                                        \
      "{found} does not fit in its field of a batch header, whose maximum is {limit}")            \
    X(BATCHES_RECORDS, ARGUMENT, "batches", "record set builder",                                 \
      "batches is not from the same set as data: batch {found} has records that data does not have") \
    X(BATCHES_LEFT, ARGUMENT, "batches", "record set builder",                                    \
      "batches is not from the same set as data: its {found} batches end before the records do")

enum rp_status {
#define RP_STATUS_ENUM(name, kind, field, rule, sentence) RP_##name,
    RP_STATUS_TABLE(RP_STATUS_ENUM)
#undef RP_STATUS_ENUM
    RP_STATUS_COUNT
};

/* A row of the table, for the one place that turns a status into an exception. */
typedef struct rp_status_row {
    const char *name;
    int kind;
    const char *field;
    const char *rule;
    const char *sentence;
} rp_status_row;

static inline const rp_status_row *rp_status_of(int status) {
    static const rp_status_row rows[] = {
#define RP_STATUS_ROW(name, kind, field, rule, sentence) {#name, RP_KIND_##kind, field, rule, sentence},
        RP_STATUS_TABLE(RP_STATUS_ROW)
#undef RP_STATUS_ROW
    };
    return &rows[status];
}

/* The base of an error's position. */
enum rp_frame {
    RP_IN_ENTRY,   /* the first byte of the entry, or of the input if there are no entries (a call of a codec) */
    RP_IN_PAYLOAD, /* the first byte of the entry's records area, or of a wrapper's value */
    RP_IN_RECORDS  /* the first byte of the decompressed records */
};

/* An error and its place. recordpress/_status.pyx adds the rest of the place: the entry, the buffer, the file. */
typedef struct rp_error {
    int32_t status;
    int32_t frame;
    int64_t position; /* in the frame, -1 if unknown */
    int64_t start;    /* of the frame in the entry; 0 for RP_IN_RECORDS, which lie elsewhere */
    int64_t found;
    int64_t limit;
} rp_error;

static inline int rp_fail(rp_error *err, int status, int64_t position, int64_t found, int64_t limit) {
    err->status = status;
    err->frame = RP_IN_ENTRY;
    err->position = position;
    err->start = 0;
    err->found = found;
    err->limit = limit;
    return status;
}

/* Let the error count from the frame that starts `start` bytes into the entry. */
static inline int rp_in_frame(rp_error *err, int frame, int64_t start) {
    err->frame = frame;
    err->start = frame == RP_IN_RECORDS ? 0 : start;
    return err->status;
}

#endif
