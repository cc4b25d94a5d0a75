"""What brokers before 0.11 store of a set of messages, or why they refuse it.

::

    0.8.2, 0.9         kafka.message.ByteBufferMessageSet: magic is not looked at, LZ4 headers have the broken checksum
    0.10.0, 0.10.1     the same class with two formats: KIP-31, KIP-32, KIP-57
    0.10.2             kafka.log.LogValidator, org.apache.kafka.common.record.Record

They copy messages as bytes, where later brokers take records apart; and they know no record errors. Each release's own
code is followed, its faults included: what is refused with -1 is an exception that no error code stands for.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from kpress._protocol_errors import Errors
from kpress.broker._config import LogConfig
from kpress.broker._messages import (
    APPEND_TIME,
    ATTRIBUTES,
    BODY,
    CODEC_MASK,
    CODECS,
    MAGIC,
    NO_TIMESTAMP,
    OVERHEAD,
    TIMESTAMP_SIZE,
    Entry,
    Inner,
    Refused,
    analyze,
    entries,
    entry_of,
    int_at,
    is_valid,
    key_size_at,
    long_at,
    messages_of,
    summed,
    wrapped,
)
from kpress.broker._reasons import Reason, reasons_of
from kpress.broker._verdict import Relation, Verdict, accepted, refused
from kpress.broker._versions import MessageSets
from kpress.checksum import crc32
from kpress.codecs import compress
from kpress.errors import OutputTooLargeError

# MemoryRecordsBuilder.COMPRESSION_DEFAULT_BUFFER_SIZE, in 0.10.2 alone; else snappy-java's 32 KiB
_SNAPPY_CHUNK = 1024
_XERIAL = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)

# bits of Validation.reasons
_CODEC_DIFFERS, _MAGIC_CONVERSION, _TARGET_V0, _NON_SEQUENTIAL = 1, 2, 4, 8


@dataclass(slots=True)
class Stored:
    """What a set becomes."""

    records: bytes
    count: int
    reasons: int
    is_rebuilt: bool

    @property
    def largest(self) -> int:
        return max((entry.size for entry in entries(self.records)), default=0)


# ---- checks


@dataclass(slots=True)
class _Validator:
    """One set, on its way into the log."""

    data: bytearray
    generation: MessageSets
    config: LogConfig
    source_codec: int
    target_codec: int
    next_offset: int
    now_ms: int
    reasons: int = 0

    def run(self) -> Stored:
        if self.generation <= MessageSets.V0_9:
            return self._without_formats()
        if self.source_codec or self.target_codec:
            return self._compressed()
        if any(entry.magic != self.config.target_magic for entry in entries(bytes(self.data))):
            return self._converted()
        return self._in_place()

    # -- 0.8.2 and 0.9

    def _without_formats(self) -> Stored:
        if not self.source_codec and not self.target_codec:
            return self._offsets_alone()
        messages = []
        for inner in messages_of(bytes(self.data), self.generation):
            if self._needs_keys and int_at(inner.message, BODY) < 0:
                raise Refused(Errors.CORRUPT_MESSAGE, "NULL_KEY")
            messages.append(inner.message)
        self.reasons = _TARGET_V0 | (_CODEC_DIFFERS if self.source_codec != self.target_codec else 0)
        return self._rebuilt(messages, 0, NO_TIMESTAMP)

    @property
    def _needs_keys(self) -> bool:
        return self.config.compacted and self.generation > MessageSets.V0_8_2

    def _offsets_alone(self) -> Stored:
        """An empty key is none there: "keySize <= 0"."""
        count = 0
        for entry in list(entries(bytes(self.data))):
            key_end = entry.position + OVERHEAD + BODY + 4
            if self._needs_keys and key_end < len(self.data) and int_at(entry.message, BODY) <= 0:
                raise Refused(Errors.CORRUPT_MESSAGE, "NULL_KEY")
            self._put_offset(entry, self.next_offset + count)
            count += 1
        return self._kept(count)

    # -- 0.10

    def _check_key(self, message: bytes) -> None:
        if self.config.compacted and int_at(message, key_size_at(message, self.generation)) < 0:
            raise Refused(Errors.CORRUPT_MESSAGE, "NULL_KEY")

    def _check_timestamp(self, inner: Inner) -> None:
        """No timestamp (-1) is as far from now as any other."""
        distance = wrapped(inner.timestamp - self.now_ms)
        if not self.config.log_append_time and wrapped(abs(distance)) > self.config.before_max_ms:
            raise Refused(Errors.INVALID_TIMESTAMP, "TIMESTAMP_RANGE")
        if inner.is_append_time:
            raise Refused(Errors.INVALID_TIMESTAMP, "LOG_APPEND_TIME_BY_CLIENT")

    def _in_place(self) -> Stored:
        count = 0
        for entry in list(entries(bytes(self.data))):
            inner = Inner(entry.offset, entry.message, None)
            self._check_key(entry.message)
            self._put_offset(entry, self.next_offset + count)
            count += 1
            if entry.magic > 0:
                self._check_timestamp(inner)
                if self.config.log_append_time:
                    self._put_timestamp(entry.position, entry.size, self.now_ms, True)
        return self._kept(count)

    def _converted(self) -> Stored:
        messages = []
        for entry in entries(bytes(self.data)):
            inner = Inner(entry.offset, entry.message, None)
            self._check_key(entry.message)
            self._check_timestamp(inner)
            messages.append(self._convert(inner, is_last_step=True))
        self.reasons = _MAGIC_CONVERSION
        records = b"".join(entry_of(self.next_offset + n, message) for n, message in enumerate(messages))
        return self._written_again(records, len(messages))

    def _compressed(self) -> Stored:
        config = self.config
        in_place = self.source_codec == self.target_codec and config.target_magic > 0
        self.reasons = (_CODEC_DIFFERS if self.source_codec != self.target_codec else 0) | (
            _TARGET_V0 if config.target_magic == 0 else 0
        )
        newest = NO_TIMESTAMP
        messages: list[bytes] = []
        for n, inner in enumerate(messages_of(bytes(self.data), self.generation)):
            self._check_key(inner.message)
            if inner.magic > 0 and config.target_magic > 0:
                self._check_timestamp(inner)
                if inner.offset != n:
                    in_place = False
                    self.reasons |= _NON_SEQUENTIAL
                newest = max(newest, inner.timestamp)
            if self.source_codec and inner.message[ATTRIBUTES] & CODEC_MASK:
                raise Refused(*self._nested(inner))
            if inner.magic != config.target_magic:
                in_place = False
                self.reasons |= _MAGIC_CONVERSION
            messages.append(self._convert(inner, is_last_step=False))
        if in_place:
            return self._wrapper_kept(messages, newest)
        return self._rebuilt(messages, config.target_magic, newest)

    def _nested(self, inner: Inner) -> tuple[int, str]:
        is_unknown = inner.message[ATTRIBUTES] & CODEC_MASK not in CODECS
        if is_unknown:
            return Errors.UNKNOWN_SERVER_ERROR, "UNKNOWN_CODEC"
        return Errors.CORRUPT_MESSAGE, "NESTED_COMPRESSION"

    def _wrapper_kept(self, messages: list[bytes], newest: int) -> Stored:
        """The first entry is taken for the whole set."""
        if not all(map(is_valid, messages)):
            raise Refused(Errors.CORRUPT_MESSAGE, "INNER_CHECKSUM")
        first = next(entries(bytes(self.data)))
        self._put_offset(first, self.next_offset + len(messages) - 1)
        append_time = self.config.log_append_time
        stored = long_at(bytes(first.message), BODY)
        whole = len(self.data) if self.generation < MessageSets.V0_10_2 else first.size
        if append_time:
            self._put_timestamp(0, whole, self.now_ms, True)
        elif self.generation == MessageSets.V0_10_0:  # what it finds to be newest, it does not write
            self._put_timestamp(0, whole, stored, False)
        elif stored != newest or first.message[ATTRIBUTES] & APPEND_TIME:
            self._put_timestamp(0, whole, newest, False)
        return self._kept(len(messages))

    # -- writing

    def _convert(self, inner: Inner, is_last_step: bool) -> bytes:
        """A message in the target's format; one that has it already stays as it is, checksum and all."""
        to = self.config.target_magic
        if inner.magic == to and not is_last_step:
            return inner.message
        if inner.magic > 1:
            raise Refused(Errors.UNKNOWN_SERVER_ERROR, "UNKNOWN_MAGIC")
        append_time = self.config.log_append_time and is_last_step
        if self.generation == MessageSets.V0_10_2:
            return inner.message if inner.magic == to else self._written(inner, to, append_time)
        attributes = inner.message[ATTRIBUTES] & ~APPEND_TIME
        if inner.magic == to:  # Message.convertToBuffer takes it for one of the other format
            return self._mistaken(inner.message, attributes)
        if to == 0:
            return summed(bytes([0, attributes]) + inner.message[BODY + TIMESTAMP_SIZE :])
        timestamp = self.now_ms if append_time else NO_TIMESTAMP
        attributes |= APPEND_TIME if append_time else 0
        return summed(bytes([1, attributes]) + struct.pack(">q", timestamp) + inner.message[BODY:])

    def _mistaken(self, message: bytes, attributes: int) -> bytes:
        """A message of v1 does not fit; one of v0 loses 8 bytes at its beginning, and gets as many zeros at its end."""
        if message[MAGIC] or len(message) < BODY + TIMESTAMP_SIZE:
            raise Refused(Errors.UNKNOWN_SERVER_ERROR, "RECORD_STRUCTURE")
        return summed(bytes([0, attributes]) + message[BODY + TIMESTAMP_SIZE :] + bytes(TIMESTAMP_SIZE))

    def _written(self, inner: Inner, to: int, append_time: bool) -> bytes:
        """Record.convertTo: key and value are read, and written again."""
        message = inner.message
        at = key_size_at(message, self.generation)
        key_size = int_at(message, at)
        value_at = at + 4 + max(0, key_size)
        value_size = int_at(message, value_at)
        end = value_at + 4 + max(0, value_size)
        if end > len(message):
            raise Refused(Errors.UNKNOWN_SERVER_ERROR, "RECORD_STRUCTURE")
        key, value = message[at + 4 : value_at], message[value_at + 4 : end]
        body = struct.pack(">i", key_size if key_size >= 0 else -1) + key
        body += struct.pack(">i", value_size if value_size >= 0 else -1) + value
        timestamp = self.now_ms if append_time else inner.timestamp
        if to == 0:
            if timestamp < NO_TIMESTAMP:
                raise Refused(Errors.UNKNOWN_SERVER_ERROR, "TIMESTAMP_RANGE")
            return summed(b"\0\0" + body)
        if timestamp < NO_TIMESTAMP:
            raise Refused(Errors.UNKNOWN_SERVER_ERROR, "TIMESTAMP_RANGE")
        return summed(bytes([1, APPEND_TIME if append_time else 0]) + struct.pack(">q", timestamp) + body)

    def _rebuilt(self, messages: list[bytes], magic: int, newest: int) -> Stored:
        if not messages:
            if self.generation == MessageSets.V0_10_2:
                raise Refused(Errors.UNKNOWN_SERVER_ERROR, "WRAPPER")
            return self._written_again(b"", 0)
        numbered = [
            entry_of(n if magic > 0 and self.target_codec else self.next_offset + n, message)
            for n, message in enumerate(messages)
        ]
        records = b"".join(numbered)
        if self.target_codec:
            records = self._wrapped(records, len(messages), magic, newest)
        return self._written_again(records, len(messages))

    def _wrapped(self, inner: bytes, count: int, magic: int, newest: int) -> bytes:
        payload = self._compress(inner, magic)
        attributes, time = self.target_codec, b""
        if magic > 0:
            append_time = self.config.log_append_time
            attributes |= APPEND_TIME if append_time else 0
            time = struct.pack(">q", self.now_ms if append_time else newest)
        body = bytes([magic, attributes]) + time + struct.pack(">ii", -1, len(payload)) + payload
        return entry_of(self.next_offset + count - 1, summed(body))

    def _compress(self, inner: bytes, magic: int) -> bytes:
        name = CODECS[self.target_codec]
        if name != "snappy" or self.generation < MessageSets.V0_10_2:
            return compress(inner, name, magic=magic)
        chunks = [inner[at : at + _SNAPPY_CHUNK] for at in range(0, len(inner), _SNAPPY_CHUNK)]
        packed = [compress(chunk, "snappy", raw=True) for chunk in chunks]
        return _XERIAL + b"".join(len(chunk).to_bytes(4, "big") + chunk for chunk in packed)

    def _put_offset(self, entry: Entry, offset: int) -> None:
        struct.pack_into(">q", self.data, entry.position, offset)

    def _put_timestamp(self, position: int, size: int, timestamp: int, append_time: bool) -> None:
        at = position + OVERHEAD
        self.data[at + ATTRIBUTES] = self.data[at + ATTRIBUTES] & ~APPEND_TIME | (APPEND_TIME * append_time)
        struct.pack_into(">q", self.data, at + BODY, timestamp)
        struct.pack_into(">I", self.data, at, crc32(self.data[at + MAGIC : position + size]))

    def _kept(self, count: int) -> Stored:
        return Stored(bytes(self.data), count, 0, is_rebuilt=False)

    def _written_again(self, records: bytes, count: int) -> Stored:
        return Stored(records, count, self.reasons, is_rebuilt=True)


# ---- the verdict


def append_messages(
    data: bytes, *, generation: MessageSets, config: LogConfig, next_offset: int, now_ms: int, helpful: bool
) -> tuple[Verdict, int]:
    """What the broker answers, and its next offset then.

    Raises
    ------
    OutputTooLargeError
        More is compressed in the set than is decompressed here, so that what a broker would say is not known.
    """
    try:
        return _appended(data, generation, config, next_offset, now_ms)
    except OutputTooLargeError:
        if not helpful:
            raise
        return refused(Errors.MESSAGE_TOO_LARGE, Reason.DECOMPRESSED_TOO_LARGE), next_offset
    except Refused as error:
        code = error.code
        if helpful and code == Errors.UNKNOWN_SERVER_ERROR:
            is_codec = error.reason == "UNKNOWN_CODEC"
            code = Errors.UNSUPPORTED_COMPRESSION_TYPE if is_codec else Errors.CORRUPT_MESSAGE
        return refused(code, Reason[error.reason]), next_offset


def _appended(
    data: bytes, generation: MessageSets, config: LogConfig, next_offset: int, now_ms: int
) -> tuple[Verdict, int]:
    valid, source = analyze(data, config.max_message_bytes)
    if not valid:
        return accepted(reasons=[Reason.NO_BATCH]), next_offset
    target = source if generation == MessageSets.V0_8_2 else config.target(source, None)[0]
    whole = data[:valid]
    stored = _Validator(bytearray(whole), generation, config, source, target, next_offset, now_ms).run()
    if (stored.is_rebuilt or generation <= MessageSets.V0_9) and stored.largest > config.max_message_bytes:
        raise Refused(Errors.MESSAGE_TOO_LARGE, "REBUILT_TOO_LARGE")
    if len(stored.records) > config.segment_bytes:
        raise Refused(Errors.RECORD_LIST_TOO_LARGE, "SET_TOO_LARGE")
    relation, reasons = _compared(whole, stored, config)
    if valid < len(data):
        relation = "kept, tail cut" if relation == "kept" else relation
        reasons.append(Reason.PARTIAL_ENTRY)
    verdict = accepted(
        relation=relation if stored.records else "nothing stored",
        records=stored.records,
        reasons=reasons,
        log_append_time=now_ms if config.log_append_time else -1,
        base_offset=next_offset,
    )
    return verdict, next_offset + stored.count


def _content(message: bytes) -> bytes:
    return message[BODY + (TIMESTAMP_SIZE if message[MAGIC] else 0) :]


def _compared(whole: bytes, stored: Stored, config: LogConfig) -> tuple[Relation, list[Reason]]:
    reasons = reasons_of(stored.reasons)
    if not stored.records:
        return "nothing stored", [*reasons, Reason.WRAPPER]
    if not stored.is_rebuilt:
        pairs = [*zip(entries(whole), entries(stored.records), strict=True)]
        if all(sent.message == kept.message for sent, kept in pairs):
            return "kept", []
        if any(_content(sent.message) != _content(kept.message) for sent, kept in pairs):
            return "rebuilt", [Reason.WRAPPER]  # 0.10.1 writes a timestamp into an empty set of magic 0
    if config.log_append_time and stored.records[OVERHEAD + MAGIC]:
        reasons.append(Reason.LOG_APPEND_TIME)
    if stored.is_rebuilt:
        return "rebuilt", reasons
    return "header rewritten", reasons or [Reason.MAX_TIMESTAMP]
