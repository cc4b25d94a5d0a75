"""Checks of a Produce request and of the log before any record is read: headers, sizes and checksums.

Sources: org.apache.kafka.common.requests.ProduceRequest.validateRecords, UnifiedLog.analyzeAndValidateRecords,
ByteBufferLogInputStream.
"""

from libc.stdint cimport INT32_MAX, int16_t, int32_t, int64_t, uint8_t
from libc.string cimport memset

from recordpress._arguments cimport flag_of, integer_of
from recordpress._buffers cimport InputView
from recordpress._c.wire cimport (
    RP_ATTRIBUTES_OFFSET, RP_BASE_SEQUENCE_OFFSET, RP_BASE_TIMESTAMP_OFFSET, RP_BATCH_LENGTH, RP_CRC_OFFSET, RP_END,
    RP_LAST_OFFSET_DELTA_OFFSET, RP_MAGIC, RP_MAGIC_OFFSET, RP_MIN_ENTRY_SIZE, RP_OK, RP_PLUGGABLE, RP_PLUGIN_UNKNOWN,
    RP_PRODUCER_EPOCH_OFFSET, RP_PRODUCER_ID_OFFSET, RP_RECORDS_COUNT_OFFSET, RP_TRANSACTIONAL, RP_ZSTD, rp_batch,
    rp_batch_codec, rp_batch_last_offset, rp_batch_next, rp_cursor_of, rp_entry_size, rp_error, rp_load_be16,
    rp_load_be32, rp_load_be64,
)
from recordpress.broker._error_codes cimport (
    CORRUPT_MESSAGE, INVALID_RECORD, MESSAGE_TOO_LARGE, UNKNOWN_SERVER_ERROR, UNSUPPORTED_COMPRESSION_TYPE,
)
from recordpress.codecs.codec cimport codec_at, codec_table
from recordpress.codecs.table cimport CodecTable, table_of
from recordpress.record.decode cimport check_crc, refuse_codec
from recordpress.record.header cimport BatchHeader, header_of

cdef enum:
    # ends of fields of a v2 header, which are the starts of the next fields
    LAST_OFFSET_END = RP_BASE_TIMESTAMP_OFFSET
    PRODUCER_ID_END = RP_PRODUCER_EPOCH_OFFSET
    PRODUCER_EPOCH_END = RP_BASE_SEQUENCE_OFFSET
    BASE_SEQUENCE_END = RP_RECORDS_COUNT_OFFSET
    KEPT_HEADERS = 2       # ProduceRequest examines no more


ctypedef struct pass_over:
    const codec_table* codecs  # NULL: the broker knows no plug-ins
    int64_t max_message_bytes
    int known_codecs          # the highest id
    bint is_client
    bint helpful
    bint checks               # False: only read headers
    int error_code
    const char* refusal       # the name of a Reason
    rp_error err              # status RP_OK: the refusal has no details
    rp_batch batch            # the current batch
    rp_batch kept[KEPT_HEADERS]
    int64_t entries
    int64_t valid_bytes
    int64_t max_entry_size
    int64_t max_timestamp
    int64_t last_offset
    int source_codec
    bint scan_failed
    int64_t transactional       # number of transactional entries with a producer id
    int64_t producer_id         # of the first of these entries
    int producer_epoch
    bint hides_producer
    bint hides_epoch
    bint mixes_producers


cdef int refuse(pass_over* p, int code, const char* refusal) noexcept nogil:
    p.error_code = code
    p.refusal = refusal
    return code


cdef void read_short(const uint8_t* entry, rp_batch* batch) noexcept nogil:
    """Read the available fields of a truncated v2 header; `batch` has its position, size and offset. The scanner's
    minimum size covers crc and attributes; the end of each other field is checked."""
    cdef rp_batch said
    memset(&said, 0, sizeof(rp_batch))
    said.position, said.size, said.base_offset, said.magic = batch.position, batch.size, batch.base_offset, 2
    said.crc = rp_load_be32(entry + RP_CRC_OFFSET)
    said.attributes = <int>rp_load_be16(entry + RP_ATTRIBUTES_OFFSET)
    if batch.size >= LAST_OFFSET_END:
        said.last_offset_delta = <int32_t>rp_load_be32(entry + RP_LAST_OFFSET_DELTA_OFFSET)
    said.producer_id = said.producer_epoch = said.base_sequence = said.partition_leader_epoch = -1
    if batch.size >= PRODUCER_ID_END:
        said.producer_id = <int64_t>rp_load_be64(entry + RP_PRODUCER_ID_OFFSET)
    if batch.size >= PRODUCER_EPOCH_END:
        said.producer_epoch = <int16_t>rp_load_be16(entry + RP_PRODUCER_EPOCH_OFFSET)
    if batch.size >= BASE_SEQUENCE_END:
        said.base_sequence = <int32_t>rp_load_be32(entry + RP_BASE_SEQUENCE_OFFSET)
    batch[0] = said


cdef int check_entry(pass_over* p, const uint8_t* entry, bint is_short) noexcept nogil:
    """Run the checks of UnifiedLog in the same order; return Kafka's error code."""
    cdef rp_batch* batch = &p.batch
    p.err.status = RP_OK
    if batch.magic == 2 and p.is_client and batch.base_offset != 0:
        return refuse(p, INVALID_RECORD, b"BASE_OFFSET")
    if is_short and batch.size < LAST_OFFSET_END and not p.helpful:  # DefaultRecordBatch.lastOffset reads beyond it
        return refuse(p, UNKNOWN_SERVER_ERROR, b"ENTRY_SIZE")
    if batch.size > p.max_message_bytes:
        return refuse(p, MESSAGE_TOO_LARGE, b"BATCH_TOO_LARGE")
    if is_short:
        return refuse(p, CORRUPT_MESSAGE, b"ENTRY_SIZE")
    if check_crc(entry, batch, &p.err) != RP_OK:
        return refuse(p, CORRUPT_MESSAGE, b"CHECKSUM")
    if p.codecs != NULL and batch.magic == 2 and rp_batch_codec(batch) == RP_PLUGGABLE:
        return check_plugin(p, entry)
    if rp_batch_codec(batch) > p.known_codecs:
        p.valid_bytes += batch.size
        return refuse(p, UNSUPPORTED_COMPRESSION_TYPE if p.helpful else UNKNOWN_SERVER_ERROR, b"UNKNOWN_CODEC")
    return 0


cdef int check_plugin(pass_over* p, const uint8_t* entry) noexcept nogil:
    """Check the name of a plug-in, which must be one of the broker's plug-ins (KIP-984)."""
    if codec_at(p.codecs, entry, &p.batch) != RP_PLUGGABLE:
        return 0
    p.valid_bytes += p.batch.size
    if refuse_codec(p.codecs, entry, &p.batch, &p.err) == RP_PLUGIN_UNKNOWN:
        return refuse(p, UNSUPPORTED_COMPRESSION_TYPE, b"UNKNOWN_CODEC")
    return refuse(p, CORRUPT_MESSAGE, b"PLUGIN_NAME")


cdef void count_entry(pass_over* p, const uint8_t* entry) noexcept nogil:
    cdef rp_batch* batch = &p.batch
    if p.entries < KEPT_HEADERS:
        p.kept[p.entries] = batch[0]
    p.entries += 1
    p.valid_bytes += batch.size
    p.max_entry_size = max(p.max_entry_size, batch.size)
    p.max_timestamp = max(p.max_timestamp, batch.max_timestamp)
    p.last_offset = rp_batch_last_offset(batch)
    if rp_batch_codec(batch):
        p.source_codec = rp_batch_codec(batch) if p.codecs == NULL else codec_at(p.codecs, entry, batch)


cdef void note_producer(pass_over* p) noexcept nogil:
    """Record the producer id and, if the batch is transactional, the epoch, as ReplicaManager.handleProduceAppend reads
    them."""
    cdef rp_batch* batch = &p.batch
    if batch.magic != 2:
        return
    if batch.size < PRODUCER_ID_END:
        p.hides_producer = True
    elif batch.attributes & RP_TRANSACTIONAL and batch.producer_id >= 0:
        p.hides_epoch |= batch.size < PRODUCER_EPOCH_END
        if p.transactional == 0:
            p.producer_id, p.producer_epoch = batch.producer_id, batch.producer_epoch
        elif batch.producer_id != p.producer_id or batch.producer_epoch != p.producer_epoch:
            p.mixes_producers = True
        p.transactional += 1


cdef bint hides_first_sequence(pass_over* p) noexcept nogil:
    """Return whether a broker reads the sequence of a truncated first batch, because of transactional batches."""
    return p.transactional > 0 and p.kept[0].magic == 2 and p.kept[0].size < BASE_SEQUENCE_END


cdef bint overflows(const uint8_t* data, int64_t size, int64_t position) noexcept nogil:
    """Return whether an entry's size plus the 12 bytes before it exceeds an int, which makes the scanner fail."""
    return (size - position > RP_MAGIC_OFFSET
            and rp_entry_size(rp_cursor_of(data + position, <size_t>(size - position))) > INT32_MAX)


cdef void run(pass_over* p, const uint8_t* data, int64_t size) noexcept nogil:
    cdef int64_t position = 0
    cdef int status
    p.max_timestamp = p.last_offset = -1
    while True:
        p.batch.position = position
        status = rp_batch_next(data, size, position, INT32_MAX, &p.batch, &p.err)
        if status == RP_END:
            if overflows(data, size, position):
                p.scan_failed = True
                p.err.status = RP_OK
                refuse(p, CORRUPT_MESSAGE if p.helpful else UNKNOWN_SERVER_ERROR, b"ENTRY_SIZE")
            return
        if status != RP_OK and status != RP_BATCH_LENGTH:
            p.scan_failed = True
            refuse(p, CORRUPT_MESSAGE, b"UNKNOWN_MAGIC" if status == RP_MAGIC else b"ENTRY_SIZE")
            return
        if status == RP_BATCH_LENGTH:
            read_short(data + position, &p.batch)
        if p.checks and check_entry(p, data + position, status == RP_BATCH_LENGTH):
            return
        note_producer(p)
        count_entry(p, data + position)
        position += p.batch.size


cdef class Analysis:
    """Facts from the headers of a record set, up to the first error."""

    cdef readonly int error_code, source_codec
    cdef readonly str refusal, scan_message
    cdef readonly int64_t error_position, size, valid_bytes, entries, scan_error_after
    cdef readonly int64_t max_entry_size, max_timestamp, last_offset
    cdef readonly bint hides_producer, hides_epoch, mixes_producers
    cdef readonly BatchHeader first, second


cdef Analysis analysis_of(pass_over* p, InputView view):
    cdef Analysis found = Analysis.__new__(Analysis)
    with nogil:
        run(p, view.data, view.size)
    found.error_code, found.source_codec = p.error_code, p.source_codec
    found.error_position, found.size = -1, view.size
    if p.error_code:
        found.error_position = p.batch.position
        found.refusal = p.refusal.decode("ascii")
    if p.scan_failed and p.err.status == RP_MAGIC:
        found.scan_message = f"Invalid magic found in record: {p.err.found}"
    elif p.scan_failed and p.err.status != RP_OK:
        found.scan_message = (f"Record size {p.err.found} is less than the minimum record overhead "
                              f"({RP_MIN_ENTRY_SIZE})")
    found.valid_bytes, found.entries = p.valid_bytes, p.entries
    found.scan_error_after = p.entries if p.scan_failed else -1
    found.hides_producer = p.hides_producer
    found.hides_epoch, found.mixes_producers = p.hides_epoch or hides_first_sequence(p), p.mixes_producers
    found.max_entry_size, found.max_timestamp, found.last_offset = p.max_entry_size, p.max_timestamp, p.last_offset
    if p.entries > 0:
        found.first = header_of(&p.kept[0])
    if p.entries > 1:
        found.second = header_of(&p.kept[1])
    return found


def headers(records):
    """Return the headers of a record set up to the first entry that the scanner rejects."""
    cdef pass_over p
    memset(&p, 0, sizeof(pass_over))
    return analysis_of(&p, InputView(records, "records"))


def analyze(records, *, max_message_bytes, is_client=True, ignore_record_size=False, known_codecs=RP_ZSTD,
            helpful=False, codecs=None):
    """Run the checks of UnifiedLog.analyzeAndValidateRecords in the same order, entry by entry."""
    cdef pass_over p
    memset(&p, 0, sizeof(pass_over))
    p.checks = True
    p.max_message_bytes = integer_of(max_message_bytes, "max_message_bytes", 0, INT32_MAX)
    if flag_of(ignore_record_size, "ignore_record_size"):
        p.max_message_bytes = INT32_MAX
    p.is_client = flag_of(is_client, "is_client")
    p.known_codecs = <int>integer_of(known_codecs, "known_codecs", 0, 7)
    p.helpful = flag_of(helpful, "helpful")
    cdef CodecTable table = table_of(codecs)
    p.codecs = NULL if codecs is None else &table.rows
    return analysis_of(&p, InputView(records, "records"))
