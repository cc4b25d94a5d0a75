"""Signs of the client that wrote a compressed stream: headers differ from encoder to encoder.

::

    gzip     RFC 1952, 2.3.1: XFL is 2 for the slowest and 4 for the fastest level; OS shows the encoder: 3 (Unix) is
             zlib, 0 is Java, and 255 is Java 16 or later (JDK-8244706), Go or Python
    lz4      frame format, frame descriptor: block size, checksums. Java writes 64 KiB blocks without checksums
    snappy   the framing of xerial's snappy-java, or no framing
    zstd     RFC 8878, 3.1.1.1: the header has the content size after compression in one call, and the window size
             after streaming, which grows with the level (the table of libzstd 1.5, clevels.h)
"""

from __future__ import annotations

from recordpress._xerial import XERIAL

_XFL = {2: ", level 9", 4: ", level 1"}
_OS = {0: "Java before 16", 3: "zlib", 255: "Java 16, Go or Python"}
_LZ4_BLOCKS = {4: "64 KiB", 5: "256 KiB", 6: "1 MiB", 7: "4 MiB"}
_LZ4_CONTENT_CHECKSUM, _LZ4_BLOCK_CHECKSUM = 0x04, 0x10
_ZSTD_LEVELS = {19: "1", 20: "2", 21: "3 to 8", 22: "9 to 16", 23: "17 to 19", 25: "20", 26: "21", 27: "22"}
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_HEAD = 16  # bytes that are examined


def client_of(compression_type: str, payload: memoryview) -> str:
    """Return a short description of the client, beginning with the codec."""
    head = bytes(payload[:_HEAD])
    tell = {"gzip": _gzip, "lz4": _lz4, "snappy": _snappy, "zstd": _zstd}.get(compression_type)
    detail = tell(head) if tell and len(head) >= 7 else ""
    return f"{compression_type}, {detail}" if detail else compression_type


def _gzip(head: bytes) -> str:
    if len(head) < 10:
        return ""
    return _OS.get(head[9], f"OS {head[9]}") + _XFL.get(head[8], "")


def _lz4(head: bytes) -> str:
    flags, blocks = head[4], _LZ4_BLOCKS.get(head[5] >> 4 & 7)
    if blocks is None:
        return ""
    checksums = [
        name
        for bit, name in ((_LZ4_CONTENT_CHECKSUM, "content checksum"), (_LZ4_BLOCK_CHECKSUM, "block checksums"))
        if flags & bit
    ]
    return ", ".join([f"blocks of {blocks}", *checksums])


def _snappy(head: bytes) -> str:
    return "xerial" if head.startswith(XERIAL) else "raw"


def _zstd(head: bytes) -> str:
    if not head.startswith(_ZSTD_MAGIC):
        return ""
    descriptor = head[4]
    if descriptor >> 6 or descriptor & 0x20:
        return "at once"
    levels = None if head[5] & 7 else _ZSTD_LEVELS.get(10 + (head[5] >> 3))
    return f"streamed, level {levels}" if levels else "streamed"
