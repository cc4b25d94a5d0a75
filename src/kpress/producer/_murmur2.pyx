"""The partition that the Java producer chooses for a key (BuiltInPartitioner.partitionForKey, Utils.murmur2)."""

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint32_t

from kpress._arguments cimport integer_of
from kpress._buffers cimport InputView

cdef enum:
    SEED = 0x9747b28c
    MULTIPLIER = 0x5bd1e995
    SHIFT = 24


cdef uint32_t mixed(uint32_t k) noexcept nogil:
    k *= <uint32_t>MULTIPLIER
    k ^= k >> SHIFT
    return k * <uint32_t>MULTIPLIER


cdef uint32_t hash_of(const uint8_t* p, int64_t size) noexcept nogil:
    """MurmurHash2, 32 bits: takes four bytes at a time in little-endian order."""
    cdef uint32_t h = <uint32_t>SEED ^ <uint32_t>size
    cdef int64_t i, whole = size & ~<int64_t>3
    for i in range(0, whole, 4):
        h *= <uint32_t>MULTIPLIER
        h ^= mixed(p[i] | <uint32_t>p[i + 1] << 8 | <uint32_t>p[i + 2] << 16 | <uint32_t>p[i + 3] << 24)
    if size > whole:
        for i in range(whole, size):
            h ^= <uint32_t>p[i] << 8 * (i - whole)
        h *= <uint32_t>MULTIPLIER
    h ^= h >> 13
    h *= <uint32_t>MULTIPLIER
    return h ^ h >> 15


def murmur2(data):
    """Kafka's hash of a key.

    Parameters
    ----------
    data : bytes-like

    Returns
    -------
    int
        A Java int: it may be negative.

    Examples
    --------
    >>> from kpress.producer import murmur2
    >>> murmur2(b"foobar"), murmur2(b"21")
    (-790332482, -973932308)
    """
    cdef InputView view = InputView(data)
    return <int32_t>hash_of(view.data, view.size)


def partition_for_key(key, partitions):
    """The partition that Kafka's Java producer chooses for a key by default.

    Other clients have partitioners of their own: librdkafka's default hashes keys with CRC-32.

    Parameters
    ----------
    key : bytes-like
    partitions : int
        How many partitions the topic has.

    Returns
    -------
    int

    Raises
    ------
    InvalidArgumentError
        `partitions` is not an int32 above 0.

    Examples
    --------
    >>> from kpress.producer import partition_for_key
    >>> partition_for_key(b"foobar", 12)
    6
    """
    cdef InputView view = InputView(key, "key", "key")
    cdef int64_t most = integer_of(partitions, "partitions", 1, INT32_MAX)
    return (hash_of(view.data, view.size) & INT32_MAX) % most
