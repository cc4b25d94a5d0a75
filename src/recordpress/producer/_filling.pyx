"""Filling of batches: a record goes into the last batch of its partition, or into a new batch.

Source: org.apache.kafka.clients.producer.internals: RecordAccumulator.append and ProducerBatch.tryAppend.
"""

from collections import deque

cimport cython
from libc.stdint cimport INT32_MAX, INT64_MAX, int16_t, int32_t, int64_t

from recordpress._arguments cimport integer_of
from recordpress._buffers cimport InputView
from recordpress._c.wire cimport (
    RP_LOG_OVERHEAD, RP_TRANSACTIONAL, rp_field_size, rp_message_size, rp_record, rp_wrapper_size,
)
from recordpress._sealed cimport seal
from recordpress.codecs.table cimport codec_of, level_of, table_of
from recordpress.producer._estimator cimport CompressionRatioEstimator
from recordpress.record.builder cimport BatchBuilder, bytes_field, field_view
from recordpress.record.encode cimport JAVA_RECORD_OVERHEAD, batch_options, least_size
from recordpress.record.open_batch cimport open_batch

from recordpress.errors import ArgumentTypeError, ClosedError, InUseError, InvalidArgumentError
from recordpress.producer import settings
from recordpress.producer._errors import RecordTooLargeError

cdef enum:
    MOST_OVERHEAD = 256  # more than upper_bound adds to key, value and headers in any format


cdef int64_t upper_bound(const batch_options* o, const rp_record* row) noexcept nogil:
    """Return the maximum size of a batch that holds only this record, compressed or not
    (AbstractRecords.estimateSizeInBytesUpperBound)."""
    cdef int64_t size
    if o.magic < 2:
        size = rp_message_size(o.magic, row.key.size, row.value.size)
        return size + <int64_t>rp_wrapper_size(o.magic) - RP_LOG_OVERHEAD if o.codec else size
    size = rp_field_size(row.key.size) + rp_field_size(row.value.size) + max(row.headers.size, 1)
    return <int64_t>least_size(o) + JAVA_RECORD_OVERHEAD + size


cdef class ProducerBatch:
    """One batch of a partition, from its first record to its answer; a BatchAccumulator creates it.

    Examples
    --------
    >>> import recordpress
    >>> accumulator = recordpress.producer.BatchAccumulator(linger_ms=0)
    >>> _ = accumulator.append(b"value", topic="orders", now_ms=0)
    >>> [batch] = accumulator.drain(now_ms=0)
    >>> batch.topic, batch.records_count, len(batch.records)
    ('orders', 1, 73)
    """

    @cython.final
    cdef bint full(self) noexcept:
        """Return whether the batch is full (MemoryRecordsBuilder.isFull)."""
        if self.appends_closed:
            return True
        cdef const open_batch* b = &self.builder.batch
        if b.records.size < b.certain:  # there is room, regardless of the next record
            return False
        return b.encoder.records_count > 0 and self.builder.write_limit <= self.builder.estimated_size()

    @cython.final
    cdef int remember(self, object callback) except -1:
        """Keep the callback of the last record."""
        if self.thunks is None:
            self.thunks = [None] * (self.builder.batch.encoder.records_count - 1)
        self.thunks.append(callback)
        return 0

    @property
    def magic(self):
        """0, 1 or 2."""
        return self.builder.batch.encoder.options.magic

    @property
    def compression_type(self):
        """Name of the codec."""
        return self.builder.compression_type

    @property
    def records_count(self):
        """Number of records."""
        return self.builder.batch.encoder.records_count

    @property
    def is_full(self):
        """Whether the batch accepts no more records."""
        return self.full()

    @property
    def is_closed(self):
        """Whether the batch has its final bytes, `records`."""
        return self.built is not None

    @property
    def is_done(self):
        """Whether the batch was answered, failed or was split."""
        return self._final_state is not None

    @property
    def producer_id(self):
        """The producer's id, or -1."""
        return self.builder.batch.encoder.options.producer_id

    @property
    def producer_epoch(self):
        """The producer's epoch, or -1."""
        return self.builder.batch.encoder.options.producer_epoch

    @property
    def base_sequence(self):
        """The sequence of the first record, or -1."""
        return self.builder.batch.encoder.options.base_sequence

    @property
    def is_transactional(self):
        """Whether the records belong to a transaction."""
        return (self.builder.batch.encoder.options.attributes & RP_TRANSACTIONAL) != 0

    @property
    @cython.critical_section
    def estimated_size_in_bytes(self):
        """Bytes of the whole batch: estimated while the batch is open, exact once it is closed."""
        return self.builder.estimated_size() if self.built is None else len(self.built)

    @property
    def uncompressed_size(self):
        """Bytes of the records before compression."""
        return self.builder.uncompressed_size

    @property
    def compression_ratio(self):
        """Compressed divided by uncompressed bytes of the records, as a float32; 1.0 while the batch is open."""
        return self.ratio

    @property
    @cython.critical_section
    def records(self):
        """The record set to send: one batch, or one message per record for magic 0 and 1 without a codec."""
        if self.built is None:
            raise InvalidArgumentError("the batch is open: BatchAccumulator.drain closes the batches that it returns")
        return self.built

    def _close_for_appends(self):
        self.appends_closed = True

    def _set_producer(self, producer_id, producer_epoch, base_sequence, is_transactional):
        """Set the state of an idempotent producer, before the batch is closed."""
        self.builder.batch.encoder.options.producer_id = producer_id
        self.builder.batch.encoder.options.producer_epoch = <int16_t>producer_epoch
        self.builder.batch.encoder.options.base_sequence = <int32_t>base_sequence
        if is_transactional:
            self.builder.batch.encoder.options.attributes |= RP_TRANSACTIONAL

    def _close(self):
        """Build the final bytes of the batch and return their compression ratio (MemoryRecordsBuilder.close)."""
        cdef const batch_options* o = &self.builder.batch.encoder.options
        cdef int64_t uncompressed = <int64_t>self.builder.batch.records.size
        cdef size_t header = least_size(o)
        self.appends_closed = True
        self.built = self.builder.build()
        self.ratio = 1.0
        if o.magic == 2 or o.codec:
            self.ratio = <float><int64_t>(len(self.built) - header) / <float>uncompressed
        return self.ratio

    @cython.critical_section
    def _reset_sequence(self, base_sequence, built):
        """Set another sequence, and the bytes of the batch with this sequence, or None if it is open."""
        self.builder.batch.encoder.options.base_sequence = <int32_t>base_sequence
        self.built = built

    @cython.critical_section
    def _take_thunks(self):
        """Remove and return the callbacks, one entry per record; return None if no record has a callback."""
        thunks, self.thunks = self.thunks, None
        return thunks

    @cython.critical_section
    def _give_thunks(self, thunks):
        self.thunks = thunks

    def __repr__(self):
        return (f"ProducerBatch(topic={self.topic!r}, partition={self.partition}, records_count={self.records_count}, "
                f"base_sequence={self.base_sequence})")


cdef class PartitionQueue:
    """The batches of a partition that wait to be sent; the last batch may be open."""

    def push_back(self, ProducerBatch batch not None):
        """Append a batch."""
        self.batches.append(batch)
        self.waiting += 1
        self.last = batch

    def push_front(self, int64_t at, ProducerBatch batch not None):
        """Insert a batch that was sent before, or a part of such a batch, after the first `at` batches."""
        self.batches.insert(at, batch)
        self.waiting += 1
        self.last = self.batches[len(self.batches) - 1]

    def pop_front(self):
        """Remove and return the first batch."""
        batch = self.batches.popleft()
        self.waiting -= 1
        self.last = self.batches[len(self.batches) - 1] if self.batches else None
        return batch


seal(ProducerBatch, "BatchAccumulator")
seal(PartitionQueue, "BatchAccumulator")


cdef class BatchFiller:
    """Compiled part of BatchAccumulator, which runs for each record."""

    def __cinit__(self, *, batch_size=settings.BATCH_SIZE, compression_type="none", level=None, magic=2,
                  max_request_size=settings.MAX_REQUEST_SIZE, estimator=None, codecs=None, **others):
        table = table_of(codecs)
        row = codec_of(table, compression_type)
        level_of(row, level)
        self.magic = <int>integer_of(magic, "magic", 0, 2)
        if self.magic < row.least_magic:
            raise InvalidArgumentError(f"magic {magic} does not support {compression_type}: only magic 2 does",
                                       field="compression_type")
        self.batch_size = <int>max(1, integer_of(batch_size, "batch_size", 0, INT32_MAX))
        self.max_request_size = <int>integer_of(max_request_size, "max_request_size", 0, INT32_MAX)
        if estimator is None:
            estimator = CompressionRatioEstimator(codecs)
        elif not isinstance(estimator, CompressionRatioEstimator):
            raise ArgumentTypeError(f"estimator must be a CompressionRatioEstimator, not {type(estimator).__name__}",
                                    field="estimator")
        self.estimator = estimator
        self.compression_type, self.level, self.codecs = compression_type, level, table
        self._queues = {}

    @cython.critical_section
    def append(self, value, key=None, timestamp=-1, headers=(), *, topic="", partition=0, callback=None, now_ms=0):
        """Append a record to the last batch of its partition, or to a new batch.

        Parameters
        ----------
        value, key : bytes-like | None
        timestamp : int | datetime | str
            As for `BatchBuilder.append`.
        headers : sequence of (str, bytes-like | None)
        topic : str
        partition : int
        callback : callable | None
            ``callback(metadata, error)`` is called once: with a RecordMetadata and None if the record was stored,
            with None and a ProduceError if it was not.
        now_ms : int
            The time of this call in ms, on the caller's clock: `linger_ms` begins then.

        Returns
        -------
        bool
            Whether a batch of the partition is full, so that `drain` returns it at once.

        Raises
        ------
        RecordTooLargeError
            The record alone may take more than `max_request_size` bytes. The accumulator has not changed.
        InvalidArgumentError, ArgumentTypeError
            As for `BatchBuilder.append`.
        ClosedError
            `close` was called.

        Examples
        --------
        >>> from recordpress.producer import BatchAccumulator
        >>> accumulator = BatchAccumulator(batch_size=100)
        >>> accumulator.append(bytes(30)), accumulator.append(bytes(30))
        (False, True)
        """
        cdef rp_record row
        cdef PartitionQueue queue = self.recent
        if self._busy:
            self.refuse_busy()
        if self._closed:
            raise ClosedError("the accumulator is closed: close was called")
        if bytes_field(value, &row.value) and bytes_field(key, &row.key):
            self._busy = True  # numbers and headers may run the caller's code
            try:
                if queue is None or queue.topic is not topic or queue.partition is not partition:
                    queue = self.queue_of(topic, partition)
                return self.put(queue, &row, timestamp, headers, callback, now_ms)
            finally:
                self._busy = False
        return self.append_views(value, key, timestamp, headers, topic, partition, callback, now_ms)

    cdef bint append_views(self, object value, object key, object timestamp, object headers, object topic,
                           object partition, object callback, object now_ms) except -1:
        """Append a record whose key or value is not bytes."""
        cdef rp_record row
        cdef InputView _value_view = field_view(value, &row.value, "value")
        cdef InputView _key_view = field_view(key, &row.key, "key")
        self._busy = True
        try:
            return self.put(self.queue_of(topic, partition), &row, timestamp, headers, callback, now_ms)
        finally:
            self._busy = False

    @cython.critical_section
    def upper_bound(self, value, key=None, headers=()):
        """Return the maximum size in bytes of a batch that holds only this record, before anything is compressed.

        `append` compares this size with `max_request_size`; a new batch always has room for it.

        Parameters
        ----------
        value, key : bytes-like | None
        headers : sequence of (str, bytes-like | None)

        Returns
        -------
        int
            Bytes by AbstractRecords.estimateSizeInBytesUpperBound: for magic 2, up to 21 more than the actual size.

        Examples
        --------
        >>> from recordpress.producer import BatchAccumulator
        >>> BatchAccumulator().upper_bound(b"value", key=b"key")
        93
        """
        cdef rp_record row
        cdef InputView value_view = InputView(b"" if value is None else value, "value")
        cdef InputView key_view = InputView(b"" if key is None else key, "key")
        row.value.data, row.value.size = value_view.data, <int64_t>value_view.size if value is not None else -1
        row.key.data, row.key.size = key_view.data, <int64_t>key_view.size if key is not None else -1
        if self._busy:
            self.refuse_busy()
        if self._measure is None:
            self._measure = BatchBuilder(self.magic, self.compression_type, self.level, codecs=self.codecs)
        self._busy = True  # headers may run the caller's code
        try:
            self._measure.set_headers(&row, headers)
        finally:
            self._busy = False
        return upper_bound(&self._measure.batch.encoder.options, &row)

    @cython.critical_section
    def _begin(self):
        """Reserve the accumulator for a call."""
        if self._busy:
            self.refuse_busy()
        self._busy = True

    def _end(self):
        """End the reservation of `_begin`."""
        self._busy = False

    cdef int refuse_busy(self) except -1:  # it may have become free since
        raise InUseError("the accumulator is in use by another call")

    cdef PartitionQueue queue_of(self, object topic, object partition):
        cdef PartitionQueue queue
        if type(topic) is not str:
            raise ArgumentTypeError(f"topic must be str, not {type(topic).__name__}", field="topic")
        partition = integer_of(partition, "partition", 0, INT32_MAX)
        queue = self._queues.get((topic, partition))
        if queue is None:
            queue = PartitionQueue.__new__(PartitionQueue)
            queue.topic, queue.partition, queue.batches = topic, partition, deque()
            self._queues[topic, partition] = queue
        self.recent = queue
        return queue

    cdef ProducerBatch new_batch(self, PartitionQueue queue, int64_t now_ms):
        """Return an empty batch, to be filled by the ratio that is expected now; later updates do not affect it."""
        cdef ProducerBatch batch = ProducerBatch.__new__(ProducerBatch)
        cdef object ratio = self.estimator.estimation(queue.topic, self.compression_type)
        batch.topic, batch.partition = queue.topic, queue.partition
        batch.created_ms = now_ms
        batch._last_attempt_ms = batch._last_append_ms = now_ms
        batch.ratio = 1.0
        batch.builder = BatchBuilder(self.magic, self.compression_type, self.level, self.batch_size, codecs=self.codecs,
                                     estimated_compression_ratio=ratio)
        return batch

    @cython.final
    cdef bint put(self, PartitionQueue queue, rp_record* row, object timestamp, object headers, object callback,
                  object now_ms) except -1:
        cdef int64_t now = integer_of(now_ms, "now_ms", 0, INT64_MAX)
        cdef ProducerBatch batch = queue.last
        cdef BatchBuilder builder
        if batch is None or batch.appends_closed:
            batch = self.new_batch(queue, now)
        builder = batch.builder
        builder.set_place(row, timestamp, None)
        builder.set_headers(row, headers)
        if row.key.size + row.value.size + row.headers.size > self.max_request_size - MOST_OVERHEAD:
            self.check_size(upper_bound(&builder.batch.encoder.options, row))
        if batch is not queue.last:
            self.put_first(queue, batch, row)
        elif not builder.add(row):
            batch = self.new_batch(queue, now)  # `builder` keeps the encoded headers
            queue.last.appends_closed = True
            batch.builder.set_place(row, timestamp, None)
            self.put_first(queue, batch, row)
        batch._last_append_ms = now
        if callback is not None or batch.thunks is not None:
            batch.remember(callback)
        return queue.waiting > 1 or batch.full()

    cdef int put_first(self, PartitionQueue queue, ProducerBatch batch, const rp_record* row) except -1:
        """Append the first record to a new batch, regardless of its size."""
        batch.builder.add(row)
        batch.builder.write_limit = max(upper_bound(&batch.builder.batch.encoder.options, row), self.batch_size)
        queue.push_back(batch)
        return 0

    cdef int check_size(self, int64_t upper_bound) except -1:
        """Check the size of a record (KafkaProducer.ensureValidRecordSize)."""
        if upper_bound <= self.max_request_size:
            return 0
        raise RecordTooLargeError(
            f"the record may take {upper_bound} bytes, more than max_request_size ({self.max_request_size})",
            field="max_request_size", rule="KafkaProducer.ensureValidRecordSize")

    def _part(self, topic, partition, created_ms, batch_size):
        """Return a new batch for records of a batch to split (ProducerBatch.createBatchOffAccumulatorForRecord)."""
        cdef ProducerBatch batch = self.new_batch(self.queue_of(topic, partition), created_ms)
        batch.builder.write_limit = batch_size
        batch.is_split = True
        return batch

    def _take(self, ProducerBatch batch not None, record, callback):
        """Append a decoded record and return whether it fits; a new batch always has room (tryAppendForSplit)."""
        cdef rp_record row
        cdef bint first = batch.builder.batch.encoder.records_count == 0
        cdef int64_t size
        value, key = record.value, record.key
        bytes_field(value, &row.value)
        bytes_field(key, &row.key)
        batch.builder.set_place(&row, record.timestamp, None)
        batch.builder.set_headers(&row, record.headers)
        if not batch.builder.add(&row):
            return False
        size = upper_bound(&batch.builder.batch.encoder.options, &row)
        batch._max_record_size = max(batch._max_record_size, size)
        if first:
            batch.builder.write_limit = max(batch.builder.write_limit, size)
        if callback is not None or batch.thunks is not None:
            batch.remember(callback)
        return True
