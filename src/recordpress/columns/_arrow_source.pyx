"""The caller's Arrow data: capsules, moved out of and owned here.

A consumer of the interface may move a struct out of its capsule. Code that later requests the same capsule, a callback
for instance, finds it empty, and cannot release what is still being read.
"""

import os

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from libc.stdint cimport int64_t
from libc.string cimport memset

from recordpress._c.arrow cimport ArrowArray, ArrowArrayStream, ArrowSchema

from recordpress.errors import ArgumentTypeError, InvalidArgumentError

cdef enum:
    # Far more than a table of records has. A larger schema is damaged, or contains itself.
    MOST_FIELDS = 10000
    MOST_LEVELS = 64


cdef int contradiction(str what) except -1:
    raise InvalidArgumentError(f"the Arrow schema of data contradicts itself: {what}", field="data")


cdef int check_schema(const ArrowSchema* schema, int levels, int64_t* fields) except -1:
    """Check that the schema can be walked: every pointer is there, and nothing was released."""
    cdef int64_t i
    fields[0] += 1
    if schema == NULL or schema.release == NULL:
        contradiction("a field is missing or was released")
    if schema.format == NULL:
        contradiction("a field has no format")
    if levels == 0 or not 0 <= schema.n_children <= MOST_FIELDS - fields[0]:
        contradiction("it has too many fields, or a negative number of them")
    if schema.n_children and schema.children == NULL:
        contradiction("a field's children are missing")
    for i in range(schema.n_children):
        check_schema(schema.children[i], levels - 1, fields)
    return 0


cdef int check_capsule(object capsule, const char* name, str method) except -1:
    if not PyCapsule_IsValid(capsule, name):
        raise ArgumentTypeError(f"{method} of data must return a capsule named {name.decode()!r}, "
                                f"not {type(capsule).__name__} {capsule!r:.60}", field="data")
    return 0


cdef int check_owned(bint owned) except -1:
    if not owned:
        raise InvalidArgumentError("the Arrow capsules of data were already consumed, and can be used only once",
                                   field="data")
    return 0


cdef class ArrowSource:
    """Arrays of the caller's data, one after another."""

    def __dealloc__(self):
        if self.array.release != NULL:
            self.array.release(&self.array)
        if self.schema.release != NULL:
            self.schema.release(&self.schema)
        if self.stream.release != NULL:
            self.stream.release(&self.stream)

    cdef int ask(self, object data) except -1:
        """Take the capsules of `data`. Runs the caller's code."""
        if hasattr(type(data), "__arrow_c_stream__"):  # first: data of several record batches has only this
            self.take_stream(data.__arrow_c_stream__())
        elif hasattr(type(data), "__arrow_c_array__"):
            self.take_array(data.__arrow_c_array__())
        else:
            raise ArgumentTypeError("data must be Arrow data, with __arrow_c_array__ or __arrow_c_stream__ (such as a "
                                    f"pyarrow, polars or pandas table), not {type(data).__name__}", field="data")
        cdef int64_t fields = 0
        return check_schema(&self.schema, MOST_LEVELS, &fields)

    cdef int take_stream(self, object capsule) except -1:
        check_capsule(capsule, "arrow_array_stream", "__arrow_c_stream__")
        cdef ArrowArrayStream* given = <ArrowArrayStream*>PyCapsule_GetPointer(capsule, "arrow_array_stream")
        check_owned(given.release != NULL)
        self.stream = given[0]
        given.release = NULL
        if self.stream.get_schema == NULL or self.stream.get_next == NULL:
            raise InvalidArgumentError("the Arrow stream of data has no get_schema or no get_next", field="data")
        cdef int code = self.stream.get_schema(&self.stream, &self.schema)
        if code:
            self.schema.release = NULL
        return self.check(code)

    cdef int take_array(self, object capsules) except -1:
        if not isinstance(capsules, tuple) or len(capsules) != 2:
            raise ArgumentTypeError("__arrow_c_array__ of data must return a tuple of two capsules, "
                                    f"not {type(capsules).__name__} {capsules!r:.60}", field="data")
        check_capsule(capsules[0], "arrow_schema", "__arrow_c_array__")
        check_capsule(capsules[1], "arrow_array", "__arrow_c_array__")
        cdef ArrowSchema* schema = <ArrowSchema*>PyCapsule_GetPointer(capsules[0], "arrow_schema")
        cdef ArrowArray* array = <ArrowArray*>PyCapsule_GetPointer(capsules[1], "arrow_array")
        check_owned(schema.release != NULL and array.release != NULL)
        self.schema = schema[0]
        schema.release = NULL
        self.array = array[0]
        array.release = NULL
        self.fresh = True
        return 0

    cdef int check(self, int code) except -1:
        cdef const char* text = NULL
        if code == 0:
            return 0
        if self.stream.release != NULL and self.stream.get_last_error != NULL:
            text = self.stream.get_last_error(&self.stream)
        reason = text.decode("utf-8", "replace") if text != NULL else os.strerror(code)
        raise InvalidArgumentError(f"the Arrow stream failed: {reason}", field="data")

    cdef const ArrowArray* next(self) except? NULL:
        """Return the next array; NULL at the end. The one before is released."""
        cdef int code
        if self.fresh:
            self.fresh = False
            return &self.array
        if self.array.release != NULL:
            self.array.release(&self.array)
        memset(&self.array, 0, sizeof(ArrowArray))
        if self.stream.release == NULL:
            return NULL
        with nogil:
            code = self.stream.get_next(&self.stream, &self.array)
        if code:
            self.array.release = NULL
        self.check(code)
        return &self.array if self.array.release != NULL else NULL
