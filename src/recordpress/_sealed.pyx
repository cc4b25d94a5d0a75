"""Classes in C: errors of calling them (callers cannot create batches, records and iterators, nor a BatchBuilder with
wrong arguments), and their names."""

from cpython.ref cimport PyObject

from recordpress._arguments cimport did_you_mean
from recordpress._c.python cimport PyType_Modified, PyTypeObject, constructor

from recordpress.errors import ArgumentTypeError

cdef dict MADE_BY = {}


cdef PyObject* refuse_new(PyTypeObject* kind, PyObject* args, PyObject* kwargs) except NULL:
    for sealed in (<type><PyObject*>kind).__mro__:
        if sealed in MADE_BY:
            raise ArgumentTypeError(f"{sealed.__name__} objects are created by {MADE_BY[sealed]}")
    raise ArgumentTypeError("objects of this class cannot be created")


cdef int seal(type kind, str made_by) except -1:
    MADE_BY[kind] = made_by
    (<PyTypeObject*><PyObject*>kind).tp_new = refuse_new
    (<PyTypeObject*><PyObject*>kind).tp_vectorcall = NULL  # Cython 3.3 and later: it would call tp_new of the class
    PyType_Modified(<PyTypeObject*><PyObject*>kind)
    return 0


# --- wrong calls of BatchBuilder, the class that has arguments -------------------------------------------------------

cdef type named = None
cdef constructor construct = NULL


cdef PyObject* construct_or_tell(PyTypeObject* kind, PyObject* args, PyObject* kwargs) except NULL:
    try:
        return construct(kind, args, kwargs)
    except TypeError as error:
        tell(error)
        raise


cdef int tell(object error) except -1:
    """Raise Cython's error for a wrong call with the class's name: Cython names __cinit__, which no caller knows."""
    from inspect import signature

    text = str(error)
    if text.startswith("__cinit__() "):
        message = text.replace("__cinit__", "BatchBuilder").replace("for keyword argument", "for argument")
        field = text.split("'")[1] if "'" in text else None
        if "unexpected keyword" in text:
            message += did_you_mean(field, signature(named).parameters)
        raise ArgumentTypeError(message, field=field) from None
    return 0


cdef int name_in_errors(type builder) except -1:
    global named, construct
    named = builder
    cdef PyTypeObject* kind = <PyTypeObject*><PyObject*>builder
    construct, kind.tp_new, kind.tp_vectorcall = kind.tp_new, construct_or_tell, NULL
    PyType_Modified(kind)
    return 0


# --- names of compiled classes ---------------------------------------------------------------------------------------

cdef list NAMES = []  # classes point into them


def set_module(type kind, str module):
    """Set ``__module__`` of a compiled class, by renaming the class in C."""
    cdef bytes name = f"{module}.{kind.__name__}".encode()
    NAMES.append(name)
    (<PyTypeObject*><PyObject*>kind).tp_name = name
    PyType_Modified(<PyTypeObject*><PyObject*>kind)
