from kpress.codecs.codec cimport codec

cdef void object_row(codec* row, object brought) noexcept
