# Only the module of `kind` creates such objects, with kind.__new__(kind) in Cython. In Python, that call and a call of
# the class raise a TypeError that names `made_by`: an object that was not filled has no data to point to.
cdef int seal(type kind, str made_by) except -1

# Errors of a call of `builder` with the wrong arguments name the class.
cdef int name_in_errors(type builder) except -1
