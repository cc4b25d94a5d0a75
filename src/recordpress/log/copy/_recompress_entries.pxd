"""Recompression of a run of entries: they are decoded once, encoded, verified and brought into canonical form."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_error
from recordpress._threads cimport task
from recordpress.codecs.codec cimport codec_table
from recordpress.log.copy._change_entry_magic cimport conversion
from recordpress.log.copy._join cimport join_limits, joined_batch
from recordpress.log.copy._settle cimport marks
from recordpress.record.recompress_batch cimport recompressor


# Contents of entries.
ctypedef struct content:
    int64_t records         # without control records
    int64_t control_records
    int64_t batches         # with such records: no control batches or batches that compaction emptied
    int64_t bytes
    uint64_t codecs         # of these batches, one bit per codec
    int64_t next_offset
    bint any


# Before it runs, all fields are zero except `task.run`, the fields from `reading` to `end`, the settings of
# `conversion`, and `recompressor.codec`, `.least_magic`, `.level` and `.cap`.
ctypedef struct recompress_run:
    task task
    bint reading            # the entries are only read
    join_limits limits
    marks marks
    double most             # fraction of its old size that a new batch must stay below
    const codec_table* codecs
    const uint8_t* data
    int64_t start
    int64_t end
    recompressor recompressor         # `out` has the new entries, `batch` the current header
    pooled form             # canonical forms of all records
    content before
    content after
    int64_t already         # batches that already had the wanted form
    int64_t left            # batches that would not have become smaller
    int64_t settled         # batches that lost their producer
    int64_t dropped_markers
    int64_t dropped_records  # of aborted transactions
    uint32_t crc            # CRC-32C of `out`
    int status
    rp_error error
    pooled proof            # written entries, read again
    pooled proof_form
    joined_batch joined
    conversion conversion   # wanted: entries get this magic


cdef void recompress_entries(task* self) noexcept nogil
cdef void recompress_run_free(recompress_run* r) noexcept nogil
