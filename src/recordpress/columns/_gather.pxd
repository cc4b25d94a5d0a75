"""One record batch under construction, gathered batch by batch, then handed over as a chunk."""

from libc.stdint cimport int64_t, uint8_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_batch, rp_error, rp_source
from recordpress.columns._plan cimport plan
from recordpress.columns._roundtrip_loss cimport loss
from recordpress.columns.catalogue cimport N_COLUMNS


ctypedef struct binary_builder:
    pooled rows        # ends or views
    pooled data
    pooled validity
    int64_t nulls


ctypedef struct view_buffer:
    const uint8_t* data
    int64_t size
    pooled owned       # empty for a window of the input


ctypedef struct builder:
    int64_t rows
    int64_t capacity               # in rows
    pooled fixed[N_COLUMNS]        # of the columns with a width or of bits; HEADERS: the list's ends
    pooled timestamp_validity
    int64_t timestamp_nulls
    binary_builder key
    binary_builder value
    int64_t n_headers
    int64_t headers_capacity
    binary_builder header_key
    binary_builder header_value
    int64_t n_views                # buffers that views point into: windows of the input, decompressed batches
    int64_t views_capacity
    view_buffer* views
    int64_t input_view             # 1 + the number of the view that is the last window of the input; 0: not yet
    int64_t shared_view            # 1 + the number of the view with small decompressed batches; 0: not yet
    int64_t shared_bytes           # of small decompressed batches, in all buffers
    int64_t shown                  # bytes of the last batch that views refer to
    int64_t input_shown            # bytes of the input that views refer to
    int64_t consumed               # bytes of entries decoded into this chunk
    loss lost


# State of the builder that a bad batch may have changed, except for memory after the builder's rows.
ctypedef struct mark:
    int64_t timestamp_nulls
    int64_t key_nulls
    int64_t value_nulls
    int64_t header_value_nulls
    int64_t n_headers
    int64_t n_views
    int64_t input_view
    int64_t input_size
    int64_t shared_view
    int64_t shared_size
    int64_t shared_bytes


cdef inline mark mark_of(const builder* b) noexcept nogil:
    cdef mark m
    m.timestamp_nulls = b.timestamp_nulls
    m.key_nulls = b.key.nulls
    m.value_nulls = b.value.nulls
    m.header_value_nulls = b.header_value.nulls
    m.n_headers = b.n_headers
    m.n_views = b.n_views
    m.input_view = b.input_view
    m.input_size = b.views[b.input_view - 1].size if b.input_view else 0
    m.shared_view = b.shared_view
    m.shared_size = b.views[b.shared_view - 1].size if b.shared_view else 0
    m.shared_bytes = b.shared_bytes
    return m


# Restores the state at the mark; `end`: the row after the last row that the batch can have written.
cdef void go_back(builder* b, const mark* m, int64_t end) noexcept nogil

# Reserves room for `rows` rows in all requested columns.
cdef int reserve_rows(const plan* p, builder* b, int64_t rows, rp_error* err) noexcept nogil

# Reserves room for `more` headers, whose keys and values have `bytes` bytes together.
cdef int reserve_headers(builder* b, int64_t more, int64_t bytes, rp_error* err) noexcept nogil

# Chooses the buffer that the views of a batch point into: a window of the input of at most 2 GiB, the decompressed
# block, which the builder then owns, or a buffer that small batches share, to which `source` then points. Called before
# gather, for binary_view.
cdef int place_views(builder* b, rp_source* source, pooled* decompressed, rp_error* err) noexcept nogil

# After gather: frees the part of a decompressed batch that the rows from `first` do not use, if that is most of the
# batch. For input that is not compressed, see release_input.
cdef int pack_views(const plan* p, builder* b, const rp_source* source, int64_t first, rp_error* err) noexcept nogil

# Gathers the records of one entry into the requested columns; `left`: bytes of the entries that come after it.
cdef int gather(const plan* p, builder* b, const rp_batch* batch, const rp_source* source, int64_t left,
                rp_error* err) noexcept nogil

# Adds the rows of a batch without gaps, from its header.
cdef int gather_header(const plan* p, builder* b, const rp_batch* batch, rp_error* err) noexcept nogil

# Returns the number of bytes in the fullest binary column.
cdef int64_t most_used(const plan* p, builder* b) noexcept nogil

cdef void builder_free(builder* b) noexcept nogil
