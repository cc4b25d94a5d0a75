"""A column of values that the caller gives, one array after another."""

from libc.stdint cimport int64_t

from recordpress._c.arrow cimport ArrowArray
from recordpress.columns._arrow_in cimport (
    BINARY, BINARY_VIEW, LARGE_BINARY, NULLS, column, column_here, column_type, type_of,
)
from recordpress.columns._arrow_source cimport ArrowSource

from recordpress.errors import ArgumentTypeError, InvalidArgumentError


cdef class ValueSource(ArrowSource):

    cdef int open(self, object data) except -1:
        """Take the capsules of `data`, which must be of values. Runs the caller's code."""
        cdef column_type type
        self.ask(data)
        type_of(&self.schema, 0, &type)
        if type.kind not in (NULLS, BINARY, LARGE_BINARY, BINARY_VIEW):
            format = self.schema.format.decode("utf-8", "replace")
            raise ArgumentTypeError("data must be a column of binary, large_binary, binary_view or a string type, "
                                    f"not of Arrow format {format!r}", field="data")
        self.kind = type.kind
        return 0

    cdef int64_t next_values(self, column* values) except -2:
        cdef const ArrowArray* array = self.next()
        if array == NULL:
            return -1
        if column_here(array, self.kind, values):
            raise InvalidArgumentError("an Arrow array's lengths or offsets contradict each other", field="data")
        return array.length
