"""The options of a call, for code without the GIL."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from recordpress._c.wire cimport rp_batch, rp_error
from recordpress.codecs.codec cimport codec_table
from recordpress.columns.catalogue cimport N_COLUMNS


ctypedef struct plan:
    const uint8_t* data
    int64_t size
    bint want[N_COLUMNS]
    int asked[N_COLUMNS]       # in the order of the result
    int n_asked
    int by_batch[N_COLUMNS]    # the columns with one value per batch
    int n_by_batch
    bint by_header             # batches whose offsets have no gaps need no decompression,
    bint asks_times            # except for times, unless the broker set them
    int layout
    int row_width              # of a binary column: 4, 8 or 16
    bint check_crcs
    bint micros
    size_t cap
    int64_t chunk_bytes
    int32_t max_message_bytes
    int64_t first_offset       # both bounds are inclusive
    int64_t last_offset
    int64_t first_timestamp
    int64_t last_timestamp
    bint filtered
    bint ends                  # the walk ends at the first entry that reaches beyond last_offset
    bint ascends               # the result ends before the first entry whose offsets go back
    bint control
    bint skip                  # continue after a bad entry
    const codec_table* codecs  # the Options keep it alive


# The result of a failed step, for the exception: the error and its entry.
ctypedef struct failure:
    rp_error error
    rp_batch batch
