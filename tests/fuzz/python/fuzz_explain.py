"""`recordpress.explain` on record sets, captured requests and logs that are nearly right, with any release and
settings.

An input is sixteen bytes that choose them and the kind of source, and the source. There is an explanation, or the
error that bytes are no request; what it says can be written as JSON, and a batch has no two verdicts.
"""

from __future__ import annotations

import json
import random
import shutil
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import campaign
import mutate
from fuzz_broker import NOW, RELEASES, _settings
from fuzz_read import Choices, exact

import recordpress

CHOICES = 16
KINDS = ("set", "set", "set", "request", "request", "log")
PLACE = Path(tempfile.mkdtemp(prefix="recordpress-fuzz-"))
ERRORS = (recordpress.CorruptRecordError, recordpress.InvalidArgumentError)


def run(data: bytes) -> None:
    choose = Choices(data[:CHOICES].ljust(CHOICES, b"\0"))
    kind, release = choose.of(KINDS), choose.of(RELEASES)
    question: dict[str, Any] = {
        "broker_version": release,
        "topic_config": _settings(choose, release),
        "produce_version": choose.of((None, None, None, 0, 2, 3, 8, 13)),
        "transactional_id": choose.of((None, None, "t")),
        "now_ms": choose.of((NOW, NOW, 0)),
        "helpful": choose.of((False, False, True)),
        "full": choose.of((False, True)),
    }
    body = data[CHOICES:]
    if kind == "log":
        _explain_log(body, question)
    else:
        _explain(exact(body), question)


def _explain(source: Any, question: dict[str, Any]) -> None:
    try:
        found = recordpress.explain(source, **question)
    except ERRORS:
        return
    json.dumps([found.to_list(), [group.to_dict() for group in found.groups]], allow_nan=False)
    for batch in found.batches:
        if batch.is_finding and not (batch.reasons or batch.findings):
            raise AssertionError(f"a finding without a reason: {batch}")
    if found.has_findings != (bool(found.findings) or any(batch.is_finding for batch in found.batches)):
        raise AssertionError(f"{found}")


def _explain_log(body: bytes, question: dict[str, Any]) -> None:
    place = PLACE / "a-0"
    try:
        place.mkdir()
        (place / f"{0:020}.log").write_bytes(body)
        _explain(place, question)
    finally:
        shutil.rmtree(place, ignore_errors=True)


# ---- requests


def _text(value: bytes | None, compact: bool) -> bytes:
    if value is None:
        return b"\0" if compact else b"\xff\xff"
    return bytes([len(value) + 1]) + value if compact else struct.pack(">h", len(value)) + value


def _count(number: int, compact: bool) -> bytes:
    if not compact:
        return struct.pack(">i", number)
    found, number = b"", number + 1
    while number > 127:
        found, number = found + bytes([number & 127 | 128]), number >> 7
    return found + bytes([number])


def _request(rng: random.Random, sets: list[bytes]) -> bytes:
    """ProduceRequest.json of version 0 to 13, with or without the header."""
    version = rng.randrange(14)
    compact, tags = version >= 9, b"\0" * (version >= 9)
    made = b"" if rng.random() < 0.3 else struct.pack(">hhi", 0, version, 5) + _text(b"client", False) + tags
    made += _text(rng.choice((None, b"t")), compact) if version >= 3 else b""
    made += struct.pack(">hi", -1, 1500) + _count(1, compact)
    made += bytes(range(16)) if version == 13 else _text(b"orders", compact)
    made += _count(len(sets), compact)
    for index, data in enumerate(sets):
        made += struct.pack(">i", index) + _count(len(data), compact) + data + tags
    made += tags * 2
    return struct.pack(">i", len(made)) + made if rng.random() < 0.3 else made


def draw(rng: random.Random) -> bytes:
    chosen = rng.randbytes(CHOICES)
    kind = KINDS[int.from_bytes(chosen, "little") % len(KINDS)]
    if kind != "request":
        return chosen + b"".join(mutate.record_set(rng) for _ in range(1 if kind == "set" else rng.randrange(1, 4)))
    request = bytearray(_request(rng, [mutate.record_set(rng) for _ in range(rng.randrange(1, 3))]))
    for _ in range(rng.choice((0, 0, 1, 2))):
        at = rng.randrange(min(len(request), 80))
        request[at] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
    return chosen + bytes(request)


if __name__ == "__main__":
    sys.exit(campaign.main("explain", draw, run))
