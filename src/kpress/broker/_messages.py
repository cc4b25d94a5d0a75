"""Messages of magic 0 and 1 as brokers before 0.11 find them: entries of a set, and what is compressed in them.

A message is bytes, which are copied; only what a release looks at is looked at. There, a field that lies outside of its
message is an exception without an error code, so -1.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from kpress._protocol_errors import Errors
from kpress.broker._versions import MessageSets
from kpress.checksum import crc32
from kpress.codecs import DEFAULT_MAX_SIZE, break_lz4_header, decompress
from kpress.errors import DecompressionError, OutputTooLargeError
from kpress.typing import CompressionType

OVERHEAD = 12  # offset and size of an entry
CRC, MAGIC, ATTRIBUTES, BODY = 0, 4, 5, 6  # in a message; the body begins with the timestamp, or the key's length
TIMESTAMP_SIZE = 8
CODEC_MASK, APPEND_TIME = 0x07, 0x08
CODECS: dict[int, CompressionType] = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4"}
NO_TIMESTAMP = -1
_LEAST_MESSAGE = 14  # crc, magic, attributes, and the lengths of key and value
_GZIP_HEADER = 10
_XERIAL, _XERIAL_HEADER = b"\x82SNAPPY\0", 16
_LARGEST_CHUNK = 1 << 30  # snappy-java makes room for a chunk of any size; the heap of a broker has 1 GiB
_MOST_NESTED = 32  # of wrappers that 0.8.2 opens in one another


class Refused(Exception):
    """A set that is not stored: Kafka's code, and the name of a `Reason`."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(code, reason)
        self.code = int(code)
        self.reason = reason


class Entry(NamedTuple):
    position: int
    offset: int
    message: bytes

    @property
    def size(self) -> int:
        return OVERHEAD + len(self.message)

    @property
    def codec(self) -> int:
        return self.message[ATTRIBUTES] & CODEC_MASK

    @property
    def magic(self) -> int:
        return self.message[MAGIC]


class Inner(NamedTuple):
    """A message as the deep iterator gives it; `wrapper`: the one it was in."""

    offset: int
    message: bytes
    wrapper: Entry | None

    @property
    def magic(self) -> int:
        return self.message[MAGIC]

    @property
    def is_append_time(self) -> bool:
        """timestampType: that of the wrapper, where its format has one."""
        if self.magic == 0:
            return False
        attributes = self.message[ATTRIBUTES]
        if self.wrapper is not None and self.wrapper.magic > 0:
            attributes = self.wrapper.message[ATTRIBUTES]
        return bool(attributes & APPEND_TIME)

    @property
    def timestamp(self) -> int:
        if self.magic == 0:
            return NO_TIMESTAMP
        message = self.message
        if self.wrapper is not None and self.wrapper.magic > 0 and self.is_append_time:
            message = self.wrapper.message
        return long_at(message, BODY)


# ---- entries


def int_at(data: bytes, at: int) -> int:
    """ByteBuffer.getInt: outside of the message it is no error that has a code."""
    if at + 4 > len(data):
        raise Refused(Errors.UNKNOWN_SERVER_ERROR, "RECORD_STRUCTURE")
    return int.from_bytes(data[at : at + 4], "big", signed=True)


def long_at(data: bytes, at: int) -> int:
    if at + 8 > len(data):
        raise Refused(Errors.UNKNOWN_SERVER_ERROR, "RECORD_STRUCTURE")
    return int.from_bytes(data[at : at + 8], "big", signed=True)


def entries(data: bytes) -> Iterator[Entry]:
    """Whole entries. One that is too small for a message ends them with error 2, one that is cut without."""
    position = 0
    while len(data) - position >= OVERHEAD:
        offset, size = struct.unpack_from(">qi", data, position)
        if size < _LEAST_MESSAGE:
            raise Refused(Errors.CORRUPT_MESSAGE, "ENTRY_SIZE")
        end = position + OVERHEAD + size
        if end > len(data):
            return
        yield Entry(position, offset, data[position + OVERHEAD : end])
        position = end


def analyze(data: bytes, max_message_bytes: int) -> tuple[int, int]:
    """Log.analyzeAndValidateMessageSet: bytes of whole entries, and the codec of the last one that is compressed."""
    valid = source_codec = 0
    for entry in entries(data):
        if entry.size > max_message_bytes:
            raise Refused(Errors.MESSAGE_TOO_LARGE, "BATCH_TOO_LARGE")
        if not is_valid(entry.message):
            raise Refused(Errors.CORRUPT_MESSAGE, "CHECKSUM")
        valid += entry.size
        if entry.codec not in CODECS:
            raise Refused(Errors.UNKNOWN_SERVER_ERROR, "UNKNOWN_CODEC")
        source_codec = entry.codec or source_codec
    return valid, source_codec


def is_valid(message: bytes) -> bool:
    return crc32(message[MAGIC:]) == int.from_bytes(message[CRC:MAGIC], "big")


def summed(covered: bytes) -> bytes:
    return crc32(covered).to_bytes(4, "big") + covered


def entry_of(offset: int, message: bytes) -> bytes:
    return struct.pack(">qi", offset, len(message)) + message


def wrapped(number: int) -> int:
    """As a long of Java's."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


# ---- compressed sets


def _payload(message: bytes, generation: MessageSets) -> bytes | None:
    at = key_size_at(message, generation)
    at += 4 + max(0, int_at(message, at))
    size = int_at(message, at)
    if size < 0:
        return None
    if at + 4 + size > len(message):
        raise Refused(Errors.UNKNOWN_SERVER_ERROR, "RECORD_STRUCTURE")
    return message[at + 4 : at + 4 + size]


def key_size_at(message: bytes, generation: MessageSets) -> int:
    has_timestamp = generation >= MessageSets.V0_10_0 and message[MAGIC] > 0
    return BODY + (TIMESTAMP_SIZE if has_timestamp else 0)


def _stream_error(generation: MessageSets, is_runtime_exception: bool = False) -> Refused:
    """0.10.0 and 0.10.1 make an IOException of a codec an InvalidMessageException (KIP-57); the others do not."""
    is_coded = MessageSets.V0_10_0 <= generation <= MessageSets.V0_10_1 and not is_runtime_exception
    return Refused(Errors.CORRUPT_MESSAGE if is_coded else Errors.UNKNOWN_SERVER_ERROR, "DECOMPRESSION")


def _decompressed(wrapper: Entry, generation: MessageSets) -> bytes:
    payload = _payload(wrapper.message, generation)
    if payload is None:
        raise Refused(Errors.UNKNOWN_SERVER_ERROR, "WRAPPER")
    name = CODECS.get(wrapper.codec)
    if name is None:
        raise Refused(Errors.UNKNOWN_SERVER_ERROR, "UNKNOWN_CODEC")
    magic = wrapper.magic if generation >= MessageSets.V0_10_0 else 0
    if generation <= MessageSets.V0_9:
        _check_old_stream(name, payload, generation)
    try:
        return decompress(payload, name, magic=min(magic, 1))
    except DecompressionError as error:
        if name == "gzip" and generation not in (MessageSets.V0_8_2, MessageSets.V0_10_2):
            return _gzip_prefix(payload, generation)
        raise _stream_error(generation, _is_runtime_exception(name, payload, error)) from None


def _is_runtime_exception(name: str, payload: bytes, error: DecompressionError) -> bool:
    """LZ4's flags that are not served, and a snappy chunk for which there is no memory."""
    if name == "lz4":
        return (error.field or "").startswith(("FLG.", "BD."))
    if name == "snappy" and error.position is not None:
        return _has_huge_chunk(payload)
    return False


def _has_huge_chunk(payload: bytes) -> bool:
    if not payload.startswith(_XERIAL):
        return False
    at = _XERIAL_HEADER
    while at + 4 <= len(payload):
        size = int.from_bytes(payload[at : at + 4], "big", signed=True)
        if size < 0 or size > _LARGEST_CHUNK:
            return True
        at += 4 + size
    return False


def _check_old_stream(name: str, payload: bytes, generation: MessageSets) -> None:
    """0.8.2 and 0.9: an LZ4 header must have the checksum of KAFKA-3160, and no size or checksum of the content; their
    snappy-java knows no second stream."""
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


def _gzip_prefix(payload: bytes, generation: MessageSets) -> bytes:
    """A gzip stream that is cut: its EOFException is taken for the end of the messages."""
    if len(payload) < _GZIP_HEADER:
        raise _stream_error(generation)
    inflate = zlib.decompressobj(wbits=31)
    try:
        data = inflate.decompress(payload, DEFAULT_MAX_SIZE)
    except zlib.error:
        raise _stream_error(generation) from None
    if inflate.unconsumed_tail:
        message = f"more than {DEFAULT_MAX_SIZE} bytes when decompressed"
        raise OutputTooLargeError(message, rule="max_decompressed_bytes")
    if inflate.eof:
        raise _stream_error(generation)
    return data


def _inner_entries(wrapper: Entry, generation: MessageSets) -> Iterator[Entry]:
    """Messages in a wrapper; one that is cut at the end is left out."""
    for entry in entries(_decompressed(wrapper, generation)):
        if generation >= MessageSets.V0_10_0 and entry.magic != wrapper.magic:
            code = Errors.UNKNOWN_SERVER_ERROR if generation == MessageSets.V0_10_0 else Errors.CORRUPT_MESSAGE
            raise Refused(code, "RECORD_MAGIC")
        yield entry


def messages_of(data: bytes, generation: MessageSets, depth: int = 0) -> Iterator[Inner]:
    """The deep iterator."""
    total = 0
    for entry in entries(data):
        if entry.codec == 0:
            yield Inner(entry.offset, entry.message, None)
            continue
        for inner in _of_wrapper(entry, generation, depth):
            total += len(inner.message)
            if total > DEFAULT_MAX_SIZE:
                message = f"more than {DEFAULT_MAX_SIZE} bytes in the wrappers of a set"
                raise OutputTooLargeError(message, rule="max_decompressed_bytes")
            yield inner


def _of_wrapper(wrapper: Entry, generation: MessageSets, depth: int) -> Iterator[Inner]:
    if generation == MessageSets.V0_8_2:  # deep again: what is compressed twice is decompressed twice
        if depth == _MOST_NESTED:
            raise Refused(Errors.UNKNOWN_SERVER_ERROR, "NESTED_COMPRESSION")
        yield from messages_of(_decompressed(wrapper, generation), generation, depth + 1)
        return
    inner = _inner_entries(wrapper, generation)
    if generation == MessageSets.V0_9:
        yield from (Inner(entry.offset, entry.message, wrapper) for entry in inner)
        return
    found = list(inner)
    if not found:
        if generation == MessageSets.V0_10_2:  # DeepRecordsIterator asks for the last one
            raise Refused(Errors.UNKNOWN_SERVER_ERROR, "WRAPPER")
        return
    base = wrapper.offset - found[-1].offset if wrapper.magic > 0 else 0
    if generation == MessageSets.V0_10_2 and base < 0:
        base = 0
    for entry in found:
        yield Inner(base + entry.offset, entry.message, wrapper)


