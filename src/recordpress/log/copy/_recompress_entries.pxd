"""A run of entries with another codec: decoded once, encoded, verified and brought into canonical form."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_error
from recordpress._threads cimport task
from recordpress.codecs.codec cimport codec_table
from recordpress.log.copy._change_entry_magic cimport conversion
from recordpress.log.copy._join cimport join_limits, pack
from recordpress.log.copy._settle cimport marks
from recordpress.record.recompress_batch cimport recompressor


# What entries hold.
ctypedef struct content:
    int64_t records         # control records are not among them
    int64_t control_records
    int64_t batches         # that hold such records: no control batches, none that compaction emptied
    int64_t bytes
    uint64_t codecs         # of these batches, one bit each
    int64_t next_offset
    bint any


# Zero except for `task.run`, `codecs`, `data`, `start`, `end`, `recompressor.codec`, `.least_magic`, `.level`,
# `.cap` and what
# comes first before it runs.
ctypedef struct recompress_run:
    task task
    bint reading            # the entries are only read
    join_limits limits
    marks marks
    double most             # part of its old bytes that a new batch must stay below
    const codec_table* codecs
    const uint8_t* data
    int64_t start
    int64_t end
    recompressor recompressor         # `out` has the new entries, `batch` the one at hand
    pooled form             # canonical forms of all records
    content before
    content after
    int64_t already         # batches that were as wanted
    int64_t left            # batches that would not have become smaller
    int64_t settled         # batches that lost their producer
    int64_t dropped_markers
    int64_t dropped_records  # of aborted transactions
    uint32_t crc            # CRC-32C of `out`
    int status
    rp_error error
    pooled proof            # what was written, read again
    pooled proof_form
    pack pack
    conversion conversion   # wanted: entries get this magic


cdef void recompress_entries(task* self) noexcept nogil
cdef void recompress_run_free(recompress_run* r) noexcept nogil
