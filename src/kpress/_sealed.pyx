"""Classes that callers meet but cannot make: batches, records, iterators."""

from cpython.ref cimport PyObject

from kpress._c.python cimport PyType_Modified, PyTypeObject

cdef dict MADE_BY = {}


cdef PyObject* refuse_new(PyTypeObject* kind, PyObject* args, PyObject* kwargs) except NULL:
    for sealed in (<type><PyObject*>kind).__mro__:
        if sealed in MADE_BY:
            raise TypeError(f"{sealed.__name__} objects are made by {MADE_BY[sealed]}")
    raise TypeError("objects of this class cannot be made")


cdef int seal(type kind, str made_by) except -1:
    MADE_BY[kind] = made_by
    (<PyTypeObject*><PyObject*>kind).tp_new = refuse_new
    PyType_Modified(<PyTypeObject*><PyObject*>kind)
    return 0
