"""A broker's verdict on record sets that are nearly right, with any release, settings and history.

An input is twelve bytes that choose them, and the record set. Whatever comes, there is a verdict: nothing is stored
with an error, and what is stored has right checksums and the offsets of the log.
"""

from __future__ import annotations

import random
import struct
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import campaign
import mutate
from fuzz_read import Choices, exact

import recordpress
from recordpress.broker import PartitionLog, Verdict, validate

NOW = 1_700_000_000_000
NUMBERS = ("0", "1", "1000", str(2**63 - 1))
SETTINGS = (
    ("compression.type", ("producer", "producer", "uncompressed", "gzip", "snappy", "lz4", "zstd")),
    ("compression.gzip.level", ("1", "9")),
    ("message.timestamp.type", ("LogAppendTime", "LogAppendTime", "CreateTime")),
    ("message.timestamp.difference.max.ms", NUMBERS),
    ("message.timestamp.before.max.ms", NUMBERS),
    ("message.timestamp.after.max.ms", NUMBERS),
    ("cleanup.policy", ("compact", "compact,delete")),
    ("max.message.bytes", ("0", "100", "300", "1000000")),
    ("max.decompressed.message.bytes", ("1", "20", "300")),
)
OLD_FORMATS = ("0.9.0", "0.10.0", "0.10.2")
RELEASES = (
    "4.4",
    "4.3",
    "4.0",
    "3.9",
    "3.9",
    "3.5",
    "2.8",
    "2.4.0",
    "2.1",
    "1.1",
    "0.11.0",
    "0.10.0",
    "0.9.0",
    "0.8.2",
)
OFFSETS = (0, 3, 2**31 - 2, 2**40, 2**62)
ZSTD_SINCE, FORMATS_SINCE = (2, 1), (2, 4)
MESSAGE_SETS = ("0.10.0", "0.9.0", "0.8.2")


def _settings(choose: Choices, release: str) -> dict[str, str]:
    found = {name: choose.of(values) for name, values in SETTINGS if choose.of((False, False, True))}
    version = tuple(map(int, release.split(".")))
    if found.get("compression.type") == "zstd" and version < ZSTD_SINCE:
        del found["compression.type"]
    if FORMATS_SINCE <= version < (4, 0) and choose.of((False, True)):
        found["message.format.version"] = choose.of(OLD_FORMATS)
        found["inter.broker.protocol.version"] = "2.4"
    return found


def _question(choose: Choices) -> dict[str, object]:
    return {
        "produce_version": choose.of((None, None, 0, 2, 3, 7, 8, 12)),
        "transactional_id": choose.of((None, None, "known", "unknown")),
        "now_ms": choose.of((NOW, NOW, 0, 2**62)),
    }


def _check(verdict: Verdict, next_offset: int, release: str) -> None:
    if verdict.error_code != 0 and (verdict.records or verdict.relation != "nothing stored"):
        raise AssertionError(f"{verdict.error}, but {verdict.relation}")
    if bool(verdict.records) != (verdict.relation != "nothing stored"):
        raise AssertionError(f"{verdict.relation}, {len(verdict.records)} bytes")
    if verdict.relation not in ("kept", "nothing stored") and not verdict.reasons:
        raise AssertionError(f"{verdict.relation} without a reason")
    if release in MESSAGE_SETS:
        _check_messages(verdict, next_offset - 1)
    else:
        _check_batches(verdict.records, next_offset)


def _check_batches(records: bytes, next_offset: int) -> None:
    for batch in recordpress.read_batches(records, check_crcs=True, max_decompressed_bytes=1 << 24):
        batch.ensure_valid()
        if batch.last_offset < next_offset:
            raise AssertionError(f"offset {batch.last_offset} in a log that continues at {next_offset}")
        next_offset = batch.last_offset + 1


def _check_messages(verdict: Verdict, next_offset: int) -> None:
    """Before 0.11 a message may be of any magic, what was in a wrapper have any checksum (kafka.message.Message), and a
    wrapper of 0.10 without messages has the offset before the next one."""
    position, records = 0, verdict.records
    while position < len(records):
        offset, size, crc = struct.unpack_from(">qiI", records, position)
        message = records[position + 16 : position + 12 + size]
        position += 12 + size
        if verdict.relation != "rebuilt" and zlib.crc32(message) != crc:
            raise AssertionError(f"a wrong checksum in the message that ends at byte {position}")
        if offset < next_offset or position > len(records):
            raise AssertionError(f"offset {offset} in a log that continues at {next_offset}")
        next_offset = offset + 1


def run(data: bytes) -> None:
    choose = Choices(data[:12].ljust(12, b"\0"))
    release = choose.of(RELEASES)
    settings = _settings(choose, release)
    offset, helpful = choose.of(OFFSETS), choose.of((False, False, True))
    sent = exact(data[12:])
    common: dict[str, object] = {
        "broker_version": release,
        "topic_config": settings,
        "next_offset": offset,
        "leader_epoch": choose.of((0, 7, 2**31 - 1)),
        "verified_transactions": ("known",),
        "helpful": helpful,
    }
    question = _question(choose)
    log = PartitionLog(**common)  # type: ignore[arg-type]
    for _ in range(2):
        before = log.next_offset
        try:
            verdict = log.append(sent, **question)  # type: ignore[arg-type]
        except recordpress.OutputTooLargeError:  # what a broker says is not known
            if helpful or log.next_offset != before:
                raise
            return
        _check(verdict, before, release)
    if log.next_offset == offset:
        return
    alone = validate(sent, **common, **question)  # type: ignore[arg-type]
    if alone.error_code != 0:
        raise AssertionError(f"a log took it, alone it has {alone.error}")


def draw(rng: random.Random) -> bytes:
    return rng.randbytes(12) + _produced(mutate.record_set(rng), rng)


def _produced(data: bytes, rng: random.Random) -> bytes:
    """Mostly with the base offset that a client gives a batch."""
    return bytes(8) + data[8:] if data[16:17] == b"\2" and rng.random() < 0.9 else data


if __name__ == "__main__":
    sys.exit(campaign.main("broker", draw, run))
