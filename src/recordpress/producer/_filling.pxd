"""Batches of a producer while records go into them."""

cimport cython
from libc.stdint cimport int64_t

from recordpress._c.wire cimport rp_record
from recordpress.producer._estimator cimport CompressionRatioEstimator
from recordpress.record.builder cimport BatchBuilder


cdef class ProducerBatch:
    cdef readonly str topic
    cdef readonly object partition
    cdef readonly int64_t created_ms
    cdef readonly bint is_split
    cdef readonly int64_t _max_record_size   # of a part: maximum size of a batch that holds one of its records
    cdef readonly bint appends_closed
    cdef BatchBuilder builder
    cdef list thunks           # None until a record has a callback; then one entry for every record
    cdef bytes built           # None while the batch is open
    cdef double ratio
    cdef public int attempts
    cdef public int64_t _last_attempt_ms
    cdef public int64_t _last_append_ms
    cdef public str _final_state

    @cython.final
    cdef bint full(self) noexcept

    @cython.final
    cdef int remember(self, object callback) except -1


cdef class PartitionQueue:
    cdef public str topic
    cdef public object partition
    cdef readonly object batches   # collections.deque of waiting ProducerBatch
    cdef Py_ssize_t waiting        # number of batches
    cdef ProducerBatch last        # the last batch, or None


cdef class BatchFiller:
    cdef readonly int batch_size
    cdef readonly int max_request_size
    cdef readonly str compression_type
    cdef readonly CompressionRatioEstimator estimator
    cdef int magic
    cdef object level
    cdef readonly object codecs   # the CodecTable
    cdef public dict _queues
    cdef PartitionQueue recent     # the queue of the last append
    cdef BatchBuilder _measure     # for upper_bound; stays empty
    cdef public bint _busy         # a call is in progress, and may run the caller's code

    cdef public bint _closed

    cdef int refuse_busy(self) except -1
    cdef bint append_views(self, object value, object key, object timestamp, object headers, object topic,
                           object partition, object callback, object now_ms) except -1

    cdef PartitionQueue queue_of(self, object topic, object partition)
    cdef ProducerBatch new_batch(self, PartitionQueue queue, int64_t now_ms)

    @cython.final
    cdef bint put(self, PartitionQueue queue, rp_record* row, object timestamp, object headers, object callback,
                  object now_ms) except -1
    cdef int put_first(self, PartitionQueue queue, ProducerBatch batch, const rp_record* row) except -1
    cdef int check_size(self, int64_t upper_bound) except -1
