"""Payloads in pieces: objects shaped like zlib's compressobj and decompressobj.

Unlike the functions of `_codec` they need no more memory than a block and what one call gives, and they compress
as Java's streams do.
"""

import zlib

cimport cython
from cpython.buffer cimport PyBUF_READ
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.memoryview cimport PyMemoryView_FromMemory
from libc.stdint cimport SIZE_MAX, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memmove

from kpress._buffers cimport InputView, pooled, pooled_free, pooled_reserve
from kpress._c.libdeflate cimport libdeflate_crc32
from kpress._c.wire cimport (
    KP_GZIP,
    KP_GZIP_DATA,
    KP_GZIP_HEADER,
    KP_GZIP_SHORT,
    KP_GZIP_TRAILER,
    KP_LZ4,
    KP_LZ4_HEADER_MIN,
    KP_LZ4_SHORT,
    KP_OK,
    KP_OUTPUT_CAP,
    KP_OUTPUT_FULL,
    KP_SNAPPY,
    KP_SNAPPY_SHORT,
    KP_ZSTD,
    KP_ZSTD_HEADER,
    KP_ZSTD_SHORT,
    kp_error,
    kp_fail,
    kp_lz4_frame,
    kp_lz4_header_read,
)
from kpress._c.zstd cimport (
    ZSTD_decompressStream,
    ZSTD_e_continue,
    ZSTD_e_end,
    ZSTD_e_flush,
    ZSTD_inBuffer,
    ZSTD_isError,
    ZSTD_outBuffer,
)
from kpress._status cimport error_of, place, place_at
from kpress.codecs.payload cimport LEVEL_DEFAULT, cap_of, codec_of, level_of, magic_of
from kpress.codecs.context cimport codec_context, context_acquire, context_release, progress, size_range
from kpress.codecs._gzip cimport (
    GZIP_HEADER,
    GZIP_LEVEL_DEFAULT,
    GZIP_MEMBER_MIN,
    GZIP_TRAILER,
    gzip_begin,
    gzip_end,
    gzip_header,
    gzip_trailer_fits,
)
from kpress.codecs._lz4 cimport (
    LZ4_BLOCK,
    LZ4_LEVEL_DEFAULT,
    lz4_begin,
    lz4_bound,
    lz4_decode,
    lz4_encode_blocks,
    lz4_end,
    lz4_expect,
)
from kpress.codecs._snappy cimport (
    SNAPPY_CHUNK,
    SNAPPY_HEADER,
    snappy_begin,
    snappy_bound,
    snappy_decode,
    snappy_encode_chunks,
    snappy_expect,
    snappy_is_xerial,
)
from kpress.codecs._zstd cimport (
    ZSTD_HEAD,
    ZSTD_LEVEL_DEFAULT,
    zstd_compressor,
    zstd_decompressor,
    zstd_fail,
    zstd_head_fail,
    zstd_may_begin,
    zstd_stream,
)

from kpress.codecs.payload import DEFAULT_MAX_SIZE
from kpress.errors import ClosedError, InvalidArgumentError

cdef enum:
    PIECE = 1 << 17   # output of zstd is made room for in such steps


cdef class _Stream:
    """What both directions have: a context, whose scratch takes a call's output, and input that waits."""

    cdef codec_context* context
    cdef pooled* out
    cdef pooled pending
    cdef bint closed
    cdef bint busy

    def __cinit__(self):
        self.context = context_acquire()
        if self.context == NULL:
            raise MemoryError
        self.out = &self.context.scratch

    def __dealloc__(self):
        pooled_free(&self.pending)
        context_release(self.context)

    cdef int feed(self, const uint8_t* src, size_t size) except -1:
        """Take input, put output behind self.out."""
        return 0

    cdef int end(self) except -1:
        """The same for the end of the input."""
        return 0

    cdef int enter(self) except -1:
        if self.busy:  # first: a stream is closed while it works, and stays so if that fails
            raise InvalidArgumentError("the stream is in use by another thread")
        if self.closed:
            raise ClosedError("the stream has ended or failed: make another")
        self.busy = True
        return 0

    cdef bytes feed_object(self, object data):
        cdef InputView view = InputView(data)
        self.enter()
        self.closed = True  # and it stays so if what follows fails
        try:
            self.feed(view.data, view.size)
        finally:
            self.busy = False
        self.closed = False
        return self.taken()

    cdef bytes finish(self):
        self.enter()
        self.closed = True
        try:
            self.end()
        finally:
            self.busy = False
        return self.taken()

    cdef bytes taken(self):
        result = PyBytes_FromStringAndSize(<char*>self.out.data, self.out.size)
        self.out.size = 0
        return result


cdef int append(pooled* buffer, const uint8_t* data, size_t size) except -1:
    cdef kp_error err
    if size > 0:
        check(pooled_reserve(buffer, buffer.size + size, &err), &err)
        memcpy(buffer.data + buffer.size, data, size)
        buffer.size += size
    return 0


cdef int append_bytes(pooled* buffer, bytes data) except -1:
    return append(buffer, <const uint8_t*><const char*>data, len(data))


cdef int check(int status, const kp_error* err, int64_t base=0) except -1:
    cdef place at
    if status != KP_OK:
        at = place_at(0, base)
        raise error_of(err, &at if err.position >= 0 else NULL)
    return 0


# --- compression -------------------------------------------------------------------------------------------------

cdef class Compressor(_Stream):
    """Compresses a payload in pieces; made by :func:`compressor`."""

    cdef int level
    cdef int magic

    def __init__(self):
        raise TypeError("use kpress.compressor()")

    cdef int begin(self) except -1:
        """Put the header behind self.out."""
        return 0

    cdef int feed(self, const uint8_t* src, size_t size) except -1:
        return append(self.out, src, size)

    def compress(self, data):
        """Compress a piece.

        Parameters
        ----------
        data : buffer

        Returns
        -------
        bytes
            What is complete of the payload; b"" while there is less than a block.

        Raises
        ------
        ClosedError
            After flush().
        ArgumentTypeError, InvalidArgumentError
            `data` is no contiguous buffer.
        """
        return self.feed_object(data)

    def flush(self):
        """End the payload.

        Returns
        -------
        bytes
            The rest of it.

        Raises
        ------
        ClosedError
            After flush().
        """
        return self.finish()


@cython.final
cdef class _GzipCompressor(Compressor):
    """The body comes from zlib, as in Java: libdeflate does not stream."""

    cdef object deflater
    cdef uint32_t crc
    cdef size_t total

    cdef int begin(self) except -1:
        cdef uint8_t header[GZIP_HEADER]
        level = GZIP_LEVEL_DEFAULT if self.level == LEVEL_DEFAULT else self.level
        self.deflater = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
        return append(self.out, header, gzip_begin(header))

    cdef int feed(self, const uint8_t* src, size_t size) except -1:
        if size > 0:
            self.crc = libdeflate_crc32(self.crc, src, size)
            self.total += size
            append_bytes(self.out, self.deflater.compress(PyMemoryView_FromMemory(<char*>src, size, PyBUF_READ)))
        return 0

    cdef int end(self) except -1:
        cdef uint8_t trailer[GZIP_TRAILER]
        append_bytes(self.out, self.deflater.flush())
        return append(self.out, trailer, gzip_end(trailer, self.crc, self.total))


cdef class _BlockCompressor(Compressor):
    """snappy and lz4: input waits until a block is full."""

    cdef size_t block
    cdef kp_error err

    cdef int encode(self, const uint8_t* src, size_t size) noexcept nogil:
        """Put the blocks of `size` bytes behind self.out."""
        return KP_OK

    cdef int blocks(self, const uint8_t* src, size_t size) except -1:
        cdef int status
        with nogil:
            status = self.encode(src, size)
        return check(status, &self.err)

    cdef int feed(self, const uint8_t* src, size_t size) except -1:
        cdef size_t missing = self.block - self.pending.size, whole
        if self.pending.size > 0:
            if size < missing:
                return append(&self.pending, src, size)
            append(&self.pending, src, missing)
            src += missing
            size -= missing
            self.blocks(self.pending.data, self.pending.size)
            self.pending.size = 0
        whole = size // self.block * self.block
        self.blocks(src, whole)
        return append(&self.pending, src + whole, size - whole)

    cdef int end(self) except -1:
        return self.blocks(self.pending.data, self.pending.size)


@cython.final
cdef class _SnappyCompressor(_BlockCompressor):
    cdef int begin(self) except -1:
        cdef uint8_t header[SNAPPY_HEADER]
        self.block = SNAPPY_CHUNK
        return append(self.out, header, snappy_begin(header))

    cdef int encode(self, const uint8_t* src, size_t size) noexcept nogil:
        if pooled_reserve(self.out, self.out.size + snappy_bound(size), &self.err) != KP_OK:
            return self.err.status
        self.out.size += snappy_encode_chunks(self.context, src, size, self.out.data + self.out.size)
        return KP_OK


@cython.final
cdef class _Lz4Compressor(_BlockCompressor):
    cdef int begin(self) except -1:
        cdef uint8_t header[KP_LZ4_HEADER_MIN]
        self.block = LZ4_BLOCK
        if self.level == LEVEL_DEFAULT:
            self.level = LZ4_LEVEL_DEFAULT
        return append(self.out, header, lz4_begin(self.magic, header))

    cdef int encode(self, const uint8_t* src, size_t size) noexcept nogil:
        cdef size_t written = 0
        if (pooled_reserve(self.out, self.out.size + lz4_bound(size), &self.err) != KP_OK
                or lz4_encode_blocks(self.context, self.level, src, size, self.out.data + self.out.size,
                                     &written, &self.err) != KP_OK):
            return self.err.status
        self.out.size += written
        return KP_OK

    cdef int end(self) except -1:
        cdef uint8_t mark[4]
        self.blocks(self.pending.data, self.pending.size)
        return append(self.out, mark, lz4_end(mark))


@cython.final
cdef class _ZstdCompressor(Compressor):
    cdef int begin(self) except -1:
        cdef kp_error err
        return check(zstd_compressor(self.context, ZSTD_LEVEL_DEFAULT if self.level == LEVEL_DEFAULT else self.level,
                                     &err), &err)

    cdef int stream(self, const uint8_t* src, size_t size, int directive) except -1:
        cdef ZSTD_inBuffer input = [src, size, 0]
        cdef kp_error err
        cdef int status
        with nogil:
            status = zstd_stream(self.context, &input, directive, self.out, &err)
        return check(status, &err)

    cdef int feed(self, const uint8_t* src, size_t size) except -1:
        return self.stream(src, size, ZSTD_e_continue)

    cdef int end(self) except -1:
        """Kafka flushes before it closes, so that an empty block ends the frame."""
        self.stream(NULL, 0, ZSTD_e_flush)
        return self.stream(NULL, 0, ZSTD_e_end)


def compressor(compression_type, level=None, *, magic=2):
    """An object that compresses a payload in pieces, with the calls that Kafka's Java producer makes.

    Parameters
    ----------
    compression_type, level, magic
        As in :func:`compress`.

    Returns
    -------
    Compressor
        compress(data) gives bytes as they become complete, flush() the rest.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        As in :func:`compress`.

    Examples
    --------
    >>> import kpress
    >>> stream = kpress.compressor("zstd")
    >>> payload = stream.compress(b"first ") + stream.compress(b"second") + stream.flush()
    >>> kpress.decompress(payload, "zstd")
    b'first second'
    """
    cdef int codec = codec_of(compression_type)
    cdef int level_ = level_of(codec, level), magic_ = magic_of(codec, magic)
    cdef Compressor stream
    if codec == KP_GZIP:
        stream = _GzipCompressor.__new__(_GzipCompressor)
    elif codec == KP_SNAPPY:
        stream = _SnappyCompressor.__new__(_SnappyCompressor)
    elif codec == KP_LZ4:
        stream = _Lz4Compressor.__new__(_Lz4Compressor)
    elif codec == KP_ZSTD:
        stream = _ZstdCompressor.__new__(_ZstdCompressor)
    else:
        stream = Compressor.__new__(Compressor)
    stream.level = level_
    stream.magic = magic_
    stream.begin()
    return stream


# --- decompression -----------------------------------------------------------------------------------------------

cdef class Decompressor(_Stream):
    """Decompresses a payload in pieces; made by :func:`decompressor`."""

    cdef int magic
    cdef size_t cap        # bytes of output that may still come
    cdef size_t max_size
    cdef int64_t base      # where in the payload the bytes begin that an error's position counts from
    cdef bint ended        # the payload's end was met; what comes is not part of it
    cdef bytes unused

    def __init__(self):
        raise TypeError("use kpress.decompressor()")

    cdef bint complete(self):
        """Whether the payload may end here."""
        return True

    cdef int feed(self, const uint8_t* src, size_t size) except -1:
        self.spend(size)
        return append(self.out, src, size)

    cdef int spend(self, size_t size) except -1:
        """Count output against the cap."""
        cdef kp_error err
        if size > self.cap:
            check(kp_fail(&err, KP_OUTPUT_CAP, -1, 0, <int64_t>self.max_size), &err)
        self.cap -= size
        return 0

    def decompress(self, data):
        """Decompress a piece.

        Parameters
        ----------
        data : buffer

        Returns
        -------
        bytes
            What can be decompressed of the pieces so far and was not given yet.

        Raises
        ------
        DecompressionError
            The payload is damaged or uses what Kafka refuses. `position` is the byte in the payload.
        OutputTooLargeError
            The output would be larger than max_size.
        ClosedError
            After flush() or an error.
        ArgumentTypeError, InvalidArgumentError
            `data` is no contiguous buffer.
        """
        cdef InputView view
        if self.ended and not self.closed:
            view = InputView(data)
            self.unused += view.data[:view.size]
            return b""
        return self.feed_object(data)

    def flush(self):
        """End the payload: every stream has to be ended, for a payload that is cut short is found out here.

        Returns
        -------
        bytes
            The rest of the output. Only one raw snappy block has any.

        Raises
        ------
        DecompressionError
            The payload is cut short.
        ClosedError
            After flush() or an error.
        """
        return self.finish()

    @property
    def eof(self):
        """Whether the pieces so far are a complete payload. Some codecs take further members or frames."""
        return self.complete()

    @property
    def unused_data(self):
        """What follows the payload's end, which Kafka ignores."""
        return self.unused


@cython.final
cdef class _GzipDecompressor(Decompressor):
    """Member headers and trailers are read here, bodies by zlib."""

    cdef bytes waiting     # input that is not enough for a header or a trailer
    cdef object inflater   # while in a body
    cdef bint in_trailer
    cdef bint has_member
    cdef uint32_t crc
    cdef size_t total

    cdef int feed(self, const uint8_t* src, size_t size) except -1:
        self.waiting = (self.waiting or b"") + src[:size]
        while not self.ended and self.step():
            pass
        return 0

    cdef int advance(self, size_t size) except -1:
        self.waiting = self.waiting[size:]
        self.base += size
        return 0

    cdef bint step(self) except -1:
        """Read a header, a piece of a body or a trailer; whether there was enough of it."""
        if self.inflater is not None:
            return self.read_body()
        if self.in_trailer:
            return self.read_trailer()
        return self.read_header()

    cdef bint read_header(self) except -1:
        cdef kp_error err
        cdef size_t size = len(self.waiting), header
        if size == 0 or (self.has_member and size < GZIP_MEMBER_MIN):
            return False
        header = gzip_header(self.waiting, size)
        if header == SIZE_MAX:
            return False
        if header == 0:
            if not self.has_member:
                check(kp_fail(&err, KP_GZIP_HEADER, 0, 0, 0), &err, self.base)
            self.ended = True
            self.unused, self.waiting = self.waiting, b""
            return False
        self.advance(header)
        self.crc = self.total = 0
        self.inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        return True

    cdef bint read_body(self) except -1:
        cdef bytes piece
        cdef kp_error err
        if not self.waiting:
            return False
        try:
            piece = self.inflater.decompress(self.waiting, self.cap + 1)
        except zlib.error:
            check(kp_fail(&err, KP_GZIP_DATA, 0, 0, 0), &err, self.base)
        self.spend(len(piece))
        append_bytes(self.out, piece)
        self.crc = libdeflate_crc32(self.crc, <const char*>piece, len(piece))
        self.total += len(piece)
        self.advance(len(self.waiting) - len(self.inflater.unused_data) - len(self.inflater.unconsumed_tail))
        if self.inflater.eof:
            self.inflater = None
            self.in_trailer = True
        return True

    cdef bint read_trailer(self) except -1:
        cdef kp_error err
        if len(self.waiting) < GZIP_TRAILER:
            return False
        if not gzip_trailer_fits(self.waiting, self.crc, self.total):
            check(kp_fail(&err, KP_GZIP_TRAILER, 0, 0, 0), &err, self.base)
        self.advance(GZIP_TRAILER)
        self.in_trailer = False
        self.has_member = True
        return True

    cdef bint complete(self):
        return self.has_member and self.inflater is None and not self.in_trailer

    cdef int end(self) except -1:
        cdef kp_error err
        if not self.complete():
            check(kp_fail(&err, KP_GZIP_SHORT if self.base or self.waiting else KP_GZIP_HEADER, 0, 0, 0),
                  &err, self.base)
        self.unused += self.waiting or b""
        return 0


cdef class _BlockDecompressor(Decompressor):
    """snappy and lz4: the stream's header stays at the front of self.pending, whole blocks leave it."""

    cdef progress at
    cdef kp_error err

    cdef size_t header(self):
        """Bytes of the stream's header, 0 while it is not there."""
        return 0

    cdef void expect(self, size_range* expected) noexcept nogil:
        pass

    cdef int decode(self, uint8_t* dst, size_t capacity) noexcept nogil:
        return KP_OK

    cdef bint is_cut(self, int status):
        """Whether only input is missing."""
        return False

    cdef int feed(self, const uint8_t* src, size_t size) except -1:
        cdef size_t header
        cdef int status
        append(&self.pending, src, size)
        header = self.header()
        if header == 0:
            return 0
        status = self.read()
        if not self.is_cut(status):
            check(status, &self.err, self.base)
        if self.ended:
            self.unused = self.pending.data[self.at.consumed:self.pending.size]
            self.pending.size = 0
        elif self.at.consumed > header:
            self.pending.size -= self.at.consumed - header
            self.base += self.at.consumed - header
            memmove(self.pending.data + header, self.pending.data + self.at.consumed, self.pending.size - header)
        return 0

    cdef int read(self) except -1:
        """Decode the blocks that are there; gives the decoder's status."""
        cdef size_range expected
        cdef size_t room
        cdef int status
        self.expect(&expected)
        if expected.least > self.cap:
            self.spend(expected.least)
        room = min(expected.most, self.cap)
        self.at.consumed = self.header()
        self.at.produced = self.at.ended = 0
        check(pooled_reserve(self.out, room, &self.err), &self.err)
        with nogil:
            status = self.decode(self.out.data, room)
        self.out.size = self.at.produced
        self.spend(self.at.produced)
        if status == KP_OUTPUT_FULL:
            self.spend(self.cap + 1)
        self.ended = self.at.ended
        return status

    cdef int end(self) except -1:
        if not self.ended:
            check(self.read(), &self.err, self.base)
        return 0


@cython.final
cdef class _SnappyDecompressor(_BlockDecompressor):
    cdef size_t header(self):
        return SNAPPY_HEADER if snappy_is_xerial(self.pending.data, self.pending.size) else 0

    cdef void expect(self, size_range* expected) noexcept nogil:
        snappy_expect(self.pending.data, self.pending.size, expected)

    cdef int decode(self, uint8_t* dst, size_t capacity) noexcept nogil:
        return snappy_decode(self.pending.data, self.pending.size, dst, capacity, &self.at, &self.err)

    cdef bint is_cut(self, int status):
        return status == KP_SNAPPY_SHORT

    cdef bint complete(self):
        """One raw block is known to be complete when flush() says so."""
        return self.ended or self.closed or (self.header() > 0 and self.pending.size < SNAPPY_HEADER + 4)


@cython.final
cdef class _Lz4Decompressor(_BlockDecompressor):
    cdef size_t header(self):
        cdef kp_lz4_frame frame
        cdef int status = kp_lz4_header_read(self.pending.data, self.pending.size, self.magic > 0, &frame, &self.err)
        return 0 if self.is_cut(status) else frame.header_size if status == KP_OK else 1

    cdef void expect(self, size_range* expected) noexcept nogil:
        lz4_expect(self.pending.data, self.pending.size, expected)

    cdef int decode(self, uint8_t* dst, size_t capacity) noexcept nogil:
        return lz4_decode(self.magic, self.pending.data, self.pending.size, dst, capacity, &self.at, &self.err)

    cdef bint is_cut(self, int status):
        return status == KP_LZ4_SHORT

    cdef bint complete(self):
        return self.ended


@cython.final
cdef class _ZstdDecompressor(Decompressor):
    cdef uint8_t head[ZSTD_HEAD]   # of the frame that is being read
    cdef size_t frame              # bytes of it that were read
    cdef size_t frames             # that ended
    cdef kp_error err

    cdef int begin(self) except -1:
        return check(zstd_decompressor(self.context, &self.err), &self.err)

    cdef int feed(self, const uint8_t* src, size_t size) except -1:
        cdef ZSTD_inBuffer input = [src, size, 0]
        cdef size_t before
        cdef bint more = True
        cdef int status
        while more:
            before = self.out.size
            with nogil:
                status = self.read(&input, &more)
            check(status, &self.err, self.base)
            self.spend(self.out.size - before)
        return 0

    cdef int read(self, ZSTD_inBuffer* input, bint* more) noexcept nogil:
        """Decompress up to PIECE bytes; `more` says whether there is more to be had of the input."""
        cdef ZSTD_outBuffer output
        cdef size_t before = input.pos, known, result
        if self.frame < ZSTD_HEAD:
            known = min(ZSTD_HEAD - self.frame, input.size - input.pos)
            memcpy(self.head + self.frame, <const uint8_t*>input.src + input.pos, known)
            known += self.frame
        else:
            known = ZSTD_HEAD
        if pooled_reserve(self.out, self.out.size + PIECE, &self.err) != KP_OK:
            return self.err.status
        output.dst, output.pos = self.out.data, self.out.size
        output.size = self.out.size + min(<size_t>PIECE, self.cap + 1)
        result = ZSTD_decompressStream(self.context.zstd_d, &output, input)
        if ZSTD_isError(result):
            if zstd_head_fail(self.head, known, &self.err) != KP_OK:
                return self.err.status
            return zstd_fail(result, 0, &self.err)
        self.out.size = output.pos
        self.frame += input.pos - before
        if result == 0 and self.frame > 0:
            self.base += self.frame
            self.frame = 0
            self.frames += 1
        more[0] = input.pos < input.size or output.pos == output.size
        return KP_OK

    cdef bint complete(self):
        """zstd-jni misses one byte with which a frame could begin."""
        return self.frame == 0 or (self.frame == 1 and self.frames > 0 and zstd_may_begin(self.head[0]))

    cdef int end(self) except -1:
        if not self.complete():
            check(kp_fail(&self.err, KP_ZSTD_SHORT if self.frame >= 4 else KP_ZSTD_HEADER, 0, 0, 0),
                  &self.err, self.base)
        return 0


def decompressor(compression_type, max_size=DEFAULT_MAX_SIZE, *, magic=2):
    """An object that decompresses a payload in pieces.

    Parameters
    ----------
    compression_type, max_size, magic
        As in :func:`decompress`; max_size is of the whole payload.

    Returns
    -------
    Decompressor
        decompress(data) gives what can be decompressed so far; flush() ends the payload and raises where it is
        cut short; eof and unused_data as in zlib's decompressobj.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        As in :func:`decompress`.

    Examples
    --------
    >>> import kpress
    >>> payload = kpress.compress(b"record" * 3, "lz4")
    >>> stream = kpress.decompressor("lz4")
    >>> stream.decompress(payload[:9]), stream.decompress(payload[9:]), stream.eof, stream.flush()
    (b'', b'recordrecordrecord', True, b'')
    """
    cdef int codec = codec_of(compression_type)
    cdef int magic_ = magic_of(codec, magic)
    cdef size_t cap = cap_of(max_size)
    cdef Decompressor stream
    if codec == KP_GZIP:
        stream = _GzipDecompressor.__new__(_GzipDecompressor)
    elif codec == KP_SNAPPY:
        stream = _SnappyDecompressor.__new__(_SnappyDecompressor)
    elif codec == KP_LZ4:
        stream = _Lz4Decompressor.__new__(_Lz4Decompressor)
    elif codec == KP_ZSTD:
        stream = _ZstdDecompressor.__new__(_ZstdDecompressor)
        (<_ZstdDecompressor>stream).begin()
    else:
        stream = Decompressor.__new__(Decompressor)
    stream.magic = magic_
    stream.cap = stream.max_size = cap
    stream.unused = b""
    return stream
