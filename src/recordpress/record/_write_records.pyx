"""write_records: keys and values -> a record set; empty_batch: a batch without records. `_records` reads records."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport INT64_MAX, int64_t, uint8_t
from libc.string cimport memset

from recordpress._arguments cimport integer_of, time_of
from recordpress._c.wire cimport RP_LOG_APPEND_TIME, rp_error, rp_record
from recordpress.codecs.table cimport CodecTable, table_of
from recordpress.record.encode cimport (
    NO_TIMESTAMP, batch_begin, batch_encoder, batch_finish, begin_options, finish_options, header_size,
    max_last_offset, options_of, signature_with_options, take_producer,
)
from recordpress.record.rows cimport ROWS, RecordRows
from recordpress.record.set_writer cimport (
    raise_row, set_writer, writer_expect, writer_free, writer_open, writer_result, writer_rows,
)


cdef int write_all(set_writer* w, RecordRows source) except -1:
    cdef rp_record rows[ROWS]
    cdef rp_error err
    cdef int64_t n = 1
    cdef int status = writer_expect(w, source.expected(), &err)
    while status == 0 and n > 0:
        n = source.next(rows, ROWS)
        if source.is_borrowed:
            status = writer_rows(w, rows, n, &err)
            continue
        with nogil:
            status = writer_rows(w, rows, n, &err)
    if status:
        raise_row(w, &err)
    return 0


def write_records(values, keys=None, timestamps=None, headers=None, *, offsets=None, compression_type="none",
                  level=None, magic=2, base_offset=None, batch_bytes=None, batch_records=None, codecs=None, **options):
    """Write records from sequences: as one batch, or as several.

    Parameters
    ----------
    values, keys : sequence of (bytes-like | None)
        One per record. Without keys, all keys are null.
    timestamps : int | datetime | str | sequence of them | None
        One time for all records, or one per record: milliseconds since 1970, or a datetime or ISO 8601 text, with a
        time zone. None means -1, no timestamp.
    headers : sequence of (sequence of (str, bytes-like | None) | dict | None) | None
        Headers of each record. Magic 2 only.
    offsets : sequence of int | None
        Increasing; gaps are allowed. None: counted from base_offset.
    base_offset : int | None
        Offset of the first record if offsets is None. None: 0.
    batch_bytes : int | None
        Maximum size of a batch in bytes, uncompressed, header included. A batch ends before the record that would make
        it larger; a single larger record becomes a separate batch. None: no limit.
    batch_records : int | None
        Maximum number of records in a batch. None: no limit.
    compression_type, level, magic, codecs
        As for `BatchBuilder`.
    **options
        `recordpress.typing.BatchOptions`, as for `BatchBuilder`: timestamp_type, log_append_time, producer_id,
        producer_epoch, base_sequence (of the first record; later batches continue it), partition_leader_epoch,
        is_transactional, delete_horizon_ms.

    Returns
    -------
    bytes
        A record set; b"" without records. A batch also ends before an offset more than 2^31-1 above its base.

    Raises
    ------
    InvalidArgumentError
        Sequences have different lengths, or as for `BatchBuilder` and its `append`; the message names the record.
    ArgumentTypeError
        An argument has the wrong type.

    Examples
    --------
    >>> import recordpress
    >>> data = recordpress.write_records([b"a", b"b", None], keys=[b"1", b"2", b"3"], timestamps=1700000000000)
    >>> len(data)
    87
    """
    cdef set_writer w
    cdef CodecTable table = table_of(codecs)
    cdef RecordRows source
    memset(&w, 0, sizeof(w))
    try:
        options_of(&w.batch.encoder.options, write_records, magic, compression_type, level, table, False, options)
        writer_open(&w, batch_bytes, batch_records)
        source = RecordRows(values, keys, timestamps, headers, offsets, base_offset, w.context == NULL)
        write_all(&w, source)
        return writer_result(&w)
    finally:
        writer_free(&w)


write_records.__text_signature__ = signature_with_options(write_records)


def empty_batch(base_offset, last_offset, *, max_timestamp=-1, timestamp_type=0, producer_id=-1, producer_epoch=-1,
                base_sequence=-1, partition_leader_epoch=-1, is_transactional=False, is_control=False):
    """Return a batch of magic 2 without records, as compaction leaves it.

    It keeps the last sequence of a producer, or the last offset of a cleaning round (LogCleaner).

    Parameters
    ----------
    base_offset, last_offset : int
        First and last offset that the batch covered.
    max_timestamp : int
        In ms since the epoch: the max timestamp of the batch before compaction.
    timestamp_type : int
        0 CreateTime, 1 LogAppendTime.
    producer_id, producer_epoch, base_sequence, partition_leader_epoch, is_transactional, is_control
        As for `BatchBuilder`.

    Returns
    -------
    bytes
        61 bytes.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        As for `BatchBuilder`.

    Examples
    --------
    >>> import recordpress
    >>> len(recordpress.empty_batch(10, 14, max_timestamp=1700000000000))
    61
    """
    cdef batch_encoder e
    cdef bint append_time = integer_of(timestamp_type, "timestamp_type", 0, 1) == 1
    cdef int64_t latest = time_of(max_timestamp, "max_timestamp", NO_TIMESTAMP, INT64_MAX)
    cdef CodecTable table = table_of(None)
    begin_options(&e.options, 2, "none", None, table, is_control)
    take_producer(&e.options, producer_id, producer_epoch, base_sequence, partition_leader_epoch, is_transactional)
    finish_options(&e.options, table)
    batch_begin(&e, integer_of(base_offset, "base_offset", 0, INT64_MAX))
    e.last_offset = integer_of(last_offset, "last_offset", e.base_offset, max_last_offset(e.base_offset))
    e.max_timestamp = latest
    if append_time:
        e.options.attributes |= RP_LOG_APPEND_TIME
        e.options.log_append_time = latest
    result = PyBytes_FromStringAndSize(NULL, header_size(&e.options))
    batch_finish(&e, <uint8_t*>PyBytes_AS_STRING(result), header_size(&e.options))
    return result
