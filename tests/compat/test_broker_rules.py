"""Kafka's own classes, 3.9.2, 4.3.1 and 4.4.0, and recordpress.broker get the same record sets, with the same
settings: the same errors, and the same bytes in the log. What is different on purpose is in docs/differences.md.

`make -f labs.mk broker-rules` brings Kafka's jars and asks 200,000 sets; without the jars this is skipped. A
disagreement has a name, such as "4.3 seed 1 #17": `cases` makes the same sets again.
"""

from __future__ import annotations

import itertools
import os
import struct
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from kafka_classes import JARS, Answer, Case, Kafka, Marker, Request, missing
from produce_cases import KNOWN, cases

import recordpress
from recordpress.broker import PartitionLog, Reason, Verdict

SETS = int(os.environ.get("RECORDPRESS_BROKER_SETS", "5000"))
SEED = int(os.environ.get("RECORDPRESS_BROKER_SEED", "1"))
# The codecs whose compressed bytes depend on the library's release; of lz4 only levels 1 and 2 do.
OTHER_BUILDS = {1: "gzip", 3: "lz4", 4: "zstd"}
PARTITION = " in topic partition topic-0"  # which recordpress cannot know

pytestmark = [pytest.mark.slow, pytest.mark.build]


def _version(version: str) -> object:
    reason = missing(version)
    return pytest.param(version, marks=pytest.mark.skipif(reason is not None, reason=str(reason)))


VERSIONS = [_version(version) for version in JARS]


# ---- the same question to recordpress


def ask_recordpress(case: Case, version: str) -> list[Verdict]:
    log = PartitionLog(
        broker_version=version,
        topic_config=case.settings,
        next_offset=case.next_offset,
        leader_epoch=case.leader_epoch,
        verified_transactions=(KNOWN,),
    )
    return [_append(log, request) for request in case.requests]


def _append(log: PartitionLog, request: Request | Marker) -> Verdict:
    if isinstance(request, Marker):
        return log.end_transaction(
            request.producer_id,
            request.producer_epoch,
            commit=True,
            coordinator_epoch=request.coordinator_epoch,
            transaction_version=request.transaction_version,
            now_ms=request.now_ms,
        )
    return log.append(
        request.records,
        produce_version=request.produce_version,
        transactional_id=request.transactional_id or None,
        now_ms=request.now_ms,
    )


# ---- what differs


def differences(case: Case, request: Request | Marker, kafka: Answer, ours: Verdict) -> Iterator[str]:
    if is_a_matter_of_size(case, request, kafka, ours) or is_damage_of_zstd(request, kafka, ours):
        return
    if ours.error_code != kafka.error_code:
        yield f"error {ours.error_code} ({[str(reason) for reason in ours.reasons]}), in Kafka {kafka.error_code}"
        return
    if Reason.RECORD_SIZE in ours.reasons and "Invalid record size: " not in kafka.cause:
        yield f"RECORD_SIZE, in Kafka {kafka.cause}"
    records = [(index, text.replace(PARTITION, "")) for index, text in kafka.record_errors]
    if ours.record_errors != records:
        yield f"record errors {ours.record_errors[:3]}, in Kafka {records[:3]}"
    message = kafka.error_message.replace(PARTITION, "")
    if records and ours.error_message != message:
        yield f"message {ours.error_message!r}, in Kafka {message!r}"
    if ours.relation != relation(request.records, kafka):
        yield f"{ours.relation}, in Kafka {relation(request.records, kafka)}"
    if kafka.error_code == 0:
        yield from _different_log(case, request, kafka, ours)


def is_a_matter_of_size(case: Case, request: Request | Marker, kafka: Answer, ours: Verdict) -> bool:
    """A limit lies between the sizes that two builds of a codec give to a rebuilt batch."""
    codes = {kafka.error_code, ours.error_code}
    return codes in ({0, 10}, {0, 18}) and _target(case, request) in OTHER_BUILDS.values()


def is_damage_of_zstd(request: Request | Marker, kafka: Answer, ours: Verdict) -> bool:
    """Refused by both: what is wrong with a damaged block depends on the release of libzstd."""
    codes = (kafka.error_code, ours.error_code)
    data = request.records
    return codes in ((-1, 87), (87, -1)) and len(data) > 61 and data[16] == 2 and data[22] & 7 == 4


def _target(case: Case, request: Request | Marker) -> str | None:
    """The codec of rebuilt batches, if its bytes are another build's."""
    codec = case.settings.get("compression.type", "producer")
    if codec == "producer" and len(request.records) > 22:
        codec = OTHER_BUILDS.get(request.records[22 if request.records[16] == 2 else 17] & 7, "none")
    if codec == "lz4" and case.settings.get("compression.lz4.level") not in ("1", "2"):
        return None
    return codec


def _different_log(case: Case, request: Request | Marker, kafka: Answer, ours: Verdict) -> Iterator[str]:
    theirs = (kafka.first_offset, kafka.log_append_time)
    if kafka.last_offset >= 0 and (ours.base_offset, ours.log_append_time) != theirs:
        yield f"base offset and append time {(ours.base_offset, ours.log_append_time)}, in Kafka {theirs}"
    is_same = ours.records == kafka.records
    if not is_same and kafka.rebuilt_records:
        is_same = same(ours.records, kafka.records, _target(case, request))
    if not is_same:
        yield f"stored {bytes(ours.records).hex()[:400]}, in Kafka {kafka.records.hex()[:400]}"


def relation(sent: bytes, kafka: Answer) -> str:
    """What Kafka did to a set, in our words."""
    if not kafka.records:
        return "nothing stored"
    if kafka.rebuilt_records:
        return "rebuilt"
    pairs = zip(_entries(sent), _entries(kafka.records), strict=False)
    if any(_checked(before) != _checked(after) for before, after in pairs):
        return "header rewritten"
    return "kept" if len(sent) == len(kafka.records) else "kept, tail cut"


def _entries(data: bytes) -> Iterator[bytes]:
    """The whole entries of a set."""
    while len(data) >= 17 and _size(data) > 0:
        size = 12 + _size(data)
        yield data[:size]
        data = data[size:]


def _size(entry: bytes) -> int:
    return int(struct.unpack_from(">i", entry, 8)[0])


def _checked(entry: bytes) -> bytes:
    """What the checksum covers."""
    return entry[21:] if entry[16] == 2 else entry[16:]


def same(ours: bytes, kafka: bytes, target: str | None) -> bool:
    """Whether two rebuilt sets are the same but for their compressed bytes."""
    if not (len(ours) > 22 and len(kafka) > 22 and ours[16] == kafka[16]):
        return False
    return _opened(ours, target) == _opened(kafka, target)


def _opened(entry: bytes, target: str | None) -> object:
    """The fields of one entry, and its decompressed content, if that is how the entry may differ."""
    is_v2 = entry[16] == 2
    codec = OTHER_BUILDS.get(entry[22 if is_v2 else 17] & 7)
    at = 61 if is_v2 else 26 + 8 * entry[16]
    if codec is None or (codec == "lz4" and target != "lz4") or 12 + _size(entry) != len(entry):
        return entry
    fields = (entry[21:61], entry[12:16]) if is_v2 else entry[16 : at - 4]
    stream = recordpress.decompressor(codec, 1 << 30, magic=entry[16])
    return entry[:8], entry[16], fields, stream.decompress(entry[at:]) + stream.flush()


# ---- the tests


def compare(asked: Sequence[Case], kafka: Kafka) -> Counter[str]:
    """How many sets had which end; fails where the two disagree."""
    ends: Counter[str] = Counter()
    different = []
    for case, answers in zip(asked, kafka.ask(asked), strict=True):
        verdicts = ask_recordpress(case, kafka.version)
        for index, (request, answer, verdict) in enumerate(zip(case.requests, answers, verdicts, strict=True)):
            ends[f"{verdict.error} {verdict.relation}"] += 1
            if "OutOfMemoryError" in answer.cause:  # a size that lies: no answer to compare
                continue
            different += [f"{case.name} [{index}]: {text}" for text in differences(case, request, answer, verdict)]
    if different:
        text = "\n".join(different[:20])
        pytest.fail(f"{len(different)} disagreements in {ends.total()} sets\n{text}", pytrace=False)
    return ends


@pytest.mark.parametrize("version", VERSIONS)
def test_drawn_sets(version: str) -> None:
    with Kafka(version) as kafka:
        left, seed = SETS // len(VERSIONS), SEED
        while left > 0:
            ends = compare(list(cases(seed, min(left, 5000), version)), kafka)
            left, seed = left - 5000, seed + 1
    assert {"NONE kept", "NONE header rewritten", "NONE rebuilt"} <= ends.keys() or SETS < 5000


@pytest.mark.parametrize("version", VERSIONS)
def test_a_damaged_header_between_two_snappy_streams(version: str) -> None:
    """SnappyInputStream ends a read at the header, and continues after it in the next one."""
    damages = [(at, bit) for at in range(16) for bit in (0, 3, 7)]
    cases = [
        Case(f"{size} bytes before bit {bit} of byte {at}", [Request(two_snappy_streams(size, at, bit))])
        for size in (100, 2000, 4000)
        for at, bit in damages
    ]
    with Kafka(version) as kafka:
        ends = compare(cases, kafka)
        [[at_the_start]] = kafka.ask([first := Case("no bytes before it", [Request(two_snappy_streams(0, 7, 0))])])
    assert {"NONE kept", "UNKNOWN_SERVER_ERROR nothing stored"} <= ends.keys()
    assert at_the_start.error_code == (87 if version == "4.4" else 0)  # the end of a read is part of a length
    assert ask_recordpress(first, version)[0].error_code == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_an_lz4_frame_without_the_checksum_of_its_content(version: str) -> None:
    """Lz4BlockInputStream reads the checksum without a look at what is left."""
    cases = []
    given = itertools.product((0x64, 0x60), range(12), (1, 2), (0, 1, 2, 20, 99), ("producer", "uncompressed"))
    for flags, left, count, size, kind in given:
        record = recordpress.write_records([bytes(30)], timestamps=[Request.now_ms])[61:][:size]
        header = bytearray(b"\x04\x22\x4d\x18" + bytes([flags, 0x40, 0]))
        recordpress.fix_lz4_header(header)
        payload = bytes(header) + struct.pack("<I", 1 << 31 | len(record)) + record + bytes(8)
        request = Request(lz4_batch(payload[: len(payload) - left], count))
        cases.append(Case(f"{flags:#x} {left} {count} {size} {kind}", [request], {"compression.type": kind}))
    with Kafka(version) as kafka:
        ends = compare(cases, kafka)
    assert {"INVALID_RECORD nothing stored", "UNKNOWN_SERVER_ERROR nothing stored"} <= ends.keys()


def lz4_batch(payload: bytes, count: int) -> bytes:
    """A batch whose header says how many records are in an LZ4 frame."""
    whole = recordpress.write_records([bytes(30)] * count, timestamps=[Request.now_ms] * count)
    batch = bytearray(whole[:61]) + payload
    batch[22] |= 3
    batch[8:12] = struct.pack(">i", len(batch) - 12)
    batch[17:21] = struct.pack(">I", recordpress.crc32c(batch[21:]))
    return bytes(batch)


def two_snappy_streams(size: int, at: int, bit: int) -> bytes:
    """A batch of one record whose first bytes are in the first stream; the second one's header is damaged."""
    whole = recordpress.write_records([bytes(5000)], timestamps=[Request.now_ms])
    payload = bytearray(recordpress.compress(whole[61 : 61 + size], "snappy"))
    damaged = len(payload) + at
    payload += recordpress.compress(whole[61 + size :], "snappy")
    payload[damaged] ^= 1 << bit
    batch = bytearray(whole[:61]) + payload
    batch[22] |= 2
    batch[8:12] = struct.pack(">i", len(batch) - 12)
    batch[17:21] = struct.pack(">I", recordpress.crc32c(batch[21:]))
    return bytes(batch)
