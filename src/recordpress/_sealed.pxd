# Only the module of `kind` makes such objects, by kind.__new__(kind) in Cython. From Python both that and calling the
# class raise a TypeError that names `made_by`: an object that its maker did not fill has nothing to point to.
cdef int seal(type kind, str made_by) except -1

# Errors of a call of `builder` with the wrong arguments name the class.
cdef int name_in_errors(type builder) except -1
