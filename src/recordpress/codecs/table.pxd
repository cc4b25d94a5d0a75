"""The codecs by row and by name, and the arguments that choose a codec."""

from cpython.object cimport PyObject

from recordpress.codecs._registry cimport Plugin
from recordpress.codecs._zstd_dictionary cimport Dictionary, DictionarySet, one_dictionary
from recordpress.codecs.codec cimport CODEC_IDS, CODEC_ROWS, LEVEL_DEFAULT, codec, codec_table


cdef class CodecTable:
    cdef codec_table rows
    cdef PyObject* names[CODEC_ROWS]  # interned; NULL in unused rows
    cdef dict known                   # name -> row; owns the names
    cdef readonly tuple plugins       # of Plugin
    cdef dict readers                 # as CodecRegistry has it
    cdef CodecTable lenient           # the same codecs for lz4_header_checksum="ignore", once it was requested

    cdef int own_name(self, int id, str name) except -1
    cdef int add(self, Plugin plugin) except -1


cdef const codec_table* kafka_codecs() noexcept nogil

# Arguments from Python; the errors name what is accepted.
cdef CodecTable table_given(object codecs)
cdef CodecTable lenient_table(CodecTable codecs, object lz4_header_checksum)
cdef const codec* codec_named(CodecTable codecs, object compression_type) except NULL
cdef int level_given(const codec* row, object level) except? -1
cdef int magic_given(const codec* row, object magic) except -1
# The row with a dictionary, which the caller keeps alive. `field` is the argument's name.
cdef const codec* row_with(const codec* row, object dictionary, str field) except NULL
# For reading: the `dictionaries` that the payloads need; `row` is the codec's row.
cdef DictionarySet dictionaries_of(const codec* row, object dictionaries)

cdef CodecTable KAFKA       # without a registry
cdef object MAGIC_DEFAULT   # 2
cdef object VERIFY          # "verify"


# The usual arguments need no call into another module, which saves 10 ns of the 200 that a small payload takes.
cdef inline CodecTable table_of(object codecs):
    return KAFKA if codecs is None else table_given(codecs)


# The table for a call that reads, from the arguments `codecs` and `lz4_header_checksum`.
cdef inline CodecTable reading_table_of(object codecs, object lz4_header_checksum):
    cdef CodecTable table = table_of(codecs)
    return table if lz4_header_checksum is VERIFY else lenient_table(table, lz4_header_checksum)


cdef inline const codec* codec_of(CodecTable codecs, object compression_type) except NULL:
    cdef int id
    for id in range(CODEC_IDS):  # names that are literals in a program are interned
        if codecs.names[id] == <PyObject*>compression_type:
            return &codecs.rows.rows[id]
    return codec_named(codecs, compression_type)


cdef inline int level_of(const codec* row, object level) except? -1:
    return LEVEL_DEFAULT if level is None else level_given(row, level)


cdef inline int magic_of(const codec* row, object magic) except -1:
    return 2 if magic is MAGIC_DEFAULT else magic_given(row, magic)   # every codec accepts 2


# The name of a row; "pluggable" for a plug-in that the table does not have, "unknown(6)" for an id of no codec.
cdef str name_of(CodecTable codecs, int id)
