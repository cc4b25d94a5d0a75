"""The work done once per call or per batch: options, header, checksum."""

from cpython.dict cimport PyDict_GetItemWithError
from cpython.object cimport PyObject
from libc.stdint cimport INT16_MAX, INT64_MAX

from kpress._c.wire cimport (
    KP_CONTROL,
    KP_CRC_OFFSET,
    KP_ATTRIBUTES_OFFSET,
    KP_DELETE_HORIZON,
    KP_TRANSACTIONAL,
    kp_batch_write,
    kp_wrapper_write,
)
from kpress._arguments cimport did_you_mean, flag_of, integer_of, time_of
from kpress.checksum cimport crc32c_update
from kpress.codecs.codec cimport codec, row_of
from kpress.codecs.table cimport CodecTable, codec_of, level_of, name_of

from kpress.errors import ArgumentTypeError, InvalidArgumentError

cdef str RULE = "record set builder"


cdef int refuse(str field, str sentence) except -1:
    raise InvalidArgumentError(sentence, field=field, rule=RULE)


cdef int check_magic(const batch_options* o, CodecTable codecs) except -1:
    """What v0 and v1 cannot carry."""
    if row_of(o.codecs, o.codec).least_magic > o.magic:
        refuse("compression_type", f"magic {o.magic} does not support {name_of(codecs, o.codec)}: only magic 2 does")
    if o.attributes & KP_TRANSACTIONAL:
        refuse("is_transactional", f"magic {o.magic} does not support transactions: only magic 2 does")
    if o.attributes & KP_CONTROL:
        refuse("is_control", f"magic {o.magic} does not support control records: only magic 2 does")
    if o.delete_horizon_ms >= 0:
        refuse("delete_horizon_ms", f"magic {o.magic} does not support a delete horizon: only magic 2 does")
    if o.producer_id >= 0:
        refuse("producer_id", f"magic {o.magic} does not support a producer id: only magic 2 does")
    if o.partition_leader_epoch >= 0:
        refuse("partition_leader_epoch", f"magic {o.magic} has no partition leader epoch: only magic 2 has")
    return 0


cdef int check_producer(const batch_options* o) except -1:
    """MemoryRecordsBuilder.validateProducerState."""
    if o.producer_id < 0:
        if o.attributes & KP_TRANSACTIONAL:
            refuse("producer_id", "a transactional batch needs a producer_id")
        return 0
    if o.producer_epoch < 0:
        refuse("producer_epoch", f"a producer_id needs a producer_epoch of 0 or more, not {o.producer_epoch}")
    if o.base_sequence < 0 and not o.attributes & KP_CONTROL:
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

# The options that BatchBuilder, write_records and write_columns share, with their defaults. Their types are in
# kpress.typing.BatchOptions.
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


cdef bint was_given(dict given, str name, PyObject** value, Py_ssize_t* found) except -1:
    """Look `name` up among the arguments given, and count those that were found."""
    value[0] = PyDict_GetItemWithError(given, name)
    found[0] += value[0] != NULL
    return value[0] != NULL


cdef int take_producer(batch_options* o, dict given, Py_ssize_t* found) except -1:
    cdef PyObject* value
    if was_given(given, "producer_id", &value, found):
        o.producer_id = integer_of(<object>value, "producer_id", -1, INT64_MAX)
    if was_given(given, "producer_epoch", &value, found):
        o.producer_epoch = <int16_t>integer_of(<object>value, "producer_epoch", -1, INT16_MAX)
    if was_given(given, "base_sequence", &value, found):
        o.base_sequence = <int32_t>integer_of(<object>value, "base_sequence", -1, INT32_MAX)
    if was_given(given, "partition_leader_epoch", &value, found):
        o.partition_leader_epoch = <int32_t>integer_of(<object>value, "partition_leader_epoch", -1, INT32_MAX)
    if was_given(given, "is_transactional", &value, found) and flag_of(<object>value, "is_transactional"):
        o.attributes |= KP_TRANSACTIONAL
    return 0


cdef int take_times(batch_options* o, dict given, Py_ssize_t* found) except -1:
    cdef PyObject* value
    cdef int timestamp_type = CREATE_TIME
    if was_given(given, "log_append_time", &value, found):
        o.log_append_time = time_of(<object>value, "log_append_time", NO_TIMESTAMP, INT64_MAX)
    if was_given(given, "delete_horizon_ms", &value, found) and <object>value is not None:
        o.delete_horizon_ms = time_of(<object>value, "delete_horizon_ms", -1, INT64_MAX)
    if was_given(given, "timestamp_type", &value, found) and <object>value is not None:
        timestamp_type = <int>integer_of(<object>value, "timestamp_type", -1, LOG_APPEND_TIME)
    check_timestamp_type(o, timestamp_type)
    if timestamp_type == LOG_APPEND_TIME and o.magic:
        o.attributes |= KP_LOG_APPEND_TIME
    if o.delete_horizon_ms >= 0:
        o.attributes |= KP_DELETE_HORIZON
    return 0


cdef int take_given(batch_options* o, object call, dict given) except -1:
    """Take the options of BATCH_OPTIONS that were given."""
    cdef Py_ssize_t found = 0
    take_producer(o, given, &found)
    take_times(o, given, &found)
    if found < len(given):
        refuse_unknown(call, given)
    return 0


cdef int options_of(batch_options* o, object call, object magic, object compression_type, object level,
                    CodecTable codecs, object is_control, dict given) except -1:
    o.magic = <int>integer_of(magic, "magic", 0, 2)
    cdef const codec* row = codec_of(codecs, compression_type)
    o.codecs = &codecs.rows
    o.codec = row.id
    o.level = level_of(row, level)
    o.attributes = row.id | (KP_CONTROL if flag_of(is_control, "is_control") else 0)
    o.log_append_time = o.producer_id = o.delete_horizon_ms = -1
    o.base_sequence = o.partition_leader_epoch = -1
    o.producer_epoch = -1
    if given:
        take_given(o, call, given)
    if o.magic < 2:
        check_magic(o, codecs)
    return check_producer(o)


# --- header and checksum ------------------------------------------------------------------------------------------

cdef size_t header_size(const batch_options* options) noexcept nogil:
    """Bytes that batch_finish writes before the records or their payload."""
    if options.magic == 2:
        return KP_BATCH_HEADER
    return kp_wrapper_size(options.magic) if options.codec else 0


cdef void batch_begin(batch_encoder* e, int64_t base_offset) noexcept nogil:
    """An empty batch with e.options."""
    e.base_offset = base_offset
    e.last_offset = base_offset - 1
    e.base_timestamp = e.options.delete_horizon_ms
    e.max_timestamp = NO_TIMESTAMP
    e.offset_of_max_timestamp = -1
    e.records_count = 0


cdef int64_t batch_max_timestamp(const batch_encoder* e) noexcept nogil:
    if e.options.attributes & KP_LOG_APPEND_TIME:
        return e.options.log_append_time
    return e.max_timestamp


cdef void finish_v2(const batch_encoder* e, uint8_t* start, size_t size) noexcept nogil:
    cdef kp_batch b
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
    kp_batch_write(start, &b)
    kp_store_be32(start + KP_CRC_OFFSET, crc32c_update(0, start + KP_ATTRIBUTES_OFFSET, size - KP_ATTRIBUTES_OFFSET))


cdef void finish_wrapper(const batch_encoder* e, uint8_t* start, size_t size) noexcept nogil:
    cdef size_t header = kp_wrapper_size(e.options.magic)
    kp_wrapper_write(start, e.options.magic, e.options.attributes, e.last_offset, batch_max_timestamp(e),
                     size - header)
    kp_store_be32(start + KP_MESSAGE_CRC_OFFSET, crc32_update(0, start + 16, size - 16))


cdef void batch_finish(const batch_encoder* e, uint8_t* start, size_t size) noexcept nogil:
    """Write the header at `start` of a batch of `size` bytes in all, whose records or payload are in place."""
    if e.options.magic == 2:
        finish_v2(e, start, size)
    elif e.options.codec:
        finish_wrapper(e, start, size)
