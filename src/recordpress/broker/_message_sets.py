"""Decisions of brokers before 0.11 on sets of messages, from the results of _message_validator."""

from __future__ import annotations

from recordpress._protocol_errors import Errors
from recordpress.broker._config import LogConfig
from recordpress.broker._message_validator import (
    StoredMessages,
    analyze,
    compare_messages,
    largest_entry,
    validate_messages,
)
from recordpress.broker._old_streams import Refused
from recordpress.broker._reasons import Reason, reasons_of
from recordpress.broker._verdict import Relation, Verdict, accepted, refused
from recordpress.broker._versions import MessageSets
from recordpress.errors import OutputTooLargeError
from recordpress.record.header import MAGIC_AT

_OFFSETS, _HEADERS = 0, 1  # results of compare_messages


def append_messages(
    data: bytes, *, generation: MessageSets, config: LogConfig, next_offset: int, now_ms: int, helpful: bool
) -> tuple[Verdict, int]:
    """Return the broker's answer and the partition's next offset."""
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
    stored = validate_messages(
        whole,
        generation=generation,
        source_codec=source,
        target_codec=target,
        target_magic=config.target_magic if generation > MessageSets.V0_9 else 0,
        compacted=config.compacted,
        log_append_time=config.log_append_time,
        before_max_ms=config.before_max_ms,
        next_offset=next_offset,
        now_ms=now_ms,
    )
    is_measured = stored.is_rebuilt or generation <= MessageSets.V0_9
    if is_measured and largest_entry(stored.records) > config.max_message_bytes:
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


def _compared(whole: bytes, stored: StoredMessages, config: LogConfig) -> tuple[Relation, list[Reason]]:
    reasons = reasons_of(stored.reasons)
    if not stored.records:
        return "nothing stored", [*reasons, Reason.WRAPPER]
    if not stored.is_rebuilt:
        change = compare_messages(whole, stored.records)
        if change == _OFFSETS:
            return "kept", []
        if change != _HEADERS:
            return "rebuilt", [Reason.WRAPPER]  # 0.10.1 writes a timestamp into an empty set of magic 0
    if config.log_append_time and stored.records[MAGIC_AT]:
        reasons.append(Reason.LOG_APPEND_TIME)
    if stored.is_rebuilt:
        return "rebuilt", reasons
    return "header rewritten", reasons or [Reason.MAX_TIMESTAMP]
