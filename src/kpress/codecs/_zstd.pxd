from kpress.codecs.codec cimport codec

cdef void zstd_row(codec* row) noexcept
