"""BatchBuilder: records appended one by one -> a finished batch, within a limit."""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.float cimport FLT_MAX
from libc.stdint cimport INT32_MAX, INT64_MAX, int64_t, uint64_t, uint8_t

from recordpress._arguments cimport choice_of, flag_of, integer_of, time_of
from recordpress._buffers cimport InputView, pooled, pooled_free
from recordpress._c.run cimport rp_rows
from recordpress._c.wire cimport (
    RP_CODEC_EXPANDS, RP_CONTROL, RP_NO_MEMORY, RP_OK, RP_TRANSACTIONAL, rp_error, rp_fail, rp_record, rp_store_be16,
)
from recordpress._sealed cimport name_in_errors
from recordpress._status cimport check
from recordpress.codecs.context cimport (
    codec_context, compress_payload, context_acquire, context_release, join_begin, join_end, join_undo, joins,
    payload_bound, payload_join,
)
from recordpress.codecs.table cimport name_of, table_of
from recordpress.record.encode cimport (
    MAX_SET_SIZE, NO_TIMESTAMP, batch_begin, batch_encoder, batch_max_timestamp, batch_options, begin_options,
    finish_options, header_size, least_size, max_last_offset, record_size, take_producer, take_times,
    write_around,
)
from recordpress.record.open_batch cimport BATCH_FULL, batch_add, batch_add_run, batch_limit, batch_put, open_batch
from recordpress.record.rows cimport ROWS, RecordRows, bytes_field, encode_headers, field_view

from recordpress.errors import ArgumentTypeError, ClosedError, InUseError, InvalidArgumentError
from recordpress.record._types import CONTROL_TYPES

# --- the limit -------------------------------------------------------------------------------------------------------

# With a codec, the size of the output is not known in advance. At any time
#
#     header + proven + payload_bound(records after proven)  <=  limit
#
# where `proven` is a payload of all records but the latest (at first, it is empty). As long as this holds with a new
# record, the record is accepted at once. Otherwise, the records after `proven` are compressed as a separate stream and
# joined to it; if that is too large too, all records are compressed again, and become `proven` if they fit. Only a
# record that does not fit even then is rejected. So every batch can be finished within the limit. build() compresses
# all records as one stream, and uses the joined payload only if nothing else fits.

cdef void limit_free(exact_limit* limit) noexcept nogil:
    pooled_free(&limit.proven)
    pooled_free(&limit.trial)


cdef bint limit_keeps(const exact_limit* limit, const open_batch* b, size_t payload) noexcept nogil:
    """Return whether a batch with `payload` bytes after its header keeps the limit."""
    return <int64_t>(header_size(&b.encoder.options) + payload) <= limit.size


cdef size_t most_payload(const exact_limit* limit, const open_batch* b, size_t size) noexcept nogil:
    """Return the maximum payload size of the first `size` record bytes."""
    cdef const batch_options* o = &b.encoder.options
    if not joins(o.codecs, o.codec):
        return payload_bound(o.codecs, o.codec, size)
    return limit.proven.size + payload_bound(o.codecs, o.codec, size - limit.proven_size)


cdef int compress_from(const open_batch* b, size_t start, pooled* out, rp_error* err) noexcept nogil:
    """Compress the record bytes from `start` to the end, and append them to `out`."""
    cdef const batch_options* o = &b.encoder.options
    cdef codec_context* context = context_acquire(o.codecs)
    cdef int status
    if context == NULL:
        return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    status = compress_payload(context, o.codec, o.level, o.magic, b.records.data + start, b.records.size - start, out,
                              err)
    context_release(context)
    return status


cdef int join_tail(exact_limit* limit, const open_batch* b, payload_join* join, rp_error* err) noexcept nogil:
    """Compress the records after `proven` as a second stream for readers to join; BATCH_FULL if the codec cannot."""
    cdef const batch_options* o = &b.encoder.options
    if not join_begin(o.codecs, o.codec, &limit.proven, join):
        return BATCH_FULL
    if compress_from(b, limit.proven_size, &limit.proven, err) != RP_OK:
        join_undo(&limit.proven, join)
        return err.status
    join_end(o.codecs, o.codec, &limit.proven, join)
    return RP_OK


cdef int prove_tail(exact_limit* limit, const open_batch* b, rp_error* err) noexcept nogil:
    """Compress the records after `proven` as a separate stream; return BATCH_FULL if they do not fit after it."""
    cdef payload_join join
    cdef int status = join_tail(limit, b, &join, err) if limit.proven_size else BATCH_FULL
    if status != RP_OK:
        return status
    if not limit_keeps(limit, b, limit.proven.size):
        join_undo(&limit.proven, &join)
        return BATCH_FULL
    limit.proven_size = b.records.size
    limit.proven_whole = False
    return RP_OK


cdef int prove_whole(exact_limit* limit, const open_batch* b, rp_error* err) noexcept nogil:
    """Compress all records as one stream; return BATCH_FULL if they do not fit."""
    limit.trial.size = 0
    if compress_from(b, 0, &limit.trial, err) != RP_OK:
        return err.status
    if not limit_keeps(limit, b, limit.trial.size):
        return BATCH_FULL
    limit.proven, limit.trial = limit.trial, limit.proven
    limit.proven_size = b.records.size
    limit.proven_whole = True
    return RP_OK


cdef int prove(exact_limit* limit, const open_batch* b, rp_error* err) noexcept nogil:
    """Prove that all records keep the limit when compressed; return RP_OK, BATCH_FULL or an error."""
    cdef int status = prove_tail(limit, b, err)
    return prove_whole(limit, b, err) if status == BATCH_FULL else status


cdef int finish_payload(exact_limit* limit, const open_batch* b, rp_error* err) noexcept nogil:
    """Leave all records compressed in limit.proven, as one stream if that keeps the limit."""
    cdef payload_join join
    cdef int status
    if limit.proven_whole and limit.proven_size == b.records.size:
        return RP_OK
    status = prove_whole(limit, b, err)
    if status == BATCH_FULL and limit.proven_size != b.records.size:
        status = join_tail(limit, b, &join, err)
        if status == BATCH_FULL:  # the codec's output exceeded its bound
            return rp_fail(err, RP_CODEC_EXPANDS, -1, <int64_t>limit.trial.size, limit.size)
    return RP_OK if status == BATCH_FULL else status


cdef int64_t expected_size(float ratio, const open_batch* b) noexcept nogil:
    """Estimate the size of the batch by the expected ratio of its records
    (MemoryRecordsBuilder.estimatedBytesWritten)."""
    cdef int64_t expected = <int64_t>b.records.size
    cdef float factor = <float>1.05  # MemoryRecordsBuilder.COMPRESSION_RATE_ESTIMATION_FACTOR
    cdef float estimate
    if b.encoder.options.codec:  # in float32, step by step, as Java does; a cast to int stops at its largest value
        estimate = <float>b.records.size * ratio
        estimate = estimate * factor
        expected = MAX_SET_SIZE if estimate >= <float>MAX_SET_SIZE else <int64_t>estimate
    return <int64_t>least_size(&b.encoder.options) + expected


cdef float ratio_of(object value) except? -1:
    """Check the argument estimated_compression_ratio."""
    cdef str name = "estimated_compression_ratio"
    if isinstance(value, bool) or not hasattr(type(value), "__float__"):
        raise ArgumentTypeError(f"{name} must be a float or None, not {type(value).__name__}", field=name)
    try:
        number = float(value)
    except TypeError as error:  # a NumPy array has a __float__, which fails unless the array has a single number
        raise ArgumentTypeError(f"{name} must be a float or None: {error}", field=name) from error
    except OverflowError as error:
        raise InvalidArgumentError(f"{name} must be a float: {error}", field=name) from error
    if not 0 <= number <= FLT_MAX:
        raise InvalidArgumentError(f"{name} must be 0 or more and a float32, not {number}", field=name)
    return <float>number


cdef enum:
    OPEN, BUSY, CLOSED

cdef dict CONTROL_NUMBERS = {name: number for number, name in enumerate(CONTROL_TYPES)}


cdef class BatchBuilder:
    """BatchBuilder(magic=2, compression_type="none", level=None, limit=None, *, base_offset=0, timestamp_type=None,
    log_append_time=-1, producer_id=-1, producer_epoch=-1, base_sequence=-1, partition_leader_epoch=-1,
    is_transactional=False, is_control=False, delete_horizon_ms=None, codecs=None, estimated_compression_ratio=None)
--

    Builder of one record batch, byte for byte as Kafka's MemoryRecordsBuilder writes it.

    Parameters
    ----------
    magic : int
        2: record batch. 1 and 0: messages of old clients, in a wrapper message if there is a codec.
    compression_type : str
        A `recordpress.typing.CompressionType` (zstd: magic 2 only), or the name of a plug-in.
    level : int | None
        Compression level as Kafka defines it (KIP-390). Default: the level of Kafka's producer.
    limit : int | None
        Maximum size of the finished batch in bytes, header included. None: 2^31 - 1, the limit of Kafka's formats.
    base_offset : int
        Offset of the batch, and of the first record unless `append` sets another offset.
    timestamp_type : int | None
        0 CreateTime, 1 LogAppendTime (readers see `log_append_time`), -1 for magic 0. None: CreateTime.
    log_append_time : int
        In ms since the epoch; only with timestamp_type 1.
    producer_id, producer_epoch, base_sequence : int
        State of an idempotent or transactional producer, or -1. Magic 2 only, like all options up to delete_horizon_ms.
    partition_leader_epoch : int
        -1 unless a broker writes the batch.
    is_transactional, is_control : bool
        A control batch accepts only `append_control` and `append_end_txn_marker`; other batches accept only `append`.
    delete_horizon_ms : int | None
        Time in ms since the epoch after which compaction may drop this batch's tombstones (KIP-534).
    codecs : CodecRegistry | None
        Codec plug-ins in addition to Kafka's.
    estimated_compression_ratio : float | None
        None: the limit is exact. A number of 0 or more (compressed divided by uncompressed bytes, KIP-126): the limit
        is Kafka's write limit, which applies to an estimate.

    Raises
    ------
    InvalidArgumentError
        A value is out of range, or other arguments forbid it (MemoryRecordsBuilder). `field` names the argument.
    ArgumentTypeError
        An argument has the wrong type.

    Notes
    -----
    The limit is exact: `append` rejects a record if, and only if, the batch would become larger. With a codec, the
    builder compresses to find out, once the uncompressed records could be too large: filling such a batch to its last
    byte takes some tens of compressions in all.

    Kafka's producer estimates instead (MemoryRecordsBuilder.hasRoomFor, KIP-126): it accepts a first record of any
    size, and a later record if header, uncompressed records x ratio x 1.05 and the record's own uncompressed bytes
    keep the limit. Its batches are smaller than they could be, or larger than the limit. With
    `estimated_compression_ratio`, the builder does the same; without a codec, the ratio has no effect.

    Examples
    --------
    >>> import recordpress
    >>> builder = recordpress.BatchBuilder(compression_type="none", limit=100)
    >>> builder.append(b"value", key=b"key", timestamp=1700000000000, headers=[("h", b"x")])
    True
    >>> builder.append(b"does not fit in 100 bytes")
    False
    >>> builder.records_count, len(builder.build())
    (1, 80)
    """

    def __cinit__(self, magic=2, compression_type="none", level=None, limit=None, *, base_offset=0,
                  timestamp_type=None, log_append_time=-1, producer_id=-1, producer_epoch=-1, base_sequence=-1,
                  partition_leader_epoch=-1, is_transactional=False, is_control=False, delete_horizon_ms=None,
                  codecs=None, estimated_compression_ratio=None):
        self.state = CLOSED
        self.codecs = table_of(codecs)
        cdef batch_options* options = &self.batch.encoder.options
        begin_options(options, magic, compression_type, level, self.codecs, is_control)
        take_producer(options, producer_id, producer_epoch, base_sequence, partition_leader_epoch, is_transactional)
        take_times(options, timestamp_type, log_append_time, delete_horizon_ms)
        finish_options(options, self.codecs)
        self.write_limit = MAX_SET_SIZE if limit is None else integer_of(limit, "limit", 0, MAX_SET_SIZE)
        self.ratio = -1 if estimated_compression_ratio is None else ratio_of(estimated_compression_ratio)
        self.exact.size = MAX_SET_SIZE if self.ratio >= 0 else self.write_limit
        batch_begin(&self.batch.encoder, integer_of(base_offset, "base_offset", 0, INT64_MAX))
        if self.ratio < 0 and not options.codec:
            batch_limit(&self.batch, <size_t>max(self.write_limit - <int64_t>header_size(options), 0))
        self.result_size = -1
        self.state = OPEN

    def __dealloc__(self):
        self._free()

    cdef void _free(self) noexcept:
        pooled_free(&self.batch.records)
        pooled_free(&self.headers)
        limit_free(&self.exact)

    @cython.critical_section
    def append(self, value, key=None, timestamp=-1, headers=(), offset=None):
        """Append a record, if it fits.

        Parameters
        ----------
        value, key : bytes-like | None
            None: null (a null value is a tombstone in a compacted topic).
        timestamp : int
            In ms since the epoch; -1 for no timestamp.
        headers : sequence of (str, bytes-like | None)
            In order; keys may repeat. Magic 2 only.
        offset : int | None
            Greater than the offset of the previous record; gaps are allowed. None: the next offset.

        Returns
        -------
        bool
            False if the batch would be larger than the limit; the builder has not changed then.

        Raises
        ------
        InvalidArgumentError
            The offset is not above the last offset, or more than 2^31-1 above the base; the timestamp is negative and
            not -1; there are headers with magic < 2; or the batch is a control batch.
        ArgumentTypeError
            An argument has the wrong type, or a header's key is not a str.
        ClosedError
            `build` or `abort` was called.

        Examples
        --------
        >>> import recordpress
        >>> builder = recordpress.BatchBuilder(base_offset=40)
        >>> builder.append(None, key=b"gone"), builder.append(b"late", offset=50), builder.next_offset
        (True, True, 51)
        """
        cdef rp_record row
        if bytes_field(value, &row.value) and bytes_field(key, &row.key):
            return self._append(&row, timestamp, headers, offset)
        return self._append_views(value, key, timestamp, headers, offset)

    @cython.critical_section
    def append_many(self, values, keys=None, timestamps=None, headers=None, offsets=None):
        """Append records up to the first that does not fit, several times as fast as with `append`.

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
            Increasing; gaps are allowed. None: the next offsets.

        Returns
        -------
        int
            Number of appended records. If some are left, the batch with the next record would exceed the limit.

        Raises
        ------
        InvalidArgumentError
            Sequences have different lengths, or as for `append`; the message names the record. Records are read ahead,
            also beyond a record that does not fit: `records_count` has the number of appended records.
        ArgumentTypeError
            As for `append`.
        ClosedError
            `build` or `abort` was called.

        Examples
        --------
        >>> import recordpress
        >>> builder = recordpress.BatchBuilder(limit=100)
        >>> builder.append_many([b"first", b"second", b"third", b"fourth"], timestamps=1700000000000)
        3
        >>> builder.records_count, len(builder.build())
        (3, 98)
        """
        cdef rp_record rows[ROWS]
        cdef RecordRows source
        cdef int64_t n = 1, taken = 0
        self._refuse_records()
        self.state = BUSY  # while the caller's code may run
        try:
            source = RecordRows(values, keys, timestamps, headers, offsets, None, not self.batch.encoder.options.codec)
            if offsets is None:
                source.base_offset = <int64_t>(<uint64_t>self.batch.encoder.last_offset + 1)
            while n > 0 and taken == source.taken:
                self.state = BUSY
                n = source.next(rows, ROWS)
                self.state = OPEN
                taken += self._add_rows(rows, n, taken)
        finally:
            self.state = OPEN
        return taken

    cdef int64_t _add_rows(self, rp_record* rows, int64_t n, int64_t first) except -1:
        """Append the rows, whose first row is number `first` for the caller; return how many fit."""
        cdef rp_rows run
        cdef int64_t i = 0
        run.rows = rows
        while True:
            i = batch_add_run(&self.batch, &run, i, n)
            if i == n:
                return n
            try:
                if not self.add(&rows[i]):
                    return i
            except InvalidArgumentError as error:
                error.message = f"record {first + i}: {error.message}"
                raise
            i += 1

    cdef bint _append_views(self, value, key, timestamp, headers, offset) except -1:
        """Append a record whose key or value is not bytes."""
        cdef rp_record row
        cdef InputView _value_view = field_view(value, &row.value, "value")
        cdef InputView _key_view = field_view(key, &row.key, "key")
        return self._append(&row, timestamp, headers, offset)

    @cython.final
    cdef bint _append(self, rp_record* row, timestamp, headers, offset) except -1:
        if self.state != OPEN or self.batch.encoder.options.attributes & RP_CONTROL:
            self._refuse_records()
        self.set_place(row, timestamp, offset)
        self.set_headers(row, headers)
        return self.add(row)

    @cython.final
    cdef int set_place(self, rp_record* row, timestamp, offset) except -1:
        row.timestamp = time_of(timestamp, "timestamp", NO_TIMESTAMP, INT64_MAX)
        row.offset = <int64_t>(<uint64_t>self.batch.encoder.last_offset + 1)  # if it wraps, record_check rejects it
        if offset is not None:
            row.offset = integer_of(offset, "offset", 0, INT64_MAX)
        return 0

    cdef int _encode_headers(self, rp_record* row, headers) except -1:
        self.headers.size = 0
        self.state = BUSY  # iterating over headers runs the caller's code
        try:
            encode_headers(headers, &self.headers)
        finally:
            self.state = OPEN
        row.headers.data, row.headers.size = self.headers.data, <int64_t>self.headers.size
        return 0

    @cython.final
    cdef bint add(self, const rp_record* row) except -1:
        """Write the record if it fits."""
        cdef rp_error err
        if self.state != OPEN:  # an argument's __index__ may have closed the builder
            self._refuse_state()
        cdef int status = batch_add(&self.batch, row, &err)
        if status == BATCH_FULL:
            return self._add_beyond(row)
        if status != RP_OK:
            check(status, &err)
        return True

    cdef bint _add_beyond(self, const rp_record* row) except -1:
        """Write the record if it fits, although the sizes alone do not show that it does."""
        cdef size_t size = record_size(&self.batch.encoder, row)
        if self.batch.records.size + size > <size_t>MAX_SET_SIZE:
            return False
        if self.ratio >= 0:
            return self._add_estimated(row, size)
        return self._add_compressed(row, size) if self.batch.encoder.options.codec else False

    cdef bint _add_estimated(self, const rp_record* row, size_t size) except -1:
        """Write the record if Kafka's estimate has room for it."""
        cdef rp_error err
        cdef int64_t estimate = self.estimated_size(), room = self.write_limit - estimate
        if self.batch.encoder.records_count and room < <int64_t>size:  # the first is always accepted (hasRoomFor)
            return False
        check(batch_put(&self.batch, row, &err), &err)
        # Up to this limit, no estimate is needed: it grows by no more than ratio x 1.05 per byte, except for the
        # rounding of its float32 numbers, each by less than one part in 2^23.
        estimate = self.estimated_size()
        room = <int64_t>((self.write_limit - estimate - (estimate >> 20) - 2) / max(1.0, self.ratio * 1.0501))
        batch_limit(&self.batch, self.batch.records.size + <size_t>max(room, 0))
        return True

    @cython.final
    cdef int64_t estimated_size(self) noexcept:
        return expected_size(self.ratio, &self.batch)

    cdef bint _add_compressed(self, const rp_record* row, size_t size) except -1:
        """Write the record, and remove it again if the compressed batch becomes too large."""
        cdef rp_error err
        cdef batch_encoder before = self.batch.encoder
        cdef size_t start = self.batch.records.size, capacity
        cdef bint fits = self._surely_fits(start + size)
        check(batch_put(&self.batch, row, &err), &err)
        if fits:  # later records need no compression if the limit allows all the reserved memory
            capacity = min(self.batch.records.capacity, <size_t>MAX_SET_SIZE)
            if self._surely_fits(capacity):
                batch_limit(&self.batch, capacity)
            return True
        try:
            fits = self._compressed_fits()
        finally:
            if not fits:
                self.batch.encoder, self.batch.records.size = before, start
        return fits

    @cython.final
    cdef bint _surely_fits(self, size_t size) noexcept:
        """Return whether a payload of the first `size` record bytes cannot be too large."""
        return limit_keeps(&self.exact, &self.batch, most_payload(&self.exact, &self.batch, size))

    cdef bint _compressed_fits(self) except -1:
        cdef rp_error err
        cdef int status
        self.state = BUSY
        with nogil:
            status = prove(&self.exact, &self.batch, &err)
        self.state = OPEN
        if status != BATCH_FULL:
            check(status, &err)
        return status == RP_OK

    @cython.critical_section
    def append_control(self, type, value, timestamp=-1, offset=None):
        """Append a control record, if it fits.

        Parameters
        ----------
        type : int | str
            Type of the control record, or its name: "ABORT" 0, "COMMIT" 1, "LEADER_CHANGE" 2, "SNAPSHOT_HEADER" 3,
            "SNAPSHOT_FOOTER" 4, "KRAFT_VERSION" 5, "KRAFT_VOTERS" 6 (ControlRecordType).
        value : bytes-like
            The serialized value. For "ABORT" and "COMMIT", `append_end_txn_marker` writes it.
        timestamp, offset
            As for `append`.

        Returns
        -------
        bool
            As for `append`.

        Raises
        ------
        InvalidArgumentError
            The batch is not a control batch, the type has no name, or a LEADER_CHANGE has no leader epoch; and as for
            `append`.

        Examples
        --------
        >>> import recordpress
        >>> builder = recordpress.BatchBuilder(is_control=True, partition_leader_epoch=3)
        >>> builder.append_control("SNAPSHOT_FOOTER", bytes(3))
        True
        """
        cdef uint8_t key[4]
        cdef rp_record row
        cdef InputView view = InputView(value, "value")
        if self.state != OPEN:
            self._refuse_state()
        if not self.batch.encoder.options.attributes & RP_CONTROL:
            raise InvalidArgumentError("control records need a control batch: is_control=True",
                                       field="is_control", rule="record set builder")
        if isinstance(type, str):
            type = choice_of("type", type, CONTROL_NUMBERS)
        cdef int number = <int>integer_of(type, "type", 0, len(CONTROL_TYPES) - 1)
        if CONTROL_TYPES[number] == "LEADER_CHANGE" and self.batch.encoder.options.partition_leader_epoch < 0:
            raise InvalidArgumentError("a LEADER_CHANGE record needs a batch with a partition_leader_epoch",
                                       field="partition_leader_epoch", rule="record set builder")
        rp_store_be16(key, 0)  # version
        rp_store_be16(key + 2, number)
        row.key.data, row.key.size = key, 4
        row.headers.size = 0
        self.set_place(&row, timestamp, offset)
        row.value.data, row.value.size = view.data, view.size
        return self.add(&row)

    def append_end_txn_marker(self, commit, coordinator_epoch, timestamp=-1):
        """Append the marker that ends a transaction: the only record of its control batch.

        Parameters
        ----------
        commit : bool
            True for COMMIT, False for ABORT.
        coordinator_epoch : int
            Epoch of the transaction coordinator.
        timestamp : int
            In ms since the epoch; -1 for no timestamp.

        Returns
        -------
        bool
            As for `append`.

        Raises
        ------
        InvalidArgumentError
            The batch is not a transactional control batch with a producer id.

        Examples
        --------
        >>> import recordpress
        >>> options = {"is_control": True, "is_transactional": True, "producer_id": 4242, "producer_epoch": 3}
        >>> builder = recordpress.BatchBuilder(**options)
        >>> builder.append_end_txn_marker(True, coordinator_epoch=15), len(builder.build())
        (True, 78)
        """
        if not self.batch.encoder.options.attributes & RP_TRANSACTIONAL:
            raise InvalidArgumentError("an end transaction marker needs a transactional batch: is_transactional=True",
                                       field="is_transactional", rule="record set builder")
        epoch = integer_of(coordinator_epoch, "coordinator_epoch", -1, INT32_MAX)
        value = bytes(2) + epoch.to_bytes(4, "big", signed=True)
        return self.append_control("COMMIT" if flag_of(commit, "commit") else "ABORT", value, timestamp)

    @cython.critical_section
    def build(self):
        """Finish the batch and close the builder.

        Returns
        -------
        bytes
            The batch; b"" if no record was appended.

        Raises
        ------
        ClosedError
            `build` or `abort` was called.

        Examples
        --------
        >>> import recordpress
        >>> recordpress.BatchBuilder().build()
        b''
        """
        cdef const pooled* payload = &self.batch.records
        if self.state != OPEN:
            self._refuse_state()
        if self.batch.encoder.records_count == 0:
            self._close(b"")
            return b""
        if self.batch.encoder.options.codec:
            payload = self._payload()
        result = PyBytes_FromStringAndSize(NULL, header_size(&self.batch.encoder.options) + payload.size)
        write_around(&self.batch.encoder, payload.data, payload.size, <uint8_t*>PyBytes_AS_STRING(result))
        self._close(result)
        return result

    cdef const pooled* _payload(self) except NULL:
        """Return all records compressed, as one stream if that keeps the limit."""
        cdef rp_error err
        cdef int status
        self.state = BUSY
        with nogil:
            status = finish_payload(&self.exact, &self.batch, &err)
        self.state = OPEN
        check(status, &err)
        return &self.exact.proven

    cdef int _close(self, bytes result) except -1:
        self.result_size = len(result)
        self.payload_size = <int64_t>self.batch.records.size
        self._free()
        self.state = CLOSED
        return 0

    @cython.critical_section
    def abort(self):
        """Drop the appended records and close the builder.

        Raises
        ------
        ClosedError
            `build` or `abort` was called.

        Examples
        --------
        >>> import recordpress
        >>> recordpress.BatchBuilder().abort()
        """
        if self.state != OPEN:
            self._refuse_state()
        self._close(b"")

    cdef int _refuse_records(self) except -1:
        """Raise an error if the builder is closed or in use, or accepts only control records."""
        if self.state != OPEN:
            self._refuse_state()
        if self.batch.encoder.options.attributes & RP_CONTROL:
            raise InvalidArgumentError("a control batch accepts only control records: use append_control or "
                                       "append_end_txn_marker", field="is_control", rule="record set builder")
        return 0

    cdef int _refuse_state(self) except -1:
        if self.state == BUSY:
            raise InUseError("the builder is in use by another call")
        raise ClosedError("the builder is closed: build or abort was called")

    @property
    def magic(self):
        """0, 1 or 2."""
        return self.batch.encoder.options.magic

    @property
    def compression_type(self):
        """Name of the codec."""
        return name_of(self.codecs, self.batch.encoder.options.codec)

    @property
    def limit(self):
        """Maximum size of the finished batch in bytes."""
        return self.write_limit

    @property
    def records_count(self):
        """Number of appended records."""
        return self.batch.encoder.records_count

    @property
    def base_offset(self):
        """Offset of the batch."""
        return self.batch.encoder.base_offset

    @property
    def last_offset(self):
        """Offset of the last record, or the offset that was set; None before the first record.

        It may be set to the last offset that the batch covered before compaction; the next record must be above it.

        Raises
        ------
        InvalidArgumentError
            The new value is below the last record's offset, or more than 2^31-1 above the base offset.

        Examples
        --------
        >>> import recordpress
        >>> builder = recordpress.BatchBuilder(base_offset=10)
        >>> builder.append(b"survivor")
        True
        >>> builder.last_offset = 14
        >>> builder.next_offset
        15
        """
        cdef const batch_encoder* e = &self.batch.encoder
        return e.last_offset if e.last_offset >= e.base_offset else None

    @last_offset.setter
    @cython.critical_section
    def last_offset(self, offset):
        cdef int64_t number = integer_of(offset, "last_offset", 0, INT64_MAX)  # may run the caller's code
        if self.state != OPEN:
            self._refuse_state()
        cdef batch_encoder* e = &self.batch.encoder
        e.last_offset = integer_of(number, "last_offset", max(e.last_offset, e.base_offset),
                                   max_last_offset(e.base_offset))

    @property
    def next_offset(self):
        """Offset of the next record, unless `append` sets another offset."""
        return <int64_t>(<uint64_t>self.batch.encoder.last_offset + 1)

    @property
    def base_timestamp(self):
        """In ms: timestamp of the first record, or the delete horizon; None before the first record."""
        if self.batch.encoder.records_count == 0 and self.batch.encoder.options.delete_horizon_ms < 0:
            return None
        return self.batch.encoder.base_timestamp

    @property
    def max_timestamp(self):
        """In ms: the largest timestamp, or the log append time; -1 if no record has a timestamp."""
        return batch_max_timestamp(&self.batch.encoder)

    @property
    def offset_of_max_timestamp(self):
        """Offset of the first record that has the largest timestamp; -1 if no record has a timestamp."""
        return self.batch.encoder.offset_of_max_timestamp

    @property
    def uncompressed_size(self):
        """Bytes of the records before compression, without a header."""
        return self.payload_size if self.state == CLOSED else <int64_t>self.batch.records.size

    @property
    @cython.critical_section
    def size_in_bytes(self):
        """Bytes of the finished batch: exact without a codec and after `build`, otherwise an upper bound."""
        if self.state == CLOSED:
            return self.result_size
        if self.batch.encoder.records_count == 0:
            return 0
        if not self.batch.encoder.options.codec:
            return <int64_t>(header_size(&self.batch.encoder.options) + self.batch.records.size)
        cdef size_t most = most_payload(&self.exact, &self.batch, self.batch.records.size)
        return min(self.exact.size, <int64_t>(header_size(&self.batch.encoder.options) + most))

    @property
    def is_closed(self):
        """Whether `build` or `abort` was called."""
        return self.state == CLOSED


name_in_errors(BatchBuilder)
