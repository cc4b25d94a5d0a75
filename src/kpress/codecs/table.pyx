"""The codecs by id and by name: Kafka's five, and at most three that the caller brings."""

from cpython.bool cimport PyBool_Check
from cpython.number cimport PyIndex_Check
from cpython.unicode cimport PyUnicode_AsUTF8
from libc.stdint cimport INT32_MAX, INT64_MAX, int64_t

from kpress._arguments cimport choice_of, flag_of, integer_of, shown
from kpress._c.wire cimport KP_LZ4, KP_ZSTD
from kpress.codecs._gzip cimport gzip_row
from kpress.codecs._lz4 cimport lz4_row, lz4_row_of_any_header
from kpress.codecs._none cimport none_row
from kpress.codecs._object cimport object_row
from kpress.codecs._snappy cimport snappy_row
from kpress.codecs._zstd cimport zstd_row
from kpress.codecs._zstd_dictionary cimport dictionary_set
from kpress.codecs.codec cimport LEVEL_DEFAULT

import sys

from kpress.errors import ArgumentTypeError, InvalidArgumentError

cdef object MAGIC_DEFAULT = 2

cdef object VERIFY = "verify"   # as above
cdef dict IGNORES = {VERIFY: False, "ignore": True}


cdef class CodecTable:
    """Kafka's codecs, and codecs of the caller's own.

    Parameters
    ----------
    *codecs : object
        Each has

        - ``id``: int, 5 to 7. Kafka assigned 0 to 4; no released broker or client reads others.
        - ``name``: str, for compression_type.
        - ``compress(data)``: gives a bytes-like object of at most ``2 * len(data) + 1024`` bytes.
        - ``decompress(data, max_output)``: gives a bytes-like object. It may raise any exception of its own if the
          result would be larger than ``max_output`` bytes.
        - ``joins``, optional: True if two payloads, one after the other, decompress to the data of both. A
          `BatchBuilder` then need not compress all its records again for each one that is appended near its limit.
        - ``levels``, optional: (lowest, highest, default). The call is then ``compress(data, level)``.

        Both functions get a bytes object. They are called from any thread, and from several at once.

    Raises
    ------
    InvalidArgumentError
        An id or a name that is taken or not possible.
    ArgumentTypeError
        An object lacks one of these, or one has another type.

    Notes
    -----
    Every call that writes or reads such batches must be given the table: bytes never choose code. Only record
    batches (magic 2) may use these codecs. What a codec raises becomes the cause of a DecompressionError or, when
    compressing, of an InvalidArgumentError.

    Examples
    --------
    >>> import kpress
    >>> class Reverse:
    ...     id, name = 5, "reverse"
    ...     def compress(self, data):
    ...         return data[::-1]
    ...     def decompress(self, data, max_output):
    ...         return data[::-1]
    >>> codecs = kpress.CodecTable(Reverse())
    >>> kpress.compress(b"record", "reverse", codecs=codecs)
    b'drocer'
    """

    def __cinit__(self, *codecs):
        none_row(&self.rows.rows[0])
        gzip_row(&self.rows.rows[1])
        snappy_row(&self.rows.rows[2])
        lz4_row(&self.rows.rows[3])
        zstd_row(&self.rows.rows[4])
        self.objects = ()
        self.brought = codecs
        cdef int id
        for id in range(CODEC_IDS):
            if self.rows.rows[id].decode != NULL:
                self.own_name(id, self.rows.rows[id].name.decode("ascii"))
        for brought in codecs:
            self.add(brought)

    cdef int own_name(self, int id, str name) except -1:
        name = sys.intern(name)
        self.objects += (name,)
        self.names[id] = <PyObject*>name
        return 0

    cdef int add(self, object brought) except -1:
        cdef codec* row
        cdef int id
        for name in ("id", "name", "compress", "decompress"):
            if not hasattr(brought, name):
                raise ArgumentTypeError(f"a codec needs id, name, compress and decompress: {brought!r} has no {name}",
                                        field="codecs")
        id = <int>integer_of(brought.id, "id", KAFKA_IDS, CODEC_IDS - 1)
        row = &self.rows.rows[id]
        if row.decode != NULL:
            raise InvalidArgumentError(f"two codecs have the id {id}", field="id")
        name = checked_name(self, brought.name)
        self.own_name(id, name)
        row.name = PyUnicode_AsUTF8(name)
        set_levels(row, getattr(brought, "levels", None))
        self.objects += (brought,)
        row.id = id
        row.joins = flag_of(getattr(brought, "joins", False), "joins")
        object_row(row, brought)
        return 0

    @property
    def ids(self):
        """The id of each codec by its name, a new dict.

        Examples
        --------
        >>> import kpress
        >>> kpress.CodecTable().ids
        {'none': 0, 'gzip': 1, 'snappy': 2, 'lz4': 3, 'zstd': 4}
        """
        return {<str>self.names[id]: id for id in range(CODEC_IDS) if self.names[id] != NULL}

    def __repr__(self):
        return f"<kpress.CodecTable: {', '.join(names_of(self))}>"


cdef enum:
    KAFKA_IDS = 5   # CompressionType: ids 0 to 4 are assigned
    NAME_MAX = 15   # batch_table has a column of that width


cdef str checked_name(CodecTable codecs, object name):
    if not isinstance(name, str):
        raise ArgumentTypeError(f"the name of a codec must be a str, not {type(name).__name__}", field="name")
    # the names stand in a text column, where an id without a codec is shown as "unknown(5)"
    if not (name.isascii() and name.isidentifier() and len(name) <= NAME_MAX):
        raise InvalidArgumentError("the name of a codec must be an identifier of at most "
                                   f"{NAME_MAX} ASCII characters, not {name!r}", field="name")
    if name in names_of(codecs):
        raise InvalidArgumentError(f"two codecs have the name {name!r}", field="name")
    return name


cdef int set_levels(codec* row, object levels) except -1:
    if levels is None:
        return 0
    if not isinstance(levels, tuple) or len(levels) != 3:
        raise ArgumentTypeError("the levels of a codec must be a tuple (lowest, highest, default)", field="levels")
    row.has_levels = True
    row.level_min = <int>integer_of(levels[0], "levels", -2147483647, 2147483647)
    row.level_max = <int>integer_of(levels[1], "levels", row.level_min, 2147483647)
    row.level_default = <int>integer_of(levels[2], "levels", row.level_min, row.level_max)
    return 0


cdef CodecTable KAFKA = CodecTable()


cdef const codec_table* kafka_codecs() noexcept nogil:
    return &KAFKA.rows


cdef dict names_of(CodecTable codecs):
    """name -> id"""
    cdef int id
    return {<object>codecs.names[id]: id for id in range(CODEC_IDS) if codecs.names[id] != NULL}


# --- arguments -------------------------------------------------------------------------------------------------------

cdef CodecTable table_of(object codecs):
    if codecs is None:
        return KAFKA
    if type(codecs) is not CodecTable:
        raise ArgumentTypeError(f"codecs must be a kpress.CodecTable, not {type(codecs).__name__}", field="codecs")
    return <CodecTable>codecs


cdef CodecTable reading_table_of(object codecs, object lz4_header_checksum):
    cdef CodecTable table = table_of(codecs)
    if lz4_header_checksum is VERIFY or not choice_of("lz4_header_checksum", lz4_header_checksum, IGNORES):
        return table
    if table.lenient is None:
        table.lenient = CodecTable(*table.brought)
        lz4_row_of_any_header(&table.lenient.rows.rows[KP_LZ4])
    return table.lenient


cdef const codec* codec_named(CodecTable codecs, object compression_type) except NULL:
    return &codecs.rows.rows[<int>choice_of("compression_type", compression_type, names_of(codecs))]


cdef int level_given(const codec* row, object level) except? -1:
    cdef int64_t number
    if isinstance(level, str) and level == "kafka-default":
        return LEVEL_DEFAULT
    name = row.name.decode("ascii")
    if not row.has_levels:
        raise InvalidArgumentError(f"{name} has no levels: leave level out", field="level")
    if PyBool_Check(level) or not PyIndex_Check(level):
        raise ArgumentTypeError(f'level must be an int, None or "kafka-default", not {type(level).__name__}',
                                field="level")
    try:
        number = integer_of(level, "level", -INT32_MAX, INT32_MAX)
    except InvalidArgumentError:
        number = INT64_MAX  # no level of any codec
    if row.level_min <= number <= row.level_max or number == row.level_default:
        return <int>number
    also = "" if row.level_min <= row.level_default else f" or {row.level_default}"
    raise InvalidArgumentError(f"level of {name} must be between {row.level_min} and {row.level_max}{also}, "
                               f"not {shown(level)}", field="level")


cdef int magic_given(const codec* row, object magic) except -1:
    cdef int number = <int>integer_of(magic, "magic", 0, 2)
    if number < row.least_magic:
        raise InvalidArgumentError(f"{row.name.decode('ascii')} needs magic {row.least_magic}, not {number}",
                                   field="magic")
    return number


cdef int check_dictionaries(const codec* row, str field) except -1:
    if row.id != KP_ZSTD:
        raise InvalidArgumentError(f"{row.name.decode('ascii')} takes no dictionary: zstd does", field=field)
    return 0


cdef const codec* row_with(const codec* row, object dictionary, str field) except NULL:
    check_dictionaries(row, field)
    if type(dictionary) is not Dictionary:
        raise ArgumentTypeError(f"{field} must be a kpress.dictionaries.Dictionary, not {type(dictionary).__name__}",
                                field=field)
    return &(<Dictionary>dictionary).row


cdef DictionarySet dictionaries_of(const codec* row, object dictionaries):
    check_dictionaries(row, "dictionaries")
    return dictionary_set(dictionaries)


cdef str name_of(CodecTable codecs, int id):
    return <str>codecs.names[id] if codecs.names[id] != NULL else f"unknown({id})"
