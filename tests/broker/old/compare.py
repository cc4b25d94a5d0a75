"""An answer of a broker next to the verdict on the same set."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from cases import Case

import recordpress
from answers import Answer
from recordpress.broker import PartitionLog, Verdict

# Compressors of other builds give other bytes: gzip and zstd, and the snappy of snappy-java before 1.1.10
LARGE = 1024  # from there on, a snappy stream may have more than one chunk
OTHER_BYTES = ("gzip", "snappy", "zstd")
# What is known to differ: see docs/broker-versions.md
TWO_FRAMES = {"acceptance-zstd_skippable_first", "acceptance-zstd_two_streams", "acceptance-zstd_two_streams_to_other"}
NULL_SET = {"null-set-produce-0"}
OF_2_1 = dict.fromkeys(("2.1.1", "2.1.1/inter.broker.protocol.version=2.0", "2.2.2"), TWO_FRAMES)
KNOWN = OF_2_1 | dict.fromkeys(("3.0.2", "3.5.2", "3.6.2", "3.7.2"), NULL_SET)
# What these give at one time, and at another the answer that was recorded
NULL_REFUSED = {"null-set-produce-0, set 0: error None, the broker's -1"}
SOMETIMES = {"2.8.2": NULL_REFUSED, "3.9.2": NULL_REFUSED}


def differences(broker: str, case: Case, answers: list[Answer]) -> Iterator[str]:
    """Where verdicts are not what the broker answered and stored."""
    release, _, setting = broker.partition("/")  # of the broker: name=value
    settings = case.settings | dict([setting.split("=")]) if setting else case.settings
    log = PartitionLog(broker_version=release, topic_config=settings, next_offset=answers[0].next_offset)
    version = case.produce_version(release)
    for number, (data, answer) in enumerate(zip(case.sets, answers, strict=True)):
        now = clock(case, answer)
        verdict = log.append(data, produce_version=version, transactional_id=case.transactional_id, now_ms=now)
        for field, ours, theirs in compared(verdict, version, data, answer):
            if ours != theirs:
                yield f"{case.name}, set {number}: {field} {ours!r}, the broker's {theirs!r}"


def clock(case: Case, answer: Answer) -> int:
    """The broker's: what it wrote where the topic has append times, else about when it was asked."""
    if answer.log_append_time > 0:
        return answer.log_append_time
    if answer.stored and answer.stored[16] and case.settings.get("message.timestamp.type") == "LogAppendTime":
        at = 35 if answer.stored[16] == 2 else 18
        return int(struct.unpack_from(">q", answer.stored, at)[0])
    return answer.now_ms


def compared(
    verdict: Verdict, version: int, data: bytes | None, answer: Answer
) -> Iterator[tuple[str, object, object]]:
    yield "error", verdict.error_code, answer.error
    if verdict.error_code == 0:
        yield "base offset", verdict.base_offset, answer.base_offset
    if version >= 2:  # from there on in responses
        yield "append time", verdict.log_append_time, answer.log_append_time
    if version >= 8:
        yield "record errors", [index for index, _ in verdict.record_errors], answer.record_errors
    yield "relation", verdict.relation, relation(data or b"", answer.stored)
    if verdict.records != answer.stored:
        yield "records", contents(verdict.records), contents(answer.stored)
        kinds = {batch.compression_type for batch in recordpress.read_batches(answer.stored)}
        yield "codec, for which bytes are exact,", kinds <= set(OTHER_BYTES), True
    if len(answer.stored) > LARGE:
        yield "snappy chunks", chunks(verdict.records), chunks(answer.stored)


def contents(data: bytes) -> list[object]:
    """Headers and records, without how they are compressed."""
    found: list[object] = []
    for batch in recordpress.read_batches(data):
        header = (batch.magic, batch.attributes, batch.last_offset, batch.max_timestamp, batch.partition_leader_epoch)
        producer = (batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.records_count)
        found.append((header, producer, batch.is_valid(), records_of(batch)))
    return found


def records_of(batch: recordpress.Batch) -> object:
    try:
        return [(r.offset, r.timestamp, r.key, r.value, r.headers) for r in batch]
    except recordpress.RecordpressError as error:  # what the broker stored, no consumer can read
        return str(error)


def chunks(data: bytes) -> list[int]:
    """How many bytes each chunk of a snappy stream holds."""
    at, found = data.find(b"\x82SNAPPY\0") + 16, []
    if at < 16:
        return []
    while at + 4 < len(data):
        chunk = data[at + 4 : at + 4 + int.from_bytes(data[at : at + 4], "big")]
        size = shift = 0
        for byte in chunk[:5]:
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        found.append(size)
        at += 4 + len(chunk)
    return found


def relation(sent: bytes, stored: bytes) -> str:
    """What became of the set, from its bytes alone."""
    if not stored:
        return "nothing stored"
    pairs = list(zip(entries(sent), entries(stored), strict=False))
    is_whole = sum(len(entry) for entry, _ in pairs) == len(stored)
    if not is_whole or any(body(a) != body(b) for a, b in pairs):
        return "rebuilt"
    if any(covered(a) != covered(b) for a, b in pairs):
        return "header rewritten"
    return "kept" if len(sent) == len(stored) else "kept, tail cut"


def entries(data: bytes) -> Iterator[bytes]:
    position = 0
    while len(data) - position >= 12:
        size = 12 + int.from_bytes(data[position + 8 : position + 12], "big", signed=True)
        if size < 26 or size > len(data) - position:
            return
        yield data[position : position + size]
        position += size


def body(entry: bytes) -> bytes:
    """What is no header: of magic 2 the records area, of messages key and value."""
    return entry[61:] if entry[16] == 2 else entry[26:] if entry[16] == 1 else entry[18:]


def covered(entry: bytes) -> bytes:
    """All but what every broker writes: the offset, and the leader epoch."""
    return entry[16:]
