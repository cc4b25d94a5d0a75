"""Parts of Python.h that Cython does not declare: filling a bytes object, and types."""

from cpython.object cimport PyObject


cdef extern from "Python.h":
    PyObject* PyBytes_FromStringAndSize(const char*, Py_ssize_t)  # NULL, with an exception set: no memory
    int _PyBytes_Resize(PyObject** bytes, Py_ssize_t size)        # -1, the same, and the object is gone
    void Py_SET_SIZE(PyObject*, Py_ssize_t size)
    int Py_IsInitialized() nogil

    # the same two, where the exception is to be raised at once
    PyObject* PyBytes_New "PyBytes_FromStringAndSize"(const char*, Py_ssize_t) except NULL
    int PyBytes_Resize "_PyBytes_Resize"(PyObject** bytes, Py_ssize_t size) except -1

    ctypedef struct PyTypeObject
    ctypedef PyObject* (*constructor "newfunc")(PyTypeObject*, PyObject*, PyObject*) except NULL
    ctypedef struct PyTypeObject:
        const char* tp_name
        constructor tp_new
        void* tp_vectorcall
    void PyType_Modified(PyTypeObject*)

    PyObject** PySequence_Fast_ITEMS(object)  # of a list or a tuple

    # of a pointer: to an object that it passes on Cython takes its own reference
    Py_ssize_t references "Py_REFCNT"(PyObject*)


cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED
    #define RP_BORROWS 0
    #else
    #define RP_BORROWS 1
    #endif
    static inline PyObject *rp_item(PyObject **items, Py_ssize_t i) { return items[i]; }
    """
    bint BORROWS "RP_BORROWS"  # no other thread changes a list while the GIL is held
    PyObject* item_at "rp_item"(PyObject** items, Py_ssize_t i)  # of items[i] itself Cython would count a reference
