"""Payload <-> record bytes for every codec: what the record layer calls, and the public functions.

A codec module gives four functions: `expect` (what the headers say of the output's size), `decode` (into a
buffer of a given size), `bound` and `encode`. Where the memory comes from, how it grows and where it ends is
decided here, once for all codecs.
"""

cimport cython
from cpython.buffer cimport Py_buffer, PyBuffer_Release
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from kpress._buffers cimport acquire, pooled, pooled_reserve
from kpress._c.wire cimport (
    KP_CODEC_ID,
    KP_GZIP,
    KP_LZ4,
    KP_NONE,
    KP_OK,
    KP_OUTPUT_CAP,
    KP_OUTPUT_FULL,
    KP_SNAPPY,
    KP_ZSTD,
    kp_error,
    kp_fail,
)
from kpress._status cimport raise_status
from kpress.compress._context cimport codec_context, context_acquire, context_release, progress, size_range
from kpress.compress._gzip cimport (
    GZIP_LEVEL_DEFAULT,
    GZIP_LEVEL_MAX,
    GZIP_LEVEL_MIN,
    gzip_bound,
    gzip_decode,
    gzip_encode,
    gzip_expect,
)
from kpress.compress._lz4 cimport (
    LZ4_LEVEL_DEFAULT,
    LZ4_LEVEL_MAX,
    LZ4_LEVEL_MIN,
    lz4_bound,
    lz4_decode,
    lz4_encode,
    lz4_expect,
)
from kpress.compress._snappy cimport snappy_bound, snappy_decode, snappy_encode, snappy_expect
from kpress.compress._zstd cimport (
    ZSTD_LEVEL_DEFAULT,
    ZSTD_LEVEL_MAX,
    ZSTD_LEVEL_MIN,
    zstd_bound,
    zstd_decode,
    zstd_encode,
    zstd_expect,
)


cdef extern from "Python.h":
    PyObject* PyBytes_FromStringAndSize(const char*, Py_ssize_t) except NULL
    int _PyBytes_Resize(PyObject**, Py_ssize_t) except -1


from kpress.errors import ArgumentTypeError, InvalidArgumentError

cdef tuple NAMES = ("none", "gzip", "snappy", "lz4", "zstd")
cdef dict IDS = {name: codec for codec, name in enumerate(NAMES)}

DEFAULT_MAX_SIZE = 64 << 20

cdef enum:
    GROWN_FROM = 4096
    # Output cannot be larger: Kafka's own buffers are indexed by int32.
    MAX_SIZE_CEILING = 2147483647
    # Below, giving the GIL up costs more than another thread could gain by it.
    GIL_KEPT = 4096


# --- one codec of five ---------------------------------------------------------------------------------------

cdef void expect(int codec, const uint8_t* src, size_t size, size_range* expected) noexcept nogil:
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


cdef int copy(const uint8_t* src, size_t size, uint8_t* dst, size_t capacity, progress* at, kp_error* err) noexcept nogil:
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
        return snappy_encode(raw, src, size, dst, produced, err)
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

cdef int decompress_payload(codec_context* context, int codec, int magic, const uint8_t* src, size_t size,
                            pooled* out, size_t cap, kp_error* err) noexcept nogil:
    cdef size_t start = out.size
    cdef int status = decompress_prefix(context, codec, magic, src, size, out, cap, err)
    if status != KP_OK:
        out.size = start
    return status


cdef int decompress_prefix(codec_context* context, int codec, int magic, const uint8_t* src, size_t size,
                           pooled* out, size_t cap, kp_error* err) noexcept nogil:
    cdef size_t start = out.size, room
    cdef size_range expected
    cdef progress at
    cdef int status
    expect(codec, src, size, &expected)
    if expected.least > cap:
        return kp_fail(err, KP_OUTPUT_CAP, 0, 0, <int64_t>cap)
    room = min(expected.most, cap)
    at.consumed = at.produced = 0
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
    if not isinstance(compression_type, str):
        raise ArgumentTypeError(f"compression_type must be a str, not {type(compression_type).__name__}")
    codec = IDS.get(compression_type)
    if codec is None:
        raise InvalidArgumentError(f"compression_type must be one of {', '.join(NAMES)}, not {compression_type!r}")
    return codec


cdef int checked_level(str name, int level, int lowest, int highest) except? -1:
    if lowest <= level <= highest:
        return level
    raise InvalidArgumentError(f"level of {name} must be between {lowest} and {highest}, not {level}")


cdef int level_of(int codec, object level) except? -1:
    if level is None or (isinstance(level, str) and level == "kafka-default"):
        return LEVEL_DEFAULT
    if codec == KP_NONE or codec == KP_SNAPPY:
        raise InvalidArgumentError(f"{NAMES[codec]} has no levels: leave level out")
    if isinstance(level, bool) or not isinstance(level, int):
        raise ArgumentTypeError(f'level must be an int, None or "kafka-default", not {type(level).__name__}')
    if not -2147483648 < level < 2147483648:
        level = -2147483647
    if codec == KP_LZ4:
        return checked_level("lz4", level, LZ4_LEVEL_MIN, LZ4_LEVEL_MAX)
    if codec == KP_ZSTD:
        return checked_level("zstd", level, ZSTD_LEVEL_MIN, ZSTD_LEVEL_MAX)
    if level == GZIP_LEVEL_DEFAULT:
        return level
    return checked_level("gzip", level, GZIP_LEVEL_MIN, GZIP_LEVEL_MAX)


cdef int magic_of(int codec, object magic) except -1:
    if isinstance(magic, bool) or not isinstance(magic, int):
        raise ArgumentTypeError(f"magic must be an int, not {type(magic).__name__}")
    if not 0 <= magic <= 2:
        raise InvalidArgumentError(f"magic must be 0, 1 or 2, not {magic}")
    if codec == KP_ZSTD and magic < 2:
        raise InvalidArgumentError(f"zstd needs magic 2, not {magic} (KIP-110)")
    return magic


cdef size_t size_limit_of(object max_size) except? 0:
    if isinstance(max_size, bool) or not isinstance(max_size, int):
        raise ArgumentTypeError(f"max_size must be an int, not {type(max_size).__name__}")
    if not 0 <= max_size <= MAX_SIZE_CEILING:
        raise InvalidArgumentError(f"max_size must be between 0 and {MAX_SIZE_CEILING}, not {max_size}")
    return max_size


# --- the public functions ----------------------------------------------------------------------------------------

@cython.final
@cython.freelist(8)
cdef class Call:
    """What one call holds until it is done: a view of its input and a codec context."""

    cdef Py_buffer view
    cdef const uint8_t* src
    cdef size_t size
    cdef codec_context* context

    def __cinit__(self, data):
        acquire(data, &self.view, "data")
        self.src = <const uint8_t*>self.view.buf
        self.size = self.view.len
        self.context = context_acquire()
        if self.context == NULL:
            raise MemoryError

    def __dealloc__(self):
        PyBuffer_Release(&self.view)
        context_release(self.context)


cdef int decode_call(Call call, int codec, int magic, uint8_t* dst, size_t capacity, progress* at, kp_error* err) except -1:
    """decode(), without the GIL where the work is long enough to be worth it."""
    if capacity < GIL_KEPT:
        return decode(call.context, codec, magic, call.src, call.size, dst, capacity, at, err)
    with nogil:
        return decode(call.context, codec, magic, call.src, call.size, dst, capacity, at, err)


cdef int encode_call(Call call, int codec, int level, int magic, bint raw, uint8_t* dst, size_t capacity,
                     size_t* produced, kp_error* err) except -1:
    if call.size < GIL_KEPT:
        return encode(call.context, codec, level, magic, raw, call.src, call.size, dst, capacity, produced, err)
    with nogil:
        return encode(call.context, codec, level, magic, raw, call.src, call.size, dst, capacity, produced, err)


def compress(data, compression_type, level=None, *, magic=2, bint raw=False):
    cdef kp_error err
    cdef int codec = codec_of(compression_type)
    cdef int level_ = level_of(codec, level)
    cdef int magic_ = magic_of(codec, magic)
    cdef Call call = Call(data)
    cdef size_t capacity = payload_bound(codec, call.size), produced = 0
    cdef PyObject* result
    result = PyBytes_FromStringAndSize(NULL, capacity)
    if encode_call(call, codec, level_, magic_, raw, <uint8_t*>PyBytes_AS_STRING(<object>result), capacity, &produced, &err) != KP_OK:
        Py_DECREF(<object>result)
        raise_status(&err)
    _PyBytes_Resize(&result, produced)
    out = <object>result
    Py_DECREF(out)
    return out


def decompress(data, compression_type, max_size=DEFAULT_MAX_SIZE, *, magic=2):
    cdef kp_error err
    cdef size_range expected
    cdef progress at
    cdef int codec = codec_of(compression_type)
    cdef size_t cap = size_limit_of(max_size), room
    cdef int magic_ = magic_of(codec, magic), status
    cdef Call call = Call(data)
    cdef PyObject* result
    expect(codec, call.src, call.size, &expected)
    if expected.least > cap:
        kp_fail(&err, KP_OUTPUT_CAP, 0, 0, <int64_t>cap)
        raise_status(&err)
    room = min(expected.most, cap)
    at.consumed = at.produced = 0
    result = PyBytes_FromStringAndSize(NULL, room)
    while True:
        status = decode_call(call, codec, magic_, <uint8_t*>PyBytes_AS_STRING(<object>result), room, &at, &err)
        if status != KP_OUTPUT_FULL or room == cap:
            break
        room = min(cap, max(2 * room, <size_t>GROWN_FROM))
        _PyBytes_Resize(&result, room)
    if status != KP_OK:
        Py_DECREF(<object>result)
        if status == KP_OUTPUT_FULL:
            kp_fail(&err, KP_OUTPUT_CAP, <int64_t>at.consumed, 0, <int64_t>cap)
        raise_status(&err)
    if at.produced != room:
        _PyBytes_Resize(&result, at.produced)
    out = <object>result
    Py_DECREF(out)
    return out
