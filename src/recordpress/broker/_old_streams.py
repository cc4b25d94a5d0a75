"""Compressed sets of messages as brokers before 0.11 read and write them, with the checks of each release's codecs.

These functions are called once per wrapper; C code walks the messages in it (_message_validator). The layout of
snappy's chunks is in codecs/_snappy.pyx.
"""

from __future__ import annotations

import zlib

from recordpress._protocol_errors import Errors
from recordpress._xerial import HEADER, XERIAL, xerial_stream
from recordpress.broker._versions import MessageSets
from recordpress.codecs import DEFAULT_MAX_SIZE, break_lz4_header, compress, decompress
from recordpress.errors import DecompressionError, OutputTooLargeError
from recordpress.typing import CompressionType

CODECS: dict[int, CompressionType] = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4"}
_GZIP_HEADER = 10
_LARGEST_CHUNK = 1 << 30  # snappy-java allocates a chunk of any size; the heap of a broker has 1 GiB
# MemoryRecordsBuilder.COMPRESSION_DEFAULT_BUFFER_SIZE, only in 0.10.2; other releases use snappy-java's 32 KiB
_SNAPPY_CHUNK = 1024


class Refused(Exception):
    """Rejection of a set: Kafka's error code, and the name of a `Reason`."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(code, reason)
        self.code = int(code)
        self.reason = reason


def too_large(where: str) -> OutputTooLargeError:
    """Return the error for a set that is too large for memory; a broker's answer to it is unknown."""
    return OutputTooLargeError(f"more than {DEFAULT_MAX_SIZE} bytes {where}", rule="max_decompressed_bytes")


def _stream_error(generation: int, is_runtime_exception: bool = False) -> Refused:
    """Return the error for a codec's IOException, which 0.10.0 and 0.10.1 turn into CORRUPT_MESSAGE (KIP-57)."""
    is_coded = MessageSets.V0_10_0 <= generation <= MessageSets.V0_10_1 and not is_runtime_exception
    return Refused(Errors.CORRUPT_MESSAGE if is_coded else Errors.UNKNOWN_SERVER_ERROR, "DECOMPRESSION")


def decompressed(payload: bytes, codec: int, magic: int, generation: int) -> bytes:
    """Return the decompressed messages of a wrapper with this magic."""
    name = CODECS.get(codec)
    if name is None:
        raise Refused(Errors.UNKNOWN_SERVER_ERROR, "UNKNOWN_CODEC")
    if generation < MessageSets.V0_10_0:
        magic = 0
    if generation <= MessageSets.V0_9:
        _check_old_stream(name, payload, generation)
    try:
        return decompress(payload, name, magic=min(magic, 1))
    except DecompressionError as error:
        if name == "gzip" and generation not in (MessageSets.V0_8_2, MessageSets.V0_10_2):
            return _gzip_prefix(payload, generation)
        raise _stream_error(generation, _is_runtime_exception(name, payload, error)) from None


def _is_runtime_exception(name: str, payload: bytes, error: DecompressionError) -> bool:
    """Return whether a codec raises a RuntimeException: for unsupported LZ4 flags, or for a snappy chunk that is too
    large for memory."""
    if name == "lz4":
        return (error.field or "").startswith(("FLG.", "BD."))
    if name == "snappy" and error.field_position is not None:
        return _has_huge_chunk(payload)
    return False


def _has_huge_chunk(payload: bytes) -> bool:
    if not payload.startswith(XERIAL):
        return False
    at = len(HEADER)
    while at + 4 <= len(payload):
        size = int.from_bytes(payload[at : at + 4], "big", signed=True)
        if size < 0 or size > _LARGEST_CHUNK:
            return True
        at += 4 + size
    return False


def _check_old_stream(name: str, payload: bytes, generation: int) -> None:
    """Check what 0.8.2 and 0.9 need: the LZ4 header checksum of KAFKA-3160, no content size or checksum, and a
    single snappy-java stream."""
    if name == "lz4":
        frame = bytearray(payload)
        try:
            break_lz4_header(frame)
        except DecompressionError:
            raise _stream_error(generation) from None
        if payload[4] & 0x0C:
            raise Refused(Errors.UNKNOWN_SERVER_ERROR, "LZ4_CONTENT_SIZE")
        if frame != payload:
            raise Refused(Errors.UNKNOWN_SERVER_ERROR, "LZ4_HEADER_CHECKSUM")
    if name == "snappy" and _has_huge_chunk(payload):
        raise _stream_error(generation)


def _gzip_prefix(payload: bytes, generation: int) -> bytes:
    """Decompress a gzip stream; an EOFException, for a truncated stream, counts as the end of the messages."""
    if len(payload) < _GZIP_HEADER:
        raise _stream_error(generation)
    inflate = zlib.decompressobj(wbits=31)
    try:
        data = inflate.decompress(payload, DEFAULT_MAX_SIZE)
    except zlib.error:
        raise _stream_error(generation) from None
    if inflate.unconsumed_tail:
        raise too_large("when decompressed")
    if inflate.eof:
        raise _stream_error(generation)
    return data


def compressed(messages: bytes, codec: int, magic: int, generation: int) -> bytes:
    """Return the compressed payload for a wrapper with this magic."""
    name = CODECS[codec]
    if name != "snappy" or generation < MessageSets.V0_10_2:
        return compress(messages, name, magic=magic)
    return xerial_stream(messages, _SNAPPY_CHUNK)
