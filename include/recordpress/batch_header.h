/* One entry of a record set, from its header alone: a v2 batch, or a v0/v1 message (plain or wrapper).
 *
 *  offset  0        8       12                  16     17
 *  v2      baseOffset batchLength partitionLeaderEpoch magic  crc attributes lastOffsetDelta baseTimestamp
 *                                                      maxTimestamp producerId producerEpoch baseSequence recordsCount
 *  v0/v1   offset     size        crc                  magic  attributes [timestamp] key value
 *
 * The magic is at byte 16 in all of them. A v2 CRC-32C covers bytes 21 to the end: not the offset, the
 * length, the leader epoch (brokers set it) nor the magic. A v0/v1 CRC-32 covers bytes 16 to the end.
 * Source: org.apache.kafka.common.record: DefaultRecordBatch, LegacyRecord, ByteBufferLogInputStream.
 */
#ifndef RECORDPRESS_BATCH_HEADER_H
#define RECORDPRESS_BATCH_HEADER_H

#include "cursor.h"
#include "status.h"

enum {
    RP_LOG_OVERHEAD = 12,   /* offset and size, which the size field does not count */
    RP_SIZE_OFFSET = 8,
    RP_MAGIC_OFFSET = 16,
    RP_ENTRY_PREFIX = 17,   /* up to and including the magic */
    RP_MIN_ENTRY_SIZE = 14, /* LegacyRecord.RECORD_OVERHEAD_V0, the scanner's minimum for every magic */
    RP_BATCH_HEADER = 61,   /* DefaultRecordBatch.RECORD_BATCH_OVERHEAD */
    RP_PARTITION_LEADER_EPOCH_OFFSET = 12,
    RP_CRC_OFFSET = 17,
    RP_ATTRIBUTES_OFFSET = 21,
    RP_LAST_OFFSET_DELTA_OFFSET = 23,
    RP_BASE_TIMESTAMP_OFFSET = 27,
    RP_MAX_TIMESTAMP_OFFSET = 35,
    RP_PRODUCER_ID_OFFSET = 43,
    RP_PRODUCER_EPOCH_OFFSET = 51,
    RP_BASE_SEQUENCE_OFFSET = 53,
    RP_RECORDS_COUNT_OFFSET = 57,
    RP_PLUGIN_NAME_OFFSET = 61,  /* of the name's length byte, if the codec is RP_PLUGGABLE */
    RP_PLUGIN_NAME_MAX = 127,

    RP_MESSAGE_CRC_OFFSET = 12,
    RP_MESSAGE_ATTRIBUTES_OFFSET = 17,
    RP_MESSAGE_TIMESTAMP_OFFSET = 18,
    RP_MESSAGE_V0_OVERHEAD = 14, /* crc magic attributes keyLength valueLength */
    RP_MESSAGE_V1_OVERHEAD = 22, /* and timestamp */

    RP_CODEC_MASK = 0x07,
    RP_LOG_APPEND_TIME = 0x08,
    RP_TRANSACTIONAL = 0x10,
    RP_CONTROL = 0x20,
    RP_DELETE_HORIZON = 0x40
};

enum { RP_NONE = 0, RP_GZIP = 1, RP_SNAPPY = 2, RP_LZ4 = 3, RP_ZSTD = 4, RP_PLUGGABLE = 5 };

typedef struct rp_batch {
    int64_t position;           /* of the entry in its buffer */
    int64_t size;               /* of the whole entry, including the first 12 bytes */
    int64_t base_offset;        /* v0/v1: the entry's offset, which is the last offset of a wrapper */
    int64_t base_timestamp;     /* v2: or the delete horizon; v1: the message's timestamp; v0: -1 */
    int64_t max_timestamp;      /* v0/v1: the message's timestamp */
    int64_t producer_id;        /* v2 only, as are the epochs, the delta and the sequence; else -1 or 0 */
    uint32_t crc;
    int32_t partition_leader_epoch;
    int32_t last_offset_delta;
    int32_t base_sequence;
    int32_t records_count;      /* -1 if it is unknown: a v0/v1 wrapper */
    int16_t attributes;         /* as stored, sign-extended for v0/v1 */
    int16_t producer_epoch;
    int8_t magic;
} rp_batch;

static inline int rp_batch_codec(const rp_batch *b) { return b->attributes & RP_CODEC_MASK; }
static inline int64_t rp_batch_last_offset(const rp_batch *b) { return (int64_t)((uint64_t)b->base_offset + (uint64_t)(int64_t)b->last_offset_delta); }
/* TimestampType: -1 none (v0), 0 CreateTime, 1 LogAppendTime */
static inline int rp_batch_timestamp_type(const rp_batch *b) {
    return b->magic == 0 ? -1 : (b->attributes & RP_LOG_APPEND_TIME) != 0;
}
/* Sequences wrap from 2^31-1 to 0 (DefaultRecordBatch.incrementSequence). A negative n, which only a batch with a
 * negative lastOffsetDelta has, gives the same result as Java's wrapping sums. */
static inline int32_t rp_sequence_add(int32_t sequence, int32_t n) {
    uint32_t sum = (uint32_t)sequence + (uint32_t)n;
    int32_t room = (int32_t)(INT32_MAX - (uint32_t)n);
    return (int32_t)(sequence > room ? sum - 0x80000000u : sum);
}

/* Read the header of a whole v0/v1 message. A magic above 1, which only a message inside a wrapper can have, is read as 1,
 * as LegacyRecord does. A v1 message that is too short for its fields is read too: reading its record reports that. */
static inline int rp_message_header_read(const uint8_t *data, int64_t size, int64_t position, rp_batch *b, rp_error *err) {
    b->position = position; /* also for an entry that fails: its size is needed to continue after it */
    b->size = size;
    if (size < RP_LOG_OVERHEAD + RP_MESSAGE_V0_OVERHEAD)
        return rp_fail(err, RP_MESSAGE_SIZE, 8, size - RP_LOG_OVERHEAD, RP_MESSAGE_V0_OVERHEAD);
    rp_cursor c = rp_cursor_of(data, (size_t)size); /* the check above covers all but the timestamp */
    b->base_offset = rp_read_be64(&c);
    rp_read_be32(&c);
    b->crc = (uint32_t)rp_read_be32(&c);
    b->magic = (int8_t)rp_read_u8(&c);
    b->attributes = (int8_t)rp_read_u8(&c);
    b->base_timestamp = b->magic && rp_cursor_left(&c) >= 8 ? rp_read_be64(&c) : -1;
    b->max_timestamp = b->base_timestamp;
    b->partition_leader_epoch = -1;
    b->last_offset_delta = 0;
    b->producer_id = -1;
    b->producer_epoch = -1;
    b->base_sequence = -1;
    b->records_count = rp_batch_codec(b) ? -1 : 1;
    return RP_OK;
}

/* Read the header of a complete entry of `size` bytes at data, whose magic is known to be good. Its fields have fixed
 * places: the cursor returns all of them at once. */
static inline int rp_batch_read(const uint8_t *data, int64_t size, int64_t position, rp_batch *b, rp_error *err) {
    rp_cursor c = rp_cursor_of(data, (size_t)size);
    const uint8_t *p = rp_read_bytes(&c, RP_ENTRY_PREFIX);
    if (p == NULL || p[RP_MAGIC_OFFSET] != 2) return rp_message_header_read(data, size, position, b, err);
    b->position = position; /* as above */
    b->size = size;
    b->base_offset = (int64_t)rp_load_be64(p);
    if (rp_read_bytes(&c, RP_BATCH_HEADER - RP_ENTRY_PREFIX) == NULL)
        return rp_fail(err, RP_BATCH_LENGTH, 8, size - RP_LOG_OVERHEAD, RP_BATCH_HEADER - RP_LOG_OVERHEAD);
    b->partition_leader_epoch = (int32_t)rp_load_be32(p + RP_PARTITION_LEADER_EPOCH_OFFSET);
    b->magic = 2;
    b->crc = rp_load_be32(p + RP_CRC_OFFSET);
    b->attributes = (int16_t)rp_load_be16(p + RP_ATTRIBUTES_OFFSET);
    b->last_offset_delta = (int32_t)rp_load_be32(p + RP_LAST_OFFSET_DELTA_OFFSET);
    b->base_timestamp = (int64_t)rp_load_be64(p + RP_BASE_TIMESTAMP_OFFSET);
    b->max_timestamp = (int64_t)rp_load_be64(p + RP_MAX_TIMESTAMP_OFFSET);
    b->producer_id = (int64_t)rp_load_be64(p + RP_PRODUCER_ID_OFFSET);
    b->producer_epoch = (int16_t)rp_load_be16(p + RP_PRODUCER_EPOCH_OFFSET);
    b->base_sequence = (int32_t)rp_load_be32(p + RP_BASE_SEQUENCE_OFFSET);
    b->records_count = (int32_t)rp_load_be32(p + RP_RECORDS_COUNT_OFFSET);
    return RP_OK;
}

/* Read the next complete entry, at `position` of a record set in memory; errors count from there. RP_END at the end and
 * at a truncated last entry; the tests have the order of ByteBufferLogInputStream. `data` may be NULL if size is 0. */
static inline int rp_batch_next(const uint8_t *data, int64_t size, int64_t position, int64_t max_size, rp_batch *b,
                                rp_error *err) {
    const uint8_t *at = position ? data + position : data;
    int64_t left = size - position;
    rp_cursor c = rp_cursor_of(at, (size_t)left);
    const uint8_t *p = rp_read_bytes(&c, RP_LOG_OVERHEAD);
    if (p == NULL) return RP_END;
    int64_t entry = (int32_t)rp_load_be32(p + RP_SIZE_OFFSET);
    if (entry < RP_MIN_ENTRY_SIZE) return rp_fail(err, RP_ENTRY_SIZE, RP_SIZE_OFFSET, entry, RP_MIN_ENTRY_SIZE);
    if (entry > max_size) return rp_fail(err, RP_ENTRY_SIZE_MAX, RP_SIZE_OFFSET, entry, max_size);
    if (rp_read_bytes(&c, RP_ENTRY_PREFIX - RP_LOG_OVERHEAD) == NULL) return RP_END;
    int magic = (int8_t)p[RP_MAGIC_OFFSET];
    if (magic < 0 || magic > 2) return rp_fail(err, RP_MAGIC, RP_MAGIC_OFFSET, magic, 2);
    if (left < entry + RP_LOG_OVERHEAD) return RP_END;
    return rp_batch_read(at, entry + RP_LOG_OVERHEAD, position, b, err);
}

/* The characters of a plug-in's name: [A-Za-z0-9_.$:/-]. */
static inline int rp_plugin_name_char(uint8_t c) {
    return (c >= '-' && c <= ':') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '$';
}

/* Check the name of the codec in a whole v2 entry of RP_PLUGGABLE: after the header come the name's length and
 * characters (KIP-984). The payload begins after them. */
static inline int rp_plugin_name(const uint8_t *entry, int64_t size, const uint8_t **name, int *length, rp_error *err) {
    rp_cursor c = rp_cursor_of(entry, (size_t)size);
    const uint8_t *p = NULL;
    int64_t most = size - RP_PLUGIN_NAME_OFFSET - 1;
    if (most > RP_PLUGIN_NAME_MAX) most = RP_PLUGIN_NAME_MAX;
    if (most < 0) most = 0;
    *length = 0;
    if (rp_read_bytes(&c, RP_PLUGIN_NAME_OFFSET) != NULL && rp_cursor_left(&c)) *length = (int8_t)rp_read_u8(&c);
    if (*length > 0) p = rp_read_bytes(&c, (size_t)*length);
    if (p == NULL) return rp_fail(err, RP_PLUGIN_LENGTH, RP_PLUGIN_NAME_OFFSET, *length, most);
    for (int i = 0; i < *length; i++)
        if (!rp_plugin_name_char(p[i])) return rp_fail(err, RP_PLUGIN_NAME, RP_PLUGIN_NAME_OFFSET + 1 + i, p[i], 0);
    *name = p;
    return RP_OK;
}

/* Write a v2 header except for its CRC, which comes last: b->size, base_offset ... records_count are used. */
static inline void rp_batch_write(uint8_t *p, const rp_batch *b) {
    rp_store_be64(p, (uint64_t)b->base_offset);
    rp_store_be32(p + 8, (uint32_t)(b->size - RP_LOG_OVERHEAD));
    rp_store_be32(p + RP_PARTITION_LEADER_EPOCH_OFFSET, (uint32_t)b->partition_leader_epoch);
    p[16] = 2;
    rp_store_be16(p + RP_ATTRIBUTES_OFFSET, (uint16_t)b->attributes);
    rp_store_be32(p + RP_LAST_OFFSET_DELTA_OFFSET, (uint32_t)b->last_offset_delta);
    rp_store_be64(p + RP_BASE_TIMESTAMP_OFFSET, (uint64_t)b->base_timestamp);
    rp_store_be64(p + RP_MAX_TIMESTAMP_OFFSET, (uint64_t)b->max_timestamp);
    rp_store_be64(p + RP_PRODUCER_ID_OFFSET, (uint64_t)b->producer_id);
    rp_store_be16(p + RP_PRODUCER_EPOCH_OFFSET, (uint16_t)b->producer_epoch);
    rp_store_be32(p + RP_BASE_SEQUENCE_OFFSET, (uint32_t)b->base_sequence);
    rp_store_be32(p + RP_RECORDS_COUNT_OFFSET, (uint32_t)b->records_count);
}

#endif
