"""Parts of Python.h that Cython does not declare: filling a bytes object, types, and the digits of an int."""

from cpython.object cimport PyObject


cdef extern from "Python.h":
    PyObject* PyBytes_FromStringAndSize(const char*, Py_ssize_t)  # NULL, with an exception set: no memory
    int _PyBytes_Resize(PyObject** bytes, Py_ssize_t size)        # -1, the same, and the object is gone
    void Py_SET_SIZE(PyObject*, Py_ssize_t size)
    int Py_IsInitialized() nogil

    # the same two, for callers that raise the exception at once
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

    # takes a pointer, because Cython adds a reference to an object that it passes
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
    PyObject* item_at "rp_item"(PyObject** items, Py_ssize_t i)  # Cython would count a reference to items[i]


cdef extern from *:
    """
    #if PY_VERSION_HEX >= 0x030C0000
    #define RP_INT_DIGITS(i) ((i)->long_value.lv_tag >> 3)
    #define RP_INT_IS_NEGATIVE(i) (((i)->long_value.lv_tag & 3) == 2)
    #define RP_INT_DIGIT(i, n) ((int64_t)(i)->long_value.ob_digit[n])
    #else
    #define RP_INT_DIGITS(i) ((size_t)Py_ABS(Py_SIZE(i)))
    #define RP_INT_IS_NEGATIVE(i) (Py_SIZE(i) < 0)
    #define RP_INT_DIGIT(i, n) ((int64_t)(i)->ob_digit[n])
    #endif
    /* PyLong_AsLongLongAndOverflow, without a call for times and offsets */
    static inline long long rp_int64_of(PyObject *number, int *overflow) {
        const PyLongObject *i = (const PyLongObject *)number;
        size_t digits = RP_INT_DIGITS(i);
        if (digits - 1 > 1) return PyLong_AsLongLongAndOverflow(number, overflow);
        long long size = RP_INT_DIGIT(i, 0);
        if (digits == 2) size |= RP_INT_DIGIT(i, 1) << PyLong_SHIFT;
        return RP_INT_IS_NEGATIVE(i) ? -size : size;
    }
    """
    long long rp_int64_of(object, int*)
