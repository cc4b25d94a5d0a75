"""Payloads in chunks: objects shaped like zlib's compressobj and decompressobj.

Unlike the functions of `_calls`, they need memory only for a block and for the output of one call; a zstd frame in
chunks also needs its window or the compressed frame. They compress as Java's streams do. Each codec's row has the
functions that do the work.
"""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t
from libc.string cimport memset

from recordpress._buffers cimport InputView, pooled_free
from recordpress._c.wire cimport RP_OK, rp_error
from recordpress._status cimport error_of
from recordpress.codecs._calls cimport cap_of
from recordpress.codecs._output cimport output_drop, output_taken
from recordpress.codecs.codec cimport append, codec, codec_stream, stream_calls
from recordpress.codecs.context cimport codec_context, context_acquire, context_release
from recordpress.codecs.table cimport (
    CodecTable, Dictionary, DictionarySet, codec_of, dictionaries_of, level_of, magic_of, row_with, table_of,
)

from recordpress.codecs._calls import DEFAULT_MAX_SIZE
from recordpress.errors import ArgumentTypeError, ClosedError, InUseError


cdef class _Stream:
    """Common base of both directions; a context lends its states, and its scratch memory for the output of a call."""

    cdef codec_context* context
    cdef codec_stream stream
    cdef const stream_calls* calls   # NULL: not created by compressor() or decompressor()
    cdef stream_calls row_calls      # a copy: the row may belong to a dictionary, which may be freed first
    cdef Dictionary dictionary
    cdef DictionarySet known
    cdef CodecTable codecs
    cdef bint closed
    cdef bint busy

    def __init__(self):
        raise ArgumentTypeError(f"use recordpress.{type(self).__name__.lower()}()")

    def __dealloc__(self):
        self.end()
        context_release(self.context)

    cdef void end(self) noexcept:
        """Free the state and memory of a payload."""
        if self.calls != NULL and self.calls.close != NULL and self.stream.state != NULL:
            self.calls.close(&self.stream)
        if self.stream.small != NULL:
            output_drop(&self.stream)
        pooled_free(&self.stream.pending)

    cdef int open(self, CodecTable codecs, const codec* row, const stream_calls* calls, int level, int magic,
                  size_t cap) except -1:
        self.codecs = codecs
        self.context = context_acquire(&codecs.rows)
        if self.context == NULL:
            raise MemoryError
        self.row_calls = calls[0]
        self.calls = &self.row_calls
        return self.begin(row, level, magic, cap)

    cdef int begin(self, const codec* row, int level, int magic, size_t cap) except -1:
        """Begin a payload."""
        cdef rp_error err
        self.stream.row = row
        self.stream.shared = &self.context.states[row.id]
        self.stream.out = self.stream.small = &self.context.scratch
        self.stream.level = level
        self.stream.magic = magic
        self.stream.max_size = self.stream.left = cap
        if self.calls.open != NULL and self.calls.open(&self.stream, &err) != RP_OK:
            raise error_of(&err)
        return 0

    cdef int check_made(self) except -1:
        if self.calls == NULL:
            raise ArgumentTypeError("this object is not usable: create one with recordpress.compressor() or "
                                    "recordpress.decompressor()")
        return 0

    cdef int check_free(self) except -1:
        """Check that no call is running: calls change the state without the GIL."""
        self.check_made()
        if self.busy:
            raise InUseError("the stream is in use by another thread")
        return 0

    cdef int enter(self) except -1:
        self.check_free()  # first: a stream is closed during a call, and remains closed if the call fails
        if self.closed:
            raise ClosedError("the stream has ended or failed: create another")
        self.busy = True
        return 0

    @cython.critical_section
    cdef bytes feed(self, object data):
        cdef InputView view = InputView(data)
        cdef rp_error err
        cdef int status
        self.enter()
        self.closed = True  # and it remains closed if the call fails
        with nogil:
            status = steps(&self.stream, self.calls, view.data, <size_t>view.size, &err)
        if status != RP_OK and self.stream.wanted:
            status = self.with_dictionaries(view.data, <size_t>view.size, &err)
        self.busy = False
        if status != RP_OK:
            self.fail(&err)
        self.closed = False
        return output_taken(&self.stream)

    cdef int with_dictionaries(self, const uint8_t* src, size_t size, rp_error* err) except -1:
        """Repeat a step that lacks a dictionary, as long as the caller's dictionaries include it."""
        cdef int status = err.status
        try:
            while status != RP_OK and self.stream.wanted and self.known.learn_id(self.stream.wanted):
                src += self.stream.taken
                size -= self.stream.taken
                with nogil:
                    status = steps(&self.stream, self.calls, src, size, err)
        except BaseException:
            self.busy = False
            output_drop(&self.stream)
            raise
        return status

    @cython.critical_section
    cdef bytes finish(self):
        cdef rp_error err
        cdef int status
        self.enter()
        self.closed = True
        with nogil:
            status = self.calls.end(&self.stream, &err)
        self.busy = False
        if status != RP_OK:
            self.fail(&err)
        return output_taken(&self.stream)

    cdef int fail(self, const rp_error* err) except -1:
        cdef rp_error moved = err[0]
        if moved.position >= 0:
            moved.position += self.stream.base
        output_drop(&self.stream)
        raise error_of(&moved)


cdef int steps(codec_stream* s, const stream_calls* calls, const uint8_t* src, size_t size,
               rp_error* err) noexcept nogil:
    """Pass a chunk to the codec, in steps of its maximum size if it has one."""
    cdef size_t most = calls.most if calls.most > 0 else size
    s.piece = size
    s.handed = 0
    while size > most:
        s.handed += most
        if calls.step(s, src, most, err) != RP_OK:
            return err.status
        src += most
        size -= most
        if s.ended:
            return append(&s.pending, src, size, err)
    s.handed = s.piece
    return calls.step(s, src, size, err)


# --- compression -----------------------------------------------------------------------------------------------------

cdef class Compressor(_Stream):
    """Compressor of a payload in chunks; :func:`compressor` returns it.

    Examples
    --------
    >>> import recordpress
    >>> stream = recordpress.compressor("gzip")
    >>> payload = stream.compress(b"one ") + stream.compress(b"two") + stream.flush()
    >>> recordpress.decompress(payload, "gzip")
    b'one two'
    """

    def compress(self, data):
        """Compress a chunk.

        Parameters
        ----------
        data : buffer

        Returns
        -------
        bytes
            The next completed part of the payload; b"" until a block is full.

        Raises
        ------
        ClosedError
            After flush() or an error.
        ArgumentTypeError, InvalidArgumentError
            `data` is not a contiguous buffer.
        """
        return self.feed(data)

    def flush(self):
        """End the payload.

        Returns
        -------
        bytes
            The rest of the payload.

        Raises
        ------
        ClosedError
            After flush() or an error.
        """
        return self.finish()

    @cython.critical_section
    def reset(self):
        """Begin another payload, with the same codec, level and dictionary.

        The codec's memory is reused: zstd levels with large tables compress small payloads many times as fast as
        with a new object for each payload.

        Raises
        ------
        InUseError
            Another thread is using the object.

        Examples
        --------
        >>> import recordpress
        >>> stream = recordpress.compressor("zstd", 19)
        >>> for part in (b"one", b"two"):
        ...     payload = stream.compress(part) + stream.flush()
        ...     print(recordpress.decompress(payload, "zstd"))
        ...     stream.reset()
        b'one'
        b'two'
        """
        self.check_free()
        self.closed = True
        self.end()
        cdef codec_stream old = self.stream
        memset(&self.stream, 0, sizeof(codec_stream))
        self.begin(old.row, old.level, old.magic, old.max_size)
        self.closed = False


def compressor(compression_type, level=None, *, magic=2, codecs=None, dictionary=None):
    """Return an object that compresses a payload in chunks, with the calls that Kafka's Java producer makes.

    Parameters
    ----------
    compression_type, level, magic, codecs, dictionary
        As in :func:`compress`. A zstd frame has no content size in a stream.

    Returns
    -------
    Compressor
        compress(data) returns bytes as they become complete; flush() returns the rest.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        As in :func:`compress`.

    Examples
    --------
    >>> import recordpress
    >>> stream = recordpress.compressor("zstd")
    >>> payload = stream.compress(b"first ") + stream.compress(b"second") + stream.flush()
    >>> recordpress.decompress(payload, "zstd")
    b'first second'
    """
    cdef CodecTable table = table_of(codecs)
    cdef const codec* row = codec_of(table, compression_type)
    cdef int level_ = level_of(row, level), magic_ = magic_of(row, magic)
    cdef Compressor stream = Compressor.__new__(Compressor)
    if dictionary is not None:
        row = row_with(row, dictionary, "dictionary")
        stream.dictionary = dictionary
    stream.open(table, row, &row.compressor, level_, magic_, 0)
    return stream


# --- decompression ---------------------------------------------------------------------------------------------------

cdef class Decompressor(_Stream):
    """Decompressor of a payload in chunks; :func:`decompressor` returns it.

    Examples
    --------
    >>> import recordpress
    >>> payload = recordpress.compress(b"some bytes", "zstd")
    >>> stream = recordpress.decompressor("zstd")
    >>> stream.decompress(payload[:5]) + stream.decompress(payload[5:]) + stream.flush()
    b'some bytes'
    >>> stream.eof
    True
    """

    cdef bint finished   # flush() found the payload complete

    @cython.critical_section
    def decompress(self, data):
        """Decompress a chunk.

        Parameters
        ----------
        data : buffer

        Returns
        -------
        bytes
            The output so far that earlier calls have not returned. A zstd frame with a window above 8 MiB may produce
            output only when it is complete; until then, at most 13 MiB of the compressed frame are kept.

        Raises
        ------
        DecompressionError
            The payload is damaged or uses a feature that Kafka refuses. `position` is the byte in the payload.
        OutputTooLargeError
            The output would be larger than max_decompressed_bytes.
        ClosedError
            After flush() or an error.
        ArgumentTypeError, InvalidArgumentError
            `data` is not a contiguous buffer.
        """
        if self.calls != NULL and not self.closed and self.stream.ended:  # closed while another thread changes it
            return self.keep(data)
        return self.feed(data)

    cdef bytes keep(self, object data):
        """Keep the bytes after the payload's end."""
        cdef InputView view = InputView(data)
        cdef rp_error err
        if append(&self.stream.pending, view.data, <size_t>view.size, &err) != RP_OK:
            raise error_of(&err)
        return b""

    def flush(self):
        """End the payload. Only this call finds a truncated payload, so every stream must be flushed.

        Returns
        -------
        bytes
            The rest of the output; only raw snappy blocks and plug-ins have any.

        Raises
        ------
        DecompressionError
            The payload is truncated, or its rest is damaged.
        ClosedError
            After flush() or an error.
        """
        rest = self.finish()
        self.finished = True
        return rest

    @property
    @cython.critical_section
    def eof(self):
        """Whether the chunks so far are a complete payload. Some codecs accept further members or frames after it."""
        self.check_free()
        return self.finished or self.calls.complete(&self.stream)

    @property
    @cython.critical_section
    def unused_data(self):
        """The bytes after the payload's end, which Kafka ignores."""
        self.check_free()
        if not self.stream.ended:
            return b""
        return PyBytes_FromStringAndSize(<char*>self.stream.pending.data, self.stream.pending.size)


def decompressor(compression_type, max_decompressed_bytes=DEFAULT_MAX_SIZE, *, magic=2, codecs=None, dictionaries=None):
    """Return an object that decompresses a payload in chunks.

    Parameters
    ----------
    compression_type, max_decompressed_bytes, magic, codecs, dictionaries
        As in :func:`decompress`; the cap applies to the whole payload. A dictionary is looked up when the header of a
        frame that names it is read.

    Returns
    -------
    Decompressor
        decompress(data) returns the output that is available; flush() ends the payload, and raises an error if it is
        truncated; eof and unused_data are as in zlib's decompressobj.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        As in :func:`decompress`.

    Examples
    --------
    >>> import recordpress
    >>> payload = recordpress.compress(b"record" * 3, "lz4")
    >>> stream = recordpress.decompressor("lz4")
    >>> stream.decompress(payload[:9]), stream.decompress(payload[9:]), stream.eof, stream.flush()
    (b'', b'recordrecordrecord', True, b'')
    """
    cdef CodecTable table = table_of(codecs)
    cdef const codec* row = codec_of(table, compression_type)
    cdef int magic_ = magic_of(row, magic)
    cdef size_t cap = cap_of(max_decompressed_bytes)
    cdef Decompressor stream = Decompressor.__new__(Decompressor)
    if dictionaries is not None:
        stream.known = dictionaries_of(row, dictionaries)
        row = &stream.known.row
    stream.open(table, row, &row.decompressor, 0, magic_, cap)
    return stream
