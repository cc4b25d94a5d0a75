from recordpress.codecs._registry cimport Plugin
from recordpress.codecs.codec cimport codec

cdef void object_row(codec* row, Plugin plugin) noexcept
