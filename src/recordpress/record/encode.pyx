"""Write a batch: the work per call or per batch (options, header, checksum). `decode` reads batches."""

from libc.stdint cimport INT16_MAX, INT64_MAX, uint32_t
from libc.string cimport memcpy

from recordpress._c.wire cimport (
    RP_CONTROL, RP_CRC_OFFSET, RP_ATTRIBUTES_OFFSET, RP_DELETE_HORIZON, RP_TRANSACTIONAL, rp_batch_write,
    rp_wrapper_write,
)
from recordpress._arguments cimport did_you_mean, flag_of, integer_of, time_of
from recordpress.checksum cimport crc32c_update
from recordpress.codecs.codec cimport codec as codec_row, codec_table, row_of
from recordpress.codecs.table cimport CodecTable, codec_of, level_of, name_of

from recordpress.errors import ArgumentTypeError, InvalidArgumentError

cdef str RULE = "record set builder"

cdef enum:
    COPIED_AT_ONCE = 16 << 10  # bytes to copy and then read for the checksum, from the nearest cache


cdef int refuse(str field, str sentence) except -1:
    raise InvalidArgumentError(sentence, field=field, rule=RULE)


cdef int check_magic(const batch_options* o, CodecTable codecs) except -1:
    """Raise an error for options that v0 and v1 do not support."""
    if row_of(o.codecs, o.codec).least_magic > o.magic:
        refuse("compression_type", f"magic {o.magic} does not support {name_of(codecs, o.codec)}: only magic 2 does")
    if o.attributes & RP_TRANSACTIONAL:
        refuse("is_transactional", f"magic {o.magic} does not support transactions: only magic 2 does")
    if o.attributes & RP_CONTROL:
        refuse("is_control", f"magic {o.magic} does not support control records: only magic 2 does")
    if o.delete_horizon_ms >= 0:
        refuse("delete_horizon_ms", f"magic {o.magic} does not support a delete horizon: only magic 2 does")
    if o.producer_id >= 0:
        refuse("producer_id", f"magic {o.magic} does not support a producer id: only magic 2 does")
    if o.partition_leader_epoch >= 0:
        refuse("partition_leader_epoch", f"magic {o.magic} has no partition leader epoch: only magic 2 has")
    return 0


cdef int check_producer(const batch_options* o) except -1:
    """Check the producer (MemoryRecordsBuilder.validateProducerState)."""
    if o.producer_id < 0:
        if o.attributes & RP_TRANSACTIONAL:
            refuse("producer_id", "a transactional batch needs a producer_id")
        return 0
    if o.producer_epoch < 0:
        refuse("producer_epoch", f"a producer_id needs a producer_epoch of 0 or more, not {o.producer_epoch}")
    if o.base_sequence < 0 and not o.attributes & RP_CONTROL:
        refuse("base_sequence", f"a producer_id needs a base_sequence of 0 or more, not {o.base_sequence}")
    return 0


cdef int check_timestamp_type(const batch_options* o, int timestamp_type) except -1:
    if timestamp_type < 0 and o.magic > 0:
        refuse("timestamp_type",
               "timestamp_type -1 (none) is for magic 0 only: give 0 (CreateTime) or 1 (LogAppendTime)")
    if (timestamp_type == LOG_APPEND_TIME) != (o.log_append_time >= 0):
        refuse("log_append_time", "timestamp_type 1 (LogAppendTime) and log_append_time must be given together")
    return 0


# --- the arguments ------------------------------------------------------------------------------------------------

cdef object NONE = -1  # no producer id, sequence, epoch or timestamp

# The options that BatchBuilder, write_records and write_columns share, with their defaults. Their types are in
# recordpress.typing.BatchOptions.
cdef dict BATCH_OPTIONS = {
    "timestamp_type": None,
    "log_append_time": -1,
    "producer_id": -1,
    "producer_epoch": -1,
    "base_sequence": -1,
    "partition_leader_epoch": -1,
    "is_transactional": False,
    "delete_horizon_ms": None,
}


cdef str signature_with_options(object function):
    code = function.__code__
    defaults = dict(zip(code.co_varnames[code.co_argcount - len(function.__defaults__):], function.__defaults__))
    defaults.update(function.__kwdefaults__)
    defaults.update(BATCH_OPTIONS)
    positional = list(code.co_varnames[:code.co_argcount])
    own = list(code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount])
    keywords = own + [name for name in defaults if name not in positional and name not in own]
    shown = [f"{name}={defaults[name]!r}" if name in defaults else name for name in [*positional, *keywords]]
    shown.insert(len(positional), "*")
    return f"({', '.join(shown)})"


cdef int refuse_unknown(object call, dict given) except -1:
    import inspect

    name = next(name for name in given if name not in BATCH_OPTIONS)
    raise ArgumentTypeError(f"{call.__name__}() got an unexpected keyword argument {name!r}"
                            f"{did_you_mean(name, inspect.signature(call).parameters)}", field=name)


cdef int take_producer(batch_options* o, object producer_id, object producer_epoch, object base_sequence,
                       object partition_leader_epoch, object is_transactional) except -1:
    """Set the producer's options; the common case of no options costs nothing, because CPython has a single -1."""
    if producer_id is not NONE:
        o.producer_id = integer_of(producer_id, "producer_id", -1, INT64_MAX)
    if producer_epoch is not NONE:
        o.producer_epoch = <int16_t>integer_of(producer_epoch, "producer_epoch", -1, INT16_MAX)
    if base_sequence is not NONE:
        o.base_sequence = <int32_t>integer_of(base_sequence, "base_sequence", -1, INT32_MAX)
    if partition_leader_epoch is not NONE:
        o.partition_leader_epoch = <int32_t>integer_of(partition_leader_epoch, "partition_leader_epoch", -1, INT32_MAX)
    if is_transactional is not False and flag_of(is_transactional, "is_transactional"):
        o.attributes |= RP_TRANSACTIONAL
    return 0


cdef int take_times(batch_options* o, object timestamp_type, object log_append_time,
                    object delete_horizon_ms) except -1:
    cdef int type_of = CREATE_TIME
    if timestamp_type is None and delete_horizon_ms is None and log_append_time is NONE:
        return 0
    o.log_append_time = time_of(log_append_time, "log_append_time", NO_TIMESTAMP, INT64_MAX)
    if delete_horizon_ms is not None:
        o.delete_horizon_ms = time_of(delete_horizon_ms, "delete_horizon_ms", -1, INT64_MAX)
    if timestamp_type is not None:
        type_of = <int>integer_of(timestamp_type, "timestamp_type", -1, LOG_APPEND_TIME)
    check_timestamp_type(o, type_of)
    if type_of == LOG_APPEND_TIME and o.magic:
        o.attributes |= RP_LOG_APPEND_TIME
    if o.delete_horizon_ms >= 0:
        o.attributes |= RP_DELETE_HORIZON
    return 0


cdef void plain_options(batch_options* o, int magic, const codec_table* codecs, int codec, int level) noexcept nogil:
    cdef const codec_row* row = row_of(codecs, codec)
    o.magic, o.codecs, o.codec, o.level = magic, codecs, codec, level
    o.attributes = row.attributes if row != NULL else 0
    o.log_append_time = o.producer_id = o.delete_horizon_ms = -1
    o.base_sequence = o.partition_leader_epoch = -1
    o.producer_epoch = -1


cdef int begin_options(batch_options* o, object magic, object compression_type, object level, CodecTable codecs,
                       object is_control) except -1:
    cdef int number = <int>integer_of(magic, "magic", 0, 2)
    cdef const codec_row* row = codec_of(codecs, compression_type)
    plain_options(o, number, &codecs.rows, row.id, level_of(row, level))
    if flag_of(is_control, "is_control"):
        o.attributes |= RP_CONTROL
    return 0


cdef int finish_options(const batch_options* o, CodecTable codecs) except -1:
    if o.magic < 2:
        check_magic(o, codecs)
    return check_producer(o)


cdef int options_of(batch_options* o, object call, object magic, object compression_type, object level,
                    CodecTable codecs, object is_control, dict given) except -1:
    cdef dict all_of
    begin_options(o, magic, compression_type, level, codecs, is_control)
    if given:
        all_of = BATCH_OPTIONS.copy()
        all_of.update(given)
        if len(all_of) > len(BATCH_OPTIONS):
            refuse_unknown(call, given)
        take_producer(o, all_of["producer_id"], all_of["producer_epoch"], all_of["base_sequence"],
                      all_of["partition_leader_epoch"], all_of["is_transactional"])
        take_times(o, all_of["timestamp_type"], all_of["log_append_time"], all_of["delete_horizon_ms"])
    return finish_options(o, codecs)


# --- header and checksum ------------------------------------------------------------------------------------------

cdef size_t header_size(const batch_options* options) noexcept nogil:
    """Return the number of bytes that batch_finish writes before the records or their payload."""
    if options.magic == 2:
        return RP_BATCH_HEADER
    return rp_wrapper_size(options.magic) if options.codec else 0


cdef size_t least_size(const batch_options* options) noexcept nogil:
    """Return the number of bytes of a batch before its compressed records, including a plug-in's name, which belongs to
    the payload."""
    return header_size(options) + row_of(options.codecs, options.codec).head_size


cdef void batch_begin(batch_encoder* e, int64_t base_offset) noexcept nogil:
    """Begin an empty batch with e.options."""
    e.base_offset = base_offset
    e.last_offset = base_offset - 1
    e.base_timestamp = e.options.delete_horizon_ms
    e.max_timestamp = NO_TIMESTAMP
    e.offset_of_max_timestamp = -1
    e.records_count = 0


cdef int64_t batch_max_timestamp(const batch_encoder* e) noexcept nogil:
    if e.options.attributes & RP_LOG_APPEND_TIME:
        return e.options.log_append_time
    return e.max_timestamp


cdef void header_write(const batch_encoder* e, uint8_t* start, size_t size) noexcept nogil:
    """Write a v2 header except for its checksum."""
    cdef rp_batch b
    b.size = <int64_t>size
    b.base_offset = e.base_offset
    b.partition_leader_epoch = e.options.partition_leader_epoch
    b.attributes = e.options.attributes
    b.last_offset_delta = <int32_t>(e.last_offset - e.base_offset)
    b.base_timestamp = e.base_timestamp
    b.max_timestamp = batch_max_timestamp(e)
    b.producer_id = e.options.producer_id
    b.producer_epoch = e.options.producer_epoch
    b.base_sequence = e.options.base_sequence
    b.records_count = <int32_t>e.records_count
    rp_batch_write(start, &b)


cdef void finish_wrapper(const batch_encoder* e, uint8_t* start, size_t size) noexcept nogil:
    cdef size_t header = rp_wrapper_size(e.options.magic)
    rp_wrapper_write(start, e.options.magic, e.options.attributes, e.last_offset, batch_max_timestamp(e),
                     size - header)
    rp_store_be32(start + RP_MESSAGE_CRC_OFFSET, crc32_update(0, start + 16, size - 16))


cdef void batch_finish(const batch_encoder* e, uint8_t* start, size_t size) noexcept nogil:
    """Write the batch header at `start`. The batch has `size` bytes in total; its records or payload are in place."""
    if e.options.magic == 2:
        header_write(e, start, size)
        rp_store_be32(start + RP_CRC_OFFSET,
                      crc32c_update(0, start + RP_ATTRIBUTES_OFFSET, size - RP_ATTRIBUTES_OFFSET))
    elif e.options.codec:
        finish_wrapper(e, start, size)


cdef void write_around(const batch_encoder* e, const uint8_t* payload, size_t size, uint8_t* start) noexcept nogil:
    """Write the finished batch to `start`: the header, and a copy of a payload that is ready."""
    cdef size_t header = header_size(&e.options), done = 0, step
    cdef uint8_t* to = start + header
    cdef uint32_t crc
    if e.options.magic < 2:
        if size:
            memcpy(to, payload, size)
        batch_finish(e, start, header + size)
        return
    header_write(e, start, header + size)
    crc = crc32c_update(0, start + RP_ATTRIBUTES_OFFSET, header - RP_ATTRIBUTES_OFFSET)
    while done < size:
        step = min(size - done, <size_t>COPIED_AT_ONCE)
        memcpy(to + done, payload + done, step)
        crc = crc32c_update(crc, to + done, step)
        done += step
    rp_store_be32(start + RP_CRC_OFFSET, crc)
