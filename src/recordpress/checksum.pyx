"""CRC-32C (record batches v2) and CRC-32 (messages v0 and v1): compute, combine, patch."""

from cpython.buffer cimport Py_buffer, PyBuffer_Release
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from libc.stdint cimport INT64_MAX, UINT32_MAX

from recordpress._arguments cimport integer_of
from recordpress._buffers cimport InputView, acquire
from recordpress._c.crc32c cimport (
    RP_CRC32C_PATHS, rp_crc32c, rp_crc32c_active, rp_crc32c_combine, rp_crc32c_patch, rp_crc32c_path,
    rp_crc32c_paths, rp_crc_shift, rp_crc_shift_init, rp_crc_shifted,
)
from recordpress._c.libdeflate cimport libdeflate_crc32

from recordpress.errors import InvalidArgumentError

ctypedef uint32_t (*update_function)(uint32_t, const uint8_t*, size_t) noexcept nogil
ctypedef uint32_t (*patch_function)(uint32_t, const uint8_t*, const uint8_t*, size_t, uint64_t) noexcept nogil

# The GIL is released from this size: about a microsecond of work, many times the cost of releasing it.
cdef enum:
    RELEASE_GIL = 1 << 15

# CRC-32 of RFC 1952: its polynomial is primitive, so x has the order 2^32 - 1.
cdef rp_crc_shift crc32_shift
rp_crc_shift_init(&crc32_shift, 0xEDB88320, 0xFFFFFFFF)


cdef uint32_t crc32c_update(uint32_t crc, const uint8_t* p, size_t n) noexcept nogil:
    return rp_crc32c(crc, p, n)


cdef uint32_t crc32_update(uint32_t crc, const uint8_t* p, size_t n) noexcept nogil:
    return libdeflate_crc32(crc, p, n) if n else crc  # libdeflate takes NULL as a request to start again


cdef uint32_t crc32c_combined(uint32_t a, uint32_t b, uint64_t size_b) noexcept nogil:
    return rp_crc32c_combine(a, b, size_b)


cdef uint32_t crc32_combined(uint32_t a, uint32_t b, uint64_t size_b) noexcept nogil:
    return rp_crc_shifted(&crc32_shift, a, size_b) ^ b


cdef uint32_t crc32c_patched(uint32_t crc, const uint8_t* old, const uint8_t* new, size_t size,
                             uint64_t distance) noexcept nogil:
    return rp_crc32c_patch(crc, old, new, size, distance)


cdef uint32_t crc32_patched(uint32_t crc, const uint8_t* old, const uint8_t* new, size_t size,
                            uint64_t distance) noexcept nogil:
    return crc32_combined(crc32_update(0, old, size) ^ crc32_update(0, new, size), crc, distance)


cdef object ZERO = 0


cdef inline object checksum(object data, object value, update_function update):
    cdef uint32_t crc = 0
    cdef Py_buffer view
    if value is not ZERO:  # the default: a call on a few bytes is mostly its arguments
        crc = <uint32_t>integer_of(value, "value", 0, UINT32_MAX)
    if PyBytes_CheckExact(data) and PyBytes_GET_SIZE(data) < RELEASE_GIL:
        return update(crc, <const uint8_t*>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
    acquire(data, &view, "data")  # an InputView would be an object for a few bytes
    if view.len < RELEASE_GIL:
        crc = update(crc, <const uint8_t*>view.buf, view.len)
    else:
        with nogil:
            crc = update(crc, <const uint8_t*>view.buf, view.len)
    PyBuffer_Release(&view)
    return crc


cdef object patched(object crc, object old, object new, object distance, patch_function patch):
    cdef uint32_t before = <uint32_t>integer_of(crc, "crc", 0, UINT32_MAX)
    cdef uint64_t after = <uint64_t>integer_of(distance, "distance", 0, INT64_MAX)
    cdef InputView old_view = InputView(old, "old")
    cdef InputView new_view = InputView(new, "new")
    if old_view.size != new_view.size:
        raise InvalidArgumentError(
            f"new must have the same size as old ({old_view.size} bytes), not {new_view.size}", field="new")
    return patch(before, old_view.data, new_view.data, <size_t>old_view.size, after)


def crc32c(data, value=0):
    """Compute the CRC-32C of bytes, the checksum of record batches v2.

    Parameters
    ----------
    data : bytes-like
        Any contiguous buffer, read as it is in memory. From 32 KiB, the GIL is released.
    value : int
        Checksum of the bytes before `data`, 0 by default.

    Returns
    -------
    int
        0 to 2**32 - 1. RFC 3720, appendix B.4, defines CRC-32C (Castagnoli's polynomial).

    Raises
    ------
    ArgumentTypeError
        `data` has no buffer, or `value` is not an integer.
    InvalidArgumentError
        The buffer is not contiguous, or `value` is out of range.

    Examples
    --------
    >>> import recordpress
    >>> hex(recordpress.crc32c(b"123456789"))
    '0xe3069283'
    >>> recordpress.crc32c(b"6789", recordpress.crc32c(b"12345")) == recordpress.crc32c(b"123456789")
    True
    """
    return checksum(data, value, crc32c_update)


def crc32(data, value=0):
    """Compute the CRC-32 of bytes, the checksum of messages v0 and v1 and of gzip.

    Parameters
    ----------
    data, value
        As in :func:`crc32c`, which raises the same errors.

    Returns
    -------
    int
        0 to 2**32 - 1, as from zlib.crc32. RFC 1952, section 8, defines CRC-32.

    Examples
    --------
    >>> import recordpress
    >>> hex(recordpress.crc32(b"123456789"))
    '0xcbf43926'
    """
    return checksum(data, value, crc32_update)


def crc32c_combine(a, b, len_b):
    """Combine the CRC-32C checksums of two byte strings into the checksum of the first followed by the second.

    Parameters
    ----------
    a, b : int
        Checksums of the first and of the second byte string.
    len_b : int
        Number of bytes in the second, 0 to 2**63 - 1. The time is O(log len_b).

    Returns
    -------
    int

    Raises
    ------
    ArgumentTypeError
        An argument is not an integer.
    InvalidArgumentError
        An argument is out of range.

    Examples
    --------
    >>> import recordpress
    >>> first, second = recordpress.crc32c(b"log"), recordpress.crc32c(b"end")
    >>> recordpress.crc32c_combine(first, second, 3) == recordpress.crc32c(b"logend")
    True
    """
    return crc32c_combined(integer_of(a, "a", 0, UINT32_MAX), integer_of(b, "b", 0, UINT32_MAX),
                           integer_of(len_b, "len_b", 0, INT64_MAX))


def crc32_combine(a, b, len_b):
    """Combine the CRC-32 checksums of two byte strings into the checksum of the first followed by the second.

    Parameters
    ----------
    a, b, len_b
        As in :func:`crc32c_combine`, which has the same result type and errors.

    Examples
    --------
    >>> import recordpress
    >>> first, second = recordpress.crc32(b"log"), recordpress.crc32(b"end")
    >>> recordpress.crc32_combine(first, second, 3) == recordpress.crc32(b"logend")
    True
    """
    return crc32_combined(integer_of(a, "a", 0, UINT32_MAX), integer_of(b, "b", 0, UINT32_MAX),
                          integer_of(len_b, "len_b", 0, INT64_MAX))


def crc32c_patch(crc, old, new, distance):
    """Compute the CRC-32C of a byte string after a change of one field, without reading the rest of it.

    A broker can thus set LogAppendTime or attributes in the header of a large batch: the checksum is linear, so the
    change of the field determines the change of the checksum.

    Parameters
    ----------
    crc : int
        Checksum of the byte string before the change.
    old, new : bytes-like
        The field's bytes before and after the change, of the same size.
    distance : int
        Number of bytes from the field's end to the end of the byte string, 0 to 2**63 - 1. The time is O(log distance).

    Returns
    -------
    int

    Raises
    ------
    ArgumentTypeError
        `old` or `new` has no buffer, or another argument is not an integer.
    InvalidArgumentError
        The sizes differ, a buffer is not contiguous, or a number is out of range.

    Examples
    --------
    >>> import recordpress
    >>> before = recordpress.crc32c(b"attributes=0, 1000 records")
    >>> recordpress.crc32c_patch(before, b"0", b"8", 14) == recordpress.crc32c(b"attributes=8, 1000 records")
    True
    """
    return patched(crc, old, new, distance, crc32c_patched)


def crc32_patch(crc, old, new, distance):
    """Compute the CRC-32 of a byte string after a change of one field, without reading the rest of it.

    Parameters
    ----------
    crc, old, new, distance
        As in :func:`crc32c_patch`, which has the same result type and errors.

    Examples
    --------
    >>> import recordpress
    >>> before = recordpress.crc32(b"attributes=0, 1000 records")
    >>> recordpress.crc32_patch(before, b"0", b"8", 14) == recordpress.crc32(b"attributes=8, 1000 records")
    True
    """
    return patched(crc, old, new, distance, crc32_patched)


def crc32c_path():
    """Return the name of the CRC-32C implementation that this CPU uses.

    Returns
    -------
    str
        avx512, avx2 or sse42 (x86_64), armv8 (aarch64), or table (any CPU without the instructions).

    Examples
    --------
    >>> import recordpress
    >>> recordpress.crc32c_path() in ("avx512", "avx2", "sse42", "armv8", "table")
    True
    """
    return rp_crc32c_active.name.decode("ascii")


def _crc32c_paths():
    """Return names of the implementations that this CPU can run, best first: tests run each of them."""
    return [rp_crc32c_paths[i].name.decode("ascii") for i in range(RP_CRC32C_PATHS) if rp_crc32c_paths[i].supported()]


cdef const rp_crc32c_path* path_named(str name) except NULL:
    for i in range(RP_CRC32C_PATHS):
        if rp_crc32c_paths[i].name.decode("ascii") == name and rp_crc32c_paths[i].supported():
            return &rp_crc32c_paths[i]
    raise InvalidArgumentError(f"path must be one of {', '.join(_crc32c_paths())}, not {name}", field="path")


def _crc32c_by_path(str path, data, value=0):
    """Compute crc32c with the implementation named `path`."""
    cdef const rp_crc32c_path* chosen = path_named(path)
    cdef uint32_t crc = <uint32_t>integer_of(value, "value", 0, UINT32_MAX)
    cdef InputView view = InputView(data)
    return <uint32_t>~chosen.update(~crc, view.data, <size_t>view.size)


def _crc32c_combine_by_path(str path, a, b, len_b):
    """Compute crc32c_combine with the implementation named `path`."""
    cdef const rp_crc32c_path* chosen = path_named(path)
    cdef uint32_t moved = chosen.shifted(<uint32_t>integer_of(a, "a", 0, UINT32_MAX),
                                         integer_of(len_b, "len_b", 0, INT64_MAX))
    return moved ^ <uint32_t>integer_of(b, "b", 0, UINT32_MAX)
