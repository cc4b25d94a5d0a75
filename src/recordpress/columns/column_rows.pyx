"""The rows of Arrow columns, for rooms that cut batches themselves."""

from libc.stdint cimport INT64_MAX, int64_t

from recordpress._arguments cimport flag_of, integer_of
from recordpress._buffers cimport pooled_free
from recordpress._c.wire cimport RP_ARROW_LAYOUT, rp_error, rp_fail, rp_record
from recordpress._status cimport error_of
from recordpress.columns._arrow_in cimport ABSENT
from recordpress.columns._arrow_source cimport ArrowSource
from recordpress.columns._input cimport columns_of, has_null_rows, types_of
from recordpress.columns._rows cimport ROWS, fill_rows
from recordpress.record.encode cimport LOG_APPEND_TIME

from recordpress.errors import InvalidArgumentError


cdef class ColumnRows(RowSource):
    """Rows as write_columns takes them, without the columns that name a record's batch."""

    def __cinit__(self, data, base_offset, coerce_timestamps):
        self.most = ROWS
        if base_offset is not None:
            self.base_offset = integer_of(base_offset, "base_offset", 0, INT64_MAX)
        coerce = flag_of(coerce_timestamps, "coerce_timestamps")
        self.source = ArrowSource()
        self.source.ask(data)
        types_of(&self.types, &self.source.schema, coerce)
        self.numbered = self.types.offset.kind != ABSENT
        if base_offset is not None and self.numbered:
            raise InvalidArgumentError("give either base_offset or an offset column", field="base_offset")
        if self.types.any_batch:
            raise InvalidArgumentError("columns of the batch header (producerId to baseOffset) fix where batches "
                                       "begin, which this call decides: omit them", field="data")

    def __dealloc__(self):
        pooled_free(&self.scratch)

    cdef int next_array(self) except -1:
        cdef rp_error err
        self.start = 0
        self.array = self.source.next()
        if self.array == NULL:
            self.ended = True
            return 0
        if has_null_rows(self.array):
            raise InvalidArgumentError("a row of data is null", field="data")
        if columns_of(&self.columns, &self.types, self.array):
            rp_fail(&err, RP_ARROW_LAYOUT, -1, 0, 0)
            raise error_of(&err)
        return 0

    cdef int64_t next(self, rp_record* rows, int64_t most) except -1:
        cdef rp_error err
        cdef int64_t n
        while not self.ended and (self.array == NULL or self.start == self.array.length):
            self.next_array()
        if self.ended:
            return 0
        n = min(min(self.array.length - self.start, most), self.most)
        with nogil:
            n = fill_rows(&self.columns, self.start, n, self.base_offset + self.taken, rows, &self.most, &self.scratch,
                          &err)
        if n == 0:
            error = error_of(&err)
            error.message = f"record {self.taken}: {error.message}"
            raise error
        if self.types.timestamp_type.kind != ABSENT:
            self.refuse_append_time(rows, n)
        self.start += n
        self.taken += n
        return n

    cdef int refuse_append_time(self, const rp_record* rows, int64_t n) except -1:
        """Reject LogAppendTime: a batch with it has one timestamp for all its records."""
        cdef int64_t i
        for i in range(n):
            if rows[i].timestamp_type == LOG_APPEND_TIME:
                raise InvalidArgumentError(f"record {self.taken + i}: its timestampType is LogAppendTime, which only "
                                           "brokers give", field="timestampType")
        return 0
