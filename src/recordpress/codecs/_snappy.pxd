from recordpress.codecs.codec cimport codec

cdef void snappy_row(codec* row) noexcept
