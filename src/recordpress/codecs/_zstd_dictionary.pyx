"""Dictionaries of zstd (RFC 8878 section 5): content that separately compressed values share.

::

    dictionary   magic(4) | id(4), little-endian | entropy tables | content

A row of the codec with a dictionary is a copy of its row with other functions; the calls need to know nothing more.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memset

from recordpress._arguments cimport integer_of, tuple_of
from recordpress._buffers cimport InputView
from recordpress._c.wire cimport (
    RP_NO_MEMORY, RP_OK, RP_ZSTD_DICT_MISSING, RP_ZSTD_SHORT, rp_error, rp_fail, rp_load_le32, rp_slot_content,
    rp_slot_give,
)
from recordpress._c.zstd cimport (
    ZDICT_fastCover_params_t, ZDICT_isError, ZDICT_optimizeTrainFromBuffer_fastCover, ZSTD_CCtx,
    ZSTD_CCtx_loadDictionary_byReference, ZSTD_CCtx_refCDict, ZSTD_CCtx_reset, ZSTD_CCtx_setParameter, ZSTD_CDict,
    ZSTD_DCtx_refDDict, ZSTD_DCtx_reset, ZSTD_DDict, ZSTD_c_contentSizeFlag, ZSTD_compress2,
    ZSTD_compress_usingCDict, ZSTD_createCDict_byReference, ZSTD_createDDict_byReference, ZSTD_decompressStream,
    ZSTD_error_memory_allocation, ZSTD_freeCDict, ZSTD_freeDDict, ZSTD_getErrorCode, ZSTD_inBuffer, ZSTD_isError,
    ZSTD_outBuffer, ZSTD_reset_session_only, ZSTD_sizeof_CDict, ZSTD_sizeof_DDict,
)
from recordpress.codecs._zstd cimport (
    LEVEL_MAX, LEVEL_MIN, compress_failed, decoder_failed, find_dictionary, hold, hold_piece, is_packed, is_wide,
    known_dictionaries, known_dictionary, read_piece, read_whole, ready_compressor, ready_decompressor,
    refer_to_dictionary, zstd_row, zstd_state, zstd_stream,
)
from recordpress.codecs._zstd_frames cimport MAGIC as FRAME_MAGIC, dictionary_of, read_frame, read_head
from recordpress.codecs.codec cimport codec, codec_stream, codec_unit, level_or_default

from recordpress.errors import ArgumentTypeError, InvalidArgumentError

DEFAULT_DICTIONARY_SIZE = DEFAULT_SIZE
DICTIONARY_SIZES, DICTIONARY_IDS = (LEAST_SIZE, MOST), (ID_MIN, ID_MAX)  # lowest, highest

cdef enum:
    MAGIC = 0xEC30A437
    ID_AT = 4
    LEAST = 16                  # magic, id and entropy tables are never shorter
    MOST = 64 << 20             # half of the largest window that Kafka's readers accept
    DEFAULT_SIZE = 112640        # the default of zstd --train
    LEAST_SIZE = 256             # ZDICT_DICTSIZE_MIN
    LEAST_SAMPLES = 7            # zstd trains on three quarters, which must be five or more, and tests on the rest
    MOST_SAMPLE_BYTES = 1 << 30  # all are copied into one block; chosen, not measured
    DEFAULT_LEVEL = 3            # the default of zstd --train
    # ids outside this range are reserved for a registry that does not exist yet (RFC 8878 section 3.1.1.1.3)
    ID_MIN = 1 << 15
    ID_MAX = 0x7FFFFFFF
    # Prepared tables and their parameters suit a small input. An input of at least this size, and of this many
    # times the dictionary's size, is worth its own tables (ZSTD_USE_CDICT_PARAMS_SRCSIZE_CUTOFF).
    LARGE = 1 << 17
    LARGE_FACTOR = 6
    TRAINING_D = 8              # ZDICT_trainFromBuffer uses the same values as these two
    TRAINING_STEPS = 4


# --- compression -----------------------------------------------------------------------------------------------------

# The tables of one level. Nodes are only appended, and freed with the dictionary, so that no reader needs a lock.
ctypedef struct encoder:
    int level
    ZSTD_CDict* tables
    void* next


cdef encoder* new_encoder(const loaded_dictionary* d, int level) noexcept nogil:
    cdef encoder* node = <encoder*>calloc(1, sizeof(encoder))
    if node == NULL:
        return NULL
    node.level = level
    node.tables = ZSTD_createCDict_byReference(d.data, d.size, level)
    if node.tables == NULL:
        free(node)
        return NULL
    return node


cdef encoder* free_encoder(encoder* node) noexcept nogil:
    """Free an encoder; return the next one."""
    cdef encoder* following = <encoder*>node.next
    ZSTD_freeCDict(node.tables)
    free(node)
    return following


cdef ZSTD_CDict* encoder_of(loaded_dictionary* d, int level) noexcept nogil:
    """Return the tables of a level, created when it is first used; NULL if out of memory."""
    cdef void** slot = &d.encoders
    cdef encoder* made = NULL
    cdef encoder* node
    while True:
        node = <encoder*>rp_slot_content(slot)
        if node == NULL:
            if made == NULL:
                made = new_encoder(d, level)
            if made == NULL:
                return NULL
            if rp_slot_give(slot, made):
                return made.tables
        elif node.level == level:
            if made != NULL:  # another thread was first
                free_encoder(made)
            return node.tables
        else:
            slot = &node.next


cdef size_t encode_large(ZSTD_CCtx* compressor, const loaded_dictionary* d, const uint8_t* src, size_t size,
                         uint8_t* dst, size_t capacity) noexcept nogil:
    """Compress with tables for this input alone."""
    cdef size_t written = ZSTD_CCtx_loadDictionary_byReference(compressor, d.data, d.size)
    if not ZSTD_isError(written):
        ZSTD_CCtx_setParameter(compressor, ZSTD_c_contentSizeFlag, 1)
        written = ZSTD_compress2(compressor, dst, capacity, src, size)
    ZSTD_CCtx_reset(compressor, ZSTD_reset_session_only)  # what follows is only allowed between frames
    ZSTD_CCtx_refCDict(compressor, NULL)
    ZSTD_CCtx_setParameter(compressor, ZSTD_c_contentSizeFlag, 0)
    return written


cdef int dictionary_encode(const codec* row, void** state, int level, int magic, bint raw, const uint8_t* src,
                           size_t size, uint8_t* dst, size_t capacity, size_t* produced,
                           rp_error* err) noexcept nogil:
    """Write one frame with its content size and the dictionary's id, as zstd's own tools do. It has no empty last
    block, unlike Java's frames: three bytes less, which matters for a single value."""
    cdef loaded_dictionary* d = <loaded_dictionary*>row.object
    cdef bint large = is_packed(level) or (size >= LARGE and size >= LARGE_FACTOR * d.size)
    cdef ZSTD_CDict* tables = NULL if large else encoder_of(d, level_or_default(row, level))
    cdef ZSTD_CCtx* compressor
    if tables == NULL and not large:
        return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    if ready_compressor(state, level_or_default(row, level), err) != RP_OK:
        return err.status
    compressor = (<zstd_state*>state[0]).compressor
    produced[0] = (encode_large(compressor, d, src, size, dst, capacity) if large
                   else ZSTD_compress_usingCDict(compressor, dst, capacity, src, size, tables))
    return compress_failed(produced[0], err) if ZSTD_isError(produced[0]) else RP_OK


# --- in chunks -------------------------------------------------------------------------------------------------------

cdef int dictionary_compress_open(codec_stream* s, rp_error* err) noexcept nogil:
    """Use separate tables: prepared tables are for small inputs, and a stream may be of any size."""
    cdef const loaded_dictionary* d = <const loaded_dictionary*>s.row.object
    if ready_compressor(s.shared, level_or_default(s.row, s.level), err) != RP_OK:
        return err.status
    s.state = s.shared[0]
    if ZSTD_isError(ZSTD_CCtx_loadDictionary_byReference((<zstd_state*>s.state).compressor, d.data, d.size)):
        return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    return RP_OK


cdef void dictionary_compress_close(codec_stream* s) noexcept nogil:
    """Detach the dictionary, which the compressor may outlive."""
    ZSTD_CCtx_reset((<zstd_state*>s.state).compressor, ZSTD_reset_session_only)
    ZSTD_CCtx_refCDict((<zstd_state*>s.state).compressor, NULL)


cdef int dictionary_decompress_open(codec_stream* s, rp_error* err) noexcept nogil:
    s.state = calloc(1, sizeof(zstd_stream))
    if s.state == NULL:
        return rp_fail(err, RP_NO_MEMORY, -1, 0, sizeof(zstd_stream))
    return ready_decompressor(s.shared, err)


cdef void dictionary_decompress_close(codec_stream* s) noexcept nogil:
    cdef zstd_state* own = <zstd_state*>s.shared[0]
    free((<zstd_stream*>s.state).held)
    free(s.state)
    if own != NULL and own.decompressor != NULL:
        ZSTD_DCtx_reset(own.decompressor, ZSTD_reset_session_only)
        ZSTD_DCtx_refDDict(own.decompressor, NULL)


cdef int dictionary_decompress_step(codec_stream* s, const uint8_t* src, size_t size, rp_error* err) noexcept nogil:
    """Decompress a chunk. libzstd needs a frame's dictionary before it reads the header; a frame that is complete in
    the chunk needs no window."""
    cdef zstd_stream* z = <zstd_stream*>s.state
    cdef ZSTD_inBuffer input = [src, size, 0]
    cdef codec_unit frame
    cdef bint more = size > 0
    s.wanted = 0
    while more:
        if z.held != NULL:
            if hold_piece(s, &input, &more, err) != RP_OK:
                return err.status
            z.begun = z.held == NULL and z.frame > 0
        elif z.begun:
            if read_piece(s, &input, &more, err) != RP_OK:
                return err.status
            z.begun = z.frame > 0
        elif z.frame == 0 and lies_whole(s, &input, &frame):
            if read_whole(s, src + input.pos, &frame, err) != RP_OK:
                return err.status
            input.pos += frame.size
            more = input.pos < size
        else:
            if head_is_whole(z, &input, err):
                begin_frame(s, err)
            if err.status not in (RP_OK, RP_ZSTD_SHORT):
                s.taken = input.pos
                return err.status
            more = z.begun or z.held != NULL
    return RP_OK


cdef bint lies_whole(const codec_stream* s, const ZSTD_inBuffer* input, codec_unit* frame) noexcept nogil:
    """Return whether the next frame ends in this chunk, and its dictionary, if it needs one, is known."""
    cdef const uint8_t* src = <const uint8_t*>input.src
    cdef const ZSTD_DDict* dictionary
    cdef rp_error ignored
    return (read_frame(src, input.pos, input.size, True, frame, &ignored) == RP_OK
            and find_dictionary(<const known_dictionaries*>s.row.object, src + input.pos, &dictionary) == RP_OK)


cdef bint head_is_whole(zstd_stream* z, ZSTD_inBuffer* input, rp_error* err) noexcept nogil:
    """Collect a frame's header in z.head; return whether it is complete, or its first four bytes are not a frame's."""
    while True:
        if z.frame >= 4 and rp_load_le32(z.head) != FRAME_MAGIC:
            err.status = RP_OK
            return True
        if read_head(z.head, z.frame, True, &z.walk, err) != RP_ZSTD_SHORT:
            return err.status == RP_OK
        if input.pos == input.size:
            return False
        z.head[z.frame] = (<const uint8_t*>input.src)[input.pos]
        z.frame += 1
        input.pos += 1


cdef int begin_frame(codec_stream* s, rp_error* err) noexcept nogil:
    cdef zstd_stream* z = <zstd_stream*>s.state
    cdef ZSTD_inBuffer head = [z.head, z.frame, 0]
    cdef ZSTD_outBuffer nothing = [NULL, 0, 0]
    cdef size_t result
    if rp_load_le32(z.head) == FRAME_MAGIC:
        if refer_to_dictionary(s, z.head, err) != RP_OK:
            if err.status == RP_ZSTD_DICT_MISSING:
                s.wanted = dictionary_of(z.head)
            return err.status
        if is_wide(z):
            return hold(s, err)
    result = ZSTD_decompressStream((<zstd_state*>s.shared[0]).decompressor, &nothing, &head)
    if ZSTD_isError(result):
        return decoder_failed(result, 0, err)
    z.begun = True
    return RP_OK


# --- a dictionary ----------------------------------------------------------------------------------------------------

cdef int refuse(str what) except -1:
    raise InvalidArgumentError(what, field="data", rule="zstd dictionary (RFC 8878)")


cdef class Dictionary:
    """A zstd dictionary, ready for use.

    Its tables are built once: for decompression when the object is created, for compression at a level when that
    level is first used. An object may be used from any number of threads; it can be pickled and compared.

    Parameters
    ----------
    data : buffer
        A dictionary from `recordpress.dictionaries.train_values`, ``zstd --train`` or another tool, of at most
        64 MiB. Its bytes are copied.

    Attributes
    ----------
    id : int
        Id by which frames refer to the dictionary.
    data : bytes

    Raises
    ------
    InvalidArgumentError
        `data` is damaged or not a dictionary. Raw content has no id, so a reader could not know which frames need it.
    ArgumentTypeError
        `data` is not a bytes-like object.

    Notes
    -----
    ``nbytes`` counts the tables too. The tables of one level take up to a few times the dictionary's size.

    Examples
    --------
    >>> import recordpress
    >>> lines = [b'{"user": %d, "city": "Paris", "active": true}' % n for n in range(1000)]
    >>> dictionary = recordpress.dictionaries.train_values(lines, 1024)
    >>> small = recordpress.compress(lines[7], "zstd", dictionary=dictionary)
    >>> len(lines[7]), len(small) < 25
    (44, True)
    >>> recordpress.decompress(small, "zstd", dictionaries=dictionary) == lines[7]
    True
    """

    def __cinit__(self, data):
        cdef InputView view = InputView(data)
        cdef encoder* tried
        if view.size < LEAST or rp_load_le32(view.data) != MAGIC:
            refuse("not a zstd dictionary: it does not begin with the magic number 0xEC30A437; raw content has no id "
                   "that frames could name")
        if view.size > MOST:
            refuse(f"a dictionary has at most {MOST} bytes, not {view.size}")
        self.data = PyBytes_FromStringAndSize(<const char*>view.data, view.size)
        self.loaded.data = <const uint8_t*>PyBytes_AS_STRING(self.data)
        self.loaded.size = <size_t>PyBytes_GET_SIZE(self.data)
        self.loaded.own.id = rp_load_le32(self.loaded.data + ID_AT)
        if self.loaded.own.id == 0:
            refuse("the dictionary has the id 0, which means no dictionary")
        with nogil:
            self.decoder = ZSTD_createDDict_byReference(self.loaded.data, self.loaded.size)
            tried = new_encoder(&self.loaded, 1)  # the fastest level; encoders read dictionaries by their own rules
            if tried != NULL:
                free_encoder(tried)
        if self.decoder == NULL or tried == NULL:
            refuse("the dictionary is damaged: its tables cannot be read")
        self.loaded.own.decoder = self.decoder
        self.loaded.known.count = 1
        self.loaded.known.items = &self.loaded.own
        zstd_row(&self.row)
        self.row.object = &self.loaded
        self.row.encode = dictionary_encode
        self.row.compressor.open = dictionary_compress_open
        self.row.compressor.close = dictionary_compress_close

    def __dealloc__(self):
        cdef encoder* node = <encoder*>self.loaded.encoders
        while node != NULL:
            node = free_encoder(node)
        ZSTD_freeDDict(self.decoder)

    @property
    def id(self):
        return self.loaded.own.id

    @property
    def nbytes(self):
        """Number of bytes of memory that the dictionary uses, including its tables."""
        cdef size_t size = self.loaded.size + ZSTD_sizeof_DDict(self.decoder)
        cdef encoder* node = <encoder*>rp_slot_content(&self.loaded.encoders)
        while node != NULL:
            size += ZSTD_sizeof_CDict(node.tables)
            node = <encoder*>rp_slot_content(&node.next)
        return size

    def __len__(self):
        return self.loaded.size

    def __eq__(self, other):
        if type(other) is not Dictionary:
            return NotImplemented
        return self.data == (<Dictionary>other).data

    def __hash__(self):
        return hash(self.data)

    def __reduce__(self):
        return Dictionary, (self.data,)

    def __repr__(self):
        return f"<recordpress.dictionaries.Dictionary {self.id}: {self.loaded.size} bytes>"


# --- several dictionaries --------------------------------------------------------------------------------------------

cdef uint32_t unknown_dictionary(const known_dictionaries* known, const uint8_t* src, size_t size,
                                 size_t* at) noexcept nogil:
    """Return the id of the next unknown dictionary after `at`, and move `at` behind its frame; 0 if all are known."""
    cdef codec_unit frame
    cdef rp_error ignored
    cdef uint32_t id
    cdef size_t i, start
    while at[0] < size and read_frame(src, at[0], size, True, &frame, &ignored) == RP_OK:
        start = at[0]
        at[0] += frame.size
        id = dictionary_of(src + start)
        if id == 0:
            continue
        for i in range(known.count):
            if known.items[i].id == id:
                break
        else:
            return id
    return 0


cdef class DictionarySet:

    def __cinit__(self):
        self.kept = []
        zstd_row(&self.row)
        self.row.object = &self.known
        self.row.decompressor.open = dictionary_decompress_open
        self.row.decompressor.step = dictionary_decompress_step
        self.row.decompressor.close = dictionary_decompress_close

    def __dealloc__(self):
        free(self.items)

    cdef bint misses(self, const uint8_t* src, size_t size) noexcept nogil:
        cdef size_t at = 0
        return unknown_dictionary(&self.known, src, size, &at) != 0

    cdef int learn(self, const uint8_t* src, size_t size) except -1:
        """Look up the dictionaries that the frames of a payload need; decoding reports a missing dictionary."""
        cdef size_t at = 0
        cdef uint32_t id
        while True:
            id = unknown_dictionary(&self.known, src, size, &at)
            if id == 0:
                return 0
            self.learn_id(id)

    cdef bint learn_id(self, uint32_t id) except -1:
        found = (<dict>self.source).get(id) if type(self.source) is dict else self.source.get(id)
        if found is None:
            return False
        if type(found) is not Dictionary:
            raise ArgumentTypeError(f"dictionaries must return a recordpress.dictionaries.Dictionary for {id}, "
                                    f"not {type(found).__name__}", field="dictionaries")
        if (<Dictionary>found).loaded.own.id != id:
            raise InvalidArgumentError(f"dictionaries returned a dictionary with the id {found.id} for {id}",
                                       field="dictionaries")
        self.add(found)
        return True

    cdef int add(self, Dictionary dictionary) except -1:
        cdef known_dictionary* items
        items = <known_dictionary*>realloc(self.items, (self.known.count + 1) * sizeof(known_dictionary))
        if items == NULL:
            raise MemoryError
        self.items = items
        self.known.items = items
        self.kept.append(dictionary)
        items[self.known.count] = dictionary.loaded.own
        self.known.count += 1
        return 0


cdef object one_dictionary(dict dictionaries, const uint8_t* src, size_t size):
    """Return the dictionary that a payload of one frame needs, to save a DictionarySet; None if that takes a set."""
    cdef codec_unit frame
    cdef rp_error ignored
    cdef uint32_t id
    if read_frame(src, 0, size, True, &frame, &ignored) != RP_OK or frame.size != size:
        return None
    id = dictionary_of(src)
    found = dictionaries.get(id) if id else None
    return found if type(found) is Dictionary and (<Dictionary>found).loaded.own.id == id else None


cdef DictionarySet dictionary_set(object dictionaries):
    cdef DictionarySet found = DictionarySet.__new__(DictionarySet)
    if type(dictionaries) is Dictionary:
        found.source = {}
        found.add(dictionaries)
    elif hasattr(type(dictionaries), "get"):
        found.source = dictionaries
    else:
        raise ArgumentTypeError("dictionaries must be a dictionaries.Dictionary, a DictionaryStore or a dict of "
                                f"dictionaries by id, not {type(dictionaries).__name__}", field="dictionaries")
    return found


def dictionary_id(data):
    """Return the id of the dictionary that a payload needs.

    Parameters
    ----------
    data : buffer
        One or more zstd frames.

    Returns
    -------
    int | None
        The id from the first frame that needs a dictionary; None if no frame does, or if the data is not zstd.

    Raises
    ------
    ArgumentTypeError
        `data` is not a bytes-like object.

    Examples
    --------
    >>> import recordpress
    >>> dictionary = recordpress.dictionaries.train_values([b"value %d of many" % n for n in range(1000)], 512)
    >>> frame = recordpress.compress(b"value 7 of many", "zstd", dictionary=dictionary)
    >>> recordpress.dictionaries.dictionary_id(frame) == dictionary.id
    True
    """
    cdef InputView view = InputView(data)
    cdef known_dictionaries none
    cdef size_t at = 0
    memset(&none, 0, sizeof(known_dictionaries))
    return unknown_dictionary(&none, view.data, <size_t>view.size, &at) or None


# --- training --------------------------------------------------------------------------------------------------------

def train_values(samples, size=DEFAULT_SIZE, *, level=DEFAULT_LEVEL, dictionary_id=None):
    """Train a dictionary on values.

    Parameters
    ----------
    samples : iterable of buffers
        Values as they will be compressed; at least 7. A total of a hundred times the dictionary's size is enough;
        the maximum is 1 GiB.
    size : int
        Maximum size of the dictionary in bytes, 256 to 67108864.
    level : int
        The level that the dictionary will be used with, -131072 to 22. Other levels work slightly less well.
    dictionary_id : int | None
        32768 to 2147483647; the other ids are reserved. None: an id derived from the content.

    Returns
    -------
    Dictionary

    Raises
    ------
    InvalidArgumentError
        The samples are too few, or have too little in common.
    ArgumentTypeError
        An argument has the wrong type.

    Notes
    -----
    The algorithm is zstd's fastCover with the parameters of ZDICT_trainFromBuffer: the same samples give the same
    dictionary. The GIL is released.

    Examples
    --------
    >>> import recordpress
    >>> lines = [b'{"user": %d, "city": "Paris", "active": true}' % n for n in range(1000)]
    >>> recordpress.dictionaries.train_values(lines, 1024, dictionary_id=40000)
    <recordpress.dictionaries.Dictionary 40000: ... bytes>
    """
    cdef Py_ssize_t capacity = integer_of(size, "size", LEAST_SIZE, MOST)
    cdef ZDICT_fastCover_params_t options
    memset(&options, 0, sizeof(options))
    options.d = TRAINING_D
    options.steps = TRAINING_STEPS
    options.zParams.compressionLevel = <int>integer_of(level, "level", LEVEL_MIN, LEVEL_MAX)
    if dictionary_id is not None:
        options.zParams.dictID = <unsigned>integer_of(dictionary_id, "dictionary_id", ID_MIN, ID_MAX)
    cdef tuple given = tuple_of(samples, "samples", "bytes-like objects")
    cdef Py_ssize_t n = len(given)
    if n < LEAST_SAMPLES:
        raise InvalidArgumentError(f"{n} samples are too few for a dictionary: at least {LEAST_SAMPLES} are needed",
                                   field="samples")
    cdef size_t* sizes = <size_t*>malloc(<size_t>n * sizeof(size_t))
    if sizes == NULL:
        raise MemoryError
    try:
        data = joined(given, sizes)
        return Dictionary(trained(data, sizes, <unsigned>n, capacity, &options))
    finally:
        free(sizes)


cdef bytes joined(tuple samples, size_t* sizes):
    cdef InputView view
    cdef Py_ssize_t i
    cdef int64_t total = 0
    views = []
    for i, sample in enumerate(samples):
        view = InputView(sample)
        sizes[i] = <size_t>view.size
        total += view.size
        if total > MOST_SAMPLE_BYTES:
            raise InvalidArgumentError(f"the samples have more than {MOST_SAMPLE_BYTES} bytes", field="samples")
        views.append(PyBytes_FromStringAndSize(<const char*>view.data, view.size))
    return b"".join(views)


cdef bytes trained(bytes data, const size_t* sizes, unsigned n, Py_ssize_t capacity,
                   ZDICT_fastCover_params_t* options):
    cdef bytearray room = bytearray(capacity)
    cdef char* into = room
    cdef const char* src = PyBytes_AS_STRING(data)
    cdef size_t size
    with nogil:
        size = ZDICT_optimizeTrainFromBuffer_fastCover(into, <size_t>capacity, src, sizes, n, options)
    if not ZDICT_isError(size):
        return bytes(room[:size])
    if ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation:
        raise MemoryError
    raise InvalidArgumentError(f"zstd finds no dictionary in {n} samples of {len(data)} bytes in all: they are too few "
                               "or too small, or have too little in common", field="samples")
