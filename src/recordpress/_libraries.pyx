"""Versions of the C libraries that recordpress is linked with."""

from recordpress._c.libdeflate cimport LIBDEFLATE_VERSION_STRING
from recordpress._c.lz4 cimport LZ4_versionString
from recordpress._c.xxhash cimport XXH_versionNumber
from recordpress._c.zstd cimport ZSTD_versionString


def library_versions():
    """Return the versions of the C libraries, by name; the snappy code is recordpress's own."""
    cdef unsigned int xxhash = XXH_versionNumber()  # 802: 0.8.2
    return {
        "libdeflate": (<bytes>LIBDEFLATE_VERSION_STRING).decode("ascii"),
        "lz4": (<bytes>LZ4_versionString()).decode("ascii"),
        "xxhash": f"{xxhash // 10000}.{xxhash // 100 % 100}.{xxhash % 100}",
        "zstd": (<bytes>ZSTD_versionString()).decode("ascii"),
    }
