"""What a broker sends of a log that is nearly right, to any Fetch, with any limits and settings.

An input is sixteen bytes that choose them, and the log. Damage in it is an answer and no error. What is sent as it is
stands so in the log, a client that reads committed records gets the beginning of what others get, and what is
announced is as long as what is sent.
"""

from __future__ import annotations

import contextlib
import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import campaign
import mutate
from fuzz_read import Choices, exact

import recordpress
from drawn_logs import damage, draw_transactions
from recordpress.broker import Fetched, fetch

CHOICES = 16
RELEASES = ("3.9", "3.9", "3.9", "4.3", "4.0", "3.0", "2.8", "2.3", "2.0", "1.1", "1.0", "0.11.0", "0.10.0", "0.9.0")
OFFSETS = (0, 0, 1, 5, 40, 2**31 - 1, 2**40, 2**63 - 1, -1)
LIMITS = (1 << 20, 1000, 300, 61, 12, 1, 0, -1)
CAP = 1 << 20


def _settings(choose: Choices, release: str) -> dict[str, str]:
    found = {"message.downconversion.enable": "false"} if choose.of((True, *(False,) * 5)) else {}
    if choose.of((True, *(False,) * 5)) and release >= "2.1":
        found["compression.type"] = "zstd"
    if choose.of((True, False, False)) and "2.4" <= release < "3":
        found |= {"message.format.version": choose.of(("0.9.0", "0.10.2")), "inter.broker.protocol.version": "2.4"}
    return found


def _question(choose: Choices) -> dict[str, Any]:
    release = choose.of(RELEASES)
    return {
        "fetch_offset": choose.of(OFFSETS),
        "fetch_version": choose.of((0, 1, 2, 3, 3, 4, 11, 12, 17)),
        "broker_version": release,
        "topic_config": _settings(choose, release),
        "partition_max_bytes": choose.of(LIMITS),
        "max_bytes": choose.of(LIMITS),
        "minimum_one_batch": choose.of((True, True, False)),
        "follower": choose.of((False, False, False, True)),
        "log_start_offset": choose.of((None, None, 0, 3)),
        "end_offset": choose.of((None, None, 0, 7, 50, 2**40)),
        "helpful": choose.of((False, True)),
    }


def _segments(choose: Choices, log: memoryview) -> list[memoryview]:
    """One, or two that begin anywhere or at an entry."""
    if choose.of((True, True, False)):
        return [log]
    at = choose.of((0, 1, 61, 200, 1000, len(log)))
    whole = 12 + int.from_bytes(log[8:12], "big")
    at = choose.of((at, whole, whole))
    return [log[:at], log[at:]]


def _ask(log: list[memoryview], question: dict[str, Any], level: Any) -> Fetched | None:
    try:
        return fetch(log, **question, isolation_level=level, max_decompressed_bytes=CAP)
    except recordpress.OutputTooLargeError:
        return None


def _check(log: list[memoryview], found: Fetched) -> None:
    if found.error_code != 0 and (found.records or found.size):
        raise AssertionError(f"{found.error} with {len(found.records)} bytes")
    if found.size != len(found.records) or found.filler_bytes + found.cut_bytes > found.size:
        raise AssertionError(f"{len(found.records)} bytes, {found}")
    if found.magic is None and found.records not in b"\xff".join(map(bytes, log)):
        raise AssertionError(f"{found} is not in the log")
    with contextlib.suppress(
        recordpress.RecordpressError
    ):  # entries that need no conversion are sent with their damage
        for batch in recordpress.read_batches(found.records, max_decompressed_bytes=CAP):
            sum(1 for _ in batch)


def _compare(everything: Fetched, committed: Fetched, version: int) -> None:
    if committed.error_code == everything.error_code == 0 and version >= 4:
        if not everything.records.startswith(committed.records):
            raise AssertionError(f"{committed} is not the beginning of {everything}")
        if committed.last_stable_offset > committed.high_watermark:
            raise AssertionError(f"{committed}")
    if everything.aborted_transactions is not None or everything.last_stable_offset != -1:
        raise AssertionError(f"{everything} tells of transactions")


def run(data: bytes) -> None:
    choose = Choices(data[:CHOICES].ljust(CHOICES, b"\0"))
    question = _question(choose)
    log = _segments(choose, exact(data[CHOICES:]))
    everything, committed = (_ask(log, question, level) for level in ("read_uncommitted", "read_committed"))
    for found in (everything, committed):
        if found is not None:
            _check(log, found)
    if everything is not None and committed is not None:
        _compare(everything, committed, question["fetch_version"])


def draw(rng: random.Random) -> bytes:
    log = _transactions(rng) if rng.random() < 0.2 else b"".join(_sets(rng))
    return rng.randbytes(CHOICES) + log[: campaign.MOST_BYTES - CHOICES]


def _transactions(rng: random.Random) -> bytes:
    log = b"".join(draw_transactions(rng))
    return damage(rng, log) if rng.random() < 0.5 else log


def _sets(rng: random.Random) -> list[bytes]:
    """With offsets that mostly ascend."""
    sets, offset = [], 0
    for _ in range(rng.randrange(1, 5)):
        data = mutate.record_set(rng)
        if rng.random() < 0.6 and len(data) > 16 and data[16] == 2:
            data = offset.to_bytes(8, "big") + data[8:]
            offset += rng.choice((1, 5, 20))
        sets.append(data)
    return sets


if __name__ == "__main__":
    sys.exit(campaign.main("fetch", draw, run))
