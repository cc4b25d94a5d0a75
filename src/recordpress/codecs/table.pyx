"""The codecs by row and by name: Kafka's, and the codecs of a registry."""

cimport cython
from cpython.bool cimport PyBool_Check
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.number cimport PyIndex_Check
from cpython.unicode cimport PyUnicode_AsUTF8
from libc.stdint cimport INT32_MAX, INT64_MAX, int64_t, uint8_t

from recordpress._arguments cimport choice_of, integer_of, shown
from recordpress._c.wire cimport RP_LZ4, RP_PLUGGABLE, RP_ZSTD
from recordpress.codecs._gzip cimport gzip_row
from recordpress.codecs._lz4 cimport lz4_row, lz4_row_of_any_header
from recordpress.codecs._none cimport none_row
from recordpress.codecs._registry cimport CodecRegistry, Plugin, kafkas, object_row
from recordpress.codecs._snappy cimport snappy_row
from recordpress.codecs._zstd cimport zstd_row
from recordpress.codecs._zstd_dictionary cimport dictionary_set
from recordpress.codecs._zstd_parameters cimport ZstdParameters
from recordpress.codecs.codec cimport CODEC_IDS, CODEC_ROWS, LEVEL_DEFAULT, codec

import sys

from recordpress.errors import ArgumentTypeError, InvalidArgumentError

PLUGGABLE = RP_PLUGGABLE  # the id on the wire of all plug-ins but providers

cdef object MAGIC_DEFAULT = 2

cdef object VERIFY = "verify"
cdef dict IGNORES = {VERIFY: False, "ignore": True}


cdef class CodecTable:
    """The codecs of a call: Kafka's, and the codecs registered when it began. It never changes."""

    def __cinit__(self, tuple plugins=(), dict readers=None):
        cdef int id
        cdef Plugin plugin
        none_row(&self.rows.rows[0])
        gzip_row(&self.rows.rows[1])
        snappy_row(&self.rows.rows[2])
        lz4_row(&self.rows.rows[3])
        zstd_row(&self.rows.rows[4])
        self.known = {}
        self.plugins, self.readers = plugins, readers or {}
        for id in range(CODEC_IDS):
            if self.rows.rows[id].decode != NULL:
                self.rows.rows[id].attributes = id
                self.own_name(id, self.rows.rows[id].name.decode("ascii"))
        for plugin in plugins[:CODEC_ROWS - CODEC_IDS]:
            self.add(plugin)
        for codec_name, provider in self.readers.items():
            self.rows.readers[<int>self.known[codec_name]] = self.known[provider]

    cdef int own_name(self, int id, str name) except -1:
        name = sys.intern(name)
        self.known[name] = id
        self.names[id] = <PyObject*>name
        return 0

    cdef int add(self, Plugin plugin) except -1:
        cdef int id = CODEC_IDS + self.rows.n_plugins
        cdef codec* row = &self.rows.rows[id]
        self.own_name(id, plugin.name)
        row.id = id
        row.attributes = RP_PLUGGABLE if plugin.provides is None else self.known[plugin.provides]
        row.name = PyUnicode_AsUTF8(plugin.name)
        row.head = <const uint8_t*>PyBytes_AS_STRING(plugin.field)
        row.head_size = <size_t>PyBytes_GET_SIZE(plugin.field)
        if plugin.levels is not None:
            row.has_levels = True
            row.level_min, row.level_max, row.level_default = plugin.levels
        row.joins = plugin.joins
        row.join_head = row.head_size
        object_row(row, plugin)
        self.rows.n_plugins += 1
        return 0

    @property
    def ids(self):
        """A new dict from the name of each codec to its row."""
        return dict(self.known)

    @property
    def levels(self):
        """The lowest, highest and default level of each codec that has levels."""
        cdef const codec* row
        found = {}
        for name, id in self.known.items():
            row = &self.rows.rows[<int>id]
            if row.has_levels:
                found[name] = row.level_min, row.level_max, row.level_default
        return found


cdef CodecTable KAFKA = CodecTable()
kafkas.update(KAFKA.known)


cdef const codec_table* kafka_codecs() noexcept nogil:
    return &KAFKA.rows


# --- arguments -------------------------------------------------------------------------------------------------------

cdef CodecTable table_given(object codecs):
    if type(codecs) is CodecTable:  # from our own calls
        return <CodecTable>codecs
    if not isinstance(codecs, CodecRegistry):
        raise ArgumentTypeError(f"codecs must be a recordpress.CodecRegistry, not {type(codecs).__name__}",
                                field="codecs")
    return registered(<CodecRegistry>codecs)


def codecs_given(codecs):
    """Return the CodecTable for an argument `codecs`, for Python code that passes it on more than once; None if the
    argument is None."""
    return None if codecs is None else table_of(codecs)


cdef CodecTable registered(CodecRegistry registry):
    """Return the codecs that a registry holds now."""
    cdef CodecTable table
    with cython.critical_section(registry):
        table = registry.table
    if table is not None:  # usually, without the lock
        return table
    with registry.lock:
        table = registry.table  # another thread may have created it
        if table is None:
            table = CodecTable(tuple(registry.plugins.values()), registry.readers)
            with cython.critical_section(registry):
                registry.table = table
    return table


cdef CodecTable lenient_table(CodecTable codecs, object lz4_header_checksum):
    """Return `codecs`, or the same codecs with an LZ4 row that accepts any header checksum, if it is to be ignored."""
    if not choice_of("lz4_header_checksum", lz4_header_checksum, IGNORES):
        return codecs
    cdef CodecTable made
    with cython.critical_section(codecs):
        if codecs.lenient is None:
            made = CodecTable(codecs.plugins, codecs.readers)
            lz4_row_of_any_header(&made.rows.rows[RP_LZ4])
            codecs.lenient = made
        return codecs.lenient


cdef const codec* codec_named(CodecTable codecs, object compression_type) except NULL:
    return &codecs.rows.rows[<int>choice_of("compression_type", compression_type, codecs.known)]


cdef int level_given(const codec* row, object level) except? -1:
    cdef int64_t number
    if isinstance(level, str) and level == "kafka-default":
        return LEVEL_DEFAULT
    name = row.name.decode("ascii")
    if type(level) is ZstdParameters:
        if row.id != RP_ZSTD:
            raise InvalidArgumentError(f"{name} has no windowLog or strategy: only zstd has them", field="level")
        return (<ZstdParameters>level).packed
    if not row.has_levels:
        raise InvalidArgumentError(f"{name} has no levels: omit level", field="level")
    if PyBool_Check(level) or not PyIndex_Check(level):
        raise ArgumentTypeError('level must be an int, None, "kafka-default" or ZstdParameters, '
                                f"not {type(level).__name__}", field="level")
    try:
        number = integer_of(level, "level", -INT32_MAX, INT32_MAX)
    except InvalidArgumentError:
        number = INT64_MAX  # no level of any codec
    if row.level_min <= number <= row.level_max or number == row.level_default:
        return <int>number
    also = "" if row.level_min <= row.level_default else f" or {row.level_default}"
    raise InvalidArgumentError(f"level of {name} must be between {row.level_min} and {row.level_max}{also}, "
                               f"not {shown(level)}", field="level")


def check_codec(compression_type, level=None, codecs=None, magic=2, dictionary=None):
    """Raise an error unless a codec accepts its level, its dictionary and the magic of its batches."""
    cdef const codec* row = codec_named(table_of(codecs), compression_type)
    if integer_of(magic, "magic", 0, 2) < row.least_magic:
        raise InvalidArgumentError(f"magic {magic} does not support {compression_type}: only magic 2 does",
                                   field="compression_type")
    level_of(row, level)
    if dictionary is not None:
        row_with(row, dictionary, "dictionary")


cdef int magic_given(const codec* row, object magic) except -1:
    cdef int number = <int>integer_of(magic, "magic", 0, 2)
    if number < row.least_magic:
        raise InvalidArgumentError(f"{row.name.decode('ascii')} needs magic {row.least_magic}, not {number}",
                                   field="magic")
    return number


cdef int check_dictionaries(const codec* row, str field) except -1:
    if row.id != RP_ZSTD:
        raise InvalidArgumentError(f"{row.name.decode('ascii')} does not support dictionaries: only zstd does",
                                   field=field)
    return 0


cdef const codec* row_with(const codec* row, object dictionary, str field) except NULL:
    check_dictionaries(row, field)
    if type(dictionary) is not Dictionary:
        raise ArgumentTypeError(f"{field} must be a dictionaries.Dictionary, not {type(dictionary).__name__}",
                                field=field)
    return &(<Dictionary>dictionary).row


cdef DictionarySet dictionaries_of(const codec* row, object dictionaries):
    check_dictionaries(row, "dictionaries")
    return dictionary_set(dictionaries)


cdef str name_of(CodecTable codecs, int id):
    if codecs.names[id] != NULL:
        return <str>codecs.names[id]
    return "pluggable" if id == RP_PLUGGABLE else f"unknown({id})"
