"""A codec as a row: the properties and functions through which the rest of the package uses it.

A codec's file fills its row (`_gzip`, `_snappy`, `_lz4`, `_zstd`; `_none` for uncompressed bytes, `_registry` for a
plug-in, which is a Python object of the caller). `table` holds the rows. encode and decode take a whole payload,
compressor and decompressor take chunks; compress and decompress are calls that use a row (`context`, `_calls`). The
functions of a row may be called from any thread, without the GIL.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc
from libc.string cimport memcmp, memcpy

from recordpress._buffers cimport pooled, pooled_reserve_more
from recordpress._c.wire cimport (
    RP_BATCH_HEADER, RP_OK, RP_OUTPUT_CAP, RP_PLUGGABLE, rp_batch, rp_batch_codec, rp_error, rp_fail,
)

cdef enum:
    # A codec that copies its input reads a chunk in steps of this size, which fit the cache.
    STEP = 1 << 18
    CODEC_IDS = 8                 # three bits of the attributes hold the id
    # The row number of a Kafka codec is its id. Plug-ins have the rows after the ids, so that each has its own number;
    # their id is 5, or that of the Kafka codec that a provider implements. There are as many rows as bits in a set of
    # rows: a uint64_t (log/copy/_recompress_entries.pyx).
    CODEC_ROWS = 64
    # Room for parts beyond the bound of one payload: each flush ends a block early, and libzstd may split blocks.
    # A block's header has 3 bytes, so this is room for 340 more blocks than the bound counts.
    PART_ROOM = 1 << 10
    GROWN_FROM = 4096             # minimum room for output that is larger than its headers say
    LEVEL_DEFAULT = -2147483648   # "what Kafka's Java producer does by default"; no codec has it as a level

cdef struct codec
cdef struct codec_stream


# A member, chunk, block or frame, as its headers describe it.
cdef struct codec_unit:
    size_t size       # in bytes; 0: its headers were not read
    uint64_t least    # its output has from `least` to `most` bytes
    uint64_t most


# The decompressed size according to a payload's own headers. They are untrusted: `least` serves only to refuse early,
# and `most` as the initial room.
cdef struct size_range:
    size_t least
    size_t most
    bint sure         # the output cannot be larger than `most`
    codec_unit first  # for codecs that keep a unit in `progress`


# A decoder's progress, in complete units. If the output was full, the decoder continues from here when it is called
# again with more room.
cdef struct progress:
    size_t consumed
    size_t produced
    size_t cap        # maximum output that any call may request room for
    size_t wanted     # after RP_OUTPUT_FULL: room that is known to be needed, or 0
    bint ended        # the payload's end was reached: later bytes are not part of it
    bint counted      # a records count decides whether the output is complete (a record batch, not a codec call)
    codec_unit unit   # the unit at `consumed`, if the codec reads its headers first; size 0 until then

cdef inline size_t more_room(size_t room, size_t wanted, size_t cap) noexcept nogil:
    """Return the room to decode with after RP_OUTPUT_FULL."""
    return min(cap, max(max(2 * room, wanted), <size_t>GROWN_FROM))


# A payload in chunks. On an error a step returns the status; its position counts from `base`.
cdef struct codec_stream:
    const codec* row
    void** shared     # the row's slot in the context
    void* state       # the stream's own state, from open to close
    pooled* out       # output of this call: see _output.pxd, which also uses the next five fields
    pooled* small
    pooled large
    PyObject* result
    size_t piece      # size of the chunk that is being read
    size_t handed     # bytes of that chunk that were passed to a step
    pooled pending    # waiting input; after the payload's end, the bytes after it
    int level
    int magic
    size_t max_size   # of the output
    size_t left       # bytes of max_size that are left
    int64_t base      # place in the payload from which the position of an error counts
    bint ended        # the payload's end was reached
    uint32_t wanted   # after an error: the id of a missing dictionary; otherwise 0
    size_t taken      # then: bytes of the chunk that were read; with the dictionary, the rest can be read in a new step


cdef struct stream_calls:
    size_t most       # maximum bytes of a chunk per step; 0: the whole chunk
    int (*open)(codec_stream*, rp_error*) noexcept nogil                               # NULL: nothing to do
    int (*step)(codec_stream*, const uint8_t* src, size_t size, rp_error*) noexcept nogil
    int (*end)(codec_stream*, rp_error*) noexcept nogil
    bint (*complete)(const codec_stream*) noexcept nogil   # decompression: whether the payload may end here
    void (*close)(codec_stream*) noexcept nogil            # NULL: no state


cdef struct codec:
    int id                # the number of the row
    int attributes        # the id on the wire
    const char* name      # ASCII
    int least_magic       # of the batches that may use it
    bint has_levels
    int level_min
    int level_max
    int level_default     # accepted even if it is outside the range
    # At the default level, the GIL is kept for up to this many bytes of input. The work then usually takes 20 us or
    # less; releasing and taking the GIL takes 0.1 us, and more if another thread waits for it.
    size_t gil_kept
    void* object          # the Plugin: borrowed from the CodecTable
    const uint8_t* head   # bytes between a batch's header and its payload: the length and the name of the plug-in
    size_t head_size

    # Calls for a whole payload. `state` is the row's slot in the context: NULL until the codec puts something there. A
    # plug-in has no state, because a context outlives its table.
    void (*expect)(const codec*, const uint8_t* src, size_t size, size_range*) noexcept nogil
    int (*decode)(const codec*, void** state, int magic, const uint8_t* src, size_t size, uint8_t* dst,
                  size_t capacity, progress*, rp_error*) noexcept nogil
    # After an error: leaves in `out`, from `start`, the output of Kafka's streaming reader before it fails. The
    # decoded units are there already. NULL: they equal Kafka's output. Returns whether that reader does not fail, but
    # takes the place of the error for the payload's end.
    bint (*prefix)(void** state, const uint8_t* src, size_t size, pooled* out, size_t start,
                   size_t cap) noexcept nogil
    # Checks the part of a payload's header that a reader may ignore at its caller's request: RP_OK, or the status that
    # `decode` returns. NULL: no part may be ignored.
    int (*header_checksum_status)(const uint8_t* src, size_t size, rp_error*) noexcept nogil
    size_t (*bound)(size_t size) noexcept nogil    # the maximum output of encode for `size` bytes
    # `dst` has room for bound(size). raw: without framing, if the codec has such a form.
    int (*encode)(const codec*, void** state, int level, int magic, bint raw, const uint8_t* src, size_t size,
                  uint8_t* dst, size_t capacity, size_t* produced, rp_error*) noexcept nogil

    # Two payloads become one when these bytes are omitted between them.
    bint joins
    size_t join_tail      # at the end of the first
    size_t join_head      # at the start of the second
    size_t join_unit      # if the first holds a multiple of this many bytes, one payload of both is the same; 0: never

    # A payload in parts: each part is compressed at once, with the earlier parts as its history, and their output is a
    # payload at any time if parts_end follows it. NULL: there is no such form. `expected`: about how many bytes will
    # come; 0: unknown. `dst` has room for bound(size) and PART_ROOM.
    int (*begin_parts)(void** state, int level, size_t expected, rp_error*) noexcept nogil
    int (*part)(void** state, const uint8_t* src, size_t size, uint8_t* dst, size_t capacity, size_t* produced,
                rp_error*) noexcept nogil
    const char* parts_end
    size_t parts_end_size

    # Shortens a payload that is too large, without compressing again, to as many of the n units of its input, which
    # end at `ends`, as fit in `limit` bytes. Returns their number, 0 if that is impossible; `dst` has room for `limit`.
    # NULL: the codec has no such function.
    int64_t (*cut)(void** state, const uint8_t* payload, size_t size, size_t limit, const uint8_t* src,
                   const size_t* ends, int64_t n, uint8_t* dst, size_t* produced) noexcept nogil

    size_t (*free_state)(void* state) noexcept nogil     # returns about how many bytes were freed
    void (*shrink_state)(void** state) noexcept nogil    # before a context waits for its next use; NULL: nothing to do

    stream_calls compressor
    stream_calls decompressor


cdef struct codec_table:
    codec rows[CODEC_ROWS]   # `decode` is NULL in unused rows
    int n_plugins            # in the rows from CODEC_IDS
    int readers[CODEC_IDS]   # the row of the provider that reads batches of a codec; 0: Kafka's


cdef inline const codec* row_of(const codec_table* codecs, int id) noexcept nogil:
    """Return the row of a codec; NULL if no codec has the id."""
    if 0 <= id < CODEC_ROWS and codecs.rows[id].decode != NULL:
        return &codecs.rows[id]
    return NULL


cdef inline const codec* reader_of(const codec_table* codecs, int id, int magic) noexcept nogil:
    """Return the row that reads a payload of a codec; NULL if no codec has the id."""
    if magic == 2 and 0 <= id < CODEC_IDS and codecs.readers[id] != 0:
        return &codecs.rows[codecs.readers[id]]
    return row_of(codecs, id)


cdef inline int codec_at(const codec_table* codecs, const uint8_t* entry, const rp_batch* batch) noexcept nogil:
    """Return the row number of a complete entry's codec; RP_PLUGGABLE, which has no row, if the plug-in is unknown."""
    cdef int id = rp_batch_codec(batch)
    return id if id != RP_PLUGGABLE or codecs.n_plugins == 0 else plugin_at(codecs, entry, batch)


cdef inline int plugin_at(const codec_table* codecs, const uint8_t* entry, const rp_batch* batch) noexcept nogil:
    """Find a plug-in by the name in the batch; that name is only compared with the names of the table."""
    cdef size_t room
    cdef int id
    cdef const codec* row
    if batch.magic == 2 and batch.size > RP_BATCH_HEADER:
        room = <size_t>(batch.size - RP_BATCH_HEADER)
        for id in range(CODEC_IDS, CODEC_IDS + codecs.n_plugins):
            row = &codecs.rows[id]
            if (row.attributes == RP_PLUGGABLE and row.head_size <= room
                    and memcmp(entry + RP_BATCH_HEADER, row.head, row.head_size) == 0):
                return id
    return RP_PLUGGABLE


cdef inline void* state_made(void** state, size_t size) noexcept nogil:
    """Return the slot's `size` bytes, which are zero at first; NULL if out of memory."""
    if state[0] == NULL:
        state[0] = calloc(1, size)
    return state[0]


cdef inline int level_or_default(const codec* row, int level) noexcept nogil:
    return row.level_default if level == LEVEL_DEFAULT else level


# --- for the streams of the codec files ------------------------------------------------------------------------------

cdef inline int append(pooled* out, const uint8_t* data, size_t size, rp_error* err) noexcept nogil:
    if size > 0:
        if pooled_reserve_more(out, size, err) != RP_OK:
            return err.status
        memcpy(out.data + out.size, data, size)
        out.size += size
    return RP_OK


cdef inline int spend(codec_stream* s, size_t size, rp_error* err) noexcept nogil:
    """Count `size` bytes of output against the cap."""
    if size > s.left:
        return rp_fail(err, RP_OUTPUT_CAP, -1, 0, <int64_t>s.max_size)
    s.left -= size
    return RP_OK
