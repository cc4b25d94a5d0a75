from kpress.codecs.codec cimport codec

cdef void lz4_row(codec* row) noexcept
