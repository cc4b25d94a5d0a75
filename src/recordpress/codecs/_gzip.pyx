"""gzip members (RFC 1952) around raw deflate, read as Java's GZIPInputStream reads them.

::

    member    1f 8b 08 | flags | time(4) | 2 bytes | [extra] | [name] | [comment] | [header CRC(2)] | deflate | trailer
    trailer   CRC-32(4) | uncompressed size(4), both little-endian

libdeflate decompresses a whole payload. It does not stream: payloads in chunks go through zlib, as in Java.
"""

import zlib

from cpython.buffer cimport PyBUF_READ
from cpython.memoryview cimport PyMemoryView_FromMemory
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.stdint cimport SIZE_MAX, int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memchr, memcmp, memcpy, memmove

from recordpress._buffers cimport pooled
from recordpress._c.libdeflate cimport (
    LIBDEFLATE_INSUFFICIENT_SPACE, LIBDEFLATE_SUCCESS, libdeflate_alloc_compressor, libdeflate_alloc_decompressor,
    libdeflate_compressor, libdeflate_crc32, libdeflate_decompressor, libdeflate_deflate_compress,
    libdeflate_deflate_compress_bound, libdeflate_deflate_decompress_ex, libdeflate_free_compressor,
    libdeflate_free_decompressor, libdeflate_result,
)
from recordpress._c.wire cimport (
    RP_COMPRESS_FAILED, RP_GZIP, RP_GZIP_DATA, RP_GZIP_HEADER, RP_GZIP_SHORT, RP_GZIP_TRAILER, RP_NO_MEMORY, RP_OK,
    RP_OUTPUT_FULL, rp_deflate_cut, rp_deflate_cutter, rp_error, rp_fail, rp_load_le16, rp_load_le32, rp_store_le32,
)
from recordpress.codecs._output cimport give
from recordpress.codecs.codec cimport (
    STEP, append, codec, codec_stream, level_or_default, progress, size_range, spend, state_made,
)

cdef enum:
    LEVELS = 10          # 1 to 9
    LEVEL_LIBRARY = -1   # the library's default: 6 in Java's zlib
    HEADER = 10          # size of the header that is written, and of the fixed part of any header
    TRAILER = 8
    MEMBER_MIN = 19      # Java does not look for another member in fewer bytes
    FHCRC = 0x02
    FEXTRA = 0x04
    FNAME = 0x08
    FCOMMENT = 0x10
    # A deflate symbol of 2 bits gives at most 258 bytes (RFC 1951 section 3.2.5).
    EXPANSION = 1032
    JAVA_INPUT = 8192    # GzipCompression.wrapForInput
    JAVA_OUTPUT = 16384
    LIBRARY_LEVEL = 6
    PIECE_LEAST = 1 << 10   # of input for zlib's first call; doubles with each call; chosen, not measured
    PIECE_MOST = STEP
    OUTPUT_MOST = 1 << 21   # output of one call of zlib, which holds it twice; chosen, not measured
    # About what libdeflate 1.14 to 1.23 allocates; the library does not document it.
    DECOMPRESSOR_BYTES = 12 << 10
    COMPRESSOR_BYTES = 512 << 10

cdef const uint8_t* WRITTEN_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


# The states of libdeflate and of the cutter, each allocated when it is first needed.
ctypedef struct gzip_state:
    libdeflate_decompressor* decompressor
    libdeflate_compressor* compressors[LEVELS]   # by level
    rp_deflate_cutter* cutter


cdef libdeflate_decompressor* decompressor_of(void** state) noexcept nogil:
    """Return the decompressor; NULL if out of memory."""
    cdef gzip_state* own = <gzip_state*>state_made(state, sizeof(gzip_state))
    if own == NULL:
        return NULL
    if own.decompressor == NULL:
        own.decompressor = libdeflate_alloc_decompressor()
    return own.decompressor


cdef libdeflate_compressor* compressor_of(void** state, int level) noexcept nogil:
    """Return the compressor of a level; NULL if out of memory."""
    cdef gzip_state* own = <gzip_state*>state_made(state, sizeof(gzip_state))
    if own == NULL:
        return NULL
    if own.compressors[level] == NULL:
        own.compressors[level] = libdeflate_alloc_compressor(level)
    return own.compressors[level]


cdef size_t gzip_free(void* state) noexcept nogil:
    cdef gzip_state* own = <gzip_state*>state
    cdef size_t released = sizeof(gzip_state)
    cdef int level
    if own.decompressor != NULL:
        libdeflate_free_decompressor(own.decompressor)
        released += DECOMPRESSOR_BYTES
    for level in range(LEVELS):
        if own.compressors[level] != NULL:
            libdeflate_free_compressor(own.compressors[level])
            released += COMPRESSOR_BYTES
    if own.cutter != NULL:
        released += sizeof(rp_deflate_cutter)
    free(own.cutter)
    free(own)
    return released


# --- members ---------------------------------------------------------------------------------------------------------

# How far a member's header has been read: it may come in chunks, and its texts may have any length.
ctypedef struct header_scan:
    int stage      # the next part
    size_t at      # where that part begins, or where the search for its end continues


cdef enum:
    FIXED, EXTRA, NAME, COMMENT, CHECKSUM


cdef bint skip_text(const uint8_t* src, size_t size, size_t* at) noexcept nogil:
    """Move past the zero byte that ends the text; return False if the text has not ended yet."""
    cdef const uint8_t* end = <const uint8_t*>memchr(src + at[0], 0, size - at[0])
    at[0] = size if end == NULL else <size_t>(end - src) + 1
    return end != NULL


cdef size_t scan_header(header_scan* scan, const uint8_t* src, size_t size) noexcept nogil:
    """Return the size of the member header at `src`, 0 if it is invalid, SIZE_MAX if it is truncated; ignore reserved
    FLG bits, as Java does."""
    cdef int flags
    if scan.stage == FIXED:
        if size == 0 or memcmp(src, WRITTEN_HEADER, min(size, <size_t>3)) != 0:
            return 0
        if size < HEADER:
            return SIZE_MAX
        scan.at = HEADER
        scan.stage = EXTRA
    flags = src[3]
    if scan.stage == EXTRA:
        if flags & FEXTRA:
            if size - scan.at < 2 or size - scan.at < 2 + <size_t>rp_load_le16(src + scan.at):
                return SIZE_MAX
            scan.at += 2 + rp_load_le16(src + scan.at)
        scan.stage = NAME
    if scan.stage == NAME:
        if flags & FNAME and not skip_text(src, size, &scan.at):
            return SIZE_MAX
        scan.stage = COMMENT
    if scan.stage == COMMENT:
        if flags & FCOMMENT and not skip_text(src, size, &scan.at):
            return SIZE_MAX
        scan.stage = CHECKSUM
    if flags & FHCRC:
        if size - scan.at < 2:
            return SIZE_MAX
        if rp_load_le16(src + scan.at) != libdeflate_crc32(0, src, scan.at) & 0xffff:
            return 0
        return scan.at + 2
    return scan.at


cdef size_t member_header(const uint8_t* src, size_t size) noexcept nogil:
    """Call scan_header() for input that is complete."""
    cdef header_scan scan
    scan.stage = FIXED
    return scan_header(&scan, src, size)


cdef void gzip_expect(const codec* row, const uint8_t* src, size_t size, size_range* expected) noexcept nogil:
    """Expect the size in the last member's trailer, limited to what deflate can expand to."""
    expected.least = expected.most = 0
    expected.sure = False
    if size >= MEMBER_MIN:
        expected.most = min(<size_t>rp_load_le32(src + size - 4), EXPANSION * size)


cdef bint trailer_fits(const uint8_t* trailer, uint32_t crc, size_t size) noexcept nogil:
    return rp_load_le32(trailer) == crc and rp_load_le32(trailer + 4) == <uint32_t>size


cdef int gzip_decode(const codec* row, void** state, int magic, const uint8_t* src, size_t size, uint8_t* dst,
                     size_t capacity, progress* at, rp_error* err) noexcept nogil:
    """Read members; ignore bytes after the first member that do not form another, as Java does."""
    cdef size_t body, read, written
    cdef libdeflate_result result
    cdef libdeflate_decompressor* decompressor = decompressor_of(state)
    if decompressor == NULL:
        return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    while at.consumed == 0 or size - at.consumed >= MEMBER_MIN:
        body = member_header(src + at.consumed, size - at.consumed)
        if body == 0 or body == SIZE_MAX:
            if at.consumed > 0:
                return RP_OK
            return rp_fail(err, RP_GZIP_SHORT if body else RP_GZIP_HEADER, 0, 0, 0)
        body += at.consumed
        result = libdeflate_deflate_decompress_ex(decompressor, src + body, size - body,
                                                  dst + at.produced, capacity - at.produced, &read, &written)
        if result == LIBDEFLATE_INSUFFICIENT_SPACE:
            return rp_fail(err, RP_OUTPUT_FULL, <int64_t>at.consumed, 0, <int64_t>capacity)
        if result != LIBDEFLATE_SUCCESS:
            return rp_fail(err, RP_GZIP_DATA, <int64_t>body, 0, 0)
        body += read
        if size - body < TRAILER:
            return rp_fail(err, RP_GZIP_SHORT, <int64_t>body, 0, 0)
        if not trailer_fits(src + body, libdeflate_crc32(0, dst + at.produced, written), written):
            return rp_fail(err, RP_GZIP_TRAILER, <int64_t>body, 0, 0)
        at.consumed = body + TRAILER
        at.produced += written
    return RP_OK


cdef int inflate_as_java(bytes payload, pooled* out, size_t start, size_t cap) except -1:
    """Append the output of GZIPInputStream before it fails: from reads of 16 KiB through an input buffer of 8 KiB,
    without the output of the zlib call that fails."""
    cdef size_t at = 0, taken, member
    cdef const uint8_t* src = payload
    cdef bytes piece
    cdef rp_error err
    while True:
        taken = member_header(src + at, len(payload) - at)
        if taken == 0 or taken == SIZE_MAX:
            return 0
        at += taken
        member = out.size
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        while not inflater.eof:
            data = inflater.unconsumed_tail
            if not data:
                data = payload[at:at + JAVA_INPUT]
                at += len(data)
                if not data:
                    return 0
            piece = inflater.decompress(data, JAVA_OUTPUT)
            if out.size - start + len(piece) > cap:
                return 0
            if append(out, <const uint8_t*><const char*>piece, len(piece), &err) != RP_OK:
                raise MemoryError
        at -= len(inflater.unused_data)
        taken = out.size - member
        if (len(payload) - at < TRAILER + MEMBER_MIN
                or not trailer_fits(src + at, libdeflate_crc32(0, out.data + member, taken), taken)):
            return 0
        at += TRAILER


cdef bint gzip_prefix(void** state, const uint8_t* src, size_t size, pooled* out, size_t start,
                      size_t cap) noexcept nogil:
    out.size = start
    with gil:
        try:
            inflate_as_java(src[:size], out, start, cap)
        except (zlib.error, MemoryError):
            pass  # the caller has its own error to report
    return False


cdef size_t write_header(uint8_t* dst) noexcept nogil:
    memcpy(dst, WRITTEN_HEADER, HEADER)
    return HEADER


cdef size_t write_trailer(uint8_t* dst, uint32_t crc, size_t size) noexcept nogil:
    rp_store_le32(dst, crc)
    rp_store_le32(dst + 4, <uint32_t>size)
    return TRAILER


cdef size_t gzip_bound(size_t size) noexcept nogil:
    return HEADER + libdeflate_deflate_compress_bound(NULL, size) + TRAILER


cdef int gzip_encode(const codec* row, void** state, int level, int magic, bint raw, const uint8_t* src, size_t size,
                     uint8_t* dst, size_t capacity, size_t* produced, rp_error* err) noexcept nogil:
    cdef size_t written
    cdef libdeflate_compressor* compressor
    level = level_or_default(row, level)
    compressor = compressor_of(state, LIBRARY_LEVEL if level == LEVEL_LIBRARY else level)
    if compressor == NULL:
        return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    produced[0] = write_header(dst)
    written = libdeflate_deflate_compress(compressor, src, size, dst + HEADER, capacity - HEADER - TRAILER)
    if written == 0:
        return rp_fail(err, RP_COMPRESS_FAILED, -1, 0, 0)
    produced[0] += written
    produced[0] += write_trailer(dst + produced[0], libdeflate_crc32(0, src, size), size)
    return RP_OK


cdef int64_t gzip_cut(void** state, const uint8_t* payload, size_t size, size_t limit, const uint8_t* src,
                      const size_t* ends, int64_t n, uint8_t* dst, size_t* produced) noexcept nogil:
    cdef gzip_state* own = <gzip_state*>state[0]
    cdef int64_t units
    cdef size_t written, around = HEADER + TRAILER
    if own.cutter == NULL:
        own.cutter = <rp_deflate_cutter*>malloc(sizeof(rp_deflate_cutter))
    if own.cutter == NULL or limit < around:
        return 0
    units = rp_deflate_cut(own.cutter, payload + HEADER, size - around, limit - around, src, ends, n, dst + HEADER,
                           &written)
    if units:
        produced[0] = write_header(dst) + written
        produced[0] += write_trailer(dst + produced[0], libdeflate_crc32(0, src, ends[units - 1]), ends[units - 1])
    return units


# --- in chunks -------------------------------------------------------------------------------------------------------

ctypedef struct gzip_stream:
    PyObject* zlib      # the compressobj, or the decompressobj while in a body
    uint32_t crc        # of the member's output
    size_t total        # size of that output
    bint in_trailer
    bint has_member     # a member has ended
    size_t front        # bytes of s.pending that the running step has read
    size_t piece        # bytes of a body to pass to zlib next
    bint has_more       # zlib filled its output, and may have more without further input
    header_scan scan    # of the header in s.pending


cdef gzip_stream* stream_of(const codec_stream* s) noexcept nogil:
    return <gzip_stream*>s.state


cdef void gzip_close(codec_stream* s) noexcept nogil:
    with gil:
        Py_XDECREF(stream_of(s).zlib)
    free(s.state)


cdef void own(gzip_stream* g, object zlib_object) noexcept:
    cdef PyObject* before = g.zlib
    g.zlib = NULL
    if zlib_object is not None:
        Py_INCREF(zlib_object)
        g.zlib = <PyObject*>zlib_object
    Py_XDECREF(before)


cdef int gzip_open(codec_stream* s, rp_error* err) noexcept nogil:
    s.state = calloc(1, sizeof(gzip_stream))
    return RP_OK if s.state != NULL else rp_fail(err, RP_NO_MEMORY, -1, 0, sizeof(gzip_stream))


cdef int gzip_compress_open(codec_stream* s, rp_error* err) noexcept nogil:
    cdef uint8_t header[HEADER]
    if gzip_open(s, err) != RP_OK:
        return err.status
    with gil:
        try:
            own(stream_of(s), zlib.compressobj(level_or_default(s.row, s.level), zlib.DEFLATED, -zlib.MAX_WBITS))
        except MemoryError:
            return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    return give(s, header, write_header(header), err)


cdef int deflate(codec_stream* s, const uint8_t* src, size_t size, bint last, rp_error* err) noexcept with gil:
    """Append zlib's output to s.out."""
    cdef bytes piece
    try:
        deflater = <object>stream_of(s).zlib
        if last:
            piece = deflater.flush()
        else:
            piece = deflater.compress(PyMemoryView_FromMemory(<char*>src, size, PyBUF_READ))
        return give(s, <const uint8_t*><const char*>piece, len(piece), err)
    except MemoryError:
        return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    except zlib.error:
        return rp_fail(err, RP_COMPRESS_FAILED, -1, 0, 0)


cdef int gzip_compress_step(codec_stream* s, const uint8_t* src, size_t size, rp_error* err) noexcept nogil:
    cdef gzip_stream* g = stream_of(s)
    if size == 0:
        return RP_OK
    g.crc = libdeflate_crc32(g.crc, src, size)
    g.total += size
    return deflate(s, src, size, False, err)


cdef int gzip_compress_end(codec_stream* s, rp_error* err) noexcept nogil:
    cdef uint8_t trailer[TRAILER]
    if deflate(s, NULL, 0, True, err) != RP_OK:
        return err.status
    return give(s, trailer, write_trailer(trailer, stream_of(s).crc, stream_of(s).total), err)


cdef const uint8_t* waiting(const codec_stream* s, size_t* size) noexcept nogil:
    size[0] = s.pending.size - stream_of(s).front
    return s.pending.data + stream_of(s).front


cdef void advance(codec_stream* s, size_t size) noexcept nogil:
    """Advance past `size` waiting bytes."""
    stream_of(s).front += size
    s.base += <int64_t>size


cdef int gzip_decompress_step(codec_stream* s, const uint8_t* src, size_t size, rp_error* err) noexcept nogil:
    cdef gzip_stream* g = stream_of(s)
    cdef bint more = True
    if append(&s.pending, src, size, err) != RP_OK:
        return err.status
    err.status = RP_OK
    while more and not s.ended and err.status == RP_OK:
        if g.zlib != NULL:
            more = read_body(s, err)
        elif g.in_trailer:
            more = read_trailer(s, err)
        else:
            more = read_header(s, err)
    s.pending.size -= g.front
    if g.front > 0 and s.pending.size > 0:
        memmove(s.pending.data, s.pending.data + g.front, s.pending.size)
    g.front = 0
    return err.status


# The next three read a header, a chunk of a body and a trailer. Each returns whether input sufficed, or fills err.

cdef bint read_header(codec_stream* s, rp_error* err) noexcept nogil:
    cdef gzip_stream* g = stream_of(s)
    cdef size_t size, header
    cdef const uint8_t* src = waiting(s, &size)
    if size == 0 or (g.has_member and size < MEMBER_MIN):
        return False
    header = scan_header(&g.scan, src, size)
    if header == SIZE_MAX:
        return False
    g.scan.stage = FIXED
    if header == 0:
        if not g.has_member:
            rp_fail(err, RP_GZIP_HEADER, 0, 0, 0)
        s.ended = True
        return False
    advance(s, header)
    g.crc = 0
    g.total = 0
    g.piece = PIECE_LEAST
    with gil:
        try:
            own(g, zlib.decompressobj(-zlib.MAX_WBITS))
        except MemoryError:
            rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    return True


cdef bint read_body(codec_stream* s, rp_error* err) noexcept with gil:
    """Decompress a chunk of a body. zlib copies all input after the body's end, so its input starts small and then
    doubles."""
    cdef gzip_stream* g = stream_of(s)
    cdef size_t size
    cdef const uint8_t* src = waiting(s, &size)
    cdef bytes piece
    if size == 0 and not g.has_more:
        return False
    size = min(size, g.piece)
    g.piece = min(2 * g.piece, <size_t>PIECE_MOST)
    try:
        inflater = <object>g.zlib
        piece = inflater.decompress(PyMemoryView_FromMemory(<char*>src, size, PyBUF_READ),
                                    min(s.left + 1, <size_t>OUTPUT_MOST))
        if spend(s, len(piece), err) or give(s, <const uint8_t*><const char*>piece, len(piece), err):
            return False
        g.crc = libdeflate_crc32(g.crc, <const char*>piece, len(piece))
        g.total += len(piece)
        g.has_more = len(piece) == OUTPUT_MOST
        advance(s, size - len(inflater.unused_data if inflater.eof else inflater.unconsumed_tail))
        if inflater.eof:
            own(g, None)
            g.in_trailer = True
    except zlib.error:
        rp_fail(err, RP_GZIP_DATA, 0, 0, 0)
    except MemoryError:
        rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    return True


cdef bint read_trailer(codec_stream* s, rp_error* err) noexcept nogil:
    cdef gzip_stream* g = stream_of(s)
    cdef size_t size
    cdef const uint8_t* src = waiting(s, &size)
    if size < TRAILER:
        return False
    if not trailer_fits(src, g.crc, g.total):
        rp_fail(err, RP_GZIP_TRAILER, 0, 0, 0)
        return False
    advance(s, TRAILER)
    g.in_trailer = False
    g.has_member = True
    return True


cdef bint gzip_complete(const codec_stream* s) noexcept nogil:
    cdef gzip_stream* g = stream_of(s)
    return g.has_member and g.zlib == NULL and not g.in_trailer


cdef int gzip_decompress_end(codec_stream* s, rp_error* err) noexcept nogil:
    if not gzip_complete(s):
        return rp_fail(err, RP_GZIP_SHORT if s.base or s.pending.size else RP_GZIP_HEADER, 0, 0, 0)
    s.ended = True
    return RP_OK


cdef void gzip_row(codec* row) noexcept:
    row.id = RP_GZIP
    row.name = "gzip"
    row.has_levels = True
    row.level_min = 1
    row.level_max = LEVELS - 1
    row.level_default = LEVEL_LIBRARY
    row.gil_kept = 1 << 11
    row.expect = gzip_expect
    row.decode = gzip_decode
    row.prefix = gzip_prefix
    row.bound = gzip_bound
    row.encode = gzip_encode
    row.joins = True  # as consecutive members
    row.cut = gzip_cut
    row.free_state = gzip_free
    row.compressor.most = row.decompressor.most = STEP
    row.compressor.open = gzip_compress_open
    row.compressor.step = gzip_compress_step
    row.compressor.end = gzip_compress_end
    row.compressor.close = gzip_close
    row.decompressor.open = gzip_open
    row.decompressor.step = gzip_decompress_step
    row.decompressor.end = gzip_decompress_end
    row.decompressor.complete = gzip_complete
    row.decompressor.close = gzip_close
