from recordpress.codecs.codec cimport codec

cdef void lz4_row(codec* row) noexcept

# Fills a row that accepts any checksum of a frame's header, in every magic, if a payload is decompressed as a whole.
cdef void lz4_row_of_any_header(codec* row) noexcept
