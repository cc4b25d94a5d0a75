"""Public functions that compress or decompress a whole payload."""

from cpython.buffer cimport Py_buffer, PyBuffer_Release
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

from recordpress._arguments cimport flag_of, integer_of
from recordpress._buffers cimport acquire, acquire_writable, pooled, pooled_reserve
from recordpress._c.python cimport PyBytes_New, PyBytes_Resize
from recordpress._c.wire cimport RP_OK, RP_OUTPUT_CAP, RP_OUTPUT_FULL, rp_error, rp_fail
from recordpress._status cimport check
from recordpress.codecs._registry cimport object_compressed, object_decompressed
from recordpress.codecs.codec cimport CODEC_IDS, LEVEL_DEFAULT, codec, more_room, progress, size_range
from recordpress.codecs.context cimport codec_context, context_acquire, context_release
from recordpress.codecs.table cimport (
    CodecTable, Dictionary, DictionarySet, codec_of, dictionaries_of, level_of, magic_of, one_dictionary,
    row_with, table_of,
)

from recordpress.errors import InvalidArgumentError

DEFAULT_MAX_SIZE = DEFAULT_CAP
# The default as an object, so that identity shows that the argument was omitted: fast enough for small payloads.
cdef object DEFAULT_OBJECT = DEFAULT_MAX_SIZE

cdef enum:
    # Without a cap, any producer's batch of 1 MiB, Kafka's default max.message.bytes, can claim gigabytes in each
    # consumer: four bytes of zstd make 128 KiB. Records seldom shrink to a 64th, so a batch of that size passes.
    DEFAULT_CAP = 64 << 20
    # Output cannot be larger: Kafka's own buffers are indexed by int32.
    MAX_SIZE_CEILING = 2147483647
    # A result of unknown size is allocated with its maximum size and shrunk, or copied from scratch memory. Below
    # SMALL bytes of input there is little to copy. malloc may map a result above HEAP, each of whose pages is then
    # new: up to SCRATCH it is copied if it could be GUESS times as large as its input, which is rare.
    SMALL = 2048
    HEAP = 1 << 16
    SCRATCH = 1 << 17
    GUESS = 10


cdef size_t cap_of(object max_decompressed_bytes) except? 0:
    if max_decompressed_bytes is DEFAULT_OBJECT:
        return <size_t>DEFAULT_CAP
    return <size_t>integer_of(max_decompressed_bytes, "max_decompressed_bytes", 0, MAX_SIZE_CEILING)


# The state of one call from begin() to end(). It is on the stack: as objects, it took a fifth of a call's own time.
ctypedef struct codec_call:
    Py_buffer view        # of the input; obj is NULL if no view is needed
    const uint8_t* src
    size_t size
    Py_buffer out_view    # of the caller's output; obj is NULL if the call has no output buffer
    uint8_t* dst
    size_t capacity
    codec_context* context
    const codec* row
    int level
    int magic
    bint raw


cdef int begin(codec_call* call, object data, CodecTable codecs, const codec* row, int level, int magic,
               bint raw) except -1:
    memset(call, 0, sizeof(codec_call))
    call.row = row
    call.level = level
    call.magic = magic
    call.raw = raw
    if PyBytes_CheckExact(data):  # the caller holds it: no view is needed, as in checksum.pyx
        call.src = <const uint8_t*>PyBytes_AS_STRING(data)
        call.size = PyBytes_GET_SIZE(data)
    else:
        acquire(data, &call.view, "data")
        call.src = <const uint8_t*>call.view.buf
        call.size = call.view.len
    call.context = context_acquire(&codecs.rows)
    if call.context == NULL:
        PyBuffer_Release(&call.view)
        raise MemoryError
    return 0


cdef int begin_output(codec_call* call, object out) except -1:
    acquire_writable(out, &call.out_view, "out")
    call.dst = <uint8_t*>call.out_view.buf
    call.capacity = call.out_view.len
    if call.dst < call.src + call.size and call.src < call.dst + call.capacity:
        raise InvalidArgumentError("out must not overlap data", field="out")
    return 0


cdef void end(codec_call* call) noexcept:
    context_release(call.context)
    PyBuffer_Release(&call.out_view)
    PyBuffer_Release(&call.view)


cdef inline int decode(codec_call* call, uint8_t* dst, size_t capacity, progress* at, rp_error* err) noexcept nogil:
    return call.row.decode(call.row, &call.context.states[call.row.id], call.magic, call.src, call.size, dst, capacity,
                           at, err)


cdef int decode_call(codec_call* call, uint8_t* dst, size_t capacity, progress* at, rp_error* err) except -1:
    if call.size <= call.row.gil_kept and capacity <= SCRATCH:
        return decode(call, dst, capacity, at, err)
    with nogil:
        return decode(call, dst, capacity, at, err)


cdef int raise_output_status(rp_error* err, const progress* at, size_t cap) except -1:
    """Raise `err`; a full output means that the caller's cap was reached."""
    if err.status == RP_OUTPUT_FULL:
        rp_fail(err, RP_OUTPUT_CAP, <int64_t>at.consumed, 0, <int64_t>cap)
    check(err.status, err)


cdef inline int encode(codec_call* call, uint8_t* dst, size_t capacity, size_t* produced,
                       rp_error* err) noexcept nogil:
    return call.row.encode(call.row, &call.context.states[call.row.id], call.level, call.magic, call.raw, call.src,
                           call.size, dst, capacity, produced, err)


cdef int encode_call(codec_call* call, uint8_t* dst, size_t capacity, size_t* produced, rp_error* err) except -1:
    """Encode the payload, without the GIL unless it is small: at a level other than the default, 2 KB can take a
    millisecond."""
    if call.size <= call.row.gil_kept and call.level == LEVEL_DEFAULT:
        return encode(call, dst, capacity, produced, err)
    with nogil:
        return encode(call, dst, capacity, produced, err)


cdef size_t compress_scratch(codec_call* call) except? 0:
    """Compress into the context's scratch; return the size."""
    cdef pooled* scratch = &call.context.scratch
    cdef size_t produced = 0
    cdef rp_error err
    if (pooled_reserve(scratch, call.row.bound(call.size), &err) != RP_OK
            or encode_call(call, scratch.data, scratch.capacity, &produced, &err) != RP_OK):
        check(err.status, &err)
    return produced


cdef size_t compress_output(codec_call* call) except? 0:
    """Compress into the caller's output, through the scratch if the output may be too small."""
    cdef size_t produced = 0
    cdef rp_error err
    if call.row.bound(call.size) <= call.capacity:
        if encode_call(call, call.dst, call.capacity, &produced, &err) != RP_OK:
            check(err.status, &err)
        return produced
    produced = compress_scratch(call)
    if produced > call.capacity:
        rp_fail(&err, RP_OUTPUT_FULL, -1, 0, <int64_t>call.capacity)
        check(err.status, &err)
    memcpy(call.dst, call.context.scratch.data, produced)
    return produced


def compress(data, compression_type, level=None, *, magic=2, raw=False, codecs=None, dictionary=None):
    """Compress record bytes as Kafka's Java producer does.

    Parameters
    ----------
    data : buffer
        Any contiguous bytes-like object.
    compression_type : str
        A `recordpress.typing.CompressionType`, or the name of a plug-in.
    level : int | None | "kafka-default"
        None and "kafka-default" mean Java's default. `recordpress.typing.Level` lists the levels of each codec.
    magic : int
        Magic of the batch: 0, 1 or 2. It determines the header checksum of lz4 (KIP-57); zstd needs 2 (KIP-110).
    raw : bool
        For snappy only: write one raw block instead of a xerial stream. It is smaller, and Kafka reads it too.
    codecs : CodecRegistry | None
        Codec plug-ins in addition to Kafka's.
    dictionary : recordpress.dictionaries.Dictionary | None
        For zstd and single values only: Kafka's readers refuse a batch that needs a dictionary. The result is one
        frame with its content size and the dictionary's id, as zstd's own tools write it.

    Returns
    -------
    bytes

    Raises
    ------
    InvalidArgumentError
        The compression type, level or magic is invalid, or the buffer is not contiguous.
    ArgumentTypeError
        An argument has the wrong type.

    Notes
    -----
    Headers and framing equal Java's byte for byte. So does the compressed data for snappy, and for lz4 at its default
    level. For zstd, libzstd knows the size of the input, which Java's stream does not: the bytes are the same
    from 256 KiB up to the window of 2 MiB. :func:`compressor` makes Java's calls at every size, and returns Java's
    bytes if both have the same version of libzstd. gzip data comes from libdeflate, whose output is smaller.

    Examples
    --------
    >>> import recordpress
    >>> recordpress.compress(b"record", "zstd").hex(" ")
    '28 b5 2f fd 00 58 30 00 00 72 65 63 6f 72 64 01 00 00'
    """
    cdef CodecTable table = table_of(codecs)
    cdef const codec* row = codec_of(table, compression_type)
    cdef int level_ = level_of(row, level), magic_ = magic_of(row, magic)
    cdef codec_call call
    cdef size_t size
    if dictionary is not None:
        row = row_with(row, dictionary, "dictionary")
    cdef bint raw_ = flag_of(raw, "raw")
    if row.id >= CODEC_IDS and PyBytes_CheckExact(data):
        return object_compressed(row, data, level_)
    begin(&call, data, table, row, level_, magic_, raw_)
    try:
        size = compress_scratch(&call)
        return PyBytes_FromStringAndSize(<char*>call.context.scratch.data, size)
    finally:
        end(&call)


def decompress(data, compression_type, max_decompressed_bytes=DEFAULT_MAX_SIZE, *, magic=2, codecs=None,
               dictionaries=None):
    """Decompress a payload by the rules of Kafka's Java reader.

    Parameters
    ----------
    data : buffer
        Any contiguous bytes-like object.
    compression_type : str
        A `recordpress.typing.CompressionType`, or the name of a plug-in.
    max_decompressed_bytes : int
        Maximum size of output in bytes, 0 to 2147483647; 64 MiB by default.
    magic : int
        Magic of the batch: 0, 1 or 2. With 0, an LZ4 frame may have any header checksum.
    codecs : CodecRegistry | None
        As in :func:`compress`.
    dictionaries : Dictionary | DictionaryStore | dict of int to Dictionary | None
        For zstd: dictionaries that frames may refer to by id. Frames without an id need none of them.

    Returns
    -------
    bytes

    Raises
    ------
    DecompressionError
        The stream is damaged or truncated, uses a feature that Kafka refuses, or needs a dictionary that was not given;
        the message has its id. `position` is the byte in `data`.
    OutputTooLargeError
        The output would be larger than max_decompressed_bytes.
    InvalidArgumentError
        The compression type, the cap or magic is invalid, or the buffer is not contiguous.
    ArgumentTypeError
        An argument has the wrong type.

    Notes
    -----
    gzip: RFC 1952, consecutive members. snappy: consecutive xerial streams, or one raw block.
    lz4: one frame of independent blocks; anything after it is ignored. zstd: RFC 8878, consecutive frames,
    windows of up to 128 MiB, only the given dictionaries.

    Examples
    --------
    >>> import recordpress
    >>> recordpress.decompress(recordpress.compress(b"record", "zstd"), "zstd")
    b'record'
    """
    cdef CodecTable table = table_of(codecs)
    cdef const codec* row = codec_of(table, compression_type)
    cdef int magic_ = magic_of(row, magic)
    cdef size_t cap = cap_of(max_decompressed_bytes)
    cdef codec_call call
    if row.id >= CODEC_IDS and PyBytes_CheckExact(data) and dictionaries is None:
        return object_decompressed(row, data, cap)
    begin(&call, data, table, row, LEVEL_DEFAULT, magic_, False)
    try:
        if dictionaries is not None:
            dictionaries = learned(&call, dictionaries)
        return decompress_call(&call, cap)
    finally:
        end(&call)


cdef object learned(codec_call* call, object dictionaries):
    """Give the call a row with the dictionaries that its data needs; the returned object keeps them alive."""
    cdef DictionarySet known
    if type(dictionaries) is dict:
        found = one_dictionary(dictionaries, call.src, call.size)
        dictionaries = dictionaries if found is None else found
    if type(dictionaries) is Dictionary:
        call.row = row_with(call.row, dictionaries, "dictionaries")
        return dictionaries
    known = dictionaries_of(call.row, dictionaries)
    known.learn(call.src, call.size)
    call.row = &known.row
    return known


cdef bytes decompress_call(codec_call* call, size_t cap):
    cdef size_range expected
    cdef progress at
    cdef size_t room
    cdef rp_error err
    call.row.expect(call.row, call.src, call.size, &expected)
    if expected.least > cap:
        rp_fail(&err, RP_OUTPUT_CAP, 0, 0, <int64_t>cap)
        check(err.status, &err)
    memset(&at, 0, sizeof(progress))
    at.unit = expected.first
    at.cap = cap
    room = min(expected.most, cap)
    if expected.least < room and expected.sure and is_copied(call.size, room):
        return decompress_copied(call, cap, room, &at)
    return decompress_bytes(call, cap, room, &at)


cdef bint is_copied(size_t size, size_t room) noexcept:
    """Return whether a result of unknown size, up to `room`, is copied: see SMALL."""
    return room <= SCRATCH and (size < SMALL or (room > HEAP and GUESS * size < room))


cdef bytes decompress_copied(codec_call* call, size_t cap, size_t room, progress* at):
    """Decompress through the context's scratch. `room` is the cap, or an upper bound of the output."""
    cdef pooled* scratch = &call.context.scratch
    cdef rp_error err
    if pooled_reserve(scratch, room, &err) != RP_OK:
        check(err.status, &err)
    if decode_call(call, scratch.data, room, at, &err) != RP_OK:
        raise_output_status(&err, at, cap)
    return PyBytes_FromStringAndSize(<char*>scratch.data, at.produced)


cdef bytes decompress_bytes(codec_call* call, size_t cap, size_t room, progress* at):
    """Decompress straight into the result."""
    cdef PyObject* result = PyBytes_New(NULL, room)
    cdef rp_error err
    cdef int status
    while True:
        status = decode_call(call, <uint8_t*>PyBytes_AS_STRING(<object>result), room, at, &err)
        if status != RP_OUTPUT_FULL or room == cap:
            break
        room = more_room(room, at.wanted, cap)
        PyBytes_Resize(&result, room)
    if status != RP_OK:
        Py_DECREF(<object>result)
        raise_output_status(&err, at, cap)
    if at.produced != room:
        PyBytes_Resize(&result, at.produced)
    out = <bytes>result
    Py_DECREF(out)
    return out


def compress_into(data, out, compression_type, level=None, *, magic=2, raw=False, codecs=None, dictionary=None):
    """Compress into the caller's buffer, as :func:`compress` does.

    Parameters
    ----------
    data, compression_type, level, magic, raw, codecs, dictionary
        As in :func:`compress`.
    out : buffer
        Writable. The size that :func:`compress_bound` returns is always enough.

    Returns
    -------
    int
        Bytes written.

    Raises
    ------
    InvalidArgumentError
        `out` is too small or read-only, or overlaps `data`; or as in :func:`compress`.
    ArgumentTypeError
        An argument has the wrong type.

    Examples
    --------
    >>> import recordpress
    >>> out = bytearray(64)
    >>> recordpress.compress_into(b"record", out, "snappy")
    28
    """
    cdef CodecTable table = table_of(codecs)
    cdef const codec* row = codec_of(table, compression_type)
    cdef int level_ = level_of(row, level), magic_ = magic_of(row, magic)
    cdef codec_call call
    if dictionary is not None:
        row = row_with(row, dictionary, "dictionary")
    begin(&call, data, table, row, level_, magic_, flag_of(raw, "raw"))
    try:
        begin_output(&call, out)
        return compress_output(&call)
    finally:
        end(&call)


def decompress_into(data, out, compression_type, *, magic=2, codecs=None, dictionaries=None):
    """Decompress into the caller's buffer, as :func:`decompress` does.

    Parameters
    ----------
    data, compression_type, magic, codecs, dictionaries
        As in :func:`decompress`.
    out : buffer
        Writable. Its size is the maximum number of bytes of output. After an error its content is undefined.

    Returns
    -------
    int
        Bytes written.

    Raises
    ------
    DecompressionError
        As in :func:`decompress`.
    InvalidArgumentError
        `out` is too small or read-only, or overlaps `data`; or as in :func:`decompress`.
    ArgumentTypeError
        An argument has the wrong type.

    Examples
    --------
    >>> import recordpress
    >>> out = bytearray(64)
    >>> size = recordpress.decompress_into(recordpress.compress(b"record", "lz4"), out, "lz4")
    >>> bytes(out[:size])
    b'record'
    """
    cdef CodecTable table = table_of(codecs)
    cdef const codec* row = codec_of(table, compression_type)
    cdef int magic_ = magic_of(row, magic)
    cdef codec_call call
    cdef progress at
    cdef rp_error err
    begin(&call, data, table, row, LEVEL_DEFAULT, magic_, False)
    try:
        begin_output(&call, out)
        if dictionaries is not None:
            dictionaries = learned(&call, dictionaries)
        memset(&at, 0, sizeof(progress))
        at.cap = call.capacity
        if decode_call(&call, call.dst, call.capacity, &at, &err) != RP_OK:
            check(err.status, &err)
        return at.produced
    finally:
        end(&call)


def compress_bound(size, compression_type, *, codecs=None):
    """Return the maximum size of the output of :func:`compress` for `size` bytes.

    Parameters
    ----------
    size : int
        Number of bytes, 0 to 2147483647.
    compression_type : str
        A `recordpress.typing.CompressionType`, or the name of a plug-in.
    codecs : CodecRegistry | None
        As in :func:`compress`.

    Returns
    -------
    int

    Raises
    ------
    InvalidArgumentError
        The compression type or the size is invalid.
    ArgumentTypeError
        An argument has the wrong type.

    Examples
    --------
    >>> import recordpress
    >>> recordpress.compress_bound(0, "lz4")
    31
    """
    return codec_of(table_of(codecs), compression_type).bound(<size_t>integer_of(size, "size", 0, MAX_SIZE_CEILING))
