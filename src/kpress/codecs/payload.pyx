"""Payload <-> record bytes for every codec: what the record layer calls, and the public functions.

A codec module gives four functions: `expect` (what the headers say of the output's size), `decode` (into a
buffer of a given size), `bound` and `encode`. Where the memory comes from, how it grows and where it ends is
decided here, once for all codecs.
"""

from cpython.buffer cimport Py_buffer, PyBuffer_Release
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.bool cimport PyBool_Check
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_Check
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from libc.stdint cimport INT64_MIN, int64_t, uint8_t
from libc.string cimport memcpy, memset

from kpress._buffers cimport acquire, acquire_writable, pooled, pooled_reserve
from kpress._c.python cimport PyBytes_New, PyBytes_Resize
from kpress._c.wire cimport (
    KP_CODEC_ID,
    KP_GZIP,
    KP_LZ4,
    KP_NONE,
    KP_NO_MEMORY,
    KP_OK,
    KP_OUTPUT_CAP,
    KP_OUTPUT_FULL,
    KP_SNAPPY,
    KP_ZSTD,
    kp_error,
    kp_fail,
)
from kpress._status cimport raise_status
from kpress.codecs.context cimport codec_context, context_acquire, context_release, progress, size_range
from kpress.codecs._gzip cimport (
    GZIP_LEVEL_DEFAULT,
    GZIP_LEVEL_MAX,
    GZIP_LEVEL_MIN,
    gzip_bound,
    gzip_decode,
    gzip_encode,
    gzip_expect,
    gzip_prefix,
)
from kpress.codecs._lz4 cimport (
    LZ4_LEVEL_DEFAULT,
    LZ4_LEVEL_MAX,
    LZ4_LEVEL_MIN,
    lz4_bound,
    lz4_decode,
    lz4_encode,
    lz4_expect,
)
from kpress.codecs._snappy cimport snappy_bound, snappy_decode, snappy_encode, snappy_expect, snappy_prefix
from kpress.codecs._zstd cimport (
    ZSTD_LEVEL_DEFAULT,
    ZSTD_LEVEL_MAX,
    ZSTD_LEVEL_MIN,
    zstd_bound,
    zstd_decode,
    zstd_encode,
    zstd_expect,
    zstd_prefix,
)

from kpress.errors import ArgumentTypeError, InvalidArgumentError

cdef str GZIP = "gzip", SNAPPY = "snappy", LZ4 = "lz4", ZSTD = "zstd"
cdef tuple NAMES = ("none", GZIP, SNAPPY, LZ4, ZSTD)
cdef dict IDS = {name: codec for codec, name in enumerate(NAMES)}

DEFAULT_MAX_SIZE = DEFAULT_CAP
# The defaults as objects: an argument that was left out is told by its identity, which a call on a small payload
# notices.
cdef object DEFAULT_MAX_SIZE_OBJECT = DEFAULT_MAX_SIZE
cdef object MAGIC_DEFAULT = 2

cdef enum:
    GROWN_FROM = 4096
    DEFAULT_CAP = 64 << 20
    # Output cannot be larger: Kafka's own buffers are indexed by int32.
    MAX_SIZE_CEILING = 2147483647
    # Input of up to so many bytes (and output of up to SCRATCH) is worked on with the GIL. That takes 20 us or less
    # as a rule; giving the GIL up and taking it back takes 0.1 us, and more where another thread waits for it.
    GIL_KEPT = 2048
    GIL_KEPT_FAST = 16384   # of lz4 and snappy
    # A result whose size is not known is made of the largest size and cut, or copied from scratch memory. Below
    # SMALL bytes of input there is little to copy. A result above HEAP may be mapped by malloc, and each page of it
    # made anew: up to SCRATCH it is copied where it could be GUESS times its input, which it hardly ever is.
    SMALL = 2048
    HEAP = 1 << 16
    SCRATCH = 1 << 17
    GUESS = 10


# --- one codec of five ---------------------------------------------------------------------------------------

cdef void expect(int codec, const uint8_t* src, size_t size, size_range* expected) noexcept nogil:
    expected.first.size = 0
    if codec == KP_GZIP:
        gzip_expect(src, size, expected)
    elif codec == KP_SNAPPY:
        snappy_expect(src, size, expected)
    elif codec == KP_LZ4:
        lz4_expect(src, size, expected)
    elif codec == KP_ZSTD:
        zstd_expect(src, size, expected)
    else:
        expected.least = expected.most = size


cdef int copy(const uint8_t* src, size_t size, uint8_t* dst, size_t capacity, progress* at,
              kp_error* err) noexcept nogil:
    if size > capacity:
        return kp_fail(err, KP_OUTPUT_FULL, 0, 0, <int64_t>capacity)
    if size > 0:
        memcpy(dst, src, size)
    at.consumed = at.produced = size
    return KP_OK


cdef int decode(codec_context* context, int codec, int magic, const uint8_t* src, size_t size, uint8_t* dst,
                size_t capacity, progress* at, kp_error* err) noexcept nogil:
    if codec == KP_GZIP:
        return gzip_decode(context, src, size, dst, capacity, at, err)
    if codec == KP_SNAPPY:
        return snappy_decode(src, size, dst, capacity, at, err)
    if codec == KP_LZ4:
        return lz4_decode(magic, src, size, dst, capacity, at, err)
    if codec == KP_ZSTD:
        return zstd_decode(context, src, size, dst, capacity, at, err)
    if codec == KP_NONE:
        return copy(src, size, dst, capacity, at, err)
    return kp_fail(err, KP_CODEC_ID, -1, codec, 0)


cdef size_t payload_bound(int codec, size_t size) noexcept nogil:
    if codec == KP_GZIP:
        return gzip_bound(size)
    if codec == KP_SNAPPY:
        return snappy_bound(size)
    if codec == KP_LZ4:
        return lz4_bound(size)
    if codec == KP_ZSTD:
        return zstd_bound(size)
    return size


cdef int encode(codec_context* context, int codec, int level, int magic, bint raw, const uint8_t* src, size_t size,
                uint8_t* dst, size_t capacity, size_t* produced, kp_error* err) noexcept nogil:
    """`capacity` is at least payload_bound(codec, size)."""
    cdef progress at
    if codec == KP_GZIP:
        return gzip_encode(context, GZIP_LEVEL_DEFAULT if level == LEVEL_DEFAULT else level,
                           src, size, dst, capacity, produced, err)
    if codec == KP_SNAPPY:
        produced[0] = snappy_encode(context, raw, src, size, dst)
        return KP_OK
    if codec == KP_LZ4:
        return lz4_encode(context, LZ4_LEVEL_DEFAULT if level == LEVEL_DEFAULT else level, magic,
                          src, size, dst, produced, err)
    if codec == KP_ZSTD:
        return zstd_encode(context, ZSTD_LEVEL_DEFAULT if level == LEVEL_DEFAULT else level,
                           src, size, dst, capacity, produced, err)
    if codec == KP_NONE:
        copy(src, size, dst, capacity, &at, err)
        produced[0] = size
        return KP_OK
    return kp_fail(err, KP_CODEC_ID, -1, codec, 0)


# --- into pooled memory: the record layer ------------------------------------------------------------------------

cdef int decompress_units(codec_context* context, int codec, int magic, const uint8_t* src, size_t size,
                          pooled* out, size_t cap, kp_error* err) noexcept nogil:
    """decompress_payload(); on an error `out` keeps the members, chunks, blocks or frames before it."""
    cdef size_t start = out.size, room
    cdef size_range expected
    cdef progress at
    cdef int status
    expect(codec, src, size, &expected)
    if expected.least > cap:
        return kp_fail(err, KP_OUTPUT_CAP, 0, 0, <int64_t>cap)
    room = min(expected.most, cap)
    memset(&at, 0, sizeof(progress))
    at.frame = expected.first
    while True:
        if pooled_reserve(out, start + room, err) != KP_OK:
            return err.status
        room = min(out.capacity - start, cap)
        status = decode(context, codec, magic, src, size, out.data + start, room, &at, err)
        out.size = start + at.produced
        if status != KP_OUTPUT_FULL:
            return status
        if room == cap:
            return kp_fail(err, KP_OUTPUT_CAP, <int64_t>at.consumed, 0, <int64_t>cap)
        room = min(cap, max(2 * room, <size_t>GROWN_FROM))


cdef int decompress_payload(codec_context* context, int codec, int magic, const uint8_t* src, size_t size,
                            pooled* out, size_t cap, kp_error* err) noexcept nogil:
    cdef size_t start = out.size
    cdef int status = decompress_units(context, codec, magic, src, size, out, cap, err)
    if status != KP_OK:
        out.size = start
    return status


cdef int decompress_prefix(codec_context* context, int codec, int magic, const uint8_t* src, size_t size,
                           pooled* out, size_t cap, kp_error* err) noexcept nogil:
    cdef size_t start = out.size
    cdef int status = decompress_units(context, codec, magic, src, size, out, cap, err)
    if status == KP_OK or status == KP_NO_MEMORY or status == KP_OUTPUT_CAP:
        return status
    if codec == KP_SNAPPY:
        out.size = start + snappy_prefix(out.size - start)
    elif codec == KP_GZIP:
        out.size = start
        gzip_prefix(src, size, out, cap)
    elif codec == KP_ZSTD:
        out.size = start
        zstd_prefix(context, src, size, out, cap)
    return status


cdef int compress_payload(codec_context* context, int codec, int level, int magic, const uint8_t* src, size_t size,
                          pooled* out, kp_error* err) noexcept nogil:
    cdef size_t produced = 0
    if pooled_reserve(out, out.size + payload_bound(codec, size), err) != KP_OK:
        return err.status
    if encode(context, codec, level, magic, False, src, size, out.data + out.size, out.capacity - out.size,
              &produced, err) != KP_OK:
        return err.status
    out.size += produced
    return KP_OK


# --- arguments from Python -----------------------------------------------------------------------------------------

cdef int codec_of(object compression_type) except -1:
    # Names in a program's text are interned: most calls are done here.
    if compression_type is ZSTD:
        return KP_ZSTD
    if compression_type is LZ4:
        return KP_LZ4
    if compression_type is SNAPPY:
        return KP_SNAPPY
    if compression_type is GZIP:
        return KP_GZIP
    if not isinstance(compression_type, str):
        raise ArgumentTypeError(f"compression_type must be a str, not {type(compression_type).__name__}")
    codec = IDS.get(compression_type)
    if codec is None:
        raise InvalidArgumentError(f"compression_type must be one of {', '.join(NAMES)}, not {compression_type!r}")
    return codec


cdef int64_t int_of(object value, str name, str also="") except? -1:
    """An int argument; what does not fit 64 bits becomes INT64_MIN, which no argument accepts."""
    cdef int overflow = 0
    cdef int64_t number
    if not PyLong_Check(value) or PyBool_Check(value):
        raise ArgumentTypeError(f"{name} must be an int{also}, not {type(value).__name__}")
    number = PyLong_AsLongLongAndOverflow(value, &overflow)
    return INT64_MIN if overflow else number


cdef int level_of(int codec, object level) except? -1:
    cdef int64_t number
    cdef int lowest, highest
    if level is None or level == "kafka-default":
        return LEVEL_DEFAULT
    if codec == KP_NONE or codec == KP_SNAPPY:
        raise InvalidArgumentError(f"{NAMES[codec]} has no levels: leave level out")
    number = int_of(level, "level", ', None or "kafka-default"')
    if codec == KP_LZ4:
        lowest, highest = LZ4_LEVEL_MIN, LZ4_LEVEL_MAX
    elif codec == KP_ZSTD:
        lowest, highest = ZSTD_LEVEL_MIN, ZSTD_LEVEL_MAX
    else:
        lowest, highest = GZIP_LEVEL_MIN, GZIP_LEVEL_MAX
    if lowest <= number <= highest or (codec == KP_GZIP and number == GZIP_LEVEL_DEFAULT):
        return <int>number
    also = f" or {GZIP_LEVEL_DEFAULT}" if codec == KP_GZIP else ""
    raise InvalidArgumentError(f"level of {NAMES[codec]} must be between {lowest} and {highest}{also}, not {level}")


cdef int magic_of(int codec, object magic) except -1:
    if magic is MAGIC_DEFAULT:
        return 2
    cdef int64_t number = int_of(magic, "magic")
    if not 0 <= number <= 2:
        raise InvalidArgumentError(f"magic must be 0, 1 or 2, not {magic}")
    if codec == KP_ZSTD and number < 2:
        raise InvalidArgumentError(f"zstd needs magic 2, not {magic} (KIP-110)")
    return <int>number


cdef size_t cap_of(object max_size) except? 0:
    if max_size is DEFAULT_MAX_SIZE_OBJECT:
        return <size_t>DEFAULT_CAP
    cdef int64_t number = int_of(max_size, "max_size")
    if not 0 <= number <= MAX_SIZE_CEILING:
        raise InvalidArgumentError(f"max_size must be between 0 and {MAX_SIZE_CEILING}, not {max_size}")
    return number


# --- the public functions ----------------------------------------------------------------------------------------

# What one call holds from begin() to end(). On the stack: as objects, they took a fifth of a call's own time.
ctypedef struct codec_call:
    Py_buffer view        # of the input; obj is NULL where none is needed
    const uint8_t* src
    size_t size
    Py_buffer out_view    # of the caller's output, the same
    uint8_t* dst
    size_t capacity
    codec_context* context


cdef int begin(codec_call* call, object data) except -1:
    memset(call, 0, sizeof(codec_call))
    if PyBytes_CheckExact(data):  # the caller holds it: no view is needed
        call.src = <const uint8_t*>PyBytes_AS_STRING(data)
        call.size = PyBytes_GET_SIZE(data)
    else:
        acquire(data, &call.view, "data")
        call.src = <const uint8_t*>call.view.buf
        call.size = call.view.len
    call.context = context_acquire()
    if call.context == NULL:
        PyBuffer_Release(&call.view)
        raise MemoryError
    return 0


cdef int begin_output(codec_call* call, object out) except -1:
    acquire_writable(out, &call.out_view, "out")
    call.dst = <uint8_t*>call.out_view.buf
    call.capacity = call.out_view.len
    if call.dst < call.src + call.size and call.src < call.dst + call.capacity:
        raise InvalidArgumentError("out must not overlap data")
    return 0


cdef void end(codec_call* call) noexcept:
    context_release(call.context)
    PyBuffer_Release(&call.out_view)
    PyBuffer_Release(&call.view)


cdef size_t gil_kept(int codec, int level=LEVEL_DEFAULT) noexcept:
    """The most input that is worked on with the GIL. At another level than the default, 2 KB can take a millisecond."""
    if level != LEVEL_DEFAULT:
        return 0
    return GIL_KEPT if codec == KP_ZSTD or codec == KP_GZIP else GIL_KEPT_FAST


cdef int decode_call(codec_call* call, int codec, int magic, uint8_t* dst, size_t capacity, progress* at,
                     kp_error* err) except -1:
    if call.size <= gil_kept(codec) and capacity <= SCRATCH:
        return decode(call.context, codec, magic, call.src, call.size, dst, capacity, at, err)
    with nogil:
        return decode(call.context, codec, magic, call.src, call.size, dst, capacity, at, err)


cdef int raise_output_status(kp_error* err, const progress* at, size_t cap) except -1:
    """Raise `err`; that the output was full means that the caller's cap was reached."""
    if err.status == KP_OUTPUT_FULL:
        kp_fail(err, KP_OUTPUT_CAP, <int64_t>at.consumed, 0, <int64_t>cap)
    raise_status(err)


cdef int encode_call(codec_call* call, int codec, int level, int magic, bint raw, uint8_t* dst, size_t capacity,
                     size_t* produced, kp_error* err) except -1:
    if call.size <= gil_kept(codec, level):
        return encode(call.context, codec, level, magic, raw, call.src, call.size, dst, capacity, produced, err)
    with nogil:
        return encode(call.context, codec, level, magic, raw, call.src, call.size, dst, capacity, produced, err)


cdef size_t compress_scratch(codec_call* call, int codec, int level, int magic, bint raw) except? 0:
    """Into the context's scratch; returns the size."""
    cdef pooled* scratch = &call.context.scratch
    cdef size_t produced = 0
    cdef kp_error err
    if (pooled_reserve(scratch, payload_bound(codec, call.size), &err) != KP_OK
            or encode_call(call, codec, level, magic, raw, scratch.data, scratch.capacity, &produced, &err) != KP_OK):
        raise_status(&err)
    return produced


cdef size_t compress_output(codec_call* call, int codec, int level, int magic, bint raw) except? 0:
    """Into the caller's output, by way of the scratch where it may be too small."""
    cdef size_t produced = 0
    cdef kp_error err
    if payload_bound(codec, call.size) <= call.capacity:
        if encode_call(call, codec, level, magic, raw, call.dst, call.capacity, &produced, &err) != KP_OK:
            raise_status(&err)
        return produced
    produced = compress_scratch(call, codec, level, magic, raw)
    if produced > call.capacity:
        kp_fail(&err, KP_OUTPUT_FULL, -1, 0, <int64_t>call.capacity)
        raise_status(&err)
    memcpy(call.dst, call.context.scratch.data, produced)
    return produced


def compress(data, compression_type, level=None, *, magic=2, bint raw=False):
    """Compress record bytes as Kafka's Java producer does.

    Parameters
    ----------
    data : buffer
        Any contiguous bytes-like object.
    compression_type : str
        "none", "gzip", "snappy", "lz4" or "zstd".
    level : int | None | "kafka-default"
        None and "kafka-default" are Java's default. gzip -1 or 1 to 9 (-1 is 6). lz4 1 to 17, where 9, the
        default, is the fast compressor and every other is LZ4 HC. zstd -131072 to 22, default 3. The others
        have none (KIP-390).
    magic : int
        Of the batch: 0, 1 or 2. It decides the header checksum of lz4 (KIP-57); zstd needs 2 (KIP-110).
    raw : bool
        snappy alone: one raw block in place of the xerial stream; smaller, and read by Kafka as well.

    Returns
    -------
    bytes

    Raises
    ------
    InvalidArgumentError
        The compression type, level or magic is not one of these, or the buffer is not contiguous.
    ArgumentTypeError
        An argument has another type.

    Notes
    -----
    Frames and framing are Java's, byte for byte. The compressed data in them is Java's too for lz4 at its default
    and for snappy. For zstd it is what libzstd makes of a size that is known, which Java's stream does not know:
    the same from 256 KiB up to the window of 2 MiB; :func:`compressor` makes Java's calls at every size, and gives
    Java's bytes where libzstd's version is Java's. gzip is libdeflate's, which is smaller.

    Examples
    --------
    >>> import kpress
    >>> kpress.compress(b"record", "zstd").hex(" ")
    '28 b5 2f fd 00 58 30 00 00 72 65 63 6f 72 64 01 00 00'
    """
    cdef int codec = codec_of(compression_type)
    cdef int level_ = level_of(codec, level), magic_ = magic_of(codec, magic)
    cdef codec_call call
    cdef size_t size
    begin(&call, data)
    try:
        size = compress_scratch(&call, codec, level_, magic_, raw)
        return PyBytes_FromStringAndSize(<char*>call.context.scratch.data, size)
    finally:
        end(&call)


def decompress(data, compression_type, max_size=DEFAULT_MAX_SIZE, *, magic=2):
    """Decompress a payload, and accept and refuse what Kafka's Java reader does.

    Parameters
    ----------
    data : buffer
        Any contiguous bytes-like object.
    compression_type : str
        "none", "gzip", "snappy", "lz4" or "zstd".
    max_size : int
        Most bytes of output, 0 to 2147483647.
    magic : int
        Of the batch: 0, 1 or 2. 0 takes an LZ4 frame with any header checksum.

    Returns
    -------
    bytes

    Raises
    ------
    DecompressionError
        The stream is damaged, cut short, or uses what Kafka refuses. `position` is the byte in `data`.
    OutputTooLargeError
        The output would be larger than `max_size`.
    InvalidArgumentError
        The compression type, max_size or magic is not one of these, or the buffer is not contiguous.
    ArgumentTypeError
        An argument has another type.

    Notes
    -----
    gzip: RFC 1952, members one after the other. snappy: xerial streams one after the other, or one raw block.
    lz4: one frame of independent blocks, what follows it is ignored. zstd: RFC 8878, frames one after the
    other, windows of up to 128 MiB, no dictionaries.

    Examples
    --------
    >>> import kpress
    >>> kpress.decompress(kpress.compress(b"record", "zstd"), "zstd")
    b'record'
    """
    cdef int codec = codec_of(compression_type)
    cdef int magic_ = magic_of(codec, magic)
    cdef size_t cap = cap_of(max_size)
    cdef codec_call call
    begin(&call, data)
    try:
        return decompress_call(&call, codec, magic_, cap)
    finally:
        end(&call)


cdef bytes decompress_call(codec_call* call, int codec, int magic, size_t cap):
    cdef size_range expected
    cdef progress at
    cdef size_t room
    cdef kp_error err
    expect(codec, call.src, call.size, &expected)
    if expected.least > cap:
        kp_fail(&err, KP_OUTPUT_CAP, 0, 0, <int64_t>cap)
        raise_status(&err)
    memset(&at, 0, sizeof(progress))
    at.frame = expected.first
    room = min(expected.most, cap)
    if expected.least < room and codec != KP_GZIP and is_copied(call.size, room):
        return decompress_copied(call, codec, magic, cap, room, &at)
    return decompress_bytes(call, codec, magic, cap, room, &at)


cdef bint is_copied(size_t size, size_t room) noexcept:
    """Whether a result of an unknown size up to `room` is copied: see SMALL."""
    return room <= SCRATCH and (size < SMALL or (room > HEAP and GUESS * size < room))


cdef bytes decompress_copied(codec_call* call, int codec, int magic, size_t cap, size_t room, progress* at):
    """By way of the context's scratch. `room` is the cap or cannot be exceeded, which is not true of gzip's."""
    cdef pooled* scratch = &call.context.scratch
    cdef kp_error err
    if pooled_reserve(scratch, room, &err) != KP_OK:
        raise_status(&err)
    if decode_call(call, codec, magic, scratch.data, room, at, &err) != KP_OK:
        raise_output_status(&err, at, cap)
    return PyBytes_FromStringAndSize(<char*>scratch.data, at.produced)


cdef bytes decompress_bytes(codec_call* call, int codec, int magic, size_t cap, size_t room, progress* at):
    """Straight into the result."""
    cdef PyObject* result = PyBytes_New(NULL, room)
    cdef kp_error err
    cdef int status
    while True:
        status = decode_call(call, codec, magic, <uint8_t*>PyBytes_AS_STRING(<object>result), room, at, &err)
        if status != KP_OUTPUT_FULL or room == cap:
            break
        room = min(cap, max(2 * room, <size_t>GROWN_FROM))
        PyBytes_Resize(&result, room)
    if status != KP_OK:
        Py_DECREF(<object>result)
        raise_output_status(&err, at, cap)
    if at.produced != room:
        PyBytes_Resize(&result, at.produced)
    out = <bytes>result
    Py_DECREF(out)
    return out


def compress_into(data, out, compression_type, level=None, *, magic=2, bint raw=False):
    """:func:`compress` into the caller's buffer.

    Parameters
    ----------
    data, compression_type, level, magic, raw
        As in :func:`compress`.
    out : buffer
        Writable. :func:`compress_bound` bytes are always enough.

    Returns
    -------
    int
        Bytes written.

    Raises
    ------
    InvalidArgumentError
        `out` is too small, read-only or overlaps `data`; and as in :func:`compress`.
    ArgumentTypeError
        An argument has another type.

    Examples
    --------
    >>> import kpress
    >>> out = bytearray(64)
    >>> kpress.compress_into(b"record", out, "snappy")
    28
    """
    cdef int codec = codec_of(compression_type)
    cdef int level_ = level_of(codec, level), magic_ = magic_of(codec, magic)
    cdef codec_call call
    begin(&call, data)
    try:
        begin_output(&call, out)
        return compress_output(&call, codec, level_, magic_, raw)
    finally:
        end(&call)


def decompress_into(data, out, compression_type, *, magic=2):
    """:func:`decompress` into the caller's buffer.

    Parameters
    ----------
    data, compression_type, magic
        As in :func:`decompress`.
    out : buffer
        Writable. Its size is the most bytes of output. After an error its content is undefined.

    Returns
    -------
    int
        Bytes written.

    Raises
    ------
    DecompressionError
        As in :func:`decompress`.
    InvalidArgumentError
        `out` is too small, read-only or overlaps `data`; and as in :func:`decompress`.
    ArgumentTypeError
        An argument has another type.

    Examples
    --------
    >>> import kpress
    >>> out = bytearray(64)
    >>> size = kpress.decompress_into(kpress.compress(b"record", "lz4"), out, "lz4")
    >>> bytes(out[:size])
    b'record'
    """
    cdef int codec = codec_of(compression_type)
    cdef int magic_ = magic_of(codec, magic)
    cdef codec_call call
    cdef progress at
    cdef kp_error err
    begin(&call, data)
    try:
        begin_output(&call, out)
        memset(&at, 0, sizeof(progress))
        if decode_call(&call, codec, magic_, call.dst, call.capacity, &at, &err) != KP_OK:
            raise_status(&err)
        return at.produced
    finally:
        end(&call)


def compress_bound(size, compression_type):
    """The most bytes that :func:`compress` makes of `size` bytes.

    Parameters
    ----------
    size : int
        Bytes, 0 to 2147483647.
    compression_type : str
        "none", "gzip", "snappy", "lz4" or "zstd".

    Returns
    -------
    int

    Raises
    ------
    InvalidArgumentError
        The compression type or the size is not one of these.
    ArgumentTypeError
        An argument has another type.

    Examples
    --------
    >>> import kpress
    >>> kpress.compress_bound(0, "lz4")
    31
    """
    cdef int64_t number = int_of(size, "size")
    if not 0 <= number <= MAX_SIZE_CEILING:
        raise InvalidArgumentError(f"size must be between 0 and {MAX_SIZE_CEILING}, not {size}")
    return payload_bound(codec_of(compression_type), number)
