from recordpress.codecs.codec cimport codec

cdef void gzip_row(codec* row) noexcept
