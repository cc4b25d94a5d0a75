from kpress.codecs._registry cimport Plugin
from kpress.codecs.codec cimport codec

cdef void object_row(codec* row, Plugin plugin) noexcept
