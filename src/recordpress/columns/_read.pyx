"""Record sets -> Arrow columns: no Python object per record, one pass per batch, pooled memory."""

from libc.stdint cimport INT32_MAX, INT64_MAX, int64_t

from recordpress._buffers cimport InputView
from recordpress._c.wire cimport RP_CUT_ENTRY, rp_error, rp_fail
from recordpress._status cimport error_of, place, place_at
from recordpress.columns._columns cimport Columns
from recordpress.columns._options cimport Options
from recordpress.columns._select_batches cimport walk, walk_free
from recordpress._threads cimport Threads
from recordpress.columns._window cimport Window, window_of

from recordpress.codecs import DEFAULT_MAX_SIZE


def read_columns(data, columns=None, *, check_crcs=True, binary_type="binary", timestamp_unit="ms",
                 start_offset=None, end_offset=None, start_timestamp=None, end_timestamp=None, control=False,
                 aborted_transactions=None, threads=1, complete=False, max_decompressed_bytes=DEFAULT_MAX_SIZE,
                 max_message_bytes=INT32_MAX, chunk_bytes=INT32_MAX, codecs=None,
                 lz4_header_checksum="verify"):
    """Decode a record set (any mix of v0, v1 and v2, any codec) into Arrow columns.

    A truncated last entry is omitted, as by Kafka's consumers, unless `complete` is True. Control batches are omitted
    unless requested.

    Parameters
    ----------
    data : bytes-like
        Record set: the records field of a Fetch response, the content of a ``.log`` file, or part of one.
    columns : sequence of str, optional
        The columns of the result, in this order. By default: ``offset`` int64; ``timestamp`` timestamp[ms or us, UTC],
        null for Kafka's NO_TIMESTAMP (-1); ``timestampType`` int32 (-1 none, 0 CreateTime, 1 LogAppendTime); ``key``
        and ``value`` binary; ``headers`` list<struct<key: string, value: binary>>. From the batch header:
        ``producerId`` int64, ``producerEpoch`` int16, ``sequence`` int32, ``partitionLeaderEpoch`` int32,
        ``isTransactional`` bool, ``isControl`` bool, ``baseOffset`` int64. Only what is asked for is built.

        Offsets, these fields but ``sequence`` and ``baseOffset``, and times that a broker set need no decompression
        where a v2 batch has as many records as offsets, as every batch of a producer has. Its checksum is compared;
        damage behind a right one stays unseen.
    check_crcs : bool
        Check the checksum of every entry, and of inner messages of v0/v1 wrappers, before it is decoded.
    binary_type : {'binary', 'large_binary', 'binary_view'}
        Arrow type of key and value. Views point into `data`, which they keep alive, or into the decompressed batch.
        Where they show less than a quarter of it, their bytes are copied and the rest is released.
    timestamp_unit : {'ms', 'us'}
    start_offset, end_offset : int, optional
        Only records with start_offset <= offset < end_offset. Batches outside are skipped by their header.
    start_timestamp, end_timestamp : int, datetime or str, optional
        Only records with start_timestamp <= timestamp < end_timestamp: milliseconds since 1970, a datetime with a time
        zone, or ISO 8601 text with one.
    control : bool
        Keep the records of control batches (transaction markers, KRaft).
    aborted_transactions : iterable of (producerId, firstOffset), optional
        Omit what these aborted transactions wrote: isolation.level=read_committed. A Fetch response carries
        this list; a broker keeps it in ``.txnindex`` files.
    threads : int
        Decode with this many threads, including the caller's. The order of the result is the same; it has one record
        batch per thread.
    complete : bool
        A truncated last entry is a CorruptRecordError.
    max_decompressed_bytes : int
        Cap on the decompressed size of one batch.
    max_message_bytes : int
        An entry whose size field is above this is corrupt.
    chunk_bytes : int
        A record batch of the result ends before one of its binary columns, or its headers, could exceed this size.
    codecs : CodecRegistry | None
        Codec plug-ins in addition to Kafka's.
    lz4_header_checksum : {'verify', 'ignore'}
        Of LZ4 frames in v1 and v2, whose header some clients write with the checksum that only v0 has (KIP-57): refuse
        another than the right one, as Kafka's consumers do, or read the frame; the result's
        `lz4_header_errors` then lists them.

    Returns
    -------
    Columns
        Its `valid_bytes` are the bytes of the whole entries, its `trailing_bytes` the bytes of a truncated entry after
        them.

    Raises
    ------
    CorruptRecordError
        A checksum, size or magic is wrong, or a codec's stream is damaged (DecompressionError); with complete=True also
        a truncated last entry.
    InvalidRecordError
        Records break a rule of their format.
    UnsupportedCompressionTypeError
        A codec id that Kafka did not assign.
    OutputTooLargeError
        A batch is larger than max_decompressed_bytes.
    InvalidArgumentError, ArgumentTypeError
        An argument is not accepted.

    Examples
    --------
    >>> import recordpress
    >>> data = recordpress.write_records([b"a", b"b", None], keys=[b"k", None, b"k"], compression_type="zstd")
    >>> columns = recordpress.read_columns(data, ["offset", "key", "value"])
    >>> import pyarrow
    >>> pyarrow.table(columns).to_pydict()
    {'offset': [0, 1, 2], 'key': [b'k', None, b'k'], 'value': [b'a', b'b', None]}
    """
    cdef Options options = Options.make(
        columns, check_crcs, binary_type, timestamp_unit, start_offset, end_offset, start_timestamp, end_timestamp,
        control, aborted_transactions, threads, complete, max_decompressed_bytes, max_message_bytes, chunk_bytes,
        codecs, lz4_header_checksum)
    cdef InputView view = InputView(data)
    cdef Window window = window_of(options, view, view.size, 0, None)
    cdef Threads threads_of_call
    cdef Columns result
    scan_all(window)
    threads_of_call = Threads(min(<int64_t>options.threads, max(1, window.entries.n)) - 1)
    try:
        window.put(threads_of_call, options.threads)
        window.wait(threads_of_call)
    finally:
        threads_of_call.close()
    for error in window.failures():
        raise error
    if window.error is not None:
        raise window.error
    result = window.columns(view.size)
    result.valid_bytes = window.end.position
    result.trailing_bytes = view.size - window.end.position
    return result


cdef scan_all(Window window):
    """Read all headers. If the set must be complete, a truncated entry is the window's error."""
    cdef walk start
    cdef rp_error err
    cdef place at
    window.options.begin(&start, 0)
    try:
        window.read_headers(&start, INT64_MAX)
    finally:
        walk_free(&start)
    cdef int64_t cut = window.plan.size - window.end.position
    if cut and window.error is None and window.options.complete:
        rp_fail(&err, RP_CUT_ENTRY, -1, cut, 0)
        at = place_at(window.end.position)
        window.error = error_of(&err, &at)
