"""The partition that the Java producer chooses for a key (BuiltInPartitioner.partitionForKey, Utils.murmur2)."""

from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t, uint8_t, uint32_t, uint64_t

from recordpress._arguments cimport integer_of
from recordpress._buffers cimport InputView
from recordpress._c.wire cimport rp_field, rp_load_le32, rp_record
from recordpress.columns.column_rows cimport ColumnRows
from recordpress.record.rows cimport ROWS

cdef enum:   # seed, m and r of org.apache.kafka.common.utils.Utils.murmur2
    SEED = 0x9747b28c
    MULTIPLIER = 0x5bd1e995
    SHIFT = 24


cdef uint32_t mixed(uint32_t k) noexcept nogil:
    k *= <uint32_t>MULTIPLIER
    k ^= k >> SHIFT
    return k * <uint32_t>MULTIPLIER


cdef uint32_t hash_of(const uint8_t* p, int64_t size) noexcept nogil:
    """Compute MurmurHash2 in 32 bits, four bytes at a time in little-endian order."""
    cdef uint32_t h = <uint32_t>SEED ^ <uint32_t>size
    cdef int64_t i, whole = size & ~<int64_t>3
    for i in range(0, whole, 4):  # whole words of the key
        h *= <uint32_t>MULTIPLIER
        h ^= mixed(rp_load_le32(p + i))
    if size > whole:
        for i in range(whole, size):
            h ^= <uint32_t>p[i] << 8 * (i - whole)
        h *= <uint32_t>MULTIPLIER
    h ^= h >> 13
    h *= <uint32_t>MULTIPLIER
    return h ^ h >> 15


def murmur2(data):
    """Compute Kafka's hash of a key.

    Parameters
    ----------
    data : bytes-like

    Returns
    -------
    int
        A Java int: it may be negative.

    Examples
    --------
    >>> from recordpress.producer import murmur2
    >>> murmur2(b"foobar"), murmur2(b"21")
    (-790332482, -973932308)
    """
    cdef InputView view = InputView(data)
    return <int32_t>hash_of(view.data, view.size)


def partition_for_key(key, partitions):
    """Return the partition that Kafka's Java producer chooses for a key by default.

    Other clients have their own partitioners: librdkafka's default hashes keys with CRC-32.

    Parameters
    ----------
    key : bytes-like
    partitions : int
        Number of partitions of the topic.

    Returns
    -------
    int

    Raises
    ------
    InvalidArgumentError
        `partitions` is not an int32 above 0.

    Examples
    --------
    >>> from recordpress.producer import partition_for_key
    >>> partition_for_key(b"foobar", 12)
    6
    """
    cdef InputView view = InputView(key, "key", "key")
    cdef int64_t most = integer_of(partitions, "partitions", 1, INT32_MAX)
    return partition_of_hash(hash_of(view.data, view.size), most)


cdef int32_t partition_of_hash(uint32_t h, int64_t partitions) noexcept nogil:
    """Return the partition of a hash (Utils.toPositive, and the remainder of a division)."""
    return <int32_t>((h & INT32_MAX) % partitions)


cdef int32_t partition_without_key(const rp_field* value, uint64_t position, int64_t partitions) noexcept nogil:
    """Return a partition from value and position, mixed as in java.util.SplittableRandom.mix64, so that equal values
    are spread."""
    cdef uint64_t z = position * <uint64_t>0x9e3779b97f4a7c15
    if value.size > 0:
        z += hash_of(value.data, value.size)
    z = (z ^ z >> 30) * <uint64_t>0xbf58476d1ce4e5b9
    z = (z ^ z >> 27) * <uint64_t>0x94d049bb133111eb
    return <int32_t>((z ^ z >> 31) % <uint64_t>partitions)


cdef void partitions_of_rows(const rp_record* rows, int64_t n, int64_t position, int64_t partitions,
                             int32_t* result) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        if rows[i].key.size >= 0:
            result[i] = partition_of_hash(hash_of(rows[i].key.data, rows[i].key.size), partitions)
        else:
            result[i] = partition_without_key(&rows[i].value, <uint64_t>(position + i), partitions)


def partitions_of(data, partitions, *, position=0):
    """Return the partitions of many records: `partition_for_key` for records with a key.

    The partition of a record without a key comes from a hash of its value and its position, so it is always the same.
    Kafka's producer spreads such records by the load of brokers, with a different result each time.

    Parameters
    ----------
    data : object with ``__arrow_c_array__`` or ``__arrow_c_stream__``
        Columns ``key`` and ``value``, of which one may be missing, as `recordpress.write_columns` takes them.
    partitions : int
        Number of partitions of the topic.
    position : int
        Position of the first record.

    Returns
    -------
    memoryview
        One int32 per record.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        `partitions` is not an int32 above 0, or a column has an unknown name or an unsupported type.

    Examples
    --------
    >>> import recordpress
    >>> data = recordpress.write_records([b"a", b"b"], [b"foobar", b"21"])
    >>> columns = recordpress.read_columns(data, ["key", "value"])
    >>> list(recordpress.producer.partitions_of(columns, 12))
    [6, 0]
    """
    cdef int64_t most = integer_of(partitions, "partitions", 1, INT32_MAX)
    cdef int64_t at = integer_of(position, "position", 0, INT64_MAX)
    cdef ColumnRows source = ColumnRows(data, None, False)
    cdef rp_record[ROWS] rows
    cdef int32_t[ROWS] found
    cdef int64_t n = source.next(rows, ROWS)
    result = bytearray()
    while n:
        with nogil:
            partitions_of_rows(rows, n, at, most, found)
        result += (<const char*>found)[:n * sizeof(int32_t)]
        at += n
        n = source.next(rows, ROWS)
    return memoryview(bytes(result)).cast("i")
