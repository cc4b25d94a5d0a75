"""zstd frames (RFC 8878) through libzstd, in the shape of Java's ZstdOutputStream: no content size, no
checksum, an empty last block."""

from libc.stdint cimport INT32_MAX, int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from recordpress._buffers cimport pooled, pooled_reserve_more
from recordpress._c.wire cimport (
    RP_COMPRESS_FAILED, RP_NO_MEMORY, RP_OK, RP_OUTPUT_CAP, RP_OUTPUT_FULL, RP_ZSTD, RP_ZSTD_CHECKSUM, RP_ZSTD_DATA,
    RP_ZSTD_DICT_MISSING, RP_ZSTD_HEADER, RP_ZSTD_SHORT, rp_error, rp_fail,
)
from recordpress._c.zstd cimport (
    ZSTD_CCtx_reset, ZSTD_CCtx_setParameter, ZSTD_DCtx, ZSTD_DCtx_reset, ZSTD_DDict, ZSTD_EndDirective, ZSTD_ErrorCode,
    ZSTD_c_compressionLevel, ZSTD_c_contentSizeFlag, ZSTD_c_srcSizeHint, ZSTD_c_strategy, ZSTD_c_windowLog,
    ZSTD_compress2, ZSTD_compressBound, ZSTD_compressStream2, ZSTD_createCCtx, ZSTD_createDCtx, ZSTD_DCtx_refDDict,
    ZSTD_decompress_usingDDict, ZSTD_decompressStream, ZSTD_e_continue, ZSTD_e_end, ZSTD_e_flush,
    ZSTD_error_checksum_wrong, ZSTD_error_dstSize_tooSmall, ZSTD_error_frameParameter_unsupported,
    ZSTD_error_memory_allocation, ZSTD_error_prefix_unknown, ZSTD_freeCCtx, ZSTD_freeDCtx, ZSTD_getErrorCode,
    ZSTD_inBuffer, ZSTD_isError, ZSTD_outBuffer, ZSTD_reset_session_only, ZSTD_sizeof_CCtx, ZSTD_sizeof_DCtx,
)
from recordpress.codecs._output cimport output_room
from recordpress.codecs._zstd_frames cimport (
    BLOCK_HEADER, BLOCK_MAX, JAVA_INPUT, LONGEST_HEADER, WINDOW_LOG_MIN, dictionary_of, end_with_empty_block,
    ends_as_java_allows, frame_walk, is_ignored_prefix, may_begin, read_frame, read_head, walk_blocks, walked_frame,
)
from recordpress.codecs.codec cimport (
    codec, codec_stream, codec_unit, level_or_default, progress, size_range, spend, state_made,
)

cdef enum:
    WINDOW_AT = 5                 # in a written frame: after magic and descriptor
    # Above this level contexts have hash tables and windows of more than 8 MB.
    SMALL_LEVEL = 9
    # High levels and large windows make contexts of hundreds of MB, which are not kept. A decompressor holds only its
    # window, and only if frames come in chunks: the 2 MiB of the default level are kept.
    COMPRESSOR_KEPT = 32 << 20
    DECOMPRESSOR_KEPT = 4 << 20
    PIECE = 1 << 17               # the room that a step of a stream reserves for output: a block
    # Levels 20 to 22 and zstd's --long use windows larger than WIDE. Such a frame is held until it is complete: up
    # to HELD_LEAST in any case, and up to HELD_MOST if it is much smaller than its output. With HELD_MOST, a stream
    # needs less memory than its cap plus 16 MiB.
    WIDE = 8 << 20
    HELD_LEAST = 1 << 20
    HELD_MOST = 12 << 20
    HELD_ROOM = (12 + 1) << 20    # the last part may exceed HELD_MOST
    JAVA_OUTPUT = 16384           # ZstdCompression.decompressionOutputSize


cdef void zstd_expect(const codec* row, const uint8_t* src, size_t size, size_range* expected) noexcept nogil:
    """Expect the sum of the frames' sizes up to the first bad header."""
    cdef codec_unit frame
    cdef rp_error ignored
    cdef size_t at = 0
    expected.least = expected.most = 0
    expected.sure = True
    expected.first.size = 0
    while at < size and read_frame(src, at, size, row.object != NULL, &frame, &ignored) == RP_OK:
        if at == 0:
            expected.first = frame
        expected.least += frame.least
        expected.most += frame.most
        at += frame.size


cdef int decoder_failed(size_t code, int64_t position, rp_error* err) noexcept nogil:
    """Translate an error of libzstd's decoder into an rp_error."""
    cdef ZSTD_ErrorCode kind = ZSTD_getErrorCode(code)
    if kind == ZSTD_error_checksum_wrong:
        return rp_fail(err, RP_ZSTD_CHECKSUM, position, 0, 0)
    if kind == ZSTD_error_prefix_unknown or kind == ZSTD_error_frameParameter_unsupported:
        return rp_fail(err, RP_ZSTD_HEADER, position, 0, 0)
    if kind == ZSTD_error_memory_allocation:
        return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    return rp_fail(err, RP_ZSTD_DATA, position, 0, 0)


cdef ZSTD_DCtx* decompressor_of(void** state) noexcept nogil:
    """Return the decompressor; NULL if out of memory."""
    cdef zstd_state* own = <zstd_state*>state_made(state, sizeof(zstd_state))
    if own == NULL:
        return NULL
    if own.decompressor == NULL:
        own.decompressor = ZSTD_createDCtx()
    return own.decompressor


cdef size_t zstd_free(void* state) noexcept nogil:
    cdef zstd_state* own = <zstd_state*>state
    cdef size_t released = sizeof(zstd_state) + ZSTD_sizeof_CCtx(own.compressor) + ZSTD_sizeof_DCtx(own.decompressor)
    ZSTD_freeCCtx(own.compressor)
    ZSTD_freeDCtx(own.decompressor)
    free(own)
    return released


cdef void zstd_shrink(void** state) noexcept nogil:
    cdef zstd_state* own = <zstd_state*>state[0]
    if not own.grown:
        return
    own.grown = False
    if ZSTD_sizeof_CCtx(own.compressor) > COMPRESSOR_KEPT:
        ZSTD_freeCCtx(own.compressor)
        own.compressor = NULL
    if ZSTD_sizeof_DCtx(own.decompressor) > DECOMPRESSOR_KEPT:
        ZSTD_freeDCtx(own.decompressor)
        own.decompressor = NULL


cdef int ready_decompressor(void** state, rp_error* err) noexcept nogil:
    """Prepare the decompressor for a stream."""
    cdef ZSTD_DCtx* decompressor = decompressor_of(state)
    if decompressor == NULL:
        return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    ZSTD_DCtx_reset(decompressor, ZSTD_reset_session_only)
    (<zstd_state*>state[0]).grown = True  # a stream needs its window, of up to 128 MiB
    return RP_OK


cdef int find_dictionary(const known_dictionaries* known, const uint8_t* frame,
                         const ZSTD_DDict** dictionary) noexcept nogil:
    """Find the dictionary that the frame's header names; NULL if it names no dictionary."""
    cdef uint32_t id = dictionary_of(frame)
    cdef size_t i
    dictionary[0] = NULL
    if id == 0:
        return RP_OK
    for i in range(known.count):
        if known.items[i].id == id:
            dictionary[0] = known.items[i].decoder
            return RP_OK
    return RP_ZSTD_DICT_MISSING


cdef int refer_to_dictionary(codec_stream* s, const uint8_t* frame, rp_error* err) noexcept nogil:
    """Set the dictionary that a stream's frame needs, before libzstd reads the frame; Kafka's row has no dictionary."""
    cdef const known_dictionaries* known = <const known_dictionaries*>s.row.object
    cdef const ZSTD_DDict* dictionary = NULL
    cdef size_t result
    if known == NULL:
        return RP_OK
    if find_dictionary(known, frame, &dictionary) != RP_OK:
        return rp_fail(err, RP_ZSTD_DICT_MISSING, 0, dictionary_of(frame), 0)
    result = ZSTD_DCtx_refDDict((<zstd_state*>s.shared[0]).decompressor, dictionary)
    if ZSTD_isError(result):
        return decoder_failed(result, 0, err)
    return RP_OK


cdef int zstd_decode(const codec* row, void** state, int magic, const uint8_t* src, size_t size, uint8_t* dst,
                     size_t capacity, progress* at, rp_error* err) noexcept nogil:
    cdef codec_unit* frame = &at.unit
    cdef size_t room, produced
    cdef const known_dictionaries* known = <const known_dictionaries*>row.object
    cdef const ZSTD_DDict* dictionary = NULL
    cdef ZSTD_DCtx* decompressor = decompressor_of(state)
    if decompressor == NULL:
        return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    while not ends_as_java_allows(src, at.consumed, size):
        if frame.size == 0 and read_frame(src, at.consumed, size, known != NULL, frame, err) != RP_OK:
            if at.counted and is_ignored_prefix(src, at.consumed, size):
                return RP_OK
            return err.status
        # With room for one more block, libzstd would put literals there, into memory that nothing else touches.
        room = min(capacity - at.produced, frame.most)
        if frame.least > capacity - at.produced:
            return rp_fail(err, RP_OUTPUT_FULL, <int64_t>at.consumed, 0, <int64_t>capacity)
        if known != NULL and find_dictionary(known, src + at.consumed, &dictionary) != RP_OK:
            return rp_fail(err, RP_ZSTD_DICT_MISSING, <int64_t>at.consumed, dictionary_of(src + at.consumed), 0)
        produced = ZSTD_decompress_usingDDict(decompressor, dst + at.produced, room, src + at.consumed, frame.size,
                                              dictionary)
        if ZSTD_isError(produced):
            if ZSTD_getErrorCode(produced) == ZSTD_error_dstSize_tooSmall and room < frame.most:
                return rp_fail(err, RP_OUTPUT_FULL, <int64_t>at.consumed, 0, <int64_t>capacity)
            return decoder_failed(produced, <int64_t>at.consumed, err)
        if produced > frame.most:  # a block above the maximum size, which libzstd refuses only in streams
            return rp_fail(err, RP_ZSTD_DATA, <int64_t>at.consumed, 0, 0)
        at.consumed += frame.size
        at.produced += produced
        frame.size = 0
    return RP_OK


cdef size_t read_as_java(ZSTD_DCtx* decompressor, ZSTD_inBuffer* input, size_t size, bint* wants_input, bint* ended,
                         uint8_t* dst) noexcept nogil:
    """Read up to JAVA_OUTPUT bytes as zstd-jni's ZstdInputStream does; return their number, 0 at the end or an error.

    `input.size` of the payload's `size` bytes have been read into the stream's buffer. `ended`: a frame has ended
    since the buffer was last filled; only then does the stream take a lack of input for its end.
    """
    cdef ZSTD_outBuffer output = [dst, JAVA_OUTPUT, 0]
    cdef size_t before, result
    while True:
        before = output.pos
        if wants_input[0] and (input.size < size or output.pos == 0):
            if input.size == size:
                return 0  # the end, or a truncated source
            input.size += min(size - input.size, <size_t>JAVA_INPUT)
            ended[0] = False
        result = ZSTD_decompressStream(decompressor, &output, input)
        if ZSTD_isError(result):
            ended[0] = False
            return 0
        if result == 0:
            ended[0] = True
            wants_input[0] = input.pos == input.size
        else:
            wants_input[0] = output.pos < output.size
        if result == 0 or output.pos == output.size or output.pos == before:
            if output.pos > 0:
                return output.pos


cdef bint zstd_prefix(void** state, const uint8_t* src, size_t size, pooled* out, size_t start,
                      size_t cap) noexcept nogil:
    """Append the output of zstd-jni's ZstdInputStream for a damaged payload before it fails.

    Kafka reads 16 KiB at a time from that stream, and a read that meets an error returns nothing.
    """
    cdef ZSTD_inBuffer input = [src, 0, 0]
    cdef bint wants_input = True, ended = False
    cdef size_t given
    cdef rp_error err
    out.size = start
    if ready_decompressor(state, &err) != RP_OK:
        return False
    while pooled_reserve_more(out, JAVA_OUTPUT, &err) == RP_OK:
        given = read_as_java((<zstd_state*>state[0]).decompressor, &input, size, &wants_input, &ended,
                             out.data + out.size)
        if given == 0:
            return ended
        if out.size - start + given > cap:
            return False
        out.size += given
    return False


# --- compression -----------------------------------------------------------------------------------------------------

cdef size_t zstd_bound(size_t size) noexcept nogil:
    return ZSTD_compressBound(size) + BLOCK_HEADER


cdef int ready_compressor(void** state, int level, rp_error* err) noexcept nogil:
    """Prepare the compressor for a frame."""
    cdef zstd_state* own = <zstd_state*>state_made(state, sizeof(zstd_state))
    if own != NULL and own.compressor == NULL:
        own.compressor = ZSTD_createCCtx()
        if own.compressor != NULL:
            ZSTD_CCtx_setParameter(own.compressor, ZSTD_c_contentSizeFlag, 0)
    if own == NULL or own.compressor == NULL:
        return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    own.grown = own.grown or level > <int>SMALL_LEVEL
    ZSTD_CCtx_reset(own.compressor, ZSTD_reset_session_only)
    ZSTD_CCtx_setParameter(own.compressor, ZSTD_c_compressionLevel, plain_level(level))
    if own.tuned or is_packed(level):  # parameters outlive the reset; 0 is the level's own
        ZSTD_CCtx_setParameter(own.compressor, ZSTD_c_windowLog, own_window_log(level))
        ZSTD_CCtx_setParameter(own.compressor, ZSTD_c_strategy, own_strategy(level))
        own.tuned = is_packed(level)
    if own.hinted:
        ZSTD_CCtx_setParameter(own.compressor, ZSTD_c_srcSizeHint, 0)
        own.hinted = False
    return RP_OK


cdef int compress_failed(size_t code, rp_error* err) noexcept nogil:
    return rp_fail(err, RP_COMPRESS_FAILED, -1, <int64_t>ZSTD_getErrorCode(code), 0)


cdef int zstd_encode(const codec* row, void** state, int level, int magic, bint raw, const uint8_t* src, size_t size,
                     uint8_t* dst, size_t capacity, size_t* produced, rp_error* err) noexcept nogil:
    """Compress in one call with a known size, which lets libzstd choose fitting tables and is 5 to 20 % faster than
    Java's stream. Two differences from a stream's frame are then removed: the window becomes that of an unknown size,
    and an empty last block is added."""
    cdef size_t written
    level = level_or_default(row, level)
    if ready_compressor(state, level, err) != RP_OK:
        return err.status
    written = ZSTD_compress2((<zstd_state*>state[0]).compressor, dst, capacity, src, size)
    if ZSTD_isError(written):
        return compress_failed(written, err)
    dst[WINDOW_AT] = <uint8_t>((window_log_of(level) - WINDOW_LOG_MIN) << 3)
    produced[0] = end_with_empty_block(dst, written)
    return RP_OK


cdef int zstd_begin_parts(void** state, int level, size_t expected, rp_error* err) noexcept nogil:
    """Begin a stream with its expected size, from which libzstd chooses its tables."""
    if ready_compressor(state, level, err) != RP_OK:
        return err.status
    (<zstd_state*>state[0]).hinted = True
    ZSTD_CCtx_setParameter((<zstd_state*>state[0]).compressor, ZSTD_c_srcSizeHint,
                           <int>min(expected, <size_t>INT32_MAX))
    return RP_OK


cdef int zstd_part(void** state, const uint8_t* src, size_t size, uint8_t* dst, size_t capacity, size_t* produced,
                   rp_error* err) noexcept nogil:
    cdef ZSTD_inBuffer input = [src, size, 0]
    cdef ZSTD_outBuffer output = [dst, capacity, 0]
    cdef size_t left = ZSTD_compressStream2((<zstd_state*>state[0]).compressor, &output, &input, ZSTD_e_flush)
    produced[0] = output.pos
    return compress_failed(left, err) if left else RP_OK


# --- in chunks: compression ------------------------------------------------------------------------------------------

cdef int zstd_compress_open(codec_stream* s, rp_error* err) noexcept nogil:
    return ready_compressor(s.shared, level_or_default(s.row, s.level), err)


cdef int compress_piece(codec_stream* s, ZSTD_inBuffer* input, int directive, rp_error* err) noexcept nogil:
    """Compress `input` onto the end of s.out, until libzstd has nothing left for this directive."""
    cdef ZSTD_outBuffer output
    cdef size_t left = 1
    while left > 0:
        if output_room(s, ZSTD_compressBound(input.size - input.pos) + BLOCK_MAX, err) != RP_OK:
            return err.status
        output.dst, output.size, output.pos = s.out.data, s.out.capacity, s.out.size
        left = ZSTD_compressStream2((<zstd_state*>s.shared[0]).compressor, &output, input, <ZSTD_EndDirective>directive)
        s.out.size = output.pos
        if ZSTD_isError(left):
            return compress_failed(left, err)
        if directive == ZSTD_e_continue:
            left = input.size - input.pos
    return RP_OK


cdef int zstd_compress_step(codec_stream* s, const uint8_t* src, size_t size, rp_error* err) noexcept nogil:
    cdef ZSTD_inBuffer input = [src, size, 0]
    return compress_piece(s, &input, ZSTD_e_continue, err)


cdef int zstd_compress_end(codec_stream* s, rp_error* err) noexcept nogil:
    """End the frame with an empty block, because Kafka flushes the stream before it closes it."""
    cdef ZSTD_inBuffer input = [NULL, 0, 0]
    if compress_piece(s, &input, ZSTD_e_flush, err) != RP_OK:
        return err.status
    return compress_piece(s, &input, ZSTD_e_end, err)


# --- in chunks: decompression ----------------------------------------------------------------------------------------

cdef int zstd_decompress_open(codec_stream* s, rp_error* err) noexcept nogil:
    s.state = calloc(1, sizeof(zstd_stream))
    if s.state == NULL:
        return rp_fail(err, RP_NO_MEMORY, -1, 0, sizeof(zstd_stream))
    return ready_decompressor(s.shared, err)


cdef void zstd_close(codec_stream* s) noexcept nogil:
    free((<zstd_stream*>s.state).held)
    free(s.state)


cdef int zstd_decompress_step(codec_stream* s, const uint8_t* src, size_t size, rp_error* err) noexcept nogil:
    """Decompress a chunk. Frames that are complete in it need no window, and go straight to the output."""
    cdef zstd_stream* z = <zstd_stream*>s.state
    cdef ZSTD_inBuffer input = [src, size, 0]
    cdef codec_unit frame
    cdef bint more = True
    while more:
        if z.held != NULL:
            if hold_piece(s, &input, &more, err) != RP_OK:
                return err.status
        elif z.frame == 0 and read_frame(src, input.pos, size, False, &frame, err) == RP_OK:
            if read_whole(s, src + input.pos, &frame, err) != RP_OK:
                return err.status
            input.pos += frame.size
            more = input.pos < size
        elif begins_wide_frame(z, &input):
            if hold(s, err) != RP_OK:
                return err.status
        elif read_piece(s, &input, &more, err) != RP_OK:
            return err.status
    return RP_OK


cdef int read_whole(codec_stream* s, const uint8_t* src, const codec_unit* frame, rp_error* err) noexcept nogil:
    cdef progress at
    cdef int status
    memset(&at, 0, sizeof(progress))
    at.unit = frame[0]
    if output_room(s, min(frame.most, s.left), err) != RP_OK:
        return err.status
    status = zstd_decode(s.row, s.shared, s.magic, src, frame.size, s.out.data + s.out.size,
                         min(s.out.capacity - s.out.size, s.left), &at, err)
    if status == RP_OUTPUT_FULL:
        return rp_fail(err, RP_OUTPUT_CAP, -1, 0, <int64_t>s.max_size)
    s.out.size += at.produced
    s.left -= at.produced
    s.base += <int64_t>at.consumed
    (<zstd_stream*>s.state).frames += 1
    return status


cdef size_t know_head(zstd_stream* z, const ZSTD_inBuffer* input) noexcept nogil:
    """Complete z.head from the input; return the number of its bytes that are known."""
    cdef size_t known
    if z.frame >= LONGEST_HEADER:
        return LONGEST_HEADER
    known = min(LONGEST_HEADER - z.frame, input.size - input.pos)
    memcpy(z.head + z.frame, <const uint8_t*>input.src + input.pos, known)
    return z.frame + known


cdef int read_piece(codec_stream* s, ZSTD_inBuffer* input, bint* more, rp_error* err) noexcept nogil:
    """Decompress up to PIECE bytes; set `more` if further output may be available."""
    cdef zstd_stream* z = <zstd_stream*>s.state
    cdef ZSTD_outBuffer output
    cdef frame_walk walk
    cdef size_t before = input.pos, given, known = know_head(z, input), result
    s.handed = input.pos
    if output_room(s, PIECE, err) != RP_OK:
        return err.status
    output.dst, output.pos = s.out.data, s.out.size
    output.size = s.out.size + min(<size_t>PIECE, s.left + 1)
    result = ZSTD_decompressStream((<zstd_state*>s.shared[0]).decompressor, &output, input)
    if ZSTD_isError(result):
        if read_head(z.head, known, s.row.object != NULL, &walk, err) not in (RP_OK, RP_ZSTD_SHORT):
            return err.status
        return decoder_failed(result, 0, err)
    given = output.pos - s.out.size
    s.out.size = output.pos
    z.frame += input.pos - before
    if result == 0 and z.frame > 0:
        s.base += <int64_t>z.frame
        z.frame = 0
        z.frames += 1
    more[0] = input.pos < input.size or output.pos == output.size
    return spend(s, given, err)


# A frame in chunks needs its window in addition to the output of a call, because libzstd needs the window in one
# block. So a frame with a large window is held until it is complete, and is then decompressed straight into the output.
# This is for frames that are much smaller than their output; others do not wait, as each chunk produces little.

cdef bint begins_wide_frame(zstd_stream* z, const ZSTD_inBuffer* input) noexcept nogil:
    """Return whether the input completes the header of a frame with a large window."""
    cdef rp_error ignored
    if z.frame >= LONGEST_HEADER or read_head(z.head, know_head(z, input), False, &z.walk, &ignored) != RP_OK:
        return False
    return z.walk.at > z.frame and is_wide(z)


cdef bint is_wide(const zstd_stream* z) noexcept nogil:
    """Return whether the frame whose header was read has a large window."""
    return z.walk.window > WIDE


cdef int hold(codec_stream* s, rp_error* err) noexcept nogil:
    """Begin to hold a frame. libzstd has seen at most a part of its header, and is reset.

    Unused room costs no memory: malloc maps a block of this size, and its pages stay untouched.
    """
    cdef zstd_stream* z = <zstd_stream*>s.state
    z.held = <uint8_t*>malloc(HELD_ROOM)
    if z.held == NULL:
        return rp_fail(err, RP_NO_MEMORY, -1, 0, HELD_ROOM)
    memcpy(z.held, z.head, z.frame)
    ZSTD_DCtx_reset((<zstd_state*>s.shared[0]).decompressor, ZSTD_reset_session_only)
    return RP_OK


cdef void let_go(zstd_stream* z) noexcept nogil:
    free(z.held)
    z.held = NULL
    z.frame = 0


cdef int hold_piece(codec_stream* s, ZSTD_inBuffer* input, bint* more, rp_error* err) noexcept nogil:
    """Hold a part of the input; decompress the held bytes once the frame is complete or has become too large."""
    cdef zstd_stream* z = <zstd_stream*>s.state
    cdef size_t size = min(input.size - input.pos, <size_t>HELD_LEAST)
    cdef codec_unit frame
    memcpy(z.held + z.frame, <const uint8_t*>input.src + input.pos, size)
    input.pos += size
    z.frame += size
    if walk_blocks(z.held, z.frame, &z.walk, err) == RP_OK:
        walked_frame(&z.walk, 0, &frame)
        input.pos -= z.frame - frame.size
        if read_whole(s, z.held, &frame, err) != RP_OK:
            return err.status
        let_go(z)
    elif (err.status != RP_ZSTD_SHORT or is_held_too_long(s)) and read_held(s, err) != RP_OK:
        return err.status
    more[0] = input.pos < input.size
    return RP_OK


cdef bint is_held_too_long(const codec_stream* s) noexcept nogil:
    """Return whether HELD_MOST bytes would be too few for all the output that the cap allows, at this frame's ratio."""
    cdef const zstd_stream* z = <const zstd_stream*>s.state
    cdef double output = <double>(z.walk.exact + z.walk.most)
    return z.frame > HELD_LEAST and (z.frame > HELD_MOST or <double>z.frame * s.left > HELD_MOST * output)


cdef int read_held(codec_stream* s, rp_error* err) noexcept nogil:
    """Decompress the held part of a frame, and stop holding the frame."""
    cdef zstd_stream* z = <zstd_stream*>s.state
    cdef uint8_t* held = z.held
    cdef ZSTD_inBuffer input = [held, z.frame, 0]
    cdef bint more = True
    cdef int status
    z.held = NULL
    z.frame = 0
    status = refer_to_dictionary(s, held, err)
    while more and status == RP_OK:
        status = read_piece(s, &input, &more, err)
    free(held)
    return status


cdef bint zstd_complete(const codec_stream* s) noexcept nogil:
    """Return whether the payload is complete; zstd-jni overlooks a single last byte that could begin a frame."""
    cdef const zstd_stream* z = <const zstd_stream*>s.state
    return z.frame == 0 or (z.frame == 1 and z.frames > 0 and may_begin(z.head[0]))


cdef int zstd_decompress_end(codec_stream* s, rp_error* err) noexcept nogil:
    if zstd_complete(s):
        return RP_OK
    return rp_fail(err, RP_ZSTD_SHORT if (<zstd_stream*>s.state).frame >= 4 else RP_ZSTD_HEADER, 0, 0, 0)


cdef void zstd_row(codec* row) noexcept:
    row.id = RP_ZSTD
    row.name = "zstd"
    row.least_magic = 2   # KIP-110
    row.has_levels = True
    row.level_min = LEVEL_MIN
    row.level_max = LEVEL_MAX
    row.level_default = 3
    row.gil_kept = 1 << 11
    row.expect = zstd_expect
    row.decode = zstd_decode
    row.prefix = zstd_prefix
    row.bound = zstd_bound
    row.encode = zstd_encode
    row.joins = True   # as consecutive frames
    row.begin_parts = zstd_begin_parts
    row.part = zstd_part
    row.parts_end = "\x01\0\0"   # an empty last block
    row.parts_end_size = BLOCK_HEADER
    row.free_state = zstd_free
    row.shrink_state = zstd_shrink
    row.compressor.open = zstd_compress_open
    row.compressor.step = zstd_compress_step
    row.compressor.end = zstd_compress_end
    row.decompressor.open = zstd_decompress_open
    row.decompressor.step = zstd_decompress_step
    row.decompressor.end = zstd_decompress_end
    row.decompressor.complete = zstd_complete
    row.decompressor.close = zstd_close
